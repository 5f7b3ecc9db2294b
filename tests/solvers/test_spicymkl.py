"""SpicyMKL for the group lasso: proximal steps that certify, derivatives, and what it refuses."""

import numpy as np
import pytest

from checks import check_same_function, check_status
from mklcvx import Instance, formulations, solve, zoo
from mklcvx.solvers.driver import Problem
from mklcvx.solvers.published.spicymkl import Augmented, SpicyMKL
from mklcvx.zoo import regression
from refusals import check_refused

NOISY = regression.noisy(24, 6, 5)
K, R = NOISY.kernels, NOISY.response
PRICES = 1 + np.arange(24) % 3 / 2
INSTANCES = {
    "squared": Instance(K, response=R, sample_weight=PRICES),
    "logistic": Instance(K, np.where(np.median(R) < R, 1, -1), sample_weight=PRICES),
    "poisson": Instance(K, response=np.floor(2 * (R - R.min())), sample_weight=PRICES),
}
over_losses = pytest.mark.parametrize("loss", SpicyMKL.losses)
over_biases = pytest.mark.parametrize("bias", [True, False])


def largest_price(loss: str, bias: bool, C: float = 1.0) -> float:
    """λ_max: the α of the best constant function."""
    task, _ = formulations.get("group_lasso").task(INSTANCES[loss], {"loss": loss, "C": C, "bias": bias})
    b = task.risk(np.zeros(24)).bias
    alpha = task.box * {
        "squared": task.y - b, "poisson": task.y - np.exp(b), "logistic": 1 / (1 + np.exp(task.y * b))
    }[loss]  # fmt: skip
    return float(task.root_q(task.feasible(alpha)).max())


def by_spicymkl(instance: Instance, **given):
    return solve(instance, "group_lasso", solver="spicymkl", **given)


@over_losses
@over_biases
@pytest.mark.parametrize("share", [0.01, 0.3, 0.9])
def test_it_certifies_in_a_few_steps_whatever_the_price(loss, bias, share):
    for C in (1e-3, 1e3):
        given = {"loss": loss, "bias": bias, "C": C, "lam": share * largest_price(loss, bias, C)}
        solution = by_spicymkl(INSTANCES[loss], tol=1e-8, **given)
        witness = solve(INSTANCES[loss], "group_lasso", solver="clarabel", **given)
        check_status(solution, 1e-8)
        assert solution.iterations <= 15
        assert solution.objective == pytest.approx(witness.objective, rel=2e-8)
        check_same_function(solution, witness, K)


@over_losses
@over_biases
def test_from_the_largest_price_on_f_is_zero(loss, bias):
    lam = largest_price(loss, bias)
    beyond = by_spicymkl(INSTANCES[loss], loss=loss, bias=bias, lam=1.001 * lam)
    check_status(beyond, 1e-6)
    assert not beyond.norms.any()
    assert by_spicymkl(INSTANCES[loss], loss=loss, bias=bias, lam=0.999 * lam).norms.any()


@over_losses
@over_biases
def test_gradient_and_hessian_are_those_of_the_inner_objective(loss, bias):
    """By differences, after a step: u_m then has both parts. With a bias along s'α = 0."""
    share = 0.7 if loss == "poisson" else 0.3  # at which some kernels count, and not all
    formulation, lam = formulations.get("group_lasso"), share * largest_price(loss, bias)
    task, _ = formulation.task(INSTANCES[loss], {"loss": loss, "lam": lam, "bias": bias})
    problem, algorithm = Problem(formulation, task, 1e-8), SpicyMKL()
    state = algorithm.step(problem, algorithm.start(problem))
    inner, rng, h = Augmented(task, state), np.random.default_rng(0), 1e-4

    def at(alpha):
        return inner.at(alpha, task.matvecs(alpha * task.signs))

    def gradient(alpha):
        point = at(alpha)
        slopes = task.loss_function.gradient(alpha, task.y, task.box)
        return task.signs * (point.kept @ point.pulled) - slopes

    here = at(state.alpha)
    assert 0 < np.count_nonzero(here.kept) < 6
    step = inner._newton(here, gradient(state.alpha))
    total = task.signs @ step
    assert total == pytest.approx(0, abs=1e-9 * np.abs(step).sum()) if bias else abs(total) > 1e-9
    for _ in range(3):
        way = rng.normal(size=24) * np.minimum(1, task.box) * 0.1
        way = way - task.signs * (task.signs @ way) / 24 if bias else way
        moved = [at(state.alpha + sign * h * way).value for sign in (-1, 1)]
        assert (moved[1] - moved[0]) / (2 * h) == pytest.approx(gradient(state.alpha) @ way, rel=1e-5, abs=1e-8)
        change = (gradient(state.alpha + h * way) - gradient(state.alpha - h * way)) / (2 * h)
        assert step @ change == pytest.approx(-gradient(state.alpha) @ way, rel=1e-4, abs=1e-7)  # H step = −gradient


@over_losses
def test_problems_at_the_edge(loss):
    zero, same = np.zeros_like(K[:2]), K[[0, 0, 0]]
    for kernels in (zero, same, np.concatenate([K[:2], zero[:1]]), 1e8 * K, 1e-8 * K):
        scale = float(np.sqrt(np.abs(kernels).max())) or 1.0
        targets = INSTANCES[loss].targets
        instance = Instance(kernels, **{targets.kind: targets.values})
        check_status(by_spicymkl(instance, loss=loss, lam=scale), 1e-6)
    if loss == "squared":
        constant = Instance(K, response=np.full(24, 3.0))
        assert by_spicymkl(constant, loss=loss).objective == pytest.approx(0, abs=1e-12)


def test_options_and_refusals():
    given = {"loss": "squared", "lam": 1.0}
    slow, fast = (by_spicymkl(INSTANCES["squared"], options={"eta": eta}, **given) for eta in (1e-3, 10.0))
    check_status(slow, 1e-6)
    check_status(fast, 1e-6)
    assert slow.iterations > fast.iterations
    with check_refused("option eta = 0 is not positive: the default is 1"):
        by_spicymkl(INSTANCES["squared"], options={"eta": 0}, **given)
    with check_refused("solver spicymkl does not take loss hinge: use auto, clarabel, scs, interior"):
        by_spicymkl(zoo.random(12, 3, seed=0))
