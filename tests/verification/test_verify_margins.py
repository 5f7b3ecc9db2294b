"""For every formulation: parts of an answer that are worse than the optimum by ten tolerances are rejected, by a tenth
of one accepted; and so are those that leave their domain by as much. What parts are worth is computed here again."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from judged import BINARY, LABELS
from mklcvx import Instance, Solution, formulations, solve, verify, zoo
from mklcvx.checker.audit import dual_cost

pytestmark = pytest.mark.slow

PARAMETERS: dict[str, dict[str, Any]] = {
    **{name: {"C": 0.4} for name in ("svm", "sum", "average", "l1", "l2", "li", "ckl", "ml_sum", "ml_minimax")},
    **{name: {"C": 0.4, "theta": 2.0} for name in ("sm2", "square")},
    "sm1": {"C": 0.4, "theta": 0.6}, "smp": {"C": 0.4, "theta": 2.0, "p": 1.5}, "lp": {"C": 0.4, "p": 1.5},
    "elastic": {"C": 0.4, "l1_ratio": 0.5}, "vskl": {"C": 0.4, "s": 3.0},
    "block_elastic": {"C": 0.4, "l1_ratio": 0.5}, "group_lasso": {"C": 0.4, "lam": 1.0},
    "ts": {"lam": 0.003}, "ts_l1": {"lam": 0.003}, "alignment": {},
    "hypergraph": {"lam": 0.5}, "hypergraph_smooth": {"lam": 0.5, "smoothing": 0.05},
}  # fmt: skip
NAMES = list(PARAMETERS)
SINGLE = [formulation.name for formulation in formulations.SINGLE_TASKS]
THRESHOLDS = ("sm1", "sm2", "smp", "elastic", "block_elastic")
TOLERANCES = (1e-4, 1e-6)  # in turn: what is judged depends on neither


def instance_for(name: str) -> Instance:
    if name.startswith(("ml_", "hypergraph")):
        return LABELS
    return BINARY.select([0]) if name == "svm" else BINARY


@cache
def best(name: str) -> Solution:
    return solve(instance_for(name), name, tol=1e-11, **PARAMETERS[name])


@dataclass(frozen=True)
class Move:
    """A way from the optimum to somewhere worse: `worth` is least at `start`, and `said` the answer at a point."""

    part: str
    start: np.ndarray
    end: np.ndarray
    worth: Callable[[np.ndarray], float]
    said: Callable[[np.ndarray], dict[str, Any]] = field(default=lambda point: {})

    def answer(self, point: np.ndarray) -> dict[str, Any]:
        return self.said(point) or {self.part: point}

    def worse_by(self, amount: float) -> np.ndarray:
        """The nearest point on the way that is worth so much more than the optimum, its distance known to 2e-3."""
        target, (low, high) = self.worth(self.start) + amount, (np.log(1e-12), 0.0)
        for _ in range(14):
            middle = (low + high) / 2
            here = self.start + np.exp(middle) * (self.end - self.start)
            low, high = (middle, high) if self.worth(here) < target else (low, middle)
        return self.start + np.exp(high) * (self.end - self.start)


# -------------------------------------------------------------------------------------------------------- single tasks
def machine(weights: np.ndarray, y: np.ndarray, bias: bool = True) -> float:
    """The optimum of the SVM with these weights."""
    kernel = np.tensordot(weights, instance_for("l1").kernels if bias else LABELS.kernels, axes=1)[None]
    return solve(Instance(kernel, y), "svm", tol=1e-11, C=0.4, bias=bias).certificate.upper


def price(name: str, mu: np.ndarray) -> float:
    own = PARAMETERS[name]
    if name in ("sm2", "square"):
        return float(mu @ mu) / (2 * own["theta"])
    if name == "group_lasso":
        return float(own["lam"] ** 2 / 2 * mu.sum())
    if name == "smp":
        p, theta = own["p"], own["theta"]
        return float((2 * (p - 1) / (theta * p)) ** (p - 1) / p * np.sum(mu**p))
    return 0.0


def proved(name: str, alpha: np.ndarray) -> float:
    """The dual's value at α; τ, where there is one, the best; for group_lasso at the multiple of α that is feasible."""
    instance, own = instance_for(name), PARAMETERS[name]
    signed = alpha * instance.y
    q = np.array([signed @ kernel @ signed for kernel in instance.kernels])
    if name == "group_lasso":
        return float(alpha.sum() * min(1.0, own["lam"] / np.sqrt(q.max())))
    exact = {key: Fraction(value) for key, value in own.items()}

    def cost(tau: float | None) -> float:
        given = exact if tau is None else {**exact, "tau": Fraction(tau)}
        return float(dual_cost(name, [Fraction(x) for x in q], given, instance.groups))

    if name not in THRESHOLDS:
        return float(alpha.sum() - cost(None))
    found = minimize_scalar(cost, bounds=(1e-9, q.max()), method="bounded", options={"xatol": 1e-13})
    return float(alpha.sum() - found.fun)


def feasible_alpha(draw: np.random.Generator, y: np.ndarray) -> np.ndarray:
    drawn = draw.random(len(y)) * 0.4
    sums = [drawn[y > 0].sum(), drawn[y < 0].sum()]
    return drawn * min(sums) / np.where(y > 0, *sums)


def weights_move(name: str, draw: np.random.Generator) -> Move:
    start, end = best(name).weights, draw.dirichlet(np.ones(4))
    if name == "li":
        start = 1 / (2 * start)
        said = lambda share: {"weights": 1 / (2 * share)}  # noqa: E731
        return Move("weights", start, end, lambda share: -machine(1 / (2 * share), BINARY.y), said)
    end = np.full(4, 0.25) if name == "sm1" else end
    return Move("weights", start, end, lambda mu: machine(mu, BINARY.y) + price(name, mu))


def alpha_move(name: str, draw: np.random.Generator) -> Move:
    return Move("alpha", best(name).alpha, feasible_alpha(draw, BINARY.y), lambda alpha: -proved(name, alpha))


def penalty(name: str, a: np.ndarray, groups: np.ndarray | None) -> float:
    """Of the norms of functions; within a group they are added."""
    sums = a if name not in ("ckl", "vskl") else np.bincount(groups, weights=a)
    power = PARAMETERS[name].get("s", 2.0)
    return {
        "svm": a @ a / 2, "sum": a @ a / 2, "average": len(a) * a @ a / 2, "l1": a.sum() ** 2 / 2,
        "li": a.max() ** 2, "ckl": sums.max() ** 2, "vskl": np.sum(sums**power) ** (2 / power) / 2,
    }[name]  # fmt: skip


def cost(name: str, c: np.ndarray, bias: float | None = None) -> float:
    """Penalty and losses of functions, with this bias or the best one, which puts a sample on its margin."""
    instance = instance_for(name)
    images = np.einsum("mij,mj->mi", instance.kernels, c)
    norms, f = np.sqrt(np.maximum(np.sum(c * images, axis=1), 0)), images.sum(axis=0)
    biases = instance.y - f if bias is None else [bias]
    losses = [0.4 * np.maximum(0, 1 - instance.y * (f + b)).sum() for b in biases]
    return penalty(name, norms, instance.groups) + min(losses)


def coefficients_move(name: str, draw: np.random.Generator) -> Move:
    start = best(name).all_coefficients
    return Move("coefficients", start, draw.normal(size=start.shape), lambda c: cost(name, c))


def bias_move(name: str, draw: np.random.Generator) -> Move:
    c, start = best(name).all_coefficients, np.array(best(name).bias)
    said = lambda bias: {"coefficients": c, "bias": float(bias)}  # noqa: E731
    return Move("bias", start, start + 1.0, lambda bias: cost(name, c, float(bias)), said)


# ------------------------------------------------------------------------------------------------------- other families
SIGNS = np.where(LABELS.targets.values.T > 0, 1.0, -1.0)


def class_weights(name: str, draw: np.random.Generator) -> Move:
    joined = sum if name == "ml_sum" else max
    worth = lambda p: joined([machine(p, y, bias=False) for y in SIGNS])  # noqa: E731
    return Move("weights", best(name).weights, draw.dirichlet(np.ones(4)), worth)


def class_alpha(name: str, draw: np.random.Generator) -> Move:
    gamma = np.ones(len(SIGNS)) if name == "ml_sum" else best(name).multipliers["gamma"]

    def worth(alpha: np.ndarray) -> float:
        q = np.einsum("ki,mij,kj->km", alpha * SIGNS, LABELS.kernels, alpha * SIGNS)
        return float(np.max(gamma @ q) / 2 - gamma @ alpha.sum(axis=1))

    said = lambda alpha: {"alpha": alpha, **({} if name == "ml_sum" else {"multipliers": {"gamma": gamma}})}  # noqa: E731
    return Move("alpha", best(name).alpha, 0.4 * draw.random(SIGNS.shape), worth, said)


ROWS, COLUMNS = np.triu_indices(BINARY.samples)
EXAMPLES = (BINARY.kernels[:, ROWS, COLUMNS] * (BINARY.y[ROWS] * BINARY.y[COLUMNS])).T


def pair_weights(name: str, draw: np.random.Generator) -> Move:
    cost = (lambda mu: mu @ mu / 2) if name == "ts" else np.sum
    worth = lambda mu: PARAMETERS[name]["lam"] * cost(mu) + np.maximum(0, 1 - EXAMPLES @ mu).mean()  # noqa: E731
    return Move("weights", best(name).weights, draw.random(4), worth)


def pair_multipliers(name: str, draw: np.random.Generator) -> Move:
    start, count = best(name).multipliers["beta"], len(EXAMPLES)
    said = lambda beta: {"multipliers": {"beta": beta}}  # noqa: E731
    if name == "ts_l1":
        return Move("beta", start, np.zeros(count), lambda beta: -beta.sum(), said)
    worth = lambda beta: np.sum(np.maximum(EXAMPLES.T @ beta, 0) ** 2) / (2 * PARAMETERS[name]["lam"]) - beta.sum()  # noqa: E731
    return Move("beta", start, draw.random(count) / count, worth, said)


def aligned_weights(name: str, draw: np.random.Generator) -> Move:
    flat, target = BINARY.kernels.reshape(4, -1), np.outer(BINARY.y, BINARY.y).ravel()
    worth = lambda mu: -(mu @ flat @ target) / np.linalg.norm(mu @ flat)  # noqa: E731
    return Move("weights", best(name).weights, draw.dirichlet(np.ones(4)), worth)


def incidence() -> np.ndarray:
    labels = LABELS.targets.values.astype(float)
    degrees = labels @ labels.sum(axis=0)
    return labels / np.sqrt(np.where(degrees > 0, degrees, 1.0))[:, None]


def kernel_weights(name: str, draw: np.random.Generator) -> Move:
    h, smoothing = incidence(), 0.05 if name == "hypergraph_smooth" else 0.0

    def worth(theta: np.ndarray) -> float:
        matrix = np.eye(LABELS.samples) + np.tensordot(theta, LABELS.kernels, axes=1) / 0.5
        used = theta[theta > 0]
        return float(np.sum(h * np.linalg.solve(matrix, h)) + smoothing * np.sum(used * np.log(used)))

    return Move("weights", best(name).weights, draw.dirichlet(np.ones(4)), worth)


def embedding(name: str, draw: np.random.Generator) -> Move:
    start = best(name).multipliers["Z"]
    columns = np.linalg.lstsq(incidence(), formulations.get(name).task(LABELS, PARAMETERS[name])[0].h, rcond=None)[0]
    h = incidence() @ columns  # the same C = HH' in the basis that Z is written in

    def worth(z: np.ndarray) -> float:
        own = np.array([np.vdot(z, kernel @ z) for kernel in LABELS.kernels]) / 2
        scores = np.vdot(z, z) / 4 + own - np.vdot(z, h)
        top = scores.max()
        return float(top if name == "hypergraph" else top + 0.05 * np.log(np.exp((scores - top) / 0.05).sum()))

    said = lambda z: {"multipliers": {"Z": z}}  # noqa: E731
    return Move("Z", start, start + draw.normal(size=start.shape), worth, said)


MOVES: list[tuple[str, Callable[[str, np.random.Generator], Move]]] = [
    *((name, weights_move) for name in ("l1", "sm1", "sm2", "smp", "square", "l2", "lp", "elastic", "li")),
    *((name, weights_move) for name in ("block_elastic", "group_lasso")),
    *((name, alpha_move) for name in SINGLE),
    *((name, coefficients_move) for name in ("svm", "sum", "average", "l1", "li", "ckl", "vskl")),
    *((name, bias_move) for name in ("l1", "sum")),
    *((name, move) for name in ("ml_sum", "ml_minimax") for move in (class_weights, class_alpha)),
    *((name, move) for name in ("ts", "ts_l1") for move in (pair_weights, pair_multipliers)),
    ("alignment", aligned_weights),
    *((name, move) for name in ("hypergraph", "hypergraph_smooth") for move in (kernel_weights, embedding)),
]


def test_every_formulation_takes_part():
    known = {formulation.name for formulation in formulations.FORMULATIONS}
    assert {name for name, _ in MOVES} == set(NAMES) == known
    assert {name for name, _, _ in DOMAINS} == known


@pytest.mark.parametrize(
    ("name", "make", "tol"),
    [(*move, TOLERANCES[place % 2]) for place, move in enumerate(MOVES)],
    ids=lambda one: getattr(one, "__name__", str(one)),
)
def test_ten_tolerances_worse_is_rejected_and_a_tenth_of_one_accepted(name, make, tol):
    found, draw = best(name), np.random.default_rng([NAMES.index(name), round(-np.log10(tol))])
    size = found.certificate.scale
    move = make(name, draw)
    for share, verdict in ((10.0, "rejected"), (0.1, "accepted")):
        answer = move.answer(move.worse_by(share * tol * size))
        report = verify(instance_for(name), name, tol=tol, diagnosis=False, parameters=PARAMETERS[name], **answer)
        assert report.verdict == verdict, report
        assert report[move.part].excess == pytest.approx(share * tol, rel=0.05)


@pytest.mark.parametrize(("name", "tol"), [(name, TOLERANCES[place % 2]) for place, name in enumerate(NAMES)])
def test_a_claimed_objective_on_either_side_is_judged_by_its_distance(name, tol):
    found = best(name)
    size = found.certificate.scale
    for side in (-1.0, 1.0):
        for share, verdict in ((10.0, "rejected"), (0.1, "accepted")):
            claim = found.objective + side * share * tol * size
            given = {"objective": claim, "tol": tol, "parameters": PARAMETERS[name]}
            assert verify(instance_for(name), name, diagnosis=False, **given).verdict == verdict


# ------------------------------------------------------------------------------------------------------------- domains
CLOUDS = zoo.specimen("clouds").instance()  # some α are zero, whatever the formulation
WITH_ZERO = BINARY.with_kernels(np.concatenate([BINARY.kernels, np.zeros((1, 16, 16))]), groups=None, names=None)
ALONE = CLOUDS.select([0])


def place(name: str, constraint: str) -> Instance:
    """Where the optimum lies at the constraint: beyond it the value changes little."""
    if constraint == "α ≥ 0" and name in SINGLE:
        return ALONE if name == "svm" else CLOUDS
    positive = constraint == "weights ≥ 0" and instance_for(name) is BINARY
    return WITH_ZERO if positive else instance_for(name)


@cache
def solved(instance: Instance, name: str) -> Solution:
    return solve(instance, name, tol=1e-10, **PARAMETERS[name])


Spoil = Callable[[Solution, float], dict[str, Any]]


def longer(found: Solution, off: float) -> dict[str, Any]:
    """Off the simplex, out of the ball, away from fixed weights; for li, λ off its simplex."""
    return {"weights": found.weights * (1 + off)}


def shorter(found: Solution, off: float) -> dict[str, Any]:
    return {"weights": found.weights * (1 - off)}


def negative(found: Solution, off: float) -> dict[str, Any]:
    weights = found.weights.copy()
    m = -1 if len(weights) == WITH_ZERO.count else int(np.argmin(weights))
    weights[m] = -off * np.delete(weights, m).max()
    return {"weights": weights}


def beyond_the_cap(found: Solution, off: float) -> dict[str, Any]:
    weights, top = found.weights.copy(), int(np.argmax(found.weights))
    assert weights[top] == pytest.approx(0.6, abs=1e-9)
    weights[top] *= 1 + off
    others = np.arange(4) != top
    weights[others] *= (1 - weights[top]) / weights[others].sum()
    return {"weights": weights}


def beyond_the_bound(found: Solution, off: float) -> dict[str, Any]:
    """All of both classes that are at the bound, as much of one as of the other, so that y'α stays."""
    return {"alpha": np.where(found.alpha >= 0.4 * (1 - 1e-9), 0.4 * (1 + off), found.alpha)}


def below_zero(found: Solution, off: float) -> dict[str, Any]:
    alpha = np.array(found.alpha)
    alpha[np.unravel_index(np.argmin(alpha), alpha.shape)] = -0.4 * off
    return {"alpha": alpha}


def unbalanced(found: Solution, off: float) -> dict[str, Any]:
    """One α inside its bounds moved."""
    alpha = found.alpha.copy()
    alpha[int(np.argmin(np.abs(alpha - 0.2)))] += off * alpha.sum()
    return {"alpha": alpha}


def multiplier(name: str, change: Callable[[np.ndarray, float], np.ndarray]) -> Spoil:
    return lambda found, off: {"alpha": found.alpha, "multipliers": {name: change(found.multipliers[name], off)}}


def beta(change: Callable[[np.ndarray, float], np.ndarray]) -> Spoil:
    return lambda found, off: {"multipliers": {"beta": change(found.multipliers["beta"], off)}}


def some_bias(found: Solution, off: float) -> dict[str, Any]:
    return {"bias": np.full(len(SIGNS), off)}


TIMES = lambda values, off: values * (1 + off)  # noqa: E731
BELOW = lambda values, off: np.where(values == values.min(), -off / len(EXAMPLES), values)  # noqa: E731
ABOVE = lambda values, off: np.where(values == values.max(), (1 + off) / len(EXAMPLES), values)  # noqa: E731
PAIRS = ("ts", "ts_l1", "alignment")
BALLS = ("l2", "lp", "elastic", "block_elastic")
SIMPLEX = ("l1", "sm1", "sm2", "smp", "ml_sum", "ml_minimax", "hypergraph", "hypergraph_smooth")
DOMAINS: list[tuple[str, str, Spoil]] = [
    *((name, "α ≥ 0", below_zero) for name in (*SINGLE, "ml_sum", "ml_minimax")),
    *((name, "α ≤ C", beyond_the_bound) for name in (*SINGLE, "ml_sum", "ml_minimax")),
    *((name, "y'α = 0", unbalanced) for name in SINGLE),
    *((name, "Σ weights = 1", spoil) for name in SIMPLEX for spoil in (longer, shorter)),
    *((name, "weights ≥ 0", negative) for name in (*SIMPLEX[:-1], "square", "group_lasso", *BALLS, *PAIRS)),
    *((name, "weights in the ball", longer) for name in BALLS),
    *((name, "weights = 1", longer) for name in ("svm", "sum")),
    ("average", "weights = 0.25", longer),
    ("sm1", "weights ≤ 0.6", beyond_the_cap),
    ("li", "Σ 1/(2·weights) = 1", shorter),
    ("ckl", "Σ 1/(2·weights) = 1", shorter),
    *((name, "Σ lambda = 1", multiplier("lambda", TIMES)) for name in ("li", "ckl", "vskl")),
    *((name, "Σ gamma = 1", multiplier("gamma", TIMES)) for name in ("ckl", "ml_minimax")),
    *((name, "0 ≤ β ≤ w", beta(change)) for name in ("ts", "ts_l1") for change in (BELOW, ABOVE)),
    *((name, "bias = 0", some_bias) for name in ("ml_sum", "ml_minimax")),
]


@pytest.mark.parametrize(("name", "constraint", "spoil"), DOMAINS, ids=lambda one: one if isinstance(one, str) else "")
def test_leaving_a_domain_by_ten_tolerances_is_rejected_and_by_a_tenth_of_one_accepted(name, constraint, spoil):
    instance, tol = place(name, constraint), 1e-5
    found = solved(instance, name)
    for share, verdict in ((10.0, "rejected"), (0.1, "accepted")):
        answer = spoil(found, share * tol)
        report = verify(instance, name, tol=tol, diagnosis=False, parameters=PARAMETERS[name], **answer)
        assert report.verdict == verdict, report
        by = [one.by for part in report.parts for one in part.violations if one.constraint == constraint]
        assert by == [pytest.approx(share * tol, rel=0.05)], report


@pytest.mark.parametrize("factor", [1.001, 3.0])
def test_alpha_that_is_too_long_for_the_dual_is_no_answer_though_its_direction_is_right(factor):
    """No sample is at C, so that the group lasso's dual is max Σα over q_m ≤ λ²: every multiple of α points there."""
    instance, own = Instance(100 * BINARY.kernels, BINARY.y), {"C": 10.0, "lam": 0.5}
    right = solve(instance, "group_lasso", tol=1e-11, **own)
    assert 3 * right.alpha.max() < own["C"]
    assert verify(instance, "group_lasso", alpha=right.alpha, parameters=own).accepted
    report = verify(instance, "group_lasso", alpha=factor * right.alpha, parameters=own)
    assert report.verdict == "rejected"
    assert [part.off for part in report.parts] == pytest.approx([factor - 1], rel=1e-6)
    assert "alpha:scale" in {kind for one in report.diagnosis.explanations for kind in one.kinds}
