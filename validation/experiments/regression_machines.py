"""The contestants of the regression experiment: certified MKL, scikit-learn's machines, and himalaya's kernel ridge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold
from sklearn.svm import SVR

import mklcvx
from _views import Array
from mklcvx import Instance
from regression_contest import Contestant, Fit, Grid, Parameters, Split

TOLERANCE = 1e-8
ROUGH = (1e-1, 1e-2, 1e-3)
FORMULATIONS: dict[str, dict[str, float]] = {"average": {}, "l1": {}, "elastic": {"l1_ratio": 0.5}, "l2": {}}
LOSSES = ("squared", "epsilon_insensitive", "huber")
RANDOM, GRADIENT = "himalaya, random search", "himalaya, hyper-gradient"
# Its defaults, but for the start and the number of steps: on a fold of diabetes its 10 leave weights near uniform.
SEARCHES = {
    RANDOM: ("random_search", {"n_iter": 100}),
    GRADIENT: ("hyper_gradient", {"max_iter": 100, "initial_deltas": "ridgecv"}),
}


# ----------------------------------------------------------------------------------------------------------------- MKL
def multiple(formulation: str, loss: str, grid: Grid, joint: bool = True) -> Contestant:
    """A formulation with a loss; with `joint` all outputs share their kernel weights."""
    own = FORMULATIONS[formulation]

    def fits(split: Split, grid: Grid) -> Iterator[tuple[Parameters, Fit]]:
        path = mklcvx.solve_path(instance(split), formulation, grid, solver="interior", tol=TOLERANCE, loss=loss, **own)
        for parameters, solution in zip(path.grid, path.solutions, strict=True):
            yield dict(parameters), fit(solution, split)

    def witness(split: Split, parameters: Parameters, fit: Fit) -> float | None:
        return apart(split, loss, parameters, fit)

    return Contestant(named(formulation, loss, joint), grid, fits, joint, witness)


def named(formulation: str, loss: str, joint: bool = True) -> str:
    return f"{formulation}, {loss}" + ("" if joint else ", weights per target")


def instance(split: Split) -> Instance:
    targets = split.targets
    return Instance(split.kernels, response=targets.ravel() if targets.shape[1] == 1 else targets)


def fit(solution: mklcvx.Solution, split: Split) -> Fit:
    predicted = solution.decision_function(split.to_test).reshape(split.truth.shape)
    return Fit(predicted, solution.weights, solution.certificate.relative_gap, solution.certified)


def apart(split: Split, loss: str, parameters: Parameters, fit: Fit) -> float | None:
    """From scikit-learn's machine with the learned kernel, the largest difference of predictions."""
    if loss == "huber":  # has none
        return None
    kernel, to_test = mixed(split.kernels, fit.weights), mixed(split.to_test, fit.weights)
    if loss == "squared":
        theirs = KernelRidge(alpha=1 / parameters["C"], kernel="precomputed").fit(kernel, split.targets)
        return float(np.abs(theirs.predict(to_test) - fit.predicted).max())
    machine = SVR(C=parameters["C"], epsilon=parameters["epsilon"], kernel="precomputed", tol=1e-8)
    predicted = np.stack([machine.fit(kernel, y).predict(to_test) for y in split.targets.T], axis=1)
    return float(np.abs(predicted - fit.predicted).max())


def mixed(kernels: Array, weights: Array | None) -> Array:
    assert weights is not None
    return np.asarray(np.tensordot(weights, kernels, axes=1))


def roughly(split: Split, formulation: str, loss: str, parameters: Parameters) -> list[dict[str, Any]]:
    """The same problem with wider gaps: how far weights and predictions are from those at the narrow one."""

    def solved(tolerance: float) -> tuple[mklcvx.Solution, Fit]:
        given = {**FORMULATIONS[formulation], **parameters, "loss": loss}
        solution = mklcvx.solve(instance(split), formulation, solver="interior", tol=tolerance, **given)
        return solution, fit(solution, split)

    exact, made = solved(TOLERANCE)[1], []
    for tolerance in (*ROUGH, TOLERANCE):
        solution, found = solved(tolerance)
        made.append({
            "loss": loss,
            "asked": tolerance,
            "gap": found.gap,
            "kernels": len(solution.used(1e-4)),
            "weights_moved": np.abs(found.weights - exact.weights).sum() / exact.weights.sum(),
            "predictions_moved": np.sqrt(np.mean((found.predicted - exact.predicted) ** 2)),
            "errors": split.errors(found.predicted),
        })  # fmt: skip
    return made


# -------------------------------------------------------------------------------------------------------- scikit-learn
def ridge(kernels: Sequence[int], grid: Grid) -> Contestant:
    """One kernel of the stack, chosen with C; kernels and targets are centred, so that no bias is missed."""

    def fits(split: Split, grid: Grid) -> Iterator[tuple[Parameters, Fit]]:
        for parameters in points(grid):
            machine = KernelRidge(alpha=1 / parameters["C"], kernel="precomputed")
            yield parameters, single(machine, split, parameters["kernel"])

    return Contestant("KernelRidge", {"kernel": kernels, **grid}, fits)


def support_vectors(kernels: Sequence[int], grid: Grid) -> Contestant:
    def fits(split: Split, grid: Grid) -> Iterator[tuple[Parameters, Fit]]:
        for parameters in points(grid):
            machine = SVR(C=parameters["C"], epsilon=parameters["epsilon"], kernel="precomputed")
            yield parameters, single(machine, split, parameters["kernel"])

    return Contestant("SVR", {"kernel": kernels, **grid}, fits)


def mean() -> Contestant:
    """The mean of the training targets."""

    def fits(split: Split, grid: Grid) -> Iterator[tuple[Parameters, Fit]]:
        yield {}, Fit(np.zeros(split.truth.shape))

    return Contestant("mean", {}, fits, joint=True)


def single(machine: Any, split: Split, kernel: int) -> Fit:
    return Fit(machine.fit(split.kernels[kernel], split.targets.ravel()).predict(split.to_test[kernel]))


def points(grid: Grid) -> Iterator[Parameters]:
    for values in product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


# ------------------------------------------------------------------------------------------------------------ himalaya
def himalaya_is_installed() -> bool:
    return find_spec("himalaya") is not None


def himalaya(name: str, prices: Sequence[float], folds: KFold, seed: int) -> Contestant:
    """Multiple-kernel ridge, which chooses weights and price for the inner folds' error by itself."""
    solver, options = SEARCHES[name]

    def fits(split: Split, grid: Grid) -> Iterator[tuple[Parameters, Fit]]:
        from himalaya.kernel_ridge import MultipleKernelRidgeCV

        given = {**options, "progress_bar": False}
        if name == RANDOM:
            given["alphas"] = 1 / np.array(prices)
        machine = MultipleKernelRidgeCV(
            kernels="precomputed", solver=solver, solver_params=given, cv=folds, random_state=seed
        )
        with np.errstate(invalid="ignore"):  # its conjugate gradients divide 0 by 0 once they are done
            machine.fit(split.kernels, split.targets)
        yield {}, Fit(np.asarray(machine.predict(split.to_test)), np.exp(machine.deltas_[:, 0]))

    return Contestant(name, {}, fits, witness=ours_at_its_weights)


def ours_at_its_weights(split: Split, parameters: Parameters, fit: Fit) -> float:
    """himalaya's price is 1: its weights have it."""
    kernel, to_test = mixed(split.kernels, fit.weights)[None], mixed(split.to_test, fit.weights)[None]
    solution = mklcvx.solve(Instance(kernel, response=split.targets.ravel()), "svm", loss="squared", C=1.0)
    return float(np.abs(solution.decision_function(to_test) - fit.predicted.ravel()).max())
