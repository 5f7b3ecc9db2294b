"""Decision values of all answers within ε: against the largest and least ones that a conic program finds."""

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import mklcvx
from mklcvx import Instance, solve, zoo
from mklcvx.verification.case import pose_solved
from mklcvx.verification.sure_values import _rows

WHOLE = zoo.random(16, 3, seed=4)
TRAINING, NEW = slice(0, 14), slice(14, 16)
INSTANCE = Instance(WHOLE.kernels[:, TRAINING, TRAINING], WHOLE.y[TRAINING])
KERNELS, DIAGONALS = WHOLE.kernels[:, NEW, TRAINING], WHOLE.kernels[:, NEW, NEW].diagonal(axis1=1, axis2=2)
REGULARISERS = {
    "l1": lambda mu: (0.0, [cp.sum(mu) == 1]),
    "sm2": lambda mu: (cp.sum_squares(mu) / 2, [cp.sum(mu) == 1]),
    "l2": lambda mu: (0.0, [cp.norm(mu) <= 1]),
    "average": lambda mu: (0.0, [mu == 1 / 3]),
}


def extreme_values(level, name, bias=True, share=None):
    """The least and largest f(x) + b of new samples over all answers that cost at most a level, or f(x) − ρ where a
    share ν of the samples, which have no targets, is left out: functions in the space of all samples, C = 1."""
    roots = []
    for kernel in WHOLE.kernels:
        values, vectors = np.linalg.eigh(kernel)
        roots.append(vectors * np.sqrt(np.maximum(values, 0.0)))
    w, mu, b = [cp.Variable(16) for _ in roots], cp.Variable(3, nonneg=True), cp.Variable()
    price, limits = REGULARISERS[name](mu)
    values = sum(root @ part for root, part in zip(roots, w, strict=True)) + b
    risk = cp.sum(cp.pos(1 - cp.multiply(INSTANCE.y, values[TRAINING])))
    if share is not None:  # ρ = −b
        risk = cp.sum(cp.pos(-values[TRAINING])) / (share * 14) + b
    ratios = cp.Variable(3)
    cones = [cp.quad_over_lin(part, mu[m]) <= ratios[m] for m, part in enumerate(w)]
    limits = [*limits, *cones, cp.sum(ratios) / 2 + price + risk <= level, *([] if bias else [b == 0])]
    ways = cp.Minimize, cp.Maximize
    return np.array([[cp.Problem(way(values[i]), limits).solve(solver="CLARABEL") for way in ways] for i in (14, 15)])


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")
@pytest.mark.parametrize("share", [0.3, 0.5])
def test_without_targets_it_is_what_lies_beyond_the_threshold(share):
    instance, tolerance = Instance(INSTANCE.kernels), 1e-4
    solution = solve(instance, "l1", nu=share)
    certificate = solution.certificate
    low, high = mklcvx.decision_interval(instance, solution, KERNELS, DIAGONALS, tolerance=tolerance).T
    least, most = extreme_values(certificate.lower + tolerance * certificate.base, "l1", share=share).T
    own = solution.decision_function(KERNELS)
    assert ((low <= np.minimum(own, least + 1e-6)) & (high >= np.maximum(own, most - 1e-6))).all()
    assert (high - low < 1).all()


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", REGULARISERS)
def test_no_answer_within_the_tolerance_lies_outside(name, bias):
    own, tolerance = {"theta": 1.0} if name == "sm2" else {}, 1e-4
    solution = solve(INSTANCE, name, C=1.0, bias=bias, **own)
    certificate = solution.certificate
    narrow = mklcvx.narrow_weights(INSTANCE, solution, tolerance=tolerance)
    given = (INSTANCE, solution, KERNELS, DIAGONALS)
    low, high = mklcvx.decision_interval(*given, tolerance=tolerance, weights_interval=narrow).T
    least, most = extreme_values(certificate.lower + tolerance * certificate.base, name, bias).T
    assert ((low <= least + 1e-6) & (high >= most - 1e-6)).all()
    values = solution.decision_function(KERNELS)
    assert ((low <= values) & (values <= high)).all()
    assert (high - low <= 20 * (most - least)).all()
    wide = mklcvx.decision_interval(*given, tolerance=tolerance).T
    assert (wide[0] <= low).all()
    assert (wide[1] >= high).all()


def test_labels_are_sure_at_the_gap():
    solution = solve(INSTANCE, "sm2", C=1.0)
    low, high = mklcvx.decision_interval(INSTANCE, solution, KERNELS, DIAGONALS).T
    assert (low * high > 0).all()
    assert (np.sign(low) == solution.predict(KERNELS)).all()


def test_nothing_is_said_where_nothing_holds():
    given = (KERNELS, DIAGONALS)
    assert mklcvx.decision_interval(INSTANCE, solve(INSTANCE, "li"), *given) is None
    assert mklcvx.decision_interval(INSTANCE, solve(INSTANCE, "sm2", loss="logistic"), *given) is None
    assert mklcvx.decision_interval(INSTANCE, solve(INSTANCE, "sm2", nu=0.4), *given) is None
    free = solve(INSTANCE, "sm2", loss="logistic", bias=False)
    low, high = mklcvx.decision_interval(INSTANCE, free, *given).T
    assert ((low <= free.decision_function(KERNELS)) & (free.decision_function(KERNELS) <= high)).all()


def test_entries_that_are_products_of_factors_have_an_error_of_their_own():
    """Long rows that are nearly orthogonal: a product keeps none of its digits."""
    rng, low, high = np.random.default_rng(1), [], []
    for _ in range(2):
        columns = rng.normal(size=(12, 3)) * [1e8, 1e8, 1.0]
        columns[1::2] = columns[::2] @ [[0, 1, 0], [-1, 0, 0], [0, 0, 1]] + rng.normal(size=(6, 3))
        low.append(columns)
    instance = Instance(mklcvx.LowRank(low), np.tile([1, -1], 6))
    task = pose_solved(instance, solve(instance, "sum", C=1e-20)).task
    rows, lost = _rows(task, np.arange(0, 12, 3))
    for m, i, j in np.ndindex(rows.shape):
        exact = sum((Fraction(x) * Fraction(y) for x, y in zip(low[m][3 * i], low[m][j], strict=True)), Fraction(0))
        assert abs(Fraction(rows[m, i, j]) - exact) <= Fraction(lost[m, i, j])
        high.append(abs(Fraction(rows[m, i, j]) - exact) > 16 * Fraction(abs(rows[m, i, j])) / 2**53)
    assert any(high)  # more than room for sums would pay
    dense = Instance(np.array([f @ f.T for f in low]), instance.y)
    assert not _rows(pose_solved(dense, solve(dense, "sum", C=1e-20)).task, np.arange(3))[1].any()
