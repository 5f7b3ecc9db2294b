"""Kumar et al. (2012), section 4.4 and 4.5: Table 2 (accuracy on four UCI sets) and Table 3 (running time).

Random 80/20 splits; nine Gaussians, polynomials of degree 2, 3, 4 and the linear kernel, on all features (p = 13) or on
all and on each (p = 13d + 13), centred and of unit variance. C by four folds of the training part. TS-MKL learns its
weights with the paper's projected Pegasos, λ by the hinge loss of a fifth of the pairs; its weights, those of target
alignment and equal ones make one kernel for an SVM. The one-stage methods are solved to certified optimality. Three
classes: one against the rest, but UFO-MKL, which is joint.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mklcvx
from _harness import Cell, Experiment, Setting
from _kumar_page import page
from _kumar_tables import BANKS, SETS
from _selection import FINE, ROUGH, SHARE, Contest, Problem, Split, split_rows, standardised
from mklcvx import Instance, formulations
from mklcvx.formulations.families.two_stage import PairTask
from mklcvx.problem.kernels import kumar_bank
from mklcvx.problem.preprocessing import Preprocessing
from mklcvx.solvers.published.ts_pegasos import pegasos_step
from ufo import ufo

Array = NDArray[np.float64]
TEST_SHARE = 0.2
STEPS, BATCH, EPOCHS = 1000, 100, 20
SVM = Problem("svm")
ALPHAS = (0.0, 0.01, 0.1)
UFO_SPLITS = 5
GRID = tuple(100.0 / 4**k for k in range(17))  # from 100 down to 1e-8, by factors of 4


def data_sets(setting: Setting) -> tuple[str, ...]:
    return setting.choose(("wine",), tuple(SETS), tuple(SETS))


def prices(setting: Setting) -> tuple[float, ...]:
    return setting.choose((1.0, 100.0), (1.0, 10.0, 100.0), (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0))


def splits(setting: Setting) -> int:
    return setting.choose(2, 10, 10)


def folds(setting: Setting) -> int:
    return setting.choose(2, 4, 4)


def steps(setting: Setting) -> int:
    return setting.choose(50, STEPS, STEPS)


def cells(setting: Setting) -> list[Cell]:
    """UFO-MKL takes longer than everybody else together on the larger bank: reduced, that is half of the splits."""
    made = itertools.product(range(splits(setting)), data_sets(setting), BANKS, ("methods", "ufo"))
    return [
        {"data": data, "bank": bank, "split": split, "part": part}
        for split, data, bank, part in made
        if not (setting.size == "reduced" and part == "ufo" and bank == "all+each" and split >= UFO_SPLITS)
    ]


def protocol(setting: Setting) -> dict[str, Any]:
    return {
        "prices": prices(setting), "folds": folds(setting), "test": TEST_SHARE, "tolerances": [ROUGH, FINE],
        "share": SHARE, "steps": steps(setting), "batch": BATCH, "epochs": EPOCHS, "alphas": ALPHAS,
    }  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ one cell
def prepared(cell: Cell, setting: Setting) -> Split:
    """The kernels of a split, the same samples for both banks; a feature constant in training has no kernels."""
    data = setting.load(cell["data"])
    rng = setting.rng("kumar", cell["data"], cell["split"])
    if setting.size == "quick":
        data = data.take(rng.permutation(len(data))[:80])
        data = replace(data, X=data.X[:, :2])
    targets = data.targets.get("y", data.classes)
    train, test = split_rows(targets, TEST_SHARE, int(rng.integers(2**31)))
    seen, unseen = standardised(data.X[train], data.X[test])
    bank = kumar_bank(cell["bank"]).fit(seen)
    kernels, steps_of = bank.stack(), Preprocessing.from_options(centre=True, normalise="variance")
    steps_of.fit(kernels, bank.names)
    # Centring takes nearly all of a wide Gaussian away: what rounding leaves below zero is set to zero.
    clipped = Instance(steps_of.train(kernels), repair="clip", **as_targets(targets[train])).kernels
    return Split(clipped, targets[train], steps_of.test(bank.stack(unseen)), targets[test])


def run(cell: Cell, setting: Setting) -> dict[str, Any]:
    """All methods on one split and bank, or UFO-MKL alone: {method: results}."""
    split = prepared(cell, setting)
    seed = int(setting.rng("kumar folds", cell["data"], cell["split"]).integers(2**31))
    contest = Contest(split, split.folds(folds(setting), seed), prices(setting))
    if cell["part"] == "ufo":
        return {"of": len(split.kernels), "methods": {"ufo": ufo_results(contest, seed)}}
    methods = {
        "best": best_kernel(contest),
        "average": mixed(contest, "average", np.full(len(split.kernels), 1 / len(split.kernels)), 0.0),
        "alignment": mixed(contest, "alignment", *alignment(split)),
        "ts": mixed(contest, "ts", *two_stages(split, steps(setting), seed)),
    }
    contest.hold_out([Problem("l1"), Problem("l2")])
    for name in ("l1", "l2"):
        _, price = contest.best([Problem(name)])
        methods[name] = judged(contest, Problem(name), price, contest.fit(Problem(name), price), 0.0)
    return {"of": len(split.kernels), "worst_fold_gap": contest.worst_gap, "methods": methods}


def mixed(contest: Contest, name: str, weights: Array, seconds: float) -> dict[str, Any]:
    """An SVM with the kernel that given weights make; only its C is chosen."""
    weights = weights / weights.sum()
    contest.hold_out([SVM], weights, tag=name)
    _, price = contest.best([name])
    return judged(contest, name, price, contest.fit(SVM, price, weights), seconds)


def judged(contest: Contest, tag: Any, price: float, model: Any, seconds: float) -> dict[str, Any]:
    return {
        "accuracy": 100 * contest.split.accuracy(model), "held_out": 100 * contest.scores[tag, price],
        "kernels": model.kernels, "cpu_seconds": seconds + model.seconds, "gap": model.gap, "C": price,
    }  # fmt: skip


def best_kernel(contest: Contest) -> dict[str, Any]:
    """Kernel and C by the folds, with LIBSVM; the first of equal ones."""
    split, scores = contest.split, np.zeros((len(contest.split.kernels), len(contest.prices)))
    for train, held in contest.folds:
        for m, kernel in enumerate(split.kernels):
            inner, outer = kernel[np.ix_(train, train)], kernel[np.ix_(held, train)]
            for j, price in enumerate(contest.prices):
                found = one_kernel(inner, split.targets[train], outer, price)
                scores[m, j] += np.mean(found == split.targets[held]) / len(contest.folds)
    m, j = np.unravel_index(int(np.argmax(scores)), scores.shape)
    weights = np.eye(len(scores))[m]
    contest.scores["best", contest.prices[j]] = float(scores[m, j])
    return judged(contest, "best", contest.prices[j], contest.fit(SVM, contest.prices[j], weights), 0.0)


def one_kernel(kernel: Array, targets: NDArray[Any], test_kernel: Array, price: float) -> NDArray[Any]:
    """Predictions of LIBSVM, several classes one against the rest."""
    from sklearn.svm import SVC

    machine = SVC(C=price, kernel="precomputed", tol=1e-3)
    if targets.dtype.kind == "f":
        return np.asarray(machine.fit(kernel, targets).predict(test_kernel))
    names = np.unique(targets)
    values = [machine.fit(kernel, targets == name).decision_function(test_kernel) for name in names]
    return names[np.argmax(values, axis=0)]


def alignment(split: Split) -> tuple[Array, float]:
    started = time.process_time()
    weights = mklcvx.solve(instance_of(split), "alignment").weights
    return weights, time.process_time() - started


def two_stages(split: Split, count: int, seed: int) -> tuple[Array, float]:
    """Weights by projected Pegasos; the seconds are without the search for λ, as in Table 3."""
    task, _ = formulations.get("ts").task(instance_of(split), {"balanced": True})
    task = replace(task, lam=choose_lambda(task, count, BATCH, seed))
    started, random, mu = time.process_time(), np.random.default_rng(seed), np.zeros(task.count)
    ladder = np.cumsum(task.weight)
    for t in range(1, count + 1):
        drawn = np.searchsorted(ladder, ladder[-1] * random.random(BATCH), side="right")
        mu = pegasos_step(mu, task.pairs.at(drawn), task.labels[drawn], task.lam, t)
    return mu, time.process_time() - started


def choose_lambda(task: PairTask, steps: int, batch: int, seed: int) -> float:
    """The λ of the paper's grid with the least hinge loss on a fifth of the K-examples, learned on the rest."""
    random, losses = np.random.default_rng(seed), []
    order = random.permutation(len(task.labels))
    held, kept = order[: len(order) // 5], order[len(order) // 5 :]
    ladder = np.cumsum(task.weight[kept])
    for lam in GRID:
        mu = np.zeros(task.count)
        for t in range(1, steps + 1):
            drawn = kept[np.searchsorted(ladder, ladder[-1] * random.random(batch), side="right")]
            mu = pegasos_step(mu, task.pairs.at(drawn), task.labels[drawn], lam, t)
        losses.append(float(task.weight[held] @ np.maximum(0.0, 1.0 - task.margins(mu)[held])))
    return GRID[int(np.argmin(losses))]


def instance_of(split: Split, rows: Any = slice(None)) -> Instance:
    """Of some rows: without the outlier that made a kernel large, the rounding of its other entries is not small."""
    kernels = np.ascontiguousarray(split.kernels[:, rows][:, :, rows])
    return Instance(kernels, repair="clip", **as_targets(split.targets[rows]))


def as_targets(targets: NDArray[Any]) -> dict[str, Any]:
    return {"y" if targets.dtype.kind == "f" else "classes": targets}


def ufo_results(contest: Contest, seed: int) -> dict[str, Any]:
    """Twenty epochs, C and α by the folds."""
    split = contest.split
    grid = list(itertools.product(contest.prices, ALPHAS))
    scores = np.zeros(len(grid))
    for train, held in contest.folds:
        instance, outer = instance_of(split, train), split.kernels[:, held][:, :, train]
        for i, (price, alpha) in enumerate(grid):
            model = ufo(instance, price, alpha, EPOCHS, seed)
            scores[i] += np.mean(model.predict(outer) == split.targets[held]) / len(contest.folds)
    price, alpha = grid[int(np.argmax(scores))]
    instance, started = instance_of(split), time.process_time()
    model = ufo(instance, price, alpha, EPOCHS, seed)
    seconds = time.process_time() - started
    return {
        "accuracy": 100 * float(np.mean(model.predict(split.test_kernels) == split.test_targets)),
        "held_out": 100 * float(scores.max()), "kernels": int((model.weights > SHARE * model.weights.max()).sum()),
        "cpu_seconds": seconds, "gap": model.gap, "C": price, "alpha": alpha,
    }  # fmt: skip


EXPERIMENT = Experiment(
    "kumar", "Two-stage multiple kernel learning on UCI sets (Kumar et al. 2012, Tables 2 and 3)", cells, run, page,
    protocol, data_sets,
)  # fmt: skip
