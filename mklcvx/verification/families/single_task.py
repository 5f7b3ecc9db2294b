"""Single tasks, part by part.

Weights μ are worth what the best classifier with them costs, V(μ) = max over α of gain(α) − ½ Σ μ_m q_m(α) + R(μ),
never below the optimum: the SVM with these weights is solved for it. In the block-∞ formulations the shares of the
weights are judged, within groups and between them (`multipliers`). α is worth its lower bound, coefficients are worth
their upper bound with the best bias, a bias is judged by what it adds to the risk of the classifier it comes with.
Bounds pay for rounding where that is asked for.

Do the parts belong together?

The saddle function φ(μ, α) = gain(α) − ½ Σ μ_m q_m(α) + R(μ) lies between what the weights are worth and what α proves:

    V(μ) = max over α of φ ≥ φ(μ, α) ≥ min over μ of φ = lower(α).

V(μ) − φ says how far α is from being the SVM's solution at these weights, φ − lower(α) how far the weights are from
being those that α implies; both vanish at the optimum and add up to the gap. (In the block-∞ formulations φ can also
lie below lower(α); the distance counts.) Coefficients belong to weights and α if f_m = μ_m K_m(α∘y), in the norm of
the kernels' space.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from ...certificate import Certificate
from ...certificate.passes import seen
from ...certificate.rounding import below, total_below
from ...certificate.sample_terms import sample_terms
from ...certificate.weight_shapes import shape_of
from ...errors import InputError
from ...formulations import RankOneCoefficients, SingleTask, Task
from ...formulations.families.joint import JointTask
from ...formulations.losses import PiecewiseQuadratic
from ...formulations.svm import SVM
from ...problem.stack import Array
from ..answers import FINE, Answer, in_shape, of_shape
from ..case import FINER, AnswerPart, Case, Violation, or_infinite
from ..domain import negative, outside_bounds, placed, relative, too_long
from ..multipliers import multiplier_parts, saddle_excess
from ..proved_answers import alpha_lower, answer_certificate, upper_certificate, weights_upper
from ..uniqueness import FINEST, TIGHT, Bowl, LinearProgram, Range, determined, ends_of, in_bowl, wide
from .family import FamilyJudge, WeightCut

MOST = 565  # samples: with more, nothing is said of ranges of weights
LEAST = 1e-150  # curvature: below, sums of its inverses leave the range of double precision


class SingleTaskJudge(FamilyJudge[SingleTask, Task]):
    machines = True

    def certificate(self, formulation: SingleTask, task: Task, answer: Answer, tolerance: float) -> Certificate:
        weights, alpha, coefficients = arrays(formulation, task, answer)
        low = of_shape("alpha_low", answer.alpha_low, (task.samples,))
        if alpha is None and coefficients is None and weights is not None:
            if not (weights > 0).any():
                raise InputError("answer: no weight is positive, and there is no alpha: write alpha as well")
            alpha = machine_alpha(task, np.maximum(weights, 0.0))
        return answer_certificate(formulation, task, weights, alpha, coefficients, low, tolerance)

    def parts(self, case: Case, answer: Answer, rigorous: bool) -> list[AnswerPart]:
        task, formulation, parts = case.task, case.formulation, []
        weights, alpha, coefficients = arrays(formulation, task, answer)
        if weights is not None:
            parts.append(weights_part(case, weights, coefficients is not None, rigorous))
        if alpha is not None:
            lower = formulation.lower(task, alpha)
            value = alpha_lower(formulation, task, alpha) if rigorous else lower.value
            violations = alpha_violations(task, alpha) + too_long(task.feasible(alpha), lower.alpha)
            parts.append(AnswerPart("alpha", tuple(violations), "lower", value))
        if coefficients is not None:
            if rigorous:
                nothing = task.feasible(np.zeros(task.samples))
                value = upper_certificate(formulation, task, nothing, coefficients, weights).upper
            else:
                value = formulation.upper(task, coefficients).value
            parts.append(AnswerPart("coefficients", (), "upper", value, note="with the best bias"))
        loss, said = task.loss_function, (case, weights, alpha, coefficients)
        if answer.bias is not None:
            parts.append(bias_part(case, float(in_shape("bias", answer.bias, ())), *_functions(*said)))
        level = answer.multipliers.get(loss.level_name)
        if level is not None and (loss.free_tube or not task.bias):
            parts.append(level_part(case, float(in_shape(loss.level_name, level, ())), *_functions(*said)))
        return parts + multiplier_parts(case, alpha, answer)

    def together(self, case: Case, answer: Answer) -> dict[str, float]:
        """Distances of the parts, relative to the problem's scale; empty where there is one."""
        task, scale = case.task, case.known.scale
        weights, alpha, coefficients = arrays(case.formulation, task, answer)
        if weights is None or alpha is None or not np.isfinite(weights).all() or not (weights > 0).any():
            return {}
        lower = case.formulation.lower(task, alpha)
        _, feasible = placed(case.formulation, task, weights)
        _, best = worth(case.formulation, task, feasible)
        _, here = worth(case.formulation, task, feasible, lower.alpha)
        apart = max(best - here, 0.0), abs(here - lower.value)
        distances = {"alpha_at_weights": apart[0] / scale, "weights_at_alpha": apart[1] / scale}
        if coefficients is not None:
            implied = np.outer(weights, alpha * task.signs)
            distance, size = (np.linalg.norm(task.evaluate(c)[1]) for c in (coefficients - implied, implied))
            distances["coefficients"] = float(distance / (size or 1.0))
        return distances

    def ranges(self, case: Case, tolerance: float) -> list[Range] | None:
        regulariser, budget = case.formulation.regulariser, max(tolerance, FINEST)
        if regulariser is not None and regulariser.alone(case.task.count, **case.task.own):
            return []
        if not _linear(case):
            return _beside_nothing(case, budget) or ([] if determined(case, budget) else None)
        if case.task.samples > MOST or not np.nan_to_num(case.reference.weights).any():
            return None  # of no weight at all there is no size that differences could be measured by
        curvature = least_curvature(case.task)
        if curvature.any():
            plain = regulariser is not None and regulariser.cap is None
            plain &= bool((curvature > LEAST).all())
            return in_bowl(case, _bowl(case, budget)) if plain else None
        return wide(case, ends_of(case.task.count, *_program(case, budget), options=TIGHT))

    def cut(self, case: Case, weights: Array, alpha: Array | None) -> WeightCut | None:
        task = case.task
        if case.formulation.between is not None:
            return None
        alpha = machine_alpha(task, np.maximum(weights, 0.0)) if alpha is None else task.feasible(alpha)
        q = seen(task, alpha * task.signs, task.bias, sliced=False)
        return WeightCut(q.high / 2, total_below([sample_terms(task).gain(alpha)]))

    def curvature(self, case: Case) -> Array | None:
        return None if case.formulation.between is not None else np.asarray(below(least_curvature(case.task)))


def _linear(case: Case) -> bool:
    """Whether neither R nor the boundary of the domain is curved."""
    formulation, own = case.formulation, case.task.own
    if formulation.between is not None:
        return True
    regulariser, probe = formulation.regulariser, np.full(case.task.count, 0.5)
    sides = [side for side in (regulariser.constraint, regulariser) if side is not None]
    return not any(side.curvature(probe, **own).any() for side in sides)


def _beside_nothing(case: Case, tolerance: float) -> list[Range] | None:
    """Ranges where f = 0 is as good: it has any weights, and costs risk(0) + R(μ). These weights may be a kernel's
    largest one alone, or a mean of such points and of the optimal weights, which costs no more than the mean: R is
    convex."""
    task, regulariser = case.task, case.formulation.regulariser
    shape = shape_of(case.formulation.name, case.parameters, task.count)
    if shape is None or not np.isfinite(shape.cap):
        return None
    known, corners = case.known, shape.cap * np.eye(task.count)
    prices = np.array([np.sum(regulariser.value(corner, **task.own)) for corner in corners])
    as_good = task.risk(np.zeros(task.samples)).value + prices <= known.upper + tolerance * known.scale
    low = np.where(as_good.sum() - as_good > 0, 0.0, case.reference.weights)  # all weight is on another kernel
    high = np.where(as_good, shape.cap, case.reference.weights)
    return wide(case, list(zip(low.tolist(), high.tolist(), strict=True)))


def _program(case: Case, tolerance: float) -> LinearProgram:
    """Unknowns μ, b, the level ρ or ε, ξ, as `linprog` takes them."""
    task, alpha, between = case.task, case.reference.alpha, case.formulation.between
    n, count, budget, loss = task.samples, task.count, tolerance * case.known.scale, task.loss_function
    roots, limits = task.root_q(alpha), (None, None) if task.bias else (0.0, 0.0)
    others = [limits, (0.0 if loss.free_tube else None, None), *[(0.0, None)] * n]
    margins = task.signs[:, None] * task.matvecs(alpha * task.signs).T
    level = np.full((n, 1), float(loss.free_margin) - float(loss.free_tube))
    rows = np.hstack([-margins, -task.signs[:, None], level, -np.eye(n)])
    bounds = -task.loss_function.gradient(np.ones(n), task.y, task.box)
    risk = np.concatenate([[0.0, loss.level_cost(1.0, task.box)], task.limit])
    if task.low.any():  # residuals of either sign cost: slacks on the other side as well
        under = np.hstack([margins, task.signs[:, None], level, np.zeros((n, n)), -np.eye(n)])
        rows = np.vstack([np.hstack([rows, np.zeros((n, n))]), under])
        bounds = np.concatenate([bounds, task.loss_function.gradient(-np.ones(n), task.y, task.box)])
        risk, others = np.concatenate([risk, -task.low]), [*others, *[(0.0, None)] * n]
    if between is None:
        regulariser = case.formulation.regulariser
        cost = np.concatenate([roots**2 / 2 + regulariser.slope(np.zeros(count), **task.own), risk])
        top = None if regulariser.cap is None else regulariser.cap(**task.own)
        equal = np.concatenate([np.ones(count), np.zeros(len(others))])[None]
        total = (None, None) if regulariser.constraint is None else (equal, np.ones(1))
        bounds = np.append(bounds, case.known.upper + budget)
        return np.vstack([rows, cost]), bounds, *total, [*[(0.0, top)] * count, *others]
    norms, groups = case.reference.norms, between.groups(count, **task.own)
    sums = np.stack([np.where(groups == j, roots, 0.0) for j in range(groups.max() + 1)])
    lengths = np.bincount(groups, weights=norms) * (1 + tolerance)
    largest = case.reference.objective - float(case.formulation.penalty(norms, **task.own)) + budget
    within, cost = np.hstack([sums, np.zeros((len(sums), len(others)))]), np.concatenate([np.zeros(count), risk])
    seen = [(0.0, 0.0 if root == 0 else None) for root in roots]
    bounds = np.concatenate([bounds, lengths, [largest]])
    return np.vstack([rows, within, cost]), bounds, None, None, [*seen, *others]


def least_curvature(task: Task) -> Array:
    """The least curvature of the gain of every sample: that of quadratics is constant, that of entropies is least in
    the middle or, for counts, at the lower end. 0 where the gain is linear."""
    middle = np.where(np.isfinite(task.limit), task.limit / 2, 1.0)
    places = middle, np.where(np.isfinite(task.low), task.low, middle)
    return np.minimum(*(task.loss_function.curvature(place, task.y, task.box) for place in places))


def _bowl(case: Case, tolerance: float) -> Bowl:
    """For curved losses, and weights of the simplex or with a linear R: from z to z + e a sample's loss grows by
    at most −βe + e²/(2κ), and at weights μ + d, e = Σ_m d_m K_mβ + b. As 1'β = 0 with a bias, the value grows by at
    most c'd + ½ Σ_i e_i²/κ_i, b being the one that makes the squares least; c_m is −½q_m, and the slope of R or a
    constant. Where the gain is one quadratic, without bounds or kinks, the value of μ + d on the simplex is that of
    α + η, with η free but for 1'η = 0: it grows by at least c'd + ½ Σ_i e_i²/(κ_iL), L being the largest eigenvalue of
    I + D^{-½}K_mD^{-½}, D = diag κ. Other losses have no inequality below."""
    task, alpha, mu = case.task, case.reference.alpha, case.reference.weights
    images, halves = task.matvecs(alpha * task.signs).T, task.root_q(alpha) ** 2 / 2
    stiffness = 1 / least_curvature(task)
    if task.bias:
        images = images - stiffness @ images / stiffness.sum()
    curvature = images.T @ (stiffness[:, None] * images) / 2
    budget = tolerance * case.known.scale
    regulariser, flattest = case.formulation.regulariser, np.inf
    total = regulariser.constraint is not None
    if total and _one_quadratic(task):
        roots = np.sqrt(stiffness)
        sizes = [float(np.linalg.norm(roots[:, None] * kernel * roots, 2)) for kernel in task.each_kernel()]
        flattest = 1 + max(sizes)
    top = halves.max() if total else regulariser.slope(mu, **task.own)
    return Bowl(mu, np.maximum(top - halves, 0.0), curvature, flattest, budget, total, 1.0)


def _one_quadratic(task: Task) -> bool:
    """Whether the gain of every sample is a quadratic on all of the line: α is free, and its gradient has no jump."""
    if np.isfinite(task.low).any() or np.isfinite(task.limit).any():
        return False
    ones = np.ones(task.samples)
    down, up = (task.loss_function.gradient(side * ones, task.y, task.box) for side in (-1, 1))
    return bool(np.allclose(down - up, 2 * least_curvature(task), rtol=1e-12, atol=0.0))


def arrays(formulation: SingleTask, task: Task, answer: Answer) -> tuple[Array | None, Array | None, Array | None]:
    """Weights, α and coefficients in their shapes. Weights may be undefined where coefficients are what counts."""
    unsaid = formulation.between is not None and answer.coefficients is not None
    weights = of_shape("weights", answer.weights, (task.count,), undefined=unsaid)
    alpha = of_shape("alpha", answer.alpha, (task.samples,))
    return weights, alpha, of_shape("coefficients", answer.coefficients, (task.count, task.samples))


# ------------------------------------------------------------------------------------------------------- weights
def weights_part(case: Case, weights: Array, spelled_out: bool, rigorous: bool) -> AnswerPart:
    """In a block-∞ formulation the weight of a kernel that hardly sees α means nothing: there coefficients, where they
    are `spelled_out`, are judged instead."""
    formulation, task, between = case.formulation, case.task, case.formulation.between
    if not np.isfinite(weights).all():
        below = negative("weights", weights[np.isfinite(weights)])
        return AnswerPart("weights", (below,), note="some are undefined: the coefficients are judged in their place")
    violations, feasible = placed(formulation, task, weights)
    if between is not None and spelled_out:
        return AnswerPart("weights", violations, note="the coefficients are judged in their place")
    if between is not None and (feasible > 0).all():
        note = "the shares t of the weights, within groups and between them"
        return AnswerPart("weights", violations, excess=saddle_excess(case, feasible), note=note)
    alpha = machine_alpha(task, feasible)
    if between is None and rigorous:
        value = weights_upper(formulation, task, feasible, alpha, FINER * case.tolerance)
    elif between is None:
        value = worth(formulation, task, feasible, alpha)[0]
    elif rigorous:
        value = upper_certificate(formulation, task, alpha, np.outer(feasible, alpha * task.signs)).upper
    else:
        value = formulation.upper(task, RankOneCoefficients(feasible, alpha * task.signs)).value
    return AnswerPart("weights", violations, "upper", value, note="the SVM with these weights")


def machine_alpha(task: Task, weights: Array) -> Array:
    """α of the SVM with these weights, or of the machine that another loss makes; zero if there are none."""
    from ...solvers.solving import solver_named
    from ...solvers.svm import OverWeights, WeightedSVM

    if not weights.any():
        return task.feasible(np.zeros(task.samples))
    kernel = task.combined(weights)
    if OverWeights.takes(task):
        return task.feasible(WeightedSVM(task, FINE)(kernel))
    unlimited = {"time_limit": None, "max_iter": None}
    point, _ = solver_named("auto", SVM).run(SVM, task.alone(kernel).centred(), FINE, options={}, **unlimited)
    return task.feasible(point.lower.alpha)


def worth(formulation: SingleTask, task: Task, weights: Array, alpha: Array | None = None) -> tuple[float, float]:
    """½ Σ μ q + R(μ) + risk of the classifier that feasible weights make with α, or with their own SVM's; and the
    saddle function gain(α) − ½ Σ μ q + R(μ) there."""
    alpha = machine_alpha(task, weights) if alpha is None else alpha
    regulariser = formulation.regulariser
    price = 0.0 if regulariser is None else float(np.sum(regulariser.value(weights, **task.own)))
    cost = float(weights @ task.root_q(alpha) ** 2) / 2
    outputs, _ = task.evaluate(RankOneCoefficients(weights, alpha * task.signs))
    return cost + price + task.risk(outputs).value, task.gain(alpha) - cost + price


# --------------------------------------------------------------------------------------------------- α, bias, the rest
def alpha_violations(task: Task, alpha: Array) -> list[Violation]:
    violations, labels = outside_bounds(task, alpha), np.any(task.signs < 0)
    if task.bias:
        off = abs(float(task.signs @ alpha)) / (float(np.abs(alpha).sum()) or 1.0)
        violations.append(Violation("y'α = 0" if labels else "Σ α = 0", off))
    if task.loss_function.free_margin:
        violations.append(Violation("Σ α = 1", abs(float(alpha.sum()) - 1)))
    if task.loss_function.free_tube:
        over = -task.loss_function.slack(alpha, task.box) / task.loss_function.most(task.box)
        violations.append(Violation("Σ |α| ≤ ν Σ C", max(over, 0.0)))
    return violations


def bias_part(case: Case, bias: float | Array, candidates: list[Array], note: str) -> AnswerPart:
    """The least that the bias, or the biases (k, 1), add to the risk of candidates."""
    task = case.task
    if not task.bias:
        outputs, _ = task.evaluate(case.reference.all_coefficients)
        return AnswerPart("bias", (Violation("bias = 0", relative(bias, outputs)),), decided=True)
    added = [added_risk(task, task.evaluate(candidate)[0], bias) for candidate in candidates]
    return AnswerPart("bias", excess=min(added) / case.known.scale, note=note)


def level_part(case: Case, level: float, candidates: list[Array], note: str) -> AnswerPart:
    """What the margin ρ or the tube ε adds to the risk, as for a bias."""
    task, loss = case.task, cast(PiecewiseQuadratic, case.task.loss_function)
    name = loss.level_name
    if loss.free_tube and level < 0:
        return AnswerPart(name, (Violation(f"{name} ≥ 0", -level / (float(np.ptp(task.y)) or 1.0)),), decided=True)
    added = []
    for candidate in candidates:
        outputs, _ = task.evaluate(candidate)
        here = loss.risk_at(level, outputs, task.y, task.box, task.bias)
        added.append(max(or_infinite(here - task.risk(outputs).value), 0.0))
    return AnswerPart(name, excess=min(added) / case.known.scale, note=note)


def _functions(
    case: Case, weights: Array | None, alpha: Array | None, coefficients: Array | None
) -> tuple[list[Array], str]:
    """The functions that an answer may mean, by their coefficients."""
    if coefficients is not None:
        return [coefficients], "for the coefficients given"
    task, candidates = case.task, [case.reference.all_coefficients]
    if weights is None or not np.isfinite(weights).all() or not (weights > 0).any():
        return candidates, "for the optimal classifier"
    positive = np.maximum(weights, 0.0)
    own = [machine_alpha(task, positive), *([] if alpha is None else [alpha])]
    return [*candidates, *(np.outer(positive, each * task.signs) for each in own)], "for the classifier of the weights"


def added_risk(task: Task | JointTask, outputs: Array, bias: float | Array) -> float:
    """risk with this bias (and the best level) less the risk with the best."""
    held = replace(task, bias=False)
    return max(or_infinite(held.risk(outputs + bias).value - task.risk(outputs).value), 0.0)
