"""The second stage: a learned kernel goes to support vector machines, one for y or one per class or label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..certificate import certify
from ..certificate.proving import certified
from ..certificate.record import limit_of
from ..certificate.regularisers import FixedBounds
from ..certificate.single import Proved
from ..certificate.solution import Solution
from ..defaults import SECOND_STAGE_C, TOLERANCE
from ..errors import InputError
from ..formulations import Points, Task
from ..formulations._formulation import as_number
from ..formulations.sum import SUM
from ..formulations.svm import SVM
from ..problem.checks import check_type
from ..problem.instance import Instance
from ..problem.stack import Array
from .conic import solve_declared
from .families.family import Fields
from .interior.engine import InteriorPoint
from .polish import refined, sharpened
from .registry import drive

# Tolerances of the machines at given weights, far below any tolerance of the user.
FINE, GOOD = 1e-11, 1e-9


def machine(kernel: Array, labels: Array, box: Array, bias: bool) -> tuple[Task, Array]:
    """Solve the SVM with one kernel. Returns its task, and the α with the least gap."""
    task = Task(kernel[None], labels, box, "c", bias)

    def gap(alpha: Array) -> float:
        """The gap of α and of the classifier that it implies."""
        value = certify(SVM, task, Points([alpha], [(alpha * task.y)[None]])).certificate.gap
        return value if np.isfinite(value) else np.inf

    return task, min(candidates(task), key=gap)


def candidates(task: Task) -> Iterator[Array]:
    """α of the SVM: by `interior`; if its gap is too large, by Clarabel, and both of them sharpened."""
    point, _ = drive(InteriorPoint(), SVM, task, FINE)
    yield point.lower.alpha
    certificate = point.certificate
    if certificate.proves(GOOD) or certificate.gap <= certificate.rounding:
        return
    again, _ = solve_declared(SVM, task, FINE)
    yield again.lower.alpha
    for tried in (point, again):
        yield task.feasible(sharpened(task, np.ones(1), tried.lower.alpha, tried.upper))


def classifier(task: Task, weights: Array, tolerance: float) -> Proved:
    """The certified SVM with the kernel Σ weight_m K_m at exactly these weights. It is solved in centred coordinates; α
    has two parts if one is too coarse."""
    working, tried = task.centred(), []
    alone = Task(working.combined(weights)[None], task.y, task.box, "c", task.bias)
    for alpha in candidates(alone):
        for refining in (False, True):
            alpha, low = refined(task, working, weights, alpha) if refining else (task.feasible(alpha), None)
            tried.append(certified(SUM, task, alpha, weights, tolerance, low=low, side=FixedBounds(weights)))
            best = min(tried, key=lambda proved: proved.certificate.gap)
            if best.certificate.proves(tolerance):
                return best
    return best


def one_versus_rest(
    instance: Instance, weights: Array, price: float, tolerance: float = TOLERANCE
) -> tuple[Fields, dict[str, float | Array], str]:
    """SVMs with bias and the kernel Σ weight_m K_m: α, bias and labels ±1, (n,) for y, else one row per label.

    Returns these fields of a solution, the multipliers (the worst of the relative gaps, and the stretch t and the δ of
    each machine, without which the gap is not found again), and in words what that leaves unproved.
    """
    signs = instance.targets.signs("the second stage", constant_allowed=False)
    box = price * instance.sample_weight
    tasks = [Task(instance.kernels, labels, box, "c", True, symmetric=instance.symmetric) for labels in signs]
    svms = [classifier(task, weights, tolerance) for task in tasks]
    bias, bias_low = zip(*(svm.bias for svm in svms), strict=True)
    low = [np.zeros(instance.samples) if svm.low is None else svm.low for svm in svms]
    fields: Fields = {"alpha": [svm.alpha for svm in svms], "alpha_low": low, "y": signs}
    fields |= {"bias": bias, "bias_low": bias_low}
    binary = instance.targets.kind == "y"
    fields = {name: values[0] if binary else np.array(values) for name, values in fields.items()}
    if all(svm.low is None for svm in svms):
        fields["alpha_low"] = None
    worst = max(svms, key=lambda svm: (not svm.certificate.proves(tolerance), svm.certificate.relative_gap))
    gap, failed = worst.certificate.relative_gap, ""
    if not worst.certificate.proves(tolerance):
        why = {"rounding": "; rounding forbids less", "entries": "; its kernel is not semidefinite enough for less"}
        words = (
            f"relative gap {gap:.2e}, asked for {tolerance:.0e}{why.get(limit_of(worst.certificate, tolerance), '')}"
        )
        failed = f"the second stage is not certified: {words}"
    proved: dict[str, float | Array] = {"second_stage_gap": gap}
    for part in ("stretch", "ridge"):
        each = [float(getattr(svm.certificate, part)) for svm in svms]
        proved[f"second_stage_{part}"] = each[0] if binary else np.array(each)
    return {**fields, "bias_interval": None}, proved, failed


def second_stage(instance: Instance, solution: Solution, *, C: float = SECOND_STAGE_C) -> Solution:
    """Train support vector machines with the kernel that a solution has learned.

    There is one machine for y, or one for each class or label. The solution stays certified if they are, too. Its
    formulation is one that learns the kernel first, such as `ts` or `hypergraph`: where weights and machine are one
    optimum, as in `l1`, the certificate is of both of them, and another machine would contradict it.

    Parameters
    ----------
    instance : Instance
        The problem that was solved.
    solution : Solution
        Its solution, whose weights make the kernel.
    C : float, default=1.0
        Price of the samples' slacks.

    Returns
    -------
    Solution
        The solution with the machines' dual variables and biases.

    Raises
    ------
    InputError
        If the weights are not one for each kernel, not negative and not all zero, or the machine is part of what the
        certificate proves.

    Examples
    --------
    >>> import mklcvx
    >>> problem = mklcvx.zoo.real("wine", "classes", samples=30, count=5)
    >>> embedding = mklcvx.solve(problem, "hypergraph")
    >>> mklcvx.second_stage(problem, embedding, C=1.0).alpha.shape
    (3, 30)
    """
    check_type(Instance, "an Instance", instance=instance)
    check_type(Solution, "a Solution", solution=solution)
    C = as_number("C", C)
    if C <= 0:
        raise InputError(f"parameter C = {C:g} is outside the limits of the second stage: give C > 0")
    if solution.alpha is not None and "second_stage_gap" not in solution.multipliers:
        fault = f"solution: weights and machine of {solution.formulation} are one optimum, which has no second stage"
        raise InputError(f"{fault}: solve it with C = {C:g}, or solve 'sum' with the kernels times its weights")
    instance.check_unchanged()
    tolerance = TOLERANCE if solution.tolerance is None else solution.tolerance
    machines, proved, failed = one_versus_rest(instance, weights_for(instance, solution.weights), C, tolerance)
    multipliers = {**solution.multipliers, **proved}
    multipliers.pop("B", None)
    changed: Fields = {"multipliers": multipliers, "parameters": {**solution.parameters, "C": C}}
    if failed:
        message = "; ".join(part for part in (solution.message, failed) if part)
        changed |= {"status": "not_certified", "message": message, "notes": (*solution.notes, failed)}
    return replace(solution, coefficients=None, **changed, **machines)


def weights_for(instance: Instance, weights: ArrayLike) -> Array:
    """Check weights of the user: one per kernel, finite, not negative, not all zero."""
    given = np.asarray(weights, dtype=float)
    if given.shape != (instance.count,) or not np.isfinite(given).all() or (given < 0).any() or not given.any():
        raise InputError(
            f"weights {np.array2string(given.ravel()[:4], separator=', ')} of shape {given.shape}: "
            f"give {instance.count} numbers, one per kernel, none negative, not all zero"
        )
    return given


def f1_scores(truth: ArrayLike, predicted: ArrayLike) -> tuple[float, float]:
    """Macro F1, the mean over labels of 2 TP/(2 TP + FP + FN), and micro F1, the same over all decisions at once.

    Labels are (t, k) in {0, 1}; a label that is neither met nor given counts 0.
    """
    true, given = np.atleast_2d(np.asarray(truth)) > 0, np.atleast_2d(np.asarray(predicted)) > 0
    hits, decisions = (true & given).sum(axis=0), true.sum(axis=0) + given.sum(axis=0)
    each = 2 * hits / np.maximum(decisions, 1)
    return float(each.mean()), float(2 * hits.sum() / max(decisions.sum(), 1))
