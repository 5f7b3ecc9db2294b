"""Block coordinate descent for the group lasso."""

import numpy as np
import pytest

from checks import check_status
from mklcvx import Instance, solve
from mklcvx.solvers.published.group_lasso_bcd import GroupLassoBCD

REAL = ("squared", "huber", "squared_epsilon_insensitive")
RNG = np.random.default_rng(5)
X = RNG.normal(size=(30, 8))
KERNELS = np.stack([X[:, 2 * j : 2 * j + 2] @ X[:, 2 * j : 2 * j + 2].T for j in range(4)])
RESPONSE = X[:, 0] - 2 * X[:, 1] + 0.1 * RNG.normal(size=30) + 1.0


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("loss", GroupLassoBCD.losses)
def test_it_certifies_every_smooth_loss(loss, bias):
    targets = {"response": RESPONSE} if loss in REAL else {"y": np.sign(RESPONSE - 1)}
    instance = Instance(KERNELS, **targets)
    given = {"loss": loss, "C": 1.0, "lam": 2.0, "bias": bias}
    solution = solve(instance, "group_lasso", solver="group_lasso_bcd", **given)
    witness = solve(instance, "group_lasso", solver="clarabel", **given)
    check_status(solution, 1e-6)
    assert solution.objective == pytest.approx(witness.objective, rel=2e-6)
    assert 0 < np.count_nonzero(solution.norms > 1e-9) < 4


def test_no_step_raises_the_objective():
    uppers = []
    solve(
        Instance(KERNELS, response=RESPONSE), "group_lasso", solver="group_lasso_bcd", loss="squared", lam=0.5,
        tol=1e-12, max_iter=25, callback=lambda row: uppers.append(row.upper) and None,
    )  # fmt: skip
    assert len(uppers) > 10
    assert (np.diff(uppers) <= 1e-12).all()
