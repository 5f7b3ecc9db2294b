"""One step of every algorithm against numbers worked out by hand or by a few lines of their own."""

import numpy as np
import pytest

from mklcvx import Instance, formulations, solve, zoo
from mklcvx.solvers.driver import Problem
from mklcvx.solvers.published.level import Level
from mklcvx.solvers.published.ml_mirror_prox import MLMirrorProx
from mklcvx.solvers.published.ml_sa import MLSA
from mklcvx.solvers.published.simplemkl import descent_direction
from mklcvx.solvers.published.sm2_projection import onto_simplex
from mklcvx.solvers.published.ts_pegasos import pegasos_step
from mklcvx.solvers.registry import ALGORITHMS

pytestmark = pytest.mark.slow

C = 0.7
SAMPLES, KERNELS = 24, 4
BASE = zoo.random(SAMPLES, KERNELS, seed=21)
GROUPS = np.array([0, 0, 1, 1])
SINGLE = Instance(BASE.kernels, BASE.y, groups=GROUPS)
LABELS = np.stack([BASE.y > 0, np.arange(SAMPLES) % 3 == 0, np.arange(SAMPLES) < 9], axis=1).astype(int)
MANY = Instance(BASE.kernels, labels=LABELS)
EVEN = np.full(KERNELS, 1 / KERNELS)


def algorithm(name):
    return next(a for a in ALGORITHMS if a.name == name)


def started(name, formulation, tolerance=1e-9, made=None, **given):
    """The algorithm, its problem and its first state."""
    made = made or algorithm(name)()
    chosen = formulations.get(formulation)
    instance = SINGLE if chosen.family == "single task" else MANY
    given = {"C": C, **given} if chosen.family in ("single task", "many labels") else given
    problem = Problem(chosen, chosen.task(instance, given)[0], tolerance)
    return made, problem, made.start(problem)


def svm(weights, y=BASE.y, bias=True):
    """α, the halves ½ q_m and the value of the SVM with kernel Σ weight_m K_m, by the declared program."""
    kernel = np.tensordot(weights, BASE.kernels, axes=1)
    alpha = solve(Instance(kernel[None], y), "svm", solver="clarabel", C=C, bias=bias).alpha
    signed = alpha * y
    halves = np.array([signed @ k @ signed for k in BASE.kernels]) / 2
    return alpha, halves, alpha.sum() - weights @ halves


def signs(k):
    return np.where(LABELS[:, k] > 0, 1.0, -1.0)


# ---------------------------------------------------------------------------------------------------- alternating
@pytest.mark.parametrize("p", [1.0, 1.5, 3.0])
def test_analytic(p):
    made, problem, state = started("analytic", "lp", p=p)
    first = np.full(KERNELS, KERNELS ** (-1 / p))
    assert state.weights == pytest.approx(first)
    _, halves, _ = svm(first)
    norms = first * np.sqrt(2 * halves)
    expected = norms ** (2 / (p + 1)) / np.sum(norms ** (2 * p / (p + 1))) ** (1 / p)
    assert made.step(problem, state).weights == pytest.approx(expected, rel=1e-5)


def test_sm1_bcd():
    theta = 0.3
    made, problem, state = started("sm1_bcd", "sm1", theta=theta)
    _, halves, _ = svm(EVEN)
    norms = EVEN * np.sqrt(2 * halves)
    low, high = 0.0, theta / norms.min()
    for _ in range(200):  # μ_m = min(θ, s‖f_m‖) with s such that Σμ = 1
        middle = (low + high) / 2
        low, high = (middle, high) if np.minimum(theta, middle * norms).sum() < 1 else (low, middle)
    expected = np.minimum(theta, low * norms)
    assert (expected == theta).any()
    assert made.step(problem, state).weights == pytest.approx(expected, rel=1e-5)


def test_li_alternating():
    made, problem, state = started("li_alternating", "li")
    assert state.weights == pytest.approx(np.full(KERNELS, KERNELS / 2))
    _, halves, _ = svm(state.weights)
    shares = np.sqrt(halves) / np.sqrt(halves).sum()
    assert made.step(problem, state).weights == pytest.approx(1 / (2 * shares), rel=1e-5)


@pytest.mark.parametrize("halved", [0, 1])
def test_ckl_alternating(halved):
    made, problem, state = started("ckl_alternating", "ckl", made=algorithm("ckl_alternating")(halved=halved))
    half = 2 if halved else 1
    assert state.weights == pytest.approx(np.full(KERNELS, 0.5 / 0.5 / half))
    _, halves, _ = svm(state.weights)
    largest = np.sqrt([halves[:2].max(), halves[2:].max()])
    gamma = largest / largest.sum()
    expected = np.zeros(KERNELS)
    expected[[np.argmax(halves[:2]), 2 + np.argmax(halves[2:])]] = 1 / (half * gamma)
    assert made.step(problem, state).weights == pytest.approx(expected, rel=1e-5)


# -------------------------------------------------------------------------------------------------- cutting planes
@pytest.mark.parametrize("solver", ["silp", "silp_exact"])
def test_column_generation(solver):
    """One cut: all weight goes where its score gain − ½q_m is least; with a box, to the least two."""
    made, problem, state = started(solver, "l1")
    _, halves, _ = svm(EVEN)
    assert made.step(problem, state).weights == pytest.approx(np.eye(KERNELS)[np.argmax(halves)], abs=1e-6)
    made, problem, state = started(solver, "sm1", theta=0.6)
    order = np.argsort(-halves)
    expected = np.zeros(KERNELS)
    expected[order[:2]] = 0.6, 0.4
    after = made.step(problem, state)
    assert after.weights == pytest.approx(expected, abs=1e-6)
    assert after.mix == pytest.approx([1.0, 0.0])
    assert len(after.cuts) == 2


def test_level():
    """One cut s'μ = Σ μ_m (gain − ½q_m): the step goes along −(s − mean s) until s'μ is at the level."""
    made, problem, state = started("level", "l1", made=Level(share=0.6))
    alpha, halves, value = svm(EVEN)
    scores = alpha.sum() - halves
    target = 0.6 * value + 0.4 * scores.min()
    slope = scores - scores.mean()
    expected = EVEN - slope * (EVEN @ scores - target) / (slope @ slope)
    assert (expected > 0).all()
    assert made.step(problem, state).weights == pytest.approx(expected, abs=1e-5)


# ------------------------------------------------------------------------------------------------ gradient methods
def test_the_reduced_gradient_by_hand():
    """μ₁ is the largest. D = g₁ − g = (0, 1, −1, −2); the last would leave μ ≥ 0 and is struck; D₁ balances."""
    direction = descent_direction(np.array([0.5, 0.3, 0.2, 0.0]), np.array([-1.0, -2.0, 0.0, 1.0]))
    assert direction == pytest.approx([0.0, 1.0, -1.0, 0.0])
    direction = descent_direction(np.array([0.5, 0.3, 0.2, 0.0]), np.array([-1.0, -2.0, -1.5, -3.0]))
    assert direction == pytest.approx([-3.5, 1.0, 0.5, 2.0])


def test_simplemkl_finds_the_least_value_along_its_direction():
    """Followed from corner to corner as in the paper, with the declared SVM on a fine grid for the last piece."""
    made, problem, state = started("simplemkl", "l1", 1e-6)
    after = made.step(problem, state)
    weights, (_, halves, value) = EVEN, svm(EVEN)
    direction = descent_direction(EVEN, -halves)
    while True:
        falling = direction < 0
        hit = np.flatnonzero(falling)[np.argmin(weights[falling] / -direction[falling])]
        length = weights[hit] / -direction[hit]
        corner = weights + length * direction
        corner[hit] = 0.0
        if svm(corner)[2] >= value:
            break
        weights, value = corner, svm(corner)[2]
        direction[hit] = 0.0
        direction[0] = -direction[1:].sum()
    along = [svm(weights + t * length * direction)[2] for t in np.linspace(0, 1, 41)]
    first = svm(weights)[2]
    assert after.fit.value <= first - 0.9 * (first - min(along))


def test_the_projection_onto_the_simplex_by_hand():
    assert onto_simplex(np.array([0.8, 0.6, -0.2])) == pytest.approx([0.6, 0.4, 0.0])
    assert onto_simplex(np.array([5.0, 0.0])) == pytest.approx([1.0, 0.0])
    assert onto_simplex(np.array([0.2, 0.3])) == pytest.approx([0.45, 0.55])
    assert onto_simplex(np.array([1e20, 0.0, -1e20])) == pytest.approx([1.0, 0.0, 0.0])


@pytest.mark.parametrize(
    ("name", "given", "slope"),
    [
        ("sm2", {"theta": 0.7}, EVEN / 0.7),
        ("square", {"theta": 0.7}, EVEN / 0.7),
        ("smp", {"theta": 0.7, "p": 3.0}, (2 * 2 / (0.7 * 3)) ** 2 * EVEN**2),
    ],
)
def test_sm2_projection(name, given, slope):
    made, problem, state = started("sm2_projection", name, **given)
    _, halves, _ = svm(EVEN)
    gradient = slope - halves
    assert made.gradient(problem, state.fit) == pytest.approx(gradient, rel=1e-5)
    after = made.step(problem, state)
    lengths = np.abs(gradient).max() ** -1.0 * 0.5 ** np.arange(20)
    projections = [
        np.maximum(p, 0) if name == "square" else onto_simplex(p) for p in EVEN - np.outer(lengths, gradient)
    ]
    assert min(np.abs(after.weights - p).max() for p in projections) < 1e-5
    assert made.objective(problem, after.fit) < made.objective(problem, state.fit)


@pytest.mark.parametrize(("name", "given"), [("vskl", {"s": 2.0}), ("ckl", {})])
def test_mirror(name, given):
    made, problem, state = started("mirror", name, **given)
    rise = np.ones(2)
    if name == "ckl":
        for _ in range(60):
            _, halves, _ = svm(0.5 * rise[GROUPS])
            delta = np.sqrt([halves[:2].sum(), halves[2:].sum()])
            rise = delta.sum() / (2 * delta)
    _, halves, _ = svm(0.5 * rise[GROUPS])
    assert state.weights == pytest.approx(0.5 * rise[GROUPS], rel=1e-5)
    slope = rise[GROUPS] * halves
    grown = np.exp(np.sqrt(2 * np.log(4)) / slope.max() * slope)
    expected = grown / np.array([grown[:2].sum(), grown[2:].sum()])[GROUPS]
    assert made.step(problem, state).shares == pytest.approx(expected, rel=1e-5)


# ------------------------------------------------------------------------------------------------------ many labels
def class_svms(weights):
    fits = [svm(weights, signs(k), bias=False) for k in range(3)]
    return np.stack([halves for _, halves, _ in fits]), np.array([value for _, _, value in fits])


def test_ml_sum_subgradient():
    made, problem, state = started("ml_sum_subgradient", "ml_sum")
    halves, _ = class_svms(EVEN)
    gradient = -halves.sum(axis=0)
    expected = onto_simplex(EVEN - 0.5 * gradient / np.linalg.norm(gradient))
    after = made.step(problem, state)
    assert after.weights == pytest.approx(expected, abs=1e-6)
    assert problem.svm_solves == 6


def normalised(x):
    return x / x.sum()


def test_ml_mirror_prox():
    halves, values = class_svms(EVEN)
    eta = 1 / max(halves.max(), values.max())
    third = np.full(3, 1 / 3)
    p, gamma = normalised(np.exp(eta * third @ halves)), normalised(np.exp(eta * values))
    made, problem, state = started("ml_mirror_prox", "ml_minimax", made=MLMirrorProx(extra=0))
    plain = made.step(problem, state)
    assert plain.weights == pytest.approx(p, rel=1e-6)
    assert plain.at.gamma == pytest.approx(gamma, rel=1e-6)
    made, problem, state = started("ml_mirror_prox", "ml_minimax")
    extra = made.step(problem, state)
    eta = extra.sums[-1]  # after the halvings that Nemirovski's condition asked for
    p, gamma = normalised(np.exp(eta * third @ halves)), normalised(np.exp(eta * values))
    assert extra.sums[1] / eta == pytest.approx(gamma, rel=1e-6)
    halves, values = class_svms(p)
    assert extra.weights == pytest.approx(normalised(np.exp(eta * gamma @ halves)), rel=1e-6)
    assert extra.at.gamma == pytest.approx(normalised(np.exp(eta * values)), rel=1e-6)


class Fixed:
    """A generator that always draws the same class, and remembers from what."""

    def __init__(self, drawn):
        self.drawn = drawn

    def choice(self, classes, p):
        self.probabilities = p
        return self.drawn


@pytest.mark.parametrize("delta", [0.0, 0.2, 1.0])
def test_ml_sa_and_its_estimates_are_unbiased(delta):
    """Over the classes, weighted by the distribution drawn from, the logarithms of both steps average to the full
    gradients: Proposition 1, with smoothing."""
    made, problem, state = started("ml_sa", "ml_minimax", made=MLSA(delta=delta, eta=1e-3))
    state = made.step(problem, state)  # away from equal γ
    (p, gamma), halves_values = state.at, class_svms(state.at.weights)
    mean_p, mean_gamma = np.zeros(KERNELS), np.zeros(3)
    for j in range(3):
        generator = Fixed(j)
        after = made.step(problem, type(state)(**{**state.__dict__, "random": generator}))
        smoothed = (1 - delta) * gamma + delta / 3
        assert generator.probabilities == pytest.approx(smoothed)
        moved_p, moved_gamma = np.log(after.at.weights / p), np.log(after.at.gamma / gamma)
        mean_p += smoothed[j] * (moved_p - moved_p[0])
        mean_gamma += smoothed[j] * (moved_gamma - moved_gamma.min())
        assert after.weights == pytest.approx((EVEN + p) / 2)
    halves, values = halves_values
    full = 1e-3 * gamma @ halves
    assert mean_p == pytest.approx(full - full[0], rel=1e-5, abs=1e-9)
    assert mean_gamma == pytest.approx(1e-3 * values, rel=1e-5)


# ------------------------------------------------------------------------------------------------------- two stages
def test_pegasos_by_hand():
    """t = 2, λ = ½: the first example has margin 2 and is content, the second pulls by (−1)(1, −4)/2 · 1/(λt)."""
    mu = np.array([1.0, 0.5])
    examples, labels = np.array([[1.0, 2.0], [1.0, -4.0]]), np.array([1.0, -1.0])
    assert pegasos_step(mu, examples, labels, 0.5, 2) == pytest.approx([0.5, 0.25])
    examples = np.array([[1.0, 2.0], [1.0, 0.4]])
    stepped = pegasos_step(mu, examples, labels, 0.5, 2)
    assert stepped == pytest.approx([0.5 - 0.5, 0.25 - 0.2])
    assert pegasos_step(np.zeros(2), examples, np.ones(2), 0.01, 1) == pytest.approx(
        np.array([1.0, 1.2]) / np.hypot(1.0, 1.2) * 10
    )
    assert pegasos_step(mu, examples, -np.ones(2), 0.5, 1) == pytest.approx([0.0, 0.0])


def test_ts_pegasos_draws_pairs_by_their_weights():
    made, problem, state = started("ts_pegasos", "ts", balanced=True, lam=0.1)
    drawn = np.searchsorted(state.ladder, np.random.default_rng(0).random(made.batch), side="right")
    expected = pegasos_step(np.zeros(KERNELS), problem.task.examples[drawn], problem.task.labels[drawn], 0.1, 1)
    assert made.step(problem, state).weights == pytest.approx(expected)
    many = np.searchsorted(state.ladder, np.random.default_rng(1).random(40_000), side="right")
    assert (problem.task.labels[many] > 0).mean() == pytest.approx(0.5, abs=0.01)


def test_alignment_nnls():
    made, problem, state = started("alignment_nnls", "alignment")
    target = np.where(LABELS @ LABELS.T > 0, 1.0, -1.0)
    np.fill_diagonal(target, 1.0)
    stacked = BASE.kernels.reshape(KERNELS, -1)
    from scipy.optimize import nnls

    expected = nnls(stacked.T, target.ravel())[0]
    assert made.step(problem, state).weights == pytest.approx(expected, rel=1e-6, abs=1e-10)
    norms = np.linalg.norm(stacked, axis=1)
    assert state.weights == pytest.approx(np.maximum(stacked @ target.ravel(), 0) / norms)


# ------------------------------------------------------------------------------------------------------ hypergraphs
def score(task, kernel, z):
    return np.sum(z * z) / 4 + np.sum(z * (kernel @ z)) / (4 * task.lam) - np.sum(z * task.h)


def test_hypergraph_silp():
    made, problem, state = started("hypergraph_silp", "hypergraph", lam=0.5)
    task = problem.task
    z = 2 * np.linalg.inv(np.eye(SAMPLES) + BASE.kernels.mean(axis=0) / 0.5) @ task.h
    assert state.cuts[0] == pytest.approx(z)
    scores = [score(task, kernel, z) for kernel in BASE.kernels]
    assert made.step(problem, state).weights == pytest.approx(np.eye(KERNELS)[np.argmax(scores)], abs=1e-12)


def test_hypergraph_nesterov():
    """From Z = 0 the gradient is −H and f_μ = μ log M; L doubles until the step H/L descends enough."""
    made, problem, state = started("hypergraph_nesterov", "hypergraph_smooth", lam=0.5, smoothing=0.1)
    task, h = problem.task, problem.task.h

    def smoothed(z):
        return 0.1 * np.log(np.sum(np.exp([score(task, kernel, z) / 0.1 for kernel in BASE.kernels])))

    lipschitz = 0.5 + max(np.linalg.eigvalsh(kernel)[-1] for kernel in BASE.kernels) / (2 * 0.5)
    assert state.lipschitz == pytest.approx(lipschitz)
    while smoothed(h / lipschitz) > 0.1 * np.log(KERNELS) - np.sum(h * h) / (2 * lipschitz):
        lipschitz *= 2
    after = made.step(problem, state)
    assert after.z == pytest.approx(h / lipschitz)
    assert after.q == pytest.approx(-h / lipschitz)
    assert after.t == pytest.approx((1 + np.sqrt(5)) / 2)
    theta = np.exp([(score(task, kernel, after.z) - smoothed(after.z)) / 0.1 for kernel in BASE.kernels])
    assert after.weights == pytest.approx(theta)
    x = after.z - (after.z + after.q) / after.t
    numeric = (smoothed(x + 1e-6 * h) - smoothed(x - 1e-6 * h)) / 2e-6
    from mklcvx.solvers.published.hypergraph_nesterov import smoothed_value

    value, gradient = smoothed_value(task, x)
    assert value == pytest.approx(smoothed(x))
    assert np.sum(gradient * h) == pytest.approx(numeric, rel=1e-6)
