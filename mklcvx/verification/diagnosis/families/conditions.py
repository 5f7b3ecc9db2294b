"""Closed-form screening: what the conditions of optimality leave at the point that was handed over, nothing solved.

For weights μ and α of a single task, with f = Σ μ_m K_mβ, the gap of the two bounds is the sum of two parts, neither
below zero,

    margins     risk(f) − gain(α) + Σ μ_m q_m(α)            of the machine with this kernel: loss, prices, targets, bias
    tightness   U(a) + U*(d) − Σ a_m d_m                    of the weights: formulation and its parameters,

a_m = μ_m√q_m and d_m = √q_m. Bounds on α, its sum over the samples and the domain of the weights come beside them. A
change of the loss leaves the tightness as it is, one of the formulation the margins: which conditions a hypothesis
mends tells what it explains, and what is still to be found.

Where α is missing, the machine with the weights has it. Where weights are missing, α implies them: at samples whose α
lies between its bounds the outputs are known, and they are Σ μ_m K_mβ + b, least squares with μ ≥ 0. Many labels are
one machine for each class; weights of a hypergraph have Z in closed form. Numbers are relative to the problem's scale.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ....errors import InputError
from ....formulations import Points, RankOneCoefficients, SingleTask, Task
from ....formulations._formulation import Parameters
from ....formulations.families.joint import JointOutputs, JointTask
from ....formulations.families.multi_label import ClassDual, ClassPrimal
from ....formulations.svm import SVM
from ....problem.stack import Array, KernelStack
from ...answers import FINE, Answer, as_numbers, in_shape, of_shape
from ...case import Case, Enclosure, Violation, or_infinite
from ...domain import on_simplex, outside_box, placed, relative, too_long
from ...families import family_of, proved_parts
from ...families.joint import alpha_violations as joint_violations
from ...families.joint import arrays as joint_arrays
from ...families.multi_label import arrays as class_arrays
from ...families.multi_label import best_gamma
from ...families.single_task import added_risk, alpha_violations, arrays, machine_alpha
from .pair_balance import balancing

Mask = NDArray[np.bool_]
_LAST: deque[tuple[object, object, Array]] = deque(maxlen=2)
FREE = 1e-5  # share of the room between its bounds that α must keep from them to count as free
IDLE = 1e-6  # share of the largest γ up to which a class does not count
OF_WEIGHTS = ("domain", "tightness")  # conditions that only the formulation has a part in
SPARE = 2  # free samples more than unknowns, for implied weights to be evidence


class Conditions(NamedTuple):
    """Residuals by name. `complete`: together they bound how far every part is from optimal; if not, small ones say no
    more than that nothing contradicts. `enclosure` is what the point itself proves of the optimal value."""

    residuals: dict[str, float]
    complete: bool
    enclosure: Enclosure | None = None

    @property
    def worst(self) -> float:
        return max(map(or_infinite, self.residuals.values()), default=0.0)


def conditions(case: Case, answer: Answer) -> Conditions:
    """Of an answer to a problem. What cannot be judged raises an error, as in a judgement."""
    with np.errstate(all="ignore"):
        return CONDITIONS.get(case.formulation.family, _any_family)(case, answer)


def _claims(answer: Answer, residuals: dict[str, float], bounds: Enclosure) -> None:
    if answer.objective is not None:
        off = max(answer.objective - bounds.upper, bounds.lower - answer.objective, 0.0)
        residuals["objective"] = off / bounds.scale


# -------------------------------------------------------------------------------------------------------- single tasks
def machine(case: Case, weights: Array) -> Array:
    """α of the machine with these weights; the formulation does not change it, so that the last ones are kept."""
    return _once(case.task, weights, lambda: machine_alpha(case.task, weights))


def _once(task: Task | JointTask, weights: Array, make: Callable[[], Array]) -> Array:
    key = weights.tobytes(), task.y.tobytes(), task.box.tobytes(), task.loss, task.bias
    for kernels, known, alpha in tuple(_LAST):
        if kernels is task.kernels and known == key:
            return alpha
    made = make()
    _LAST.append((task.kernels, key, made))
    return made


def forget() -> None:
    """Let go of kernels and machines of the last judgement."""
    _LAST.clear()


def free_samples(task: Task, alpha: Array) -> Mask:
    """Samples whose α lies between its bounds, away from the kink that a loss with two sides has at 0."""
    low, high = task.low, task.limit
    room = FREE * np.where(np.isfinite(high - low), high - low, np.abs(alpha).max())
    kink = (np.abs(alpha) <= FREE * np.abs(alpha).max()) & (low < 0)
    return np.asarray((alpha > low + room) & (alpha < high - room) & ~kink)


def implied_outputs(task: Task, alpha: Array) -> Array:
    """f + b at free samples: s times the gradient of the gain, whatever the kernels are; without the level where the
    loss has one."""
    return np.asarray(task.signs * task.loss_function.gradient(alpha, task.y, task.box))


def nonnegative(system: Array, wanted: Array) -> Array:
    """Least squares without negative numbers; zeros where SciPy comes to no end."""
    from scipy.optimize import nnls

    try:
        return np.asarray(nnls(system, wanted)[0])
    except RuntimeError:
        return np.zeros(system.shape[1])


def implied_weights(task: Task, alpha: Array) -> Array | None:
    """The weights with which the machine would have this α, by least squares; None where α does not tell. Where the
    margin is an unknown their size is not known, and they sum to one."""
    loss, free = task.loss_function, free_samples(task, alpha)
    if free.sum() < task.count + task.bias + SPARE:
        return None
    images, ones = task.matvecs(alpha * task.signs)[:, free].T, np.ones((int(free.sum()), 1))
    columns, wanted = [images, *([ones, -ones] if task.bias else [])], implied_outputs(task, alpha)[free]
    if loss.free_tube:
        columns.append(np.sign(alpha[free])[:, None])
    if loss.free_margin:
        columns.append(-task.signs[free][:, None])
    system = np.hstack(columns)
    if loss.free_margin:
        row = np.zeros((1, system.shape[1]))
        row[0, : task.count] = float(np.abs(images).mean())
        system, wanted = np.vstack([system, row]), np.append(np.zeros(len(wanted)), row[0, 0])
    weights = nonnegative(system, wanted)[: task.count]
    same = np.unique(images, axis=1, return_inverse=True)[1].ravel()  # kernels that are equal share their weight evenly
    weights = (np.bincount(same, weights) / np.bincount(same))[same]
    return np.asarray(weights) if weights.any() else None


class FunctionFamily(NamedTuple):
    """What a family says of functions Σ μ_m K_mβ, whether they have one output or several. `penalised` is the
    formulation that has the penalty of the norms; `worst`, the violation beyond which nothing else is looked at."""

    penalised: Callable[[Case], SingleTask]
    arrays: Callable[[Case, Answer], tuple[Array | None, Array | None, Array | None]]
    violations: Callable[[Any, Array], list[Violation]]
    machine: Callable[[Case, Array], Array]
    implied_weights: Callable[[Any, Array], Array | None]
    risk: Callable[[Any, Array, Array], float]
    bias: Callable[[Any, Answer], Any]  # in the shape of the outputs
    worst: float = np.inf


def _of_functions(family: FunctionFamily, case: Case, answer: Answer) -> Conditions:
    task, formulation, single, residuals = case.task, case.formulation, family.penalised(case), {}
    weights, alpha, coefficients = family.arrays(case, answer)
    if weights is not None and np.isfinite(weights).all():
        violations, weights = placed(single, task, weights)
        residuals["domain"] = max(violation.by for violation in violations)
    if alpha is not None:
        residuals |= {violation.constraint: violation.by for violation in family.violations(task, alpha)}
    if alpha is None and weights is not None and weights.any() and single.between is None:
        alpha = family.machine(case, weights)
    implied = weights is None and alpha is not None
    if implied:
        weights = family.implied_weights(task, task.feasible(alpha))
        weights = None if weights is None else placed(single, task, weights)[1]
    if max(residuals.values(), default=0.0) > family.worst:
        return Conditions(residuals, True)
    if alpha is None or weights is None or not weights.any():
        return _any_family(case, answer)
    lower = formulation.lower(task, alpha)
    if answer.alpha is not None:
        residuals |= {over.constraint: over.by for over in too_long(task.feasible(alpha), lower.alpha)}
    outputs, norms = task.evaluate(RankOneCoefficients(weights, lower.alpha * task.signs))
    product = float(norms @ lower.roots)
    scale, risk = product or 1.0, family.risk(task, outputs, lower.alpha)
    residuals["margins"] = max(risk - task.gain(lower.alpha) + product, 0.0) / scale
    penalty, conjugate = single.penalty(norms, **task.own), single.conjugate(lower.roots, **task.own)
    residuals["tightness"] = max(penalty + conjugate - product, 0.0) / scale
    upper = penalty + risk
    if coefficients is not None:
        own = formulation.upper(task, coefficients).value
        residuals["coefficients"] = (own - lower.value) / scale
        outputs, upper = task.evaluate(coefficients)[0], min(own, upper)
    if answer.bias is not None:
        bias = family.bias(task, answer)
        residuals["bias"] = added_risk(task, outputs, bias) / scale if task.bias else relative(bias, outputs)
    bounds = Enclosure(lower.value, upper, scale)
    _claims(answer, residuals, bounds)
    # Least squares may have shared out badly.
    doubtful = implied and residuals["margins"] <= 1e-4 < residuals["tightness"]
    return Conditions(residuals, not doubtful, bounds)


SINGLE_TASK = FunctionFamily(
    penalised=lambda case: case.formulation,
    arrays=lambda case, answer: arrays(case.formulation, case.task, answer),
    violations=alpha_violations,
    machine=machine,
    implied_weights=implied_weights,
    risk=lambda task, outputs, alpha: task.risk(outputs).value,
    bias=lambda task, answer: as_numbers("bias", answer.bias).ravel()[:1],
)


# --------------------------------------------------------------------------------------------------------- many labels
def _many_labels(case: Case, answer: Answer) -> Conditions:
    task, formulation, residuals = case.task, case.formulation, {}
    weights, alpha, gamma, coefficients = class_arrays(task, answer)
    if weights is not None:
        violations, weights = on_simplex("weights", weights)
        residuals["domain"] = max(violation.by for violation in violations)
    if alpha is not None:
        residuals |= {violation.constraint: violation.by for violation in outside_box(alpha, task.box)}
    if answer.bias is not None:
        residuals["bias"] = float(np.abs(np.asarray(answer.bias)).max(initial=0.0))
    if weights is not None and alpha is None:
        alpha = _class_machines(case, weights)
    if weights is None and alpha is not None:
        weights = _implied_by_classes(case, np.clip(alpha, 0.0, task.box))
    if weights is None or alpha is None:
        return _any_family(case, answer)
    inside = np.clip(alpha, 0.0, task.box)
    if gamma is None:
        gamma = best_gamma(task, inside) if formulation.name == "ml_minimax" else np.ones(task.classes)
    lower = formulation.lower(task, ClassDual(gamma[:, None] * inside, gamma))
    functions = [weights[None, :, None] * (inside * task.signs)[:, None, :]] if coefficients is None else [coefficients]
    free = gamma <= IDLE * gamma.max()
    if coefficients is None and free.any():  # of classes that do not count α may be anything: their machines have it
        own = np.where(free[:, None], _class_machines(case, weights), inside)
        functions.append(weights[None, :, None] * (own * task.signs)[:, None, :])
    upper = min((formulation.upper(task, ClassPrimal(f, weights)) for f in functions), key=lambda bound: bound.value)
    scale = formulation.scale(lower, upper) or 1.0
    residuals["gap"] = (upper.value - lower.value) / scale
    bounds = Enclosure(lower.value, upper.value, scale)
    _claims(answer, residuals, bounds)
    return Conditions(residuals, True, bounds)


def _class_machines(case: Case, weights: Array) -> Array:
    task = case.task
    single = [Task(task.combined(weights)[None], signs, task.box, "c", False) for signs in task.signs]
    return np.stack([machine_alpha(machine_task, np.ones(1)) for machine_task in single])


def _implied_by_classes(case: Case, alpha: Array) -> Array | None:
    """As for one machine, with the free samples of all classes together."""
    task = case.task
    free = (alpha > FREE * task.box) & (alpha < (1 - FREE) * task.box)
    if free.sum() < task.count + SPARE:
        return None
    images = np.stack([(alpha * task.signs) @ kernel for kernel in task.each_kernel()])
    weights = nonnegative(images[:, free].T, task.signs[free])
    return on_simplex("weights", weights)[1] if weights.any() else None


# ---------------------------------------------------------------------------------------------------------- two stages
def _two_stages(case: Case, answer: Answer) -> Conditions:
    """Weights tell β: w where the margin is missed, 0 where it is kept, where it is met what balances the penalty. α
    and the bias are those of the second stage's machine, or not."""
    weights = answer.weights
    if weights is None or answer.multipliers or not np.all(np.asarray(weights) >= 0):
        return _from_points(case, answer)
    first = answer if case.formulation.maximises else replace(
        answer, multipliers={"beta": balancing(case, np.ravel(weights))}
    )  # fmt: skip
    first_stage = _from_points(case, first)
    covered = set(answer.given) <= {"weights", "objective", "alpha", "bias"}
    first_stage.residuals.update(_second_stage(case, answer, np.ravel(weights)))
    return first_stage._replace(complete=covered and first_stage.enclosure is not None)


def _second_stage(case: Case, answer: Answer, weights: Array) -> dict[str, float]:
    """The gap of α in the machine with these weights, and what the bias adds to its risk."""
    if answer.alpha is None and answer.bias is None:
        return {}
    signs = case.instance.targets.signs(case.formulation.name)
    alpha = of_shape("alpha", answer.alpha, signs.shape)
    bias = of_shape("bias", answer.bias, signs.shape[:1])
    kernel = KernelStack(case.instance.kernels, symmetric=case.instance.symmetric).combined(weights)
    residuals: dict[str, float] = {}
    for k, labels in enumerate(signs):
        task = Task(kernel[None], labels, case.parameters["C"] * case.instance.sample_weight)
        given = machine_alpha(task, np.ones(1)) if alpha is None else alpha[k]
        lower, upper = SVM.lower(task, given), SVM.upper(task, (task.feasible(given) * labels)[None])
        scale = lower.largest_term or 1.0
        for violation in alpha_violations(task, given):
            residuals[violation.constraint] = max(violation.by, residuals.get(violation.constraint, 0.0))
        residuals["margins"] = max((upper.value - lower.value) / scale, residuals.get("margins", 0.0))
        if bias is not None:
            outputs = task.evaluate((task.feasible(given) * labels)[None])[0]
            residuals["bias"] = max(added_risk(task, outputs, float(bias[k])) / scale, residuals.get("bias", 0.0))
    return residuals


# ------------------------------------------------------------------------------------------------------- joint outputs
class Rows(NamedTuple):
    """What outputs are known from α: images (rows, M) of the kernels and `biases` (rows, k), which with weights and
    biases make the numbers `wanted`."""

    images: Array
    biases: Array
    wanted: Array

    def solved(self, bias: bool, weights: Array | None = None) -> Array | None:
        """Weights ≥ 0 by least squares, or the factor of those given; None where there are too few rows."""
        columns = self.images if weights is None else (self.images @ weights)[:, None]
        system = np.hstack([columns, self.biases, -self.biases]) if bias else columns
        if len(system) < columns.shape[1] + bias * self.biases.shape[1] + SPARE:
            return None
        solution = nonnegative(system, self.wanted)[: columns.shape[1]]
        return solution if solution.any() else None


def implied_rows(task: JointTask, alpha: Array) -> Rows:
    """At samples whose α lies between its bounds: every output by itself, or a sample's own less another one."""
    images, eye = np.stack([task.matvecs(beta) for beta in alpha * task.signs], axis=1), np.eye(task.outputs)
    rows = list(_apart(task, alpha) if task.loss.of_each_output is None else _each(task, alpha))
    known = [(images[:, j, i] - (0 if other is None else images[:, other, i]), j, other, z) for j, other, i, z in rows]
    biases = [eye[j] - (0 if other is None else eye[other]) for _, j, other, _ in known]
    some = np.array([image for image, *_ in known]).reshape(len(rows), task.count)
    return Rows(some, np.array(biases).reshape(len(rows), task.outputs), np.array([z for *_, z in known]))


def single_outputs(task: JointTask) -> list[Task]:
    """The single tasks of a loss that is applied output by output."""
    each = task.loss.of_each_output
    assert each is not None
    stack: Parameters = {"symmetric": task.symmetric, "sizes": task.sizes, "offsets": task.offsets}
    return [Task(task.kernels, y, task.box, each, task.bias, **stack) for y in task.y]


def _each(task: JointTask, alpha: Array) -> Iterator[tuple[int, int | None, int, float]]:
    for j, single in enumerate(single_outputs(task)):
        known = implied_outputs(single, alpha[j])
        yield from ((j, None, int(i), float(known[i])) for i in np.flatnonzero(free_samples(single, alpha[j])))


def _apart(task: JointTask, alpha: Array) -> Iterator[tuple[int, int | None, int, float]]:
    own, price = np.argmax(task.y, axis=0), task.box
    for i, y in enumerate(own):
        room = price[i] - alpha[y, i]
        for j in range(task.outputs) if FREE * price[i] < room else ():
            if j != y and alpha[j, i] > FREE * price[i]:
                yield int(y), j, i, float(np.log(room / alpha[j, i])) if task.loss.log_odds else 1.0


def _joint_machine(case: Case, weights: Array) -> Array:
    """α of the functions that are best with these weights; the last ones are kept."""
    from ....solvers.solving import solver_named

    task = case.task

    def solved() -> Array:
        alone = replace(task, kernels=task.combined(weights)[None], own={}, symmetric=True, sizes=None, offsets=None)
        machine, unlimited = JointOutputs.of(SVM), {"time_limit": None, "max_iter": None}
        point, _ = solver_named("auto", machine).run(machine, alone.centred(), FINE, options={}, **unlimited)
        return task.feasible(point.lower.alpha)

    return _once(task, weights, solved)


def _joint_risk(task: JointTask, outputs: Array, alpha: Array) -> float:
    """At least the risk, and at the optimum no more: with biases that α tells where the best ones are a programme's."""
    rows = [] if not task.bias or task.loss.of_each_output or task.loss.log_odds else list(_apart(task, alpha))
    if len(rows) < task.outputs + SPARE:
        return float(task.risk(outputs).value)
    design = np.array([np.eye(task.outputs)[j] - np.eye(task.outputs)[other] for j, other, _, _ in rows])
    missing = [1 - outputs[j, i] + outputs[other, i] for j, other, i, _ in rows]
    bias = np.linalg.lstsq(design, np.array(missing), rcond=None)[0]
    return float(task.loss.value(outputs + bias[:, None], task.y, task.box).sum())


JOINT_OUTPUTS = FunctionFamily(
    penalised=lambda case: case.formulation.single,
    arrays=lambda case, answer: joint_arrays(case.task, answer),
    violations=lambda task, alpha: joint_violations(task, alpha, task.feasible(alpha)),
    machine=_joint_machine,
    implied_weights=lambda task, alpha: implied_rows(task, alpha).solved(task.bias),
    risk=_joint_risk,
    bias=lambda task, answer: in_shape("bias", answer.bias, (task.outputs, 1)),
    worst=0.1,
)


# ------------------------------------------------------------------------------------------------------ other families
def _from_points(case: Case, answer: Answer) -> Conditions:
    """The gap of the points that the answer stands for, where it has both sides; α of a second stage is left out."""
    formulation, task = case.formulation, case.task
    some = _any_family(case, answer)
    try:
        points: Points = family_of(formulation).points(formulation, task, answer)
    except InputError:  # a part that they need is missing
        return some
    if not points.duals or not points.primals:
        return some
    pairs = [
        (formulation.lower(task, dual), formulation.upper(task, f)) for dual in points.duals for f in points.primals
    ]
    lower, upper = max(pairs, key=lambda pair: pair[0].value - pair[1].value)
    scale = formulation.scale(lower, upper) or 1.0
    residuals = {**some.residuals, "gap": max(upper.value - lower.value, 0.0) / scale}
    bounds = Enclosure(min(lower.value, upper.value), max(lower.value, upper.value), scale)
    _claims(answer, residuals, bounds)
    covered = {"objective", *family_of(formulation).in_points}
    return Conditions(residuals, set(answer.given) <= covered, bounds)


def _any_family(case: Case, answer: Answer) -> Conditions:
    """Violations of single parts, and how far their bounds and claims lie apart."""
    family = family_of(case.formulation)
    weights, alpha = None if family.machines else answer.weights, None if family.second_stage else answer.alpha
    parts = proved_parts(case, Answer(weights, alpha, answer.coefficients, {}, objective=answer.objective))
    residuals = {
        f"{part.name}: {violation.constraint}": violation.by for part in parts for violation in part.violations
    }
    values = {
        kind: [part.value for part in parts if part.proves == kind and part.value is not None]
        for kind in ("upper", "lower", "claim")
    }
    largest = max((abs(value) for some in values.values() for value in some), default=0.0)
    high, low = values["upper"] + values["claim"], values["lower"] + values["claim"]
    if (values["lower"] and high) or (values["upper"] and low):
        residuals["apart"] = max(max(high) - min(low), 0.0) / (ROOM * largest or 1.0)
    return Conditions(residuals, False)


ROOM = 1000.0  # a problem's scale may be that much smaller than its value
CONDITIONS: dict[str, Callable[[Case, Answer], Conditions]] = {
    "single task": partial(_of_functions, SINGLE_TASK),
    "many labels": _many_labels,
    "joint outputs": partial(_of_functions, JOINT_OUTPUTS),
    "two stages": _two_stages,
    "hypergraph": _from_points,
}
