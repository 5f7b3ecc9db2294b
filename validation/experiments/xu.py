"""Xu, Tsang and Xu (2013), section V.B and V.C: Tables I and II, Figures 1 and 2.

Seven data sets in random 70/30 splits, features standardised on the training part; Gaussians of ten widths and
polynomials of degrees 1 to 3, on all features together and on each alone, 13(d + 1) kernels of unit trace. C and the
method's own parameter are chosen by five folds of the training part. For Figure 2, r·d features of random noise join
those of Diabetes. One more row, the average of kernels of trace n, shows what their scale decides.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from _harness import Cell, Experiment, Setting
from _selection import FINE, ROUGH, SHARE, Contest, Model, Problem, Split, split_rows, standardised
from _xu_page import page
from _xu_tables import LONGER, METHODS, SETS, SUBSAMPLED
from mklcvx.problem.kernels import xu_bank

TEST_SHARE = 0.3
NOISE_METHODS = ("average", "l1", "l2", "sm1", "sm2")
PRICES = (0.01, 0.1, 1.0, 10.0, 100.0)
OWN: dict[str, tuple[str, tuple[float, ...], tuple[float, ...], tuple[float, ...]]] = {
    # The paper's parameter and its values in the quick, the reduced and the full grid. ν = 0 stands for 1/M.
    "lp": ("p", (4 / 3,), (1.0, 4 / 3, 2.0), (1.0, 32 / 31, 16 / 15, 8 / 7, 4 / 3, 2.0, 3.0, np.inf)),
    "elastic": ("v", (0.5,), (0.0, 0.5, 1.0), tuple(np.linspace(0, 1, 11).round(1).tolist())),
    "sm1": ("nu", (0.0, 0.2), (0.0, 0.2, 1.0), (0.0, *np.linspace(0.1, 1, 10).round(1).tolist())),
    "sm2": ("theta", (1e-2,), (1e-4, 1e-2, 1.0), tuple(10.0**k for k in range(-5, 6))),
}
# Ends of the grids that are formulations of their own; solved as these, once for all methods.
ENDS = {
    ("lp", 1.0): "l1", ("lp", 2.0): "l2", ("lp", np.inf): "sum", ("elastic", 0.0): "l2", ("elastic", 1.0): "l1",
    ("sm1", 0.0): "l1", ("sm1", 1.0): "average",
}  # fmt: skip
NAMES = {"lp": "p", "elastic": "l1_ratio", "sm1": "theta", "sm2": "theta"}
UNIFORM = {"average": 1.0, "sum": 0.0}  # fixed weights: M to this power is what their sum is divided by


def data_sets(setting: Setting) -> tuple[str, ...]:
    return setting.choose(("breast_cancer",), tuple(SETS), tuple(SETS))


def noise_levels(setting: Setting) -> tuple[float, ...]:
    return setting.choose((1.0,), (0.6, 1.2), (0.2, 0.4, 0.6, 0.8, 1.0, 1.2))


def noisy(setting: Setting) -> str:
    """The set of Figure 2."""
    return setting.choose("breast_cancer", "pima", "pima")


def splits(setting: Setting) -> int:
    return setting.choose(2, 10, 10)


def prices(setting: Setting) -> tuple[float, ...]:
    return setting.choose(PRICES[-2:], PRICES[-3:], PRICES)


def own_grid(method: str, setting: Setting) -> tuple[float, ...]:
    return setting.choose(*OWN[method][1:]) if method in OWN else ()


def cells(setting: Setting) -> list[Cell]:
    """Split by split, so that an unfinished run has all data sets; then the noise. A cell has all methods in it."""
    pairs = range(splits(setting)), data_sets(setting)
    made = [{"data": data, "split": split, "noise": 0.0} for split, data in itertools.product(*pairs)]
    pairs = range(splits(setting)), noise_levels(setting)
    return made + [{"data": noisy(setting), "split": s, "noise": level} for s, level in itertools.product(*pairs)]


def protocol(setting: Setting) -> dict[str, Any]:
    return {
        "prices": prices(setting), "own": {method: own_grid(method, setting) for method in OWN},
        "folds": folds(setting), "test": TEST_SHARE, "tolerances": [ROUGH, FINE], "share": SHARE,
        "subsampled": SUBSAMPLED, "trace": 1, "single": True,
    }  # fmt: skip


def folds(setting: Setting) -> int:
    return setting.choose(3, 5, 5)


# ------------------------------------------------------------------------------------------------------------ one cell
def prepared(cell: Cell, setting: Setting) -> Split:
    """The kernels of a split: the same samples for every method, and for every level of noise."""
    data = setting.load(cell["data"])
    rng = setting.rng("xu", cell["data"], cell["split"])
    wanted = setting.choose(60, SUBSAMPLED.get(cell["data"], len(data)), SUBSAMPLED.get(cell["data"], len(data)))
    data = data.take(rng.permutation(len(data))[:wanted])
    X = data.X[:, :2] if setting.size == "quick" else data.X
    X = np.hstack([X, rng.normal(size=(len(X), round(1.2 * X.shape[1])))[:, : round(cell["noise"] * X.shape[1])]])
    train, test = split_rows(data.y, TEST_SHARE, int(rng.integers(2**31)))
    seen, unseen = standardised(X[train], X[test])
    bank = xu_bank().fit(seen)
    kernels, test_kernels = bank.stack(), bank.stack(unseen)
    traces = np.trace(kernels, axis1=1, axis2=2)[:, None, None]
    kernels /= traces
    test_kernels /= traces
    return Split(kernels, data.y[train], test_kernels, data.y[test])


def problems_of(method: str, kernels: int, setting: Setting) -> list[Problem]:
    """The problems among which a method's own parameter chooses."""
    if method not in OWN:
        return [Problem(method)]
    found = []
    for value in own_grid(method, setting):
        own = 1 / (value * kernels) if method == "sm1" and value else value
        end = ENDS.get((method, value))
        found.append(Problem(end) if end else Problem(method, ((NAMES[method], own),)))
    return found


def run(cell: Cell, setting: Setting) -> dict[str, Any]:
    """All methods on one split: {method: results}."""
    split = prepared(cell, setting)
    count = len(split.kernels)
    seed = int(setting.rng("xu folds", cell["data"], cell["split"]).integers(2**31))
    contest = Contest(split, split.folds(folds(setting), seed), prices(setting))
    methods = {m: problems_of(m, count, setting) for m in (NOISE_METHODS if cell["noise"] else METHODS)}
    wanted = list(dict.fromkeys(problem for problems in methods.values() for problem in problems))
    contest.hold_out(problem for problem in wanted if problem.formulation not in UNIFORM)
    for name in {problem.formulation for problem in wanted} & set(UNIFORM):
        contest.hold_out([Problem("svm")], uniform(name, count), tag=Problem(name))
    fitted: dict[Any, Model] = {}
    results = {method: judged(contest, problems, fitted) for method, problems in methods.items()}
    if not cell["noise"]:
        contest.hold_out([Problem("svm")], np.full(count, len(split.targets) / count), tag=LONGER)
        results[LONGER] = judged(contest, [LONGER], fitted)
    return {"of": count, "worst_fold_gap": contest.worst_gap, "methods": results}


def uniform(name: str, count: int) -> np.ndarray:
    return np.full(count, 1 / count ** UNIFORM[name])


def judged(contest: Contest, tags: list[Any], fitted: dict[Any, Model]) -> dict[str, Any]:
    """The best of some problems by its held-out accuracy, fitted on all training samples, on the test samples."""
    tag, price = contest.best(tags)
    if (tag, price) not in fitted:
        count, n = contest.split.kernels.shape[:2]
        if tag == LONGER:
            fitted[tag, price] = contest.fit(Problem("svm"), price, np.full(count, n / count))
        elif tag.formulation in UNIFORM:
            fitted[tag, price] = contest.fit(Problem("svm"), price, uniform(tag.formulation, count))
        else:
            fitted[tag, price] = contest.fit(tag, price)
    model = fitted[tag, price]
    return {
        "accuracy": 100 * contest.split.accuracy(model),
        "held_out": 100 * contest.scores[tag, price],
        "kernels": model.kernels,
        "cpu_seconds": model.seconds,
        "gap": model.gap,
        "chosen": {"problem": tag if tag == LONGER else tag.formulation, "C": price, **dict(getattr(tag, "own", ()))},
    }


EXPERIMENT = Experiment(
    "xu", "Soft margin multiple kernel learning (Xu et al. 2013, Tables I and II, Figures 1 and 2)", cells, run, page,
    protocol, data_sets,
)  # fmt: skip
