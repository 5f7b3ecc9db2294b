"""The optimality conditions at a solution, and the gap of a single task as a sum of their violations.

With outputs z_i = f(x_i) + b, the signs s of the task, norms ‖f_m‖ and roots √q_m(α),

    primal − dual  =  Σ_i (c_i ℓ(y_i, z_i) − g_i(α_i) + s_i α_i z_i)                     samples
                      (where the tube ε is an unknown, + ε(N − ‖α‖₁))
                   +  Σ_m (‖f_m‖ √q_m − Σ_i s_i α_i f_m(x_i))                            functions
                   +  U(‖f_1‖..‖f_M‖) + U*(√q_1..√q_M) − Σ_m ‖f_m‖ √q_m                  weights

Proof: insert Σ_m Σ_i s_i α_i f_m(x_i) = Σ_i s_i α_i z_i, which holds since s'α = 0 (without a bias there is no b), and
collect. No line is negative, and each vanishes exactly where its condition holds: α_i minimises what the loss leaves
(`formulations/losses`); f_m is a multiple of K_mβ; weights fit both norms and roots. For the hinge, with the share
α_i/C_i, margins y_i z_i and the level 1 (loss nu: ρ), the first line is Σ_i C_i times the `slackness` below: α_i = 0
beyond the level, α_i = C_i short of it. This is the plain gap, of the two objectives at the solution in double
precision: the certificate's is not below it but for rounding, which it pays for, as it does for δ, and it prices the
weights as they are stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from .. import formulations
from ..errors import InputError
from ..formulations._formulation import OfOwn
from ..formulations.families.joint import JointTask
from ..formulations.families.task import Task
from ..formulations.losses import COUNTS, HINGE, REAL, Loss
from ..problem.checks import check_type
from ..problem.instance import Instance
from ..problem.stack import Array, KernelStack
from .solution import Solution

Multipliers = Mapping[str, float | Array]


class SampleResiduals(NamedTuple):
    """Margins y f(x), or residuals y − f(x) of real targets, and shares α/C, (n,) or (k, n) with k labels; the level
    that margins are held against, for residuals the tube where it is an unknown; what the loss leaves at each sample,
    divided by C: zero at the optimum."""

    margins: Array
    shares: Array
    level: float
    slackness: Array
    loss: Loss | None  # None where outputs are compared with each other: there is no margin then


class GapParts(NamedTuple):
    """The three lines of the theorem, in units of the objective."""

    samples: float
    functions: float
    weights: float


def sample_side(instance: Instance, solution: Solution) -> SampleResiduals:
    """Margins and shares of a solution, for the instance that it solves."""
    check_pair(instance, solution)
    if solution.alpha is None:
        raise InputError(f"solution of {solution.formulation}: has no α: give one that classifies")
    stack = KernelStack(instance.kernels, symmetric=instance.symmetric)
    coefficients = solution.all_coefficients
    labels = coefficients.reshape(-1, *coefficients.shape[-2:])
    outputs = np.stack([stack.matvecs_each(vectors).sum(axis=0) for vectors in labels]).reshape(solution.alpha.shape)
    outputs = outputs + np.asarray(solution.offset)[..., None]
    margins, box = solution.y * outputs, box_of(instance, solution)
    level, shares = float(solution.multipliers.get("rho", 1.0)), solution.alpha / box
    formulation = formulations.get(solution.formulation).posed_for(instance, solution.parameters)
    if formulation.family not in OF_LOSSES:
        beyond = margins - level
        slackness = (1 - shares) * np.maximum(-beyond, 0.0) + shares * np.maximum(beyond, 0.0)
        return SampleResiduals(margins, shares, level, slackness, HINGE)
    task, _ = formulation.task(instance, solution.parameters)
    left, each = OF_LOSSES[formulation.family](task, solution.alpha, outputs, solution.multipliers)
    if each is not None and each.targets in (REAL, COUNTS):
        margins = task.y - each.mean(outputs)
        level = level_of(each, solution.multipliers)
    return SampleResiduals(margins, shares, level, left / task.box, each)


def _of_one_output(task: Task, alpha: Array, outputs: Array, multipliers: Multipliers) -> tuple[Array, Loss]:
    """What the loss leaves at each sample, and the loss."""
    loss = task.loss_function
    return loss.fenchel_young(alpha, outputs, task.y, task.box, level_of(loss, multipliers)), loss


def level_of(loss: Loss, multipliers: Multipliers) -> float:
    """ρ or ε, where it is an unknown."""
    return float(multipliers.get(loss.level_name, 0.0))


def _of_several(task: JointTask, alpha: Array, outputs: Array, _: Multipliers) -> tuple[Array, Loss | None]:
    return task.loss.fenchel_young(alpha, outputs, task.y, task.box), task.loss.of_each_output


OF_LOSSES: dict[str, OfOwn[tuple[Array, Loss | None]]] = {
    "single task": _of_one_output,
    "joint outputs": _of_several,
}


def box_of(instance: Instance, solution: Solution) -> Array:
    """C_i: C or 1/(νn), times the sample's weight."""
    given = solution.parameters
    price = float(given["C"]) if "C" in given else 1 / (float(given["nu"]) * instance.samples)
    return np.asarray(price * instance.sample_weight)


def gap_parts(instance: Instance, solution: Solution) -> GapParts | None:
    """The parts of the plain gap; None for families whose gap is not decomposed."""
    formulation = formulations.get(solution.formulation).posed_for(instance, solution.parameters)
    taken_apart = TAKEN_APART.get(formulation.family)
    if taken_apart is None or solution.alpha is None:
        return None
    check_pair(instance, solution)
    return taken_apart(formulation, instance, solution)


def single_task(formulation: formulations.SingleTask, instance: Instance, solution: Solution) -> GapParts:
    task, _ = formulation.task(instance, solution.parameters)
    outputs, norms = task.evaluate(solution.all_coefficients)
    alpha = np.asarray(solution.alpha)
    roots = task.root_q(alpha)
    both = float(norms @ roots)
    curves = formulation.penalty(norms, **task.own) + formulation.conjugate(roots, **task.own)
    loss, level = task.loss_function, level_of(task.loss_function, solution.multipliers)
    at_samples = loss.fenchel_young(alpha, outputs + solution.offset, task.y, task.box, level)
    slack = level * loss.slack(alpha, task.box) if loss.free_tube else 0.0
    return GapParts(
        samples=float(at_samples.sum()) + slack,
        functions=both - float((alpha * task.signs) @ outputs),
        weights=float(curves) - both,
    )


TAKEN_APART: dict[str, OfOwn[GapParts]] = {"single task": single_task}


def check_pair(instance: Instance, solution: Solution) -> None:
    check_type(Instance, "an Instance", instance=instance)
    check_type(Solution, "a Solution", solution=solution)
    if solution.y.shape[-1] != instance.samples or len(solution.weights) != instance.count:
        sizes = f"{len(solution.weights)} kernels and {solution.y.shape[-1]} samples"
        given = f"{instance.count} and {instance.samples}"
        raise InputError(f"solution: is for {sizes}, the instance has {given}: give the one solved")
