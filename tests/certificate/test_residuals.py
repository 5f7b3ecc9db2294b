"""The gap taken apart: three numbers that add up to it, none negative, whatever the point."""

from dataclasses import replace

import numpy as np
import pytest

from mklcvx import Certificate, Instance, formulations, solve, zoo
from mklcvx.certificate.residuals import gap_parts, sample_side

INSTANCE = zoo.random(n=20, M=4, overlap=0.7, seed=1)
WEIGHTED = INSTANCE.with_kernels(INSTANCE.kernels, sample_weight=np.linspace(0.5, 2.0, 20))
NAMES = [f.name for f in formulations.SINGLE_TASKS]


def anywhere(instance, name, given):
    """A solution at a point that is no optimum: any feasible α, any functions, and the bounds that they prove."""
    rng = np.random.default_rng(2)
    solution = solve(instance, name, **given)
    formulation = formulations.get(name)
    task, _ = formulation.task(instance, given)
    lower = formulation.lower(task, task.box * rng.random(20))
    upper = formulation.upper(task, rng.normal(size=(instance.count, 20)))
    rho = {} if upper.risk.rho is None else {"rho": upper.risk.rho}
    return replace(
        solution, alpha=lower.alpha, coefficients=upper.coefficients, bias=upper.risk.bias, multipliers=rho,
        certificate=Certificate(lower.value, upper.value, max(lower.largest_term, upper.largest_term)),
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("given", [{"C": 0.7}, {"loss": "squared_hinge", "bias": False}, {"nu": 0.4}])
def test_the_parts_add_up_to_the_gap_far_from_the_optimum(name, given):
    if "nu" in given and "nu" not in formulations.get(name).losses:
        given = {"C": 30.0}
    instance = WEIGHTED.select([0]) if name == "svm" else WEIGHTED
    solution = anywhere(instance, name, given)
    parts = gap_parts(instance, solution)
    assert solution.certificate.relative_gap > 0.1
    assert sum(parts) == pytest.approx(solution.certificate.gap, rel=1e-10)
    assert min(parts) > 0


def test_every_part_can_be_what_is_wrong():
    """Weights that do not fit, functions that are no multiple of K(α∘y), an α of another machine."""
    solution = solve(INSTANCE, "l1", C=1.0)
    signed = solution.alpha * INSTANCE.y
    even = replace(solution, weights=np.full(4, 0.25), coefficients=np.outer(np.full(4, 0.25), signed))
    assert gap_parts(INSTANCE, even).functions == pytest.approx(0, abs=1e-9)
    assert gap_parts(INSTANCE, even).weights > 1e-3
    noise = np.random.default_rng(0).normal(size=20)
    other = replace(solution, coefficients=np.outer(solution.weights, signed + 0.1 * noise))
    assert gap_parts(INSTANCE, other).functions > 1e-3
    best = sum(gap_parts(INSTANCE, solution))
    assert best == pytest.approx(solution.certificate.gap, abs=1e-12)
    zero = replace(solution, alpha=np.zeros(20), coefficients=solution.all_coefficients)
    slack = sample_side(INSTANCE, zero).slackness
    assert gap_parts(INSTANCE, zero).samples == pytest.approx(slack.sum())
    assert slack.max() > 0.1


def test_families_have_no_parts_but_samples_that_satisfy_their_conditions():
    many = Instance(INSTANCE.kernels, labels=np.column_stack([INSTANCE.y > 0, np.arange(20) % 3 == 0]))
    for name in ("ml_minimax", "ts", "alignment"):
        solution = solve(many, name)
        assert gap_parts(many, solution) is None
        samples = sample_side(many, solution)
        assert samples.margins.shape == (2, 20)
        assert samples.slackness.max() < 1e-4
