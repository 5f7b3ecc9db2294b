"""Real targets, and instances without targets: what is taken, what is refused, and what cannot be made of them."""

import copy
import pickle
from functools import partial

import numpy as np
import pytest

import refusals
from mklcvx import Instance, LowRank, available_formulations, formulations
from mklcvx.formulations import losses
from mklcvx.problem import targets as module
from mklcvx.problem.preprocessing import Preprocessing
from mklcvx.problem.target_checks import as_test_targets, find_test_targets
from mklcvx.problem.targets import decided
from mklcvx.solvers.solving import preprocessed
from mklcvx.verification.shrinking import restricted

N, T = 6, 3
RNG = np.random.default_rng(2)
FEATURES = RNG.normal(size=(2, N, 3))
K = FEATURES @ FEATURES.transpose(0, 2, 1) + 0.5 * np.eye(N)
TEST = RNG.normal(size=(2, T, N))
R = np.array([0.5, -1.25, 3.0, 0.0, 2.5, -7.0])
OUTPUTS = np.column_stack([R, R[::-1], np.ones(N)])
NAMES = ["height", "width", "one"]
GIVEN = {
    "response": {"response": R, "test_response": R[:T]},
    "outputs": {"response": OUTPUTS, "test_response": OUTPUTS[:T], "label_names": NAMES},
    "none": {"test_y": [1, -1, 1]},
}
CLASSES, LABELS = np.array([7, 7, 8, 8, 9, 9]), (OUTPUTS > 0).astype(int)
EVERY = GIVEN | {
    "classes": {"classes": CLASSES, "test_classes": CLASSES[:T], "label_names": ["a", "b", "c"]},
    "labels": {"labels": LABELS, "test_labels": LABELS[:T], "label_names": NAMES},
}
check_refused = partial(refusals.check_refused, limit=300)


def instance_with(name, **more):
    return Instance(K, **{**EVERY[name], "test_kernels": TEST, **more})


def check_same_targets(one, other):
    assert (one.targets.kind, one.targets.names) == (other.targets.kind, other.targets.names)
    np.testing.assert_array_equal(one.targets.values, other.targets.values)


# ------------------------------------------------------------------------------------------------------ what is taken
@pytest.mark.parametrize(
    "response",
    [R, R.tolist(), R[:, None], R[None], R.astype(object), R.astype(np.longdouble), R.astype(np.float32), R[:]],
    ids=["array", "list", "column", "row", "object", "longdouble", "single", "view"],
)
def test_a_response_is_a_vector_of_numbers(response):
    instance = Instance(K, response=response)
    assert (instance.targets.kind, instance.targets.names, instance.samples) == ("response", ("response",), N)
    assert (instance.response.dtype, instance.response.shape) == (np.float64, (N,))
    np.testing.assert_array_equal(instance.response, R)
    assert len(instance.y) == 0
    assert instance.test_response is None
    assert instance.test_y is None


def test_several_outputs_have_names():
    instance = Instance(K, response=OUTPUTS)
    assert instance.targets.names == ("0", "1", "2")
    np.testing.assert_array_equal(instance.response, OUTPUTS)
    assert Instance(K, response=OUTPUTS, label_names=NAMES).targets.names == tuple(NAMES)
    assert Instance(K, response=R, label_names=["height"]).targets.names == ("height",)


def test_an_instance_may_have_no_targets():
    instance = Instance(K, test_kernels=TEST, test_y=[1, -1, 1])
    assert (instance.targets.kind, instance.targets.names, instance.samples) == ("none", (), N)
    assert instance.targets.values.shape == (N, 0)
    assert (len(instance.y), len(instance.response), instance.test_response) == (0, 0, None)
    np.testing.assert_array_equal(instance.test_y, [1, -1, 1])


# ------------------------------------------------------------------------------------------------------- test targets


def test_test_responses_come_as_rows_and_columns():
    for given in (R[:T], R[:T][:, None], R[:T][None], R[:T].tolist()):
        np.testing.assert_array_equal(as_test_targets(given, "response", T, 1), R[:T])
    np.testing.assert_array_equal(as_test_targets(OUTPUTS[:1], "response", 1, 3), OUTPUTS[:1])
    np.testing.assert_array_equal(as_test_targets([[1e200]], "response", 1, 1), [1e200])
    assert find_test_targets({"test_response": None}, "response", T, 1) is None
    np.testing.assert_array_equal(find_test_targets({"test_y": [1, -1]}, "none", 2, 0), [1, -1])


# ------------------------------------------------------------------------------------ ownership, copies, parts of them
@pytest.mark.parametrize("name", EVERY)
def test_targets_are_owned_and_frozen(name):
    mine = {key: np.array(value) for key, value in EVERY[name].items() if key != "label_names"}
    instance, known = instance_with(name, **mine), instance_with(name)
    for array in mine.values():
        array[:] = 0
    check_same_targets(instance, known)
    np.testing.assert_array_equal(instance.test_targets, known.test_targets)
    for array in (instance.targets.values, instance.test_targets):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1


@pytest.mark.parametrize("name", EVERY)
def test_copies_are_the_same_and_frozen(name):
    instance = instance_with(name, sample_weight=np.arange(1.0, 7.0), groups=[0, 1])
    for other in (pickle.loads(pickle.dumps(instance)), copy.deepcopy(instance)):
        check_same_targets(instance, other)
        assert not other.targets.values.flags.writeable
        np.testing.assert_array_equal(other.test_targets, instance.test_targets)


@pytest.mark.parametrize("name", EVERY)
def test_kernels_are_exchanged_and_selected(name):
    instance = instance_with(name)
    for other in (instance.with_kernels(2 * K), instance.select([1, 0]), instance.select(["K2"])):
        check_same_targets(instance, other)
        np.testing.assert_array_equal(other.test_targets, instance.test_targets)


def test_targets_are_exchanged():
    instance = Instance(K, response=R)
    np.testing.assert_array_equal(instance.with_kernels(K, response=2 * R).response, 2 * R)
    assert instance.with_kernels(K, response=None, label_names=None).targets.kind == "none"
    assert Instance(K).with_kernels(K, response=R).targets.kind == "response"
    with check_refused("y and response given"):
        instance.with_kernels(K, y=np.sign(R + 0.1))


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("low_rank", [False, True])
def test_some_samples_keep_their_targets_and_weights(name, low_rank):
    chosen, weight = [4, 1, 2], np.arange(1.0, 7.0)
    instance = instance_with(name, sample_weight=weight)
    if low_rank:
        instance = instance.with_kernels(LowRank(list(FEATURES)))
    part = restricted(instance, chosen)
    np.testing.assert_array_equal(part.targets.values, instance.targets.values[chosen])
    np.testing.assert_array_equal(part.sample_weight, weight[chosen])
    assert part.targets.names == instance.targets.names
    assert (part.samples, part.test_kernels, part.test_targets) == (3, None, None)


@pytest.mark.parametrize("name", EVERY)
def test_centring_and_scaling_leave_the_targets(name):
    instance = instance_with(name)
    prepared = preprocessed(instance, Preprocessing.from_options(centre=True, normalise="trace"))
    check_same_targets(instance, prepared)
    np.testing.assert_allclose(prepared.kernels.sum(axis=1), 0.0, atol=1e-12)


# ------------------------------------------------------------------------------------- what asks for labels says so
@pytest.mark.parametrize(
    ("name", "present", "nothing"),
    [
        ("response", "a response", "a response is for the losses squared, epsilon_insensitive"),
        ("outputs", "a response of 3 outputs", "a response is for the losses squared, epsilon_insensitive"),
        ("none", "no targets", "an instance without targets is for the loss one_class"),
    ],
)
def test_labels_are_asked_for_in_one_line(name, present, nothing):
    found = instance_with(name).targets
    with check_refused(f"l1 needs labels y in {{−1, +1}}, the instance has {present}: give y; {nothing}"):
        found.plus_minus("l1")
    with check_refused(f"ml_sum needs labels, the instance has {present}: give y, classes or labels; {nothing}"):
        found.signs("ml_sum")
    for ask in (found.together, found.indicators):
        with check_refused("needs labels", present, nothing):
            ask()
    assert (found.classes(), found.classes_kind()) == ((), "")


def test_a_response_is_asked_for_in_one_line():
    np.testing.assert_array_equal(Instance(K, response=R).targets.real("huber"), R)
    with check_refused("huber takes one output, the instance has a response of 3 outputs", "one of its columns"):
        Instance(K, response=OUTPUTS).targets.real("huber")
    with check_refused("huber needs a response, the instance has y: give response"):
        Instance(K, np.sign(R + 0.1)).targets.real("huber")
    with check_refused("huber needs a response, the instance has no targets: give response"):
        Instance(K).targets.real("huber")


SINGLE = [formulation.name for formulation in formulations.SINGLE_TASKS]


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("formulation", [name for name in available_formulations() if name not in SINGLE])
def test_the_other_families_refuse_to_make_a_task(name, formulation):
    instance = instance_with(name, groups=[0, 1])
    with check_refused(f"{formulation} needs labels", f"the instance has {instance.targets.present}"):
        formulations.get(formulation).task(instance, {})


@pytest.mark.parametrize("formulation", SINGLE)
def test_a_single_task_takes_the_loss_of_its_targets(formulation):
    chosen, kernels = formulations.get(formulation), K[:1] if formulation == "svm" else K

    def resolved(**targets):
        return chosen.task(Instance(kernels, groups=range(len(kernels)), **targets), {})[1]

    assert resolved(response=R)["loss"] == "squared"
    with check_refused("loss squared takes one output, the instance has a response of 3 outputs"):
        resolved(response=OUTPUTS)
    if "nu" not in chosen.losses:
        with check_refused(f"{formulation} has no ν-form, which loss one_class is"):
            resolved()
    else:
        assert resolved()["loss"] == "one_class"


def test_the_losses_that_refusals_name_are_those_that_fit():
    for kind, of_loss in (("response", (losses.REAL, losses.COUNTS)), ("none", (losses.NONE,))):
        assert module.LOSSES_FOR[kind] == tuple(loss.name for loss in losses.EVERY if loss.targets in of_loss)


# ---------------------------------------------------------------------------------------------------------- the rest
def test_a_response_is_predicted_by_the_decision_values():
    values = np.array([0.5, -2.0])
    assert decided(values, "response", np.array(["response"])) is values
    np.testing.assert_array_equal(decided(values, "none", np.array([])), [1, -1])


def test_what_an_instance_has_is_shown():
    assert repr(Instance(K, response=R)) == "Instance(2 float64 kernels, 6 samples, target='response')"
    assert "target='response', 3 outputs, 3 test samples" in repr(instance_with("outputs"))
    assert repr(Instance(K)) == "Instance(2 float64 kernels, 6 samples, target='none')"
