"""group_lasso: the price at which it is l1, the one from which on f = 0, and the group lasso of features."""

import numpy as np
import pytest

from checks import value_of
from features import GROUPS, features, group_lasso, linear
from mklcvx import Instance, solve, zoo
from mklcvx.formulations import get


@pytest.mark.parametrize("share", [0.02, 0.3, 0.8])
def test_linear_kernels_of_groups_make_the_group_lasso_of_the_features(share):
    """A witness that knows nothing of kernels; celer and skglm agree with both to 1e-10 of the value."""
    x, y = features()
    lam = share * np.sqrt(np.max(np.bincount(GROUPS, weights=(x.T @ (y - y.mean())) ** 2)))
    expected, norms, _ = group_lasso(x, y, lam)
    solution = solve(Instance(linear(x), response=y), "group_lasso", loss="squared", C=1.0, lam=lam)
    assert solution.status == "certified"
    assert value_of(solution) == pytest.approx(expected, rel=1e-8)
    assert solution.norms == pytest.approx(norms, abs=1e-6)


@pytest.mark.parametrize("solver", ["interior", "clarabel"])
def test_with_the_hinge_f_vanishes_where_some_multipliers_of_the_constant_allow_it(solver):
    """Classes of unequal size: the larger one's α are free, and λ_max is the least that any choice of them reaches."""
    instance = zoo.imbalanced(30, 4, seed=2)
    minority = min((instance.y > 0).sum(), (instance.y < 0).sum())
    task, _ = get("group_lasso").task(instance, {"C": 1.0})
    even = np.where(instance.y == np.sign(instance.y.sum()), minority / (30 - minority), 1.0)
    lam = 1.0001 * float(task.root_q(even).max())  # one choice of α⁰: λ_max is at most this
    solution = solve(instance, "group_lasso", solver=solver, C=1.0, lam=lam)
    assert solution.status == "certified"
    assert solution.norms.max() <= 1e-9
    assert value_of(solution) == pytest.approx(2 * minority)


def test_an_alpha_that_sees_too_much_is_shortened():
    instance = zoo.random(16, 3, seed=1)
    formulation = get("group_lasso")
    task, _ = formulation.task(instance, {"C": 1.0, "lam": 0.5})
    alpha = task.feasible(np.full(16, 0.9))
    found = formulation.lower(task, alpha)
    assert task.root_q(alpha).max() > 0.5
    assert found.roots.max() == pytest.approx(0.5, rel=1e-12)
    assert found.value == pytest.approx(alpha.sum() * 0.5 / task.root_q(alpha).max())
