"""Losses are asked for by name: their parameters, targets and refusals. C and nu alone set the two they always set."""

from types import SimpleNamespace

import numpy as np
import pytest

from mklcvx import formulations, solve
from mklcvx.formulations.losses import ALL, EVERY, HINGE, JOINT, LOSSES
from mklcvx.problem.targets import Targets
from parameter_cases import INSTANCE, K, N, check_printed, instance_for, resolved
from refusals import check_refused

FOR_LABELS = [loss.name for loss in EVERY if loss.targets == "labels"]
FOR_REAL = [loss.name for loss in EVERY if loss.targets == "response"]


def instance_with(kind: str, values) -> SimpleNamespace:
    """What a formulation reads of an instance, with these targets."""
    parts = {"symmetric": True, "sizes": None, "memory": None, "groups": None, "count": len(K)}
    return SimpleNamespace(kernels=K, targets=Targets(kind, values), sample_weight=np.ones(N), **parts)


REAL = instance_with("response", np.linspace(-1.0, 2.0, N))
LARGE = instance_with("response", 5.0 * REAL.targets.values)
BARE = instance_with("none", np.empty((N, 0)))


def task_of(name="l1", instance=INSTANCE, **given):
    return formulations.get(name).task(instance, given)


# ------------------------------------------------------------------------------------------------------ what is as ever
def test_the_loss_without_a_name_is_set_by_C_or_nu():
    for given, name in (({}, "c"), ({"C": 2.0}, "c"), ({"nu": 0.5}, "nu")):
        task, parameters = task_of(**given)
        assert task.loss == name
        assert "loss" not in parameters


def test_hinge_and_nu_by_name_are_the_same_problems():
    for loss, given in (("hinge", {}), ("c", {"C": 2.0}), ("nu", {"nu": 0.5}), (None, {})):
        named, plain = task_of(loss=loss, **given), task_of(**given)
        assert named[1] == plain[1]
        assert (named[0].loss, named[0].box.tolist()) == (plain[0].loss, plain[0].box.tolist())
    found = solve(INSTANCE, "l1", loss="hinge", C=2.0)
    assert found.parameters == {"C": 2.0, "bias": True}
    assert found.objective == solve(INSTANCE, "l1", C=2.0).objective


# ----------------------------------------------------------------------------------------------- names and parameters
@pytest.mark.parametrize("loss", FOR_LABELS[2:])
def test_losses_for_labels_are_asked_for_by_name(loss):
    task, parameters = task_of(loss=loss, C=3.0, bias=False)
    own = {parameter.name: parameter.default(1) for parameter in LOSSES[loss].own}
    assert parameters == {"loss": loss, "C": 3.0, **own, "bias": False}
    assert task.loss_function == LOSSES[loss]
    assert np.array_equal(task.signs, INSTANCE.y)
    assert formulations.get("l1").task(INSTANCE, parameters)[1] == parameters  # what is resolved can be given


@pytest.mark.parametrize("loss", FOR_REAL)
def test_losses_for_real_targets_are_asked_for_by_name(loss):
    task, parameters = task_of(instance=REAL, loss=loss)
    assert parameters["loss"] == loss
    assert np.array_equal(task.y, REAL.targets.values)
    assert np.array_equal(task.signs, np.ones(N))
    assert (task.low < 0).all()


@pytest.mark.parametrize("loss", EVERY, ids=lambda loss: loss.name)
def test_a_loss_is_that_of_its_defaults(loss):
    assert loss.with_own({}, 3) == loss == type(loss)()


def test_own_parameters_reach_the_loss():
    own = {"huber": {"delta": 0.5}, "quantile": {"quantile": 0.9}, "epsilon_insensitive": {"epsilon": 0}}
    for loss, given in own.items():
        task, parameters = task_of(instance=REAL, loss=loss, **given)
        ((name, value),) = given.items()
        assert getattr(task.loss_function, name) == parameters[name] == value
    assert task_of(loss="smoothed_hinge", width=0.25)[0].loss_function.width == 0.25


def test_without_targets_there_is_one_class_and_no_bias():
    task, parameters = task_of(instance=BARE, loss="one_class", nu=0.5)
    assert parameters == {"loss": "one_class", "nu": 0.5, "bias": False}
    assert task.box == pytest.approx(np.full(N, 1 / (0.5 * N)))
    assert np.array_equal(task.signs, np.ones(N))
    assert np.array_equal(task.y, np.ones(N))
    assert task_of(instance=BARE, loss="one_class")[1]["nu"] == 0.5
    with check_refused("loss one_class has no bias", "leave bias out"):
        task_of(instance=BARE, loss="one_class", bias=True)
    light = SimpleNamespace(**{**vars(BARE), "sample_weight": np.full(N, 0.25)})
    with check_refused("parameter nu = 0.5 is infeasible for these sample weights: give nu ≤ 0.249999"):
        task_of(instance=light, loss="one_class")


# ----------------------------------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"loss": "hubr"}, ("parameter loss = 'hubr' is unknown", "did you mean 'huber'?")),
        ({"loss": ["huber"]}, ("parameter loss = ['huber'] is unknown",)),
        ({"loss": 3}, ("parameter loss = 3 is unknown", "known: absolute, c, crammer_singer, epsilon_insensitive")),
        ({"loss": "logistic", "nu": 0.5}, ("parameter nu does not belong to loss logistic", "it takes C")),
        ({"loss": "nu", "C": 1.0, "nu": 0.5}, ("parameter C does not belong to loss nu", "it takes nu")),
        ({"delta": 1.0}, ("parameter delta does not belong to loss hinge", "delta belongs to huber")),
        ({"epsilon": 1.0}, ("loss hinge", "epsilon belongs to epsilon_insensitive, squared_epsilon_insensitive")),
        ({"nu": 0.5, "width": 1.0}, ("parameter width does not belong to loss nu",)),
        ({"loss": "smoothed_hinge", "delta": 1.0}, ("does not belong to loss smoothed_hinge", "it takes C and width")),
        ({"loss": "smoothed_hinge", "width": 0}, ("width = 0 is outside the limits of loss smoothed_hinge",)),
        ({"loss": "logistic", "C": 0}, ("parameter C = 0 is outside the limits of l1", "C > 0")),
        ({"loss": "nu"}, ("loss nu needs nu", "0 < ν ≤ 1")),
    ],
)
def test_what_does_not_belong_to_a_loss_is_refused(given, words):
    with check_refused(*words):
        resolved("l1", **given)


@pytest.mark.parametrize(
    ("loss", "given", "words"),
    [
        ("huber", {"delta": 0}, "δ > 0"),
        ("quantile", {"quantile": 1}, "0 < π < 1"),
        ("quantile", {"quantile": 0}, "0 < π < 1"),
        ("epsilon_insensitive", {"epsilon": -1}, "ε ≥ 0"),
        ("squared_epsilon_insensitive", {"epsilon": -1}, "ε ≥ 0"),
        ("absolute", {"epsilon": 0}, "parameter epsilon does not belong to loss absolute"),
    ],
)
def test_own_parameters_have_limits(loss, given, words):
    with check_refused(words):
        task_of(instance=REAL, loss=loss, **given)


@pytest.mark.parametrize("loss", FOR_REAL)
def test_losses_for_real_targets_refuse_labels(loss):
    with check_refused(f"loss {loss} needs a response, the instance has y", "use loss hinge, nu, squared_hinge"):
        task_of(loss=loss)


def test_one_class_takes_no_targets_and_others_need_some():
    with check_refused("loss one_class needs no targets, the instance has y", "use loss hinge"):
        task_of(loss="one_class")
    with check_refused("loss huber needs a response, the instance has none", "use loss one_class"):
        task_of(instance=BARE, loss="huber")
    with check_refused("l1 needs labels y in {−1, +1}, the instance has"):
        task_of(instance=REAL, loss="logistic")


@pytest.mark.parametrize("name", ["li", "ckl", "vskl", "group_lasso"])
def test_a_formulation_without_a_nu_form_has_none_by_name(name):
    for loss in ("nu", "one_class"):
        with check_refused(f"{name} has no ν-form, which loss {loss} is"):
            resolved(name, instance_for(name), loss=loss)
    assert resolved(name, instance_for(name), loss="logistic")["loss"] == "logistic"


# -------------------------------------------------------------------------------------------------- defaults and units


def test_a_loss_describes_itself():
    assert HINGE.reference == "Cortes & Vapnik 1995"
    assert not any(loss.joint for loss in EVERY)
    assert LOSSES["huber"].with_own({"delta": 6.0}, 2).in_units_of(3.0).delta == 2.0
    for loss in ALL:
        headline = f"{loss.name} — {loss.title}."
        assert loss.theorem.splitlines()[0] == headline or loss.name == "absolute"  # which shares another's theorem
        assert [*dict(loss.described_parameters)] == [p.name for p in loss.parameters] + ["bias"] * loss.takes_bias
        assert not loss.needs_groups


@pytest.mark.parametrize("loss", [loss for loss in EVERY if loss.parameter.name == "C"], ids=lambda loss: loss.name)
def test_prices_are_C_times_the_weights(loss):
    assert loss.prices(3.0, np.array([0.5, 2.0]), np.array([1.0, 2.0]), True).tolist() == [1.5, 6.0]


def test_outputs_stand_for_targets_or_for_their_logarithms():
    outputs = np.array([-1.0, 0.0, 2.0])
    for loss in EVERY:
        expected = np.exp(outputs) if loss.name == "poisson" else outputs
        np.testing.assert_array_equal(loss.mean(outputs), expected)


@pytest.mark.parametrize(("loss", "parameter"), [(loss.name, own) for loss in ALL for own in loss.parameters])
def test_limits_and_defaults_are_those_that_are_printed(loss, parameter):
    check_printed(parameter, defaults=loss != "nu")


@pytest.mark.parametrize(("values", "bias", "expected"), [
    ([0.0, 8.3, -5.0, 0.0], False, 8.0), ([0.0, 0.0, 0.0, 0.0], False, 1.0), ([7.0, 7.0, 7.0, 7.0], True, 1.0),
    ([100.0, 100.2, 99.9, 100.0], True, 0.25), ([1e-3, 0.0, 0.0, 0.0], False, 2.0**-10),
])  # fmt: skip
def test_the_unit_of_real_targets_is_a_power_of_two(values, bias, expected):
    task, _ = task_of(instance=instance_with("response", np.resize(values, N)), loss="squared", bias=bias)
    assert task.spread() == expected
    assert task_of()[0].spread() == 1.0


UNGROUPED = [f.name for f in formulations.SINGLE_TASKS if not (f.grouped or f.single_kernel)]


@pytest.mark.parametrize(("name", "loss"), [*(("l1", loss) for loss in FOR_REAL), *((f, "huber") for f in UNGROUPED)])
@pytest.mark.parametrize("bias", [True, False])
def test_in_units_of_the_targets_it_is_the_same_problem(name, loss, bias):
    """f and α divided by the unit, both bounds by its square; factors stay, and R is divided by the square, too."""
    formulation, rng = formulations.get(name), np.random.default_rng(0)
    task, _ = task_of(name, LARGE, loss=loss, bias=bias, C=0.7)
    scaled, size = formulation.normalised(task), task.spread()
    assert scaled.target_unit == size == 8
    assert np.median(scaled.y) == pytest.approx(0 if bias else np.median(task.y) / size, abs=1e-15)
    alpha, functions = task.feasible(size * rng.normal(size=N)), size * rng.normal(size=(len(K), N))
    lower, again = formulation.lower(task, alpha), formulation.lower(scaled, alpha / size)
    shift = task.signs @ lower.alpha * np.median(task.y) if bias else 0.0
    assert again.value * size**2 == pytest.approx(lower.value - shift, rel=1e-12, abs=1e-12)
    upper = formulation.upper(scaled, functions / size).value
    assert upper * size**2 == pytest.approx(formulation.upper(task, functions).value, rel=1e-12)
    for one, other in zip(task.factors, scaled.factors, strict=True):
        np.testing.assert_array_equal(one.columns, other.columns)


def test_losses_of_several_outputs_need_weights():
    """A penalty between groups has none to share."""
    for formulation in formulations.SINGLE_TASKS:
        assert {*JOINT} & {*formulation.loss_names} == ({*JOINT} if formulation.between is None else set())
