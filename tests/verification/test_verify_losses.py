"""Answers of every loss are judged as those of the hinge are: accepted, rejected, or undecided."""

import json
from functools import cache

import numpy as np
import pytest

from mklcvx import Instance, Solution, shrink, solve, verify, zoo
from mklcvx.formulations.losses import COUNTS, EVERY, LABELS, NONE, REAL
from mklcvx.io.files import save_instance, save_solution
from mklcvx.verification.case import pose
from mklcvx.verification.families.single_task import SingleTaskJudge
from refusals import check_refused

pytestmark = pytest.mark.slow

SPECIMEN = {LABELS: "mixed", REAL: "response", COUNTS: "counts", NONE: "one-cloud"}
OWN = {"nu": {"nu": 0.3}, "huber": {"delta": 0.25}, "quantile": {"quantile": 0.3}}
PAIRS = [
    (loss.name, name)
    for place, loss in enumerate(EVERY)
    for name in ("l1", ("sum", "elastic", "li")[place % 3])
    if not (loss.free_margin and name == "li")
]


@cache
def instance_of(loss: str) -> Instance:
    return zoo.specimen(SPECIMEN[{one.name: one.targets for one in EVERY}[loss]]).instance()


@cache
def solved(loss: str, formulation: str) -> Solution:
    return solve(instance_of(loss), formulation, tol=1e-9, loss=loss, **OWN.get(loss, {}))


def parameters(found: Solution) -> dict[str, object]:
    return dict(found.parameters)


def parts(found: Solution) -> dict[str, object]:
    biased = {"bias": found.bias} if found.parameters["bias"] else {}
    return {"weights": found.weights, "alpha": found.alpha, "objective": found.objective, **biased}


# ------------------------------------------------------------------------------------------------------- right answers
@pytest.mark.parametrize(("loss", "formulation"), PAIRS)
def test_a_right_answer_is_accepted_whole_and_in_parts(loss, formulation):
    found, instance = solved(loss, formulation), instance_of(loss)
    multipliers = {name: value for name, value in found.multipliers.items() if value is not None}
    whole = verify(instance, formulation, parameters=parameters(found), multipliers=multipliers, **parts(found))
    assert whole.accepted, whole
    assert all(distance < 1e-6 for distance in whole.together.values())
    alone = {"objective": found.objective, "alpha": found.alpha, "coefficients": found.all_coefficients}
    for name in alone if formulation == "l1" else list(alone)[PAIRS.index((loss, formulation)) % 3 :][:1]:
        assert verify(instance, formulation, parameters=parameters(found), **{name: alone[name]}).accepted


@pytest.mark.parametrize("loss", [one.name for one in EVERY])
def test_a_wrong_part_is_rejected(loss):
    found, instance = solved(loss, "l1"), instance_of(loss)
    given = {"parameters": parameters(found), "diagnosis": False}
    size = found.certificate.scale
    assert verify(instance, "l1", objective=found.objective + 1e-4 * size, **given).verdict == "rejected"
    assert verify(instance, "l1", weights=np.roll(found.weights, 1), **given).verdict == "rejected"
    assert verify(instance, "l1", alpha=np.roll(found.alpha, 1), **given).verdict == "rejected"
    if found.parameters["bias"]:
        assert verify(instance, "l1", bias=found.bias + 1.0, **given).verdict == "rejected"


@pytest.mark.parametrize("bias", [True, False])
def test_the_tube_of_an_answer_and_the_length_of_its_alpha_are_judged(bias):
    instance = instance_of("nu_svr")
    given = {"loss": "nu_svr", "nu": 0.3, "bias": bias}
    found = solve(instance, "l1", tol=1e-9, **given)
    tube = found.multipliers["epsilon"]
    for epsilon, verdict in ((tube, "accepted"), (1.2 * tube, "rejected"), (-tube, "rejected")):
        told = {"multipliers": {"epsilon": epsilon}, "diagnosis": False}
        report = verify(instance, "l1", parameters=given, **told, **parts(found))
        assert report.verdict == verdict
        assert f"epsilon='{verdict}'" in repr(report)
    other = solve(instance, "l1", tol=1e-9, **{**given, "nu": 0.4})
    report = verify(instance, "l1", parameters=given, alpha=other.alpha, diagnosis=False)
    assert report.verdict == "rejected"
    violated = {one.constraint: one.by for one in report.parts[0].violations}
    assert violated["Σ |α| ≤ ν Σ C"] == pytest.approx(1 / 3, rel=1e-3)


@pytest.mark.parametrize("bias", [True, False])
def test_how_far_weights_may_differ_is_that_of_the_tube_held_at_its_width(bias):
    """Kernels that are there twice share their weight in any way, whether ε was given or found."""
    base = zoo.duplicated(12, 4, seed=3)
    instance = Instance(base.kernels, response=np.random.default_rng(0).normal(size=12))
    free = solve(instance, "l1", tol=1e-9, loss="nu_svr", nu=0.4, bias=bias)
    held = {"loss": "epsilon_insensitive", "epsilon": free.multipliers["epsilon"], "bias": bias}
    found = [
        SingleTaskJudge().ranges(pose(instance, "l1", given, 1e-6), 1e-6)
        for given in ({"loss": "nu_svr", "nu": 0.4, "bias": bias}, held, {"loss": "nu_svr", "nu": 1.0, "bias": bias},
                      {"loss": "absolute", "bias": bias})
    ]  # fmt: skip
    for one, other in (found[:2], found[2:]):
        assert [kernel.kernel for kernel in one] == [kernel.kernel for kernel in other]
        for here, there in zip(one, other, strict=True):
            assert (here.low, here.high) == pytest.approx((there.low, there.high), abs=1e-4)
            assert here.high - here.low > 0.01


@pytest.mark.parametrize("loss", ["squared", "quantile", "one_class"])
def test_what_our_own_certificate_cannot_tell_is_undecided(loss):
    given = {"parameters": parameters(solved(loss, "l1")), "tol": 1e-17}
    known = verify(instance_of(loss), "l1", objective=0.0, diagnosis=False, **given).optimum
    report = verify(instance_of(loss), "l1", objective=(known.lower + known.upper) / 2, **given)
    assert report.verdict == "undecided"
    assert report.diagnosis is None


def test_an_instance_without_labels_shrinks():
    for loss in ("huber", "one_class"):
        part = shrink(instance_of(loss), "l1", lambda _, **given: {"objective": 0.0}, loss=loss)
        assert (part.samples, part.count) == (2, 1)
        assert part.targets.kind == instance_of(loss).targets.kind


# -------------------------------------------------------------------------------------------------------- violations
def violations(loss: str, alpha: np.ndarray) -> dict[str, float]:
    found = solved(loss, "l1")
    report = verify(instance_of(loss), "l1", alpha=alpha, parameters=parameters(found), diagnosis=False)
    return dict(report["alpha"].violations)


def test_violations_say_which_bound_of_the_loss_is_left():
    alpha = solved("huber", "l1").alpha.copy()
    alpha[0] = 0.5
    found = violations("huber", alpha)
    assert set(found) == {"α ≥ -0.25", "α ≤ 0.25", "Σ α = 0"}
    assert found["α ≤ 0.25"] > 0.9
    assert found["Σ α = 0"] > 0.05
    assert set(violations("squared", alpha)) == {"Σ α = 0"}
    assert set(violations("quantile", alpha)) == {"α ≥ -0.7", "α ≤ 0.3", "Σ α = 0"}
    labelled = -solved("logistic", "l1").alpha
    assert violations("logistic", labelled)["α ≥ 0"] > 0.1
    assert set(violations("squared_hinge", labelled)) == {"α ≥ 0", "y'α = 0"}
    assert violations("one_class", 2 * solved("one_class", "l1").alpha)["Σ α = 1"] == pytest.approx(1)


# -------------------------------------------------------------------------------------------------------- uniqueness
@pytest.mark.parametrize("loss", ["squared", "huber", "absolute", "quantile"])
def test_weights_that_are_said_to_be_open_are_as_good(loss):
    """The ends of a range, where the two copies of a kernel share what there is."""
    plain = zoo.specimen("response-ties").instance()
    twice = plain.with_kernels(np.concatenate([plain.kernels, plain.kernels[:1]]), names=None, groups=None)
    found = solve(twice, "l1", tol=1e-9, loss=loss)
    report = verify(twice, "l1", weights=found.weights, parameters=parameters(found))
    shared = float(found.weights[0] + found.weights[-1])
    for one in report.loose:
        assert one.high <= shared * (1 + 1e-3) + 1e-3
    for share in (0.0, 1.0):
        moved = found.weights.copy()
        moved[0], moved[-1] = share * shared, (1 - share) * shared
        assert verify(twice, "l1", weights=moved, parameters=parameters(found), diagnosis=False).accepted


def test_with_the_squared_loss_weights_are_known_to_be_unique():
    """With other curved losses nothing is said, unless weights are open."""
    loose = {}
    for loss in ("squared", "huber"):
        found = solved(loss, "l1")
        loose[loss] = verify(instance_of(loss), "l1", weights=found.weights, parameters=parameters(found)).loose
    assert loose == {"squared": (), "huber": None}


@pytest.mark.parametrize("bias", [False, True])
def test_both_inequalities_around_the_optimum_hold(bias):
    """−½d'q + d'Bd/L ≤ what weights μ + d are worth more ≤ −½d'q + d'Bd, for the squared loss."""
    from mklcvx.verification.case import pose
    from mklcvx.verification.families.single_task import _bowl, worth

    instance = zoo.specimen("response-ties").instance()
    case = pose(instance, "l1", {"loss": "squared", "C": 3.0, "bias": bias}, 1e-6)
    bowl, best = _bowl(case, 1e-6), case.known.upper
    rng = np.random.default_rng(2)
    for size in (1.0, 0.1, 0.01):
        weights = (1 - size) * bowl.mu + size * rng.dirichlet(np.ones(instance.count))
        moved = weights - bowl.mu
        linear, squares = float(bowl.slack @ moved), float(moved @ bowl.curvature @ moved)
        more = worth(case.formulation, case.task, weights)[0] - best
        assert linear + squares / bowl.flattest - 1e-7 <= more <= linear + squares + 1e-7
        assert squares > 1e-5


def test_the_margin_of_one_class_is_judged():
    found = solved("one_class", "l1")
    given = {"weights": found.weights, "parameters": parameters(found)}
    report = verify(instance_of("one_class"), "l1", multipliers={"rho": found.multipliers["rho"]}, **given)
    assert report.accepted
    assert report["rho"].excess < 1e-8
    wrong = {"multipliers": {"rho": 1.2 * found.multipliers["rho"]}, "diagnosis": False}
    report = verify(instance_of("one_class"), "l1", **wrong, **given)
    assert report["rho"].verdict(1e-6) == "rejected"


@pytest.mark.parametrize("width", [5e-324, 1e-300])
def test_a_hinge_that_is_hardly_smoothed_is_the_hinge(width):
    instance = instance_of("hinge")
    plain, found = solve(instance, "l1"), solve(instance, "l1", loss="smoothed_hinge", width=width)
    assert found.certified
    assert found.objective == pytest.approx(plain.objective, rel=1e-8)
    answer = {"weights": found.weights, "alpha": found.alpha, "objective": found.objective}
    assert verify(instance, "l1", loss="smoothed_hinge", width=width, **answer).accepted


# -------------------------------------------------------------------------------------------------------------- files
def test_targets_that_a_loss_does_not_take_are_refused():
    with check_refused("loss one_class needs no targets", "use loss squared"):
        verify(instance_of("squared"), "l1", objective=1.0, loss="one_class")
    with check_refused("epsilon does not belong to loss huber"):
        verify(instance_of("squared"), "l1", objective=1.0, loss="huber", epsilon=0.1)
    with check_refused("li has no ν-form"):
        verify(instance_of("one_class"), "li", objective=1.0, loss="one_class")


def test_a_file_says_its_loss_and_the_command_line_another(run, quiet, tmp_path):
    problem, answer = tmp_path / "problem.npz", tmp_path / "answer.json"
    save_instance(problem, instance_of("huber"))
    save_solution(answer, solved("huber", "l1"))
    out = quiet("verify", problem, answer, "--json")
    assert json.loads(out)["parameters"] == parameters(solved("huber", "l1"))
    code, _, err = run("verify", problem, answer, "--set", "loss=epsilon_insensitive")
    assert code == 1
    assert "the answer says loss = huber, judged with epsilon_insensitive" in err
    assert "optimal for the problem that the answer itself states" in err
