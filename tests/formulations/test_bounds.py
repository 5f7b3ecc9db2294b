"""The penalties and conjugates of the bounds: Fenchel pairs, attained, and equal to the formulas of the theory."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import GROUPS, LOSSES, NAMES, kernel_count, own_parameters
from mklcvx import formulations
from mklcvx.formulations import RankOneCoefficients, Task
from mklcvx.formulations.losses import SQUARED

pytestmark = pytest.mark.slow

PAIRS = [(name, own) for name in NAMES for own in own_parameters(name)]
SMOOTH = [(name, own) for name, own in PAIRS if name != "group_lasso"]  # U* of that one is 0 or infinite
IDS = [f"{name}{own}" for name, own in PAIRS]


def norms(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.2, 3.0, count)


def gradient(function, x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    units = np.eye(len(x)) * step
    return np.array([(function(x + e) - function(x - e)) / (2 * step) for e in units])


@pytest.mark.parametrize(("name", "own"), PAIRS, ids=IDS)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(data=st.data())
def test_penalty_and_conjugate_satisfy_fenchels_inequality(name, own, data):
    formulation, count = formulations.get(name), kernel_count(name)
    values = st.one_of(st.just(0.0), st.floats(1e-6, 1e3))
    a = np.array(data.draw(st.lists(values, min_size=count, max_size=count)))
    d = np.array(data.draw(st.lists(values, min_size=count, max_size=count)))
    penalty, conjugate = formulation.penalty(a, **own), formulation.conjugate(d, **own)
    assert penalty + conjugate >= a @ d - 1e-12 * max(abs(penalty), abs(conjugate), a @ d)


@pytest.mark.parametrize("side", ["penalty", "conjugate"])
@pytest.mark.parametrize(("name", "own"), SMOOTH, ids=str)
def test_the_inequality_is_attained_at_the_gradients(name, own, side):
    formulation = formulations.get(name)
    sides = {"penalty": formulation.penalty, "conjugate": formulation.conjugate}
    function = sides.pop(side)
    for seed in range(4):
        x = norms(kernel_count(name), seed)
        y = np.maximum(gradient(lambda z: function(z, **own), x), 0.0)
        (other,) = sides.values()
        assert function(x, **own) + other(y, **own) == pytest.approx(x @ y, rel=2e-6)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("name", "own"), SMOOTH, ids=str)
def test_weights_turn_roots_into_norms(name, own, seed):
    """f_m = weight_m K_m(α∘y) means ‖f_m‖ = weight_m √q_m."""
    formulation = formulations.get(name)
    d = norms(kernel_count(name), seed)
    a = np.maximum(gradient(lambda x: formulation.conjugate(x, **own), d), 0.0)
    a[a < 1e-6] = 0.0
    assert formulation.weights(a, d, **own) * d == pytest.approx(a, abs=2e-5 * a.max())


def test_the_inequality_of_group_lasso_is_attained_where_every_root_is_at_its_limit():
    formulation, a = formulations.get("group_lasso"), np.array([0.5, 0.0, 2.0])
    at_limit, beyond = np.array([0.7, 0.3, 0.7]), np.array([0.7, 0.7001, 0.7])
    assert formulation.penalty(a, lam=0.7) + formulation.conjugate(at_limit, lam=0.7) == pytest.approx(a @ at_limit)
    assert formulation.weights(a, at_limit, lam=0.7) * at_limit == pytest.approx(a)
    assert formulation.conjugate(beyond, lam=0.7) == np.inf


def shares(mu: cp.Variable, r: float) -> cp.Expression:
    """rμ/(1 − (1−r)μ), in a form that is seen to be convex."""
    return mu if r == 1 else r / (1 - r) * (cp.inv_pos(1 - (1 - r) * mu) - 1)


A, D = np.array([3.0, 4.0, 0.0, 1.0]), np.array([2.0, 1.0, 4.0, 3.0])


@pytest.mark.parametrize(
    ("name", "own", "penalty", "conjugate"),
    [
        ("sum", {}, 13.0, 15.0),
        ("average", {}, 52.0, 3.75),
        ("l1", {}, 32.0, 8.0),
        ("sm1", {"theta": 0.5}, (9 / 0.5 + 16 / 0.5) / 2 + 0.0, (4.5 + 8.0) * 0.5),
        ("square", {"theta": 2.0}, 1.5 * 8 ** (-1 / 3) * (3 ** (4 / 3) + 4 ** (4 / 3) + 1), 4 + 0.25 + 64 + 20.25),
        ("l2", {}, (3 ** (4 / 3) + 4 ** (4 / 3) + 1) ** 1.5 / 2, np.sqrt(4 + 0.25 + 64 + 20.25)),
        ("lp", {"p": 3.0}, (3**1.5 + 4**1.5 + 1) ** (4 / 3) / 2, (2**1.5 + 0.5**1.5 + 8**1.5 + 4.5**1.5) ** (2 / 3)),
        ("elastic", {"l1_ratio": 1.0}, 32.0, 8.0),
        ("block_elastic", {"l1_ratio": 1.0}, 32.0, 8.0),
        ("block_elastic", {"l1_ratio": 0.0}, 13.0, 15.0),
        ("block_elastic", {"l1_ratio": 0.5}, 22.5, (49 + 25 + 4) / 9),  # τ = 7/3: two are above it
        ("group_lasso", {"lam": 4.0}, 32.0, 0.0),
        ("group_lasso", {"lam": 3.9}, 31.2, np.inf),
        ("li", {}, 16.0, 25.0),
        ("ckl", {"groups": GROUPS}, 49.0, 81 / 4),
        ("vskl", {"groups": GROUPS, "s": 3.0}, (343 + 1) ** (2 / 3) / 2, (2**1.5 + 4**1.5 + 3**1.5) ** (4 / 3) / 2),
    ],
)
def test_values_worked_out_by_hand(name, own, penalty, conjugate):
    formulation = formulations.get(name)
    if name == "sm1":  # θ = ½ caps the two largest: nothing is left for the last, so take it out of use
        assert formulation.penalty(np.array([3.0, 4.0, 0.0, 0.0]), **own) == pytest.approx(penalty)
    else:
        assert formulation.penalty(A, **own) == pytest.approx(penalty)
    assert formulation.conjugate(D, **own) == pytest.approx(conjugate)


def test_the_penalty_of_sm1_is_the_k_support_norm():
    """At θ = 1/k: k/2 times the squared k-support norm of Argyriou et al. 2012, by their formula."""
    a, k = np.array([5.0, 3.0, 1.0, 0.5]), 2
    down = np.sort(a)[::-1]
    values = []
    for r in range(k):  # Proposition 2.1 there: the right r satisfies two inequalities
        tail = down[k - r - 1 :].sum() / (r + 1)
        if (k - r - 2 < 0 or down[k - r - 2] > tail) and tail >= down[k - r - 1]:
            values.append(np.sum(down[: k - r - 1] ** 2) + (r + 1) * tail**2)
    assert len(values) == 1
    assert formulations.get("sm1").penalty(a, theta=1 / k) == pytest.approx(k / 2 * values[0])


@pytest.mark.parametrize(
    ("theta", "a", "weights"),
    [
        (0.5, [5.0, 3.0, 2.0, 0.0], [0.5, 0.3, 0.2, 0.0]),
        (0.4, [9.0, 3.0, 3.0, 0.0], [0.4, 0.3, 0.3, 0.0]),
        (0.25, [9.0, 3.0, 3.0, 0.0], [0.25, 0.25, 0.25, 0.25]),
        (0.5, [1.0, 0.0, 0.0, 0.0], [0.5, 1 / 6, 1 / 6, 1 / 6]),
        (1.0, [0.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25]),
        (0.3, [4.0, 4.0, 1.0, 0.0], [0.3, 0.3, 0.3, 0.1]),
    ],
)
def test_capped_weights_of_sm1(theta, a, weights):
    """Lemma 8 with ties, zeros and at θ = 1/M."""
    found = formulations.get("sm1").weights(np.array(a), np.ones(4), theta=theta)
    assert found == pytest.approx(weights)


@pytest.mark.parametrize(
    ("name", "own", "shares"),
    [("l1", {}, A), ("l2", {}, A ** (2 / 3)), ("lp", {"p": 3.0}, A**0.5), ("square", {"theta": 2.0}, A ** (2 / 3))],
)
def test_weights_follow_the_norms_where_some_vanish(name, own, shares):
    """a = (3, 4, 0, 1): the third kernel gets nothing, the others in proportion to a power of their norms."""
    weights = formulations.get(name).weights(A, D, **own)
    assert weights / weights.sum() == pytest.approx(shares / shares.sum())


@pytest.mark.parametrize(("name", "own"), PAIRS, ids=IDS)
def test_the_zero_function_has_the_least_penalty_and_weights_that_are_feasible(name, own):
    formulation, zero = formulations.get(name), np.zeros(kernel_count(name))
    penalty = formulation.penalty(zero, **own)
    weights = formulation.weights(zero, zero, **own)
    assert penalty == pytest.approx(-formulation.conjugate(zero, **own), abs=1e-12)
    assert np.isfinite(weights).all()
    assert (weights >= 0).all()
    if name in ("l1", "sm1", "sm2", "smp"):
        assert weights == pytest.approx(np.full(4, 0.25))
    if name == "l2":
        assert weights == pytest.approx(np.full(4, 0.5))
    if name == "lp":
        assert weights == pytest.approx(np.full(4, 4 ** (-1 / own["p"])))


WITH_TAU = ("l1", "sm1", "sm2", "smp", "l2", "lp", "elastic", "block_elastic")


def dual_cost(name, theta=0.0, p=2.0, l1_ratio=0.0):
    """What a level τ costs at D where slacks beyond it have a price: R* is the least of it."""
    v, r = D**2 / 2, l1_ratio
    return {
        "sm1": lambda level: level + theta * np.maximum(v - level, 0).sum(),
        "sm2": lambda level: level + theta / 2 * (np.maximum(v - level, 0) ** 2).sum(),
        "smp": lambda level: level + theta / 2 * (np.maximum(v - level, 0) ** (p / (p - 1))).sum(),
        "elastic": lambda level: level + np.sum(np.maximum(v - r * level, 0) ** 2) / (4 * (1 - r) * level),
        "block_elastic": lambda level: level**2 / (2 * r) + np.sum(np.maximum(D - level, 0) ** 2) / (2 * (1 - r)),
    }[name]


@pytest.mark.parametrize(("name", "own"), [pair for pair in PAIRS if pair[0] in WITH_TAU])
def test_tau_makes_the_dual_cost_least(name, own):
    formulation = formulations.get(name)
    found = formulation.multipliers(A, D, **own)
    tau, conjugate, ratio = found["tau"], formulation.conjugate(D, **own), own.get("l1_ratio", 0.5)
    if name in ("l1", "l2", "lp") or (name, ratio) == ("elastic", 1.0):
        assert tau == pytest.approx(conjugate)
    elif name == "block_elastic" and ratio in (0.0, 1.0):
        assert tau == (D.max() if ratio else 0.0)
    else:
        cost = dual_cost(name, **own)
        assert cost(tau) == pytest.approx(conjugate)
        assert cost(tau) <= min(cost(tau * 0.99), cost(tau * 1.01)) + 1e-12
    if name in ("sm1", "sm2", "smp"):
        assert found["zeta"] == pytest.approx(np.maximum(D**2 / 2 - tau, 0))


def test_multipliers_of_li_ckl_vskl_and_square():
    li = formulations.get("li").multipliers(A, D)
    assert li["lambda"] == pytest.approx(D / 10)
    assert formulations.get("li").multipliers(A, 0 * D)["lambda"] == pytest.approx(np.full(4, 0.25))
    assert formulations.get("li").multipliers(A, np.array([2.0, 0, 2, 0]))["lambda"] == pytest.approx([0.5, 0, 0.5, 0])
    ckl = formulations.get("ckl").multipliers(A, D, groups=GROUPS)
    assert ckl["gamma"] == pytest.approx([2 / 9, 4 / 9, 3 / 9])
    assert ckl["lambda"] == pytest.approx([3 / 7, 4 / 7, 1, 1])
    partly = formulations.get("ckl").multipliers(A, np.array([2.0, 1, 0, 2]), groups=GROUPS)
    assert partly["gamma"] == pytest.approx([0.5, 0, 0.5])
    empty = formulations.get("ckl").multipliers(0 * A, 0 * D, groups=GROUPS)
    assert empty["gamma"] == pytest.approx(np.full(3, 1 / 3))
    assert empty["lambda"] == pytest.approx([0.5, 0.5, 1, 1])
    assert formulations.get("vskl").multipliers(A, D, groups=GROUPS, s=3.0)["lambda"] == pytest.approx(ckl["lambda"])
    assert formulations.get("square").multipliers(A, D, theta=1.0)["zeta"] == pytest.approx(D**2 / 2)


def test_weights_of_li_ckl_and_vskl_where_a_kernel_is_not_seen():
    a, d = np.array([1.0, 1.0, 0.0]), np.array([2.0, 0.0, 0.0])
    li = formulations.get("li").weights(a, d)
    assert li[0] == 0.5
    assert np.isnan(li[1])
    assert li[2] == 0
    ckl = formulations.get("ckl").weights(a, d, groups=np.array([0, 1, 1]))
    assert ckl[0] == 0.5
    assert np.isnan(ckl[1])
    assert ckl[2] == 0
    assert formulations.get("vskl").weights(a * [1, 0, 0], d, groups=np.array([0, 1, 1]), s=3.0) == pytest.approx(
        [1.0, 0.0, 0.0]
    )


@pytest.mark.parametrize(("name", "loss"), LOSSES)
@pytest.mark.parametrize("bias", [True, False])
@settings(max_examples=25, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), size=st.floats(-3, 3))
def test_random_points_never_violate_weak_duality(name, loss, bias, seed, size):
    formulation, count, n = formulations.get(name), kernel_count(name), 7
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(count, n, rng.integers(1, n + 1)))
    y = np.where(rng.permutation(n) < 3, 1.0, -1.0)
    box = rng.uniform(0.5, 1.5, n) if loss == "c" else np.full(n, 1 / (0.6 * n))
    own = own_parameters(name)[seed % len(own_parameters(name))]
    task = Task(factors @ factors.transpose(0, 2, 1), y, box, loss, bias, own)
    alpha = rng.uniform(-0.2, 1.2, n) * box * rng.integers(0, 2, n)
    lower = formulation.lower(task, alpha)
    coefficients = [rng.normal(size=(count, n)) * 10**size]
    weights = formulation.weights(lower.roots, lower.roots, **own)
    if np.isfinite(weights).all():
        coefficients.append(np.outer(weights, lower.alpha * y))
    for c in coefficients:
        upper = formulation.upper(task, c)
        assert lower.value <= upper.value + 1e-12 * max(lower.largest_term, upper.largest_term)


def test_bounds_report_their_largest_term():
    formulation = formulations.get("sum")
    task = Task(np.eye(4)[None], np.array([1.0, 1, -1, -1]), np.full(4, 2.0))
    lower = formulation.lower(task, np.full(4, 2.0))
    assert lower.value == 8 - 8
    assert lower.largest_term == 8
    upper = formulation.upper(task, np.array([[3.0, 0, 0, 0]]))
    assert upper.value == pytest.approx(4.5 + upper.risk.value)
    assert upper.largest_term == max(4.5, upper.risk.value)


def test_the_size_to_compare_with_is_that_of_the_penalties():
    """U(‖f‖) + U*(√q) = Σ ‖f_m‖ √q_m where f_m = μ_m K_m(α∘y): no constant, no offset, no floor enters."""
    task = Task(np.array([[[1.0, -1], [-1, 1]]]), np.array([1.0, -1]), np.full(2, 0.5), "nu", own={"theta": 1.0})
    for name in ("sm2", "l1"):
        formulation = formulations.get(name)
        own = replace(task, own={"theta": 1.0} if name == "sm2" else {})
        lower = formulation.lower(own, np.full(2, 0.5))
        upper = formulation.upper(own, RankOneCoefficients(np.ones(1), np.array([0.5, -0.5])))
        assert formulation.scale(lower, upper) == pytest.approx(1.0)
        assert formulation.scale(lower, formulation.upper(own, np.zeros((1, 2)))) == 0


FOUR = np.stack([np.eye(2)] * 4)


@pytest.mark.parametrize(
    ("name", "task", "alpha", "value", "largest"),
    [
        ("sum", Task(np.eye(2)[None], np.array([1.0, -1]), np.full(2, 1e-3)), [1e-3, 1e-3], 2e-3 - 1e-6, 2e-3),
        # sm2 at α = 0: U*(0) = −R of even weights = −1/(2θM)
        ("sm2", Task(FOUR, np.array([1.0, -1]), np.ones(2), own={"theta": 0.5}), [0, 0], 0.25, 0.25),
        # squared at α = ±4 beyond y = 0: the gain is −Σ α²/2, and a kernel that sees nothing costs nothing
        ("l1", Task(np.zeros((1, 2, 2)), np.zeros(2), np.ones(2), SQUARED), [4, -4], -16, 16),
    ],
)
def test_every_term_counts_with_its_size_and_nothing_else_does(name, task, alpha, value, largest):
    lower = formulations.get(name).lower(task, np.array(alpha, dtype=float))
    assert (lower.value, lower.largest_term) == (pytest.approx(value), pytest.approx(largest))


@pytest.mark.parametrize("loss", ["c", "nu"])
def test_points_at_hand_are_the_zero_function_and_the_feasible_point_nearest_to_zero(loss):
    """f = 0 pays the smaller class's box twice with loss c and nothing with loss nu; α = 0 proves 0 with loss c."""
    y, box = np.array([1.0, -1, -1]), np.array([0.5, 0.4, 0.6])
    task = Task(np.eye(3)[None], y, box, loss)
    formulation = formulations.get("l1")
    (alpha,), (coefficients,) = formulation.trivial_points(task)
    assert formulation.upper(task, coefficients).value == pytest.approx(1.0 if loss == "c" else 0.0)
    assert not coefficients.weights.any()  # where weights are priced, those of the zero function cost nothing
    lower = formulation.lower(task, alpha)
    assert lower.alpha == pytest.approx([0, 0, 0] if loss == "c" else [0.5, 0.2, 0.3])
    assert lower.value == pytest.approx(0 if loss == "c" else -(0.25 + 0.04 + 0.09) / 2)
