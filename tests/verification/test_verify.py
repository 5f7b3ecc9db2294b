"""The judge: right answers from anybody are accepted, worse ones rejected exactly where they leave the tolerance."""

import pytest

from cases import KINDS
from judged import BINARY, instance_for, parts_of, solution_of
from mklcvx import formulations, solve, verify

pytestmark = pytest.mark.slow

NAMES = [formulation.name for formulation in formulations.FORMULATIONS]


# ------------------------------------------------------------------------------------------------- right answers
@pytest.mark.parametrize("name", NAMES)
def test_our_own_answers_are_accepted_whole_and_part_by_part(name):
    solution = solution_of(name)
    whole = parts_of(solution)
    report = verify(instance_for(name), name, **whole)
    assert report.accepted, report
    assert report.diagnosis is None
    assert {"weights", "objective"} <= {part.name for part in report.parts}
    for part in [part for part in whole if part not in ("multipliers", "coefficients")]:
        alone = verify(instance_for(name), name, diagnosis=False, **{part: whole[part]})
        assert alone.accepted, (part, alone)
        assert [one.name for one in alone.parts] == [part]


@pytest.mark.parametrize("nu", [0.3, 0.6])
@pytest.mark.parametrize("bias", [True, False])
def test_the_nu_form_and_no_bias(nu, bias):
    given = {"nu": nu, "bias": bias}
    solution = solve(BINARY, "l1", solver="interior", **given)
    assert verify(BINARY, "l1", parameters=given, **parts_of(solution)).accepted
    wrong = verify(BINARY, "l1", weights=solution.weights, bias=solution.bias + 1, parameters=given, diagnosis=False)
    assert wrong["bias"].verdict(1e-6) == "rejected"


@pytest.mark.parametrize(("name", "solver"), [("l1", "scs"), ("l1", "simplemkl"), ("sm1", "silp"), ("ml_sum", "scs")])
def test_a_certified_gap_is_a_tolerance_that_is_met(name, solver):
    """The scale at a coarse point may differ by as much as the gap."""
    found = solve(instance_for(name), name, solver=solver, tol=1e-4)
    assert found.certified
    tolerance = max(1.01 * found.certificate.relative_gap, 1e-8)
    assert verify(instance_for(name), name, tol=tolerance, **parts_of(found)).accepted


@pytest.mark.parametrize(
    ("name", "kind"),
    [("l1", "imbalanced"), ("li", "imbalanced"), ("square", "duplicated"), ("vskl", "duplicated"), ("l1", "rank one"),
     ("li", "rank one"), ("l1", "sizes differ by 1e9"), ("square", "sizes differ by 1e9"), ("vskl", "n = 2"),
     ("square", "n = 2")],
)  # fmt: skip
def test_right_answers_to_hard_instances_are_accepted(name, kind):
    instance = KINDS[kind]()
    found = solve(instance, name, C=2.0)
    tolerance = max(1e-6, 1.01 * found.certificate.relative_gap)
    assert verify(instance, name, tol=tolerance, parameters={"C": 2.0}, **parts_of(found)).accepted
