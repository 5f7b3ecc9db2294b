"""`check_*` functions: what must hold of a solution. `check_solution` calls them all, so that none is forgotten."""

import json
import math
from collections.abc import Sequence

import numpy as np
import pytest

from mklcvx import Instance, Solution, formulations
from mklcvx.checker.audit import evaluated_file, point_multipliers
from mklcvx.checker.claims import audit
from mklcvx.solvers.conic import CLARABEL, Run, solve_program

AUDITED = 30  # samples up to which files are audited


def check_solution(instance: Instance, solution: Solution, tolerance: float) -> None:
    check_status(solution, tolerance)
    check_dual_feasibility(instance, solution)
    check_stationarity(instance, solution)
    check_bias(instance, solution)
    check_recomputed_certificate(instance, solution)
    check_independent_checker(instance, solution)


def task_of(instance: Instance, solution: Solution):
    return formulations.get(solution.formulation).task(instance, solution.parameters)[0]


def check_status(solution: Solution, tolerance: float) -> None:
    assert solution.status == "certified", solution.message
    assert solution.certificate.relative_gap <= tolerance
    assert solution.certificate.lower <= solution.certificate.upper
    apart = solution.certificate.upper - solution.certificate.lower
    assert 0 <= solution.certificate.gap <= apart * (1 + 1e-14) + 1e-280
    assert solution.objective == solution.certificate.upper
    assert solution.message == ""


def check_dual_feasibility(instance: Instance, solution: Solution) -> None:
    task = task_of(instance, solution)
    assert ((solution.alpha >= 0) & (solution.alpha <= task.box)).all()
    if task.bias:
        assert math.fsum(task.y * solution.alpha) == 0
    if task.loss == "nu":
        assert math.fsum(solution.alpha) == 1


def check_stationarity(instance: Instance, solution: Solution) -> None:
    """Where weights and α describe the classifier, f_m = weight_m K_m(α∘y) is what it predicts, but for the stretch."""
    if solution.coefficients is None:
        signed = solution.alpha * solution.y
        f = sum(w * k @ signed for w, k in zip(solution.weights, instance.kernels, strict=True)) + solution.bias
        stretched = solution.certificate.stretch * f
        assert solution.decision_function(instance.kernels) == pytest.approx(stretched, rel=1e-9, abs=1e-9)
    else:
        assert solution.coefficients.shape == (instance.count, instance.samples)


def check_bias(instance: Instance, solution: Solution) -> None:
    low, high = solution.bias_interval
    assert low <= solution.bias <= high
    if not solution.parameters["bias"]:
        assert solution.bias == 0


def check_recomputed_certificate(instance: Instance, solution: Solution) -> None:
    formulation, task = formulations.get(solution.formulation), task_of(instance, solution)
    certificate, found = solution.certificate, formulation.lower(task, solution.alpha)
    upper = formulation.upper(task, solution.all_coefficients).value
    size = max(abs(upper), found.largest_term)
    stretched = 2 * (certificate.stretch - 1) * (task.box.sum() + size) + (1e-8 * size if task.loss == "nu" else 0.0)
    assert found.alpha.tolist() == solution.alpha.tolist()  # exactly feasible as it is
    assert certificate.lower == pytest.approx(found.value, abs=certificate.gap + 1e-12 * size)
    assert certificate.upper == pytest.approx(upper, abs=certificate.gap + stretched + 1e-12 * size)


def check_independent_checker(instance: Instance, solution: Solution) -> None:
    """The auditor confirms every claim of the file; of large instances exact arithmetic takes long."""
    if instance.samples > AUDITED:
        return
    data = {"kernels": instance.kernels, "y": instance.y, "sample_weight": instance.sample_weight}
    data |= {"names": instance.names, "groups": instance.groups}
    record = json.loads(json.dumps(solution.as_dict(), allow_nan=False))
    if solution.preprocessing is None:
        status, lines = audit(data, record, evaluated_file, point_multipliers)
        assert status == 0, "\n".join(lines)


def declared_values(name: str, instance: Instance, given: dict) -> tuple[float, float]:
    """The optimal values of the declared primal and of the declared dual, each by its own solve."""
    formulation = formulations.get(name)
    task, _ = formulation.task(instance, given)
    size = task.typical_kernel_size()
    primal, dual = solved_values(formulation, formulation.in_units(task, size))
    return primal / task.value_unit(size), dual / task.value_unit(size)


def unscaled_values(formulation, task, by: Sequence[dict] = (CLARABEL, CLARABEL)) -> list[float]:
    """As `declared_values`, in the task's own units, by these solvers as they come."""
    values = []
    for program, settings in zip((formulation.declare_primal(task), formulation.declare_dual(task)), by, strict=True):
        assert solve_program(program.problem, settings, Run())
        values.append(float(program.problem.value))
    return values


def solved_values(formulation, task) -> tuple[float, float]:
    programs = formulation.declare_primal(task), formulation.declare_dual(task)
    return tuple(solved_value(program.problem) for program in programs)


def solved_value(problem) -> float:
    """To the accuracy that can be reached: beyond it rounding drives Clarabel away again, and it may end with nothing.
    Where that is depends on the processor."""
    for accuracy in (CLARABEL["tol_gap_rel"], 1e-8, 1e-6):
        if solve_program(problem, {**CLARABEL, "tol_gap_rel": accuracy, "tol_feas": accuracy}, Run()):
            return float(problem.value)
    raise AssertionError("Clarabel solves it to no accuracy")


def check_enclosed(value: float, solution: Solution, tolerance: float) -> None:
    slack = tolerance * max(solution.certificate.scale, abs(solution.certificate.upper))
    assert solution.certificate.lower - slack <= value <= solution.certificate.upper + slack


def check_meets(one: Solution, other: Solution) -> None:
    """Both certified, by intervals that overlap."""
    assert one.certified
    assert other.certified, other.message
    slack = 1e-12 * max(one.certificate.size, one.certificate.scale)
    assert one.certificate.lower <= other.certificate.upper + slack
    assert other.certificate.lower <= one.certificate.upper + slack


def value_of(solution: Solution) -> float:
    return (solution.certificate.lower + solution.certificate.upper) / 2


def check_same_function(one: Solution, other: Solution, kernels: np.ndarray, tolerance: float = 1e-4) -> None:
    f, g = one.decision_function(kernels), other.decision_function(kernels)
    assert f == pytest.approx(g, abs=tolerance * max(1.0, np.abs(f).max()))


def declared_apart(formulation, task) -> tuple[float, float]:
    """As `declared_values`, for a formulation that need not be in the catalogue; values in the task's own units."""
    size = task.typical_kernel_size()
    scaled = formulation.in_units(task, size)
    unit = size if scaled is not task else 1.0
    primal, dual = solved_values(formulation, scaled)
    return primal / unit, dual / unit
