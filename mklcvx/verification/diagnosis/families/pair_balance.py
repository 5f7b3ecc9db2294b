"""The balance of two stages: what the pairs pull at each kernel, against the slope of the penalty of the weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....problem.stack import Array
from ...case import Case

IDLE = 1e-6  # share of the largest weight up to which a kernel is not used
MET = 1e-6  # distance from its margin at which a pair meets it


def balancing(case: Case, mu: Array) -> Array:
    """β with which the pairs pull as the penalty asks for, as nearly as can be."""
    from scipy.optimize import lsq_linear

    beta, met, pulls, left = _pull(case, mu)
    if pulls.size:
        ends = np.zeros(len(met)), np.asarray(case.task.weight)[met]
        beta[met] = np.clip(lsq_linear(pulls, slopes(case, mu)[_used(mu)] - left, bounds=ends).x, *ends)
    return beta


def balanced_price(case: Case, mu: Array) -> float | None:
    """The λ with which they do; None where too many pairs meet their margins."""
    from scipy.optimize import lsq_linear

    _, met, pulls, left = _pull(case, mu)
    if len(met) + 1 >= len(left) or not mu.any():
        return None
    system = np.hstack([(slopes(case, mu) / case.task.lam)[_used(mu)][:, None], -pulls.reshape(len(left), len(met))])
    ends = np.zeros(len(met) + 1), np.append(np.inf, np.asarray(case.task.weight)[met])
    return float(lsq_linear(system, left, bounds=ends).x[0])


def slopes(case: Case, mu: Array) -> Array:
    """Of the penalty: exact, since penalties are squares, or linear."""
    step = np.eye(len(mu)) * (float(mu.max()) or 1.0)
    sides = [[case.formulation.penalty(case.task, mu + side * unit) for unit in step] for side in (1, -1)]
    return (np.array(sides[0]) - sides[1]) / (2 * step.max())


def _used(mu: Array) -> NDArray[np.bool_]:
    return np.asarray(mu > IDLE * mu.max(initial=0.0))


def _pull(case: Case, mu: Array) -> tuple[Array, NDArray[np.intp], Array, Array]:
    """β but for the pairs that meet their margins; these pairs, what each of them pulls at the kernels that are used,
    and what the others do."""
    task, used = case.task, _used(mu)
    margins = task.margins(mu)
    met = np.flatnonzero(np.abs(margins - 1) <= MET)
    beta = np.where(margins < 1, np.asarray(task.weight), 0.0)
    beta[met] = 0.0
    pulls = (task.labels[met, None] * task.pairs.at(met))[:, used].T
    return beta, met, pulls, task.pull(beta)[used]
