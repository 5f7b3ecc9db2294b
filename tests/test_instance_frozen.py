"""The instance once made: it cannot be changed, and other kernels make another instance."""

from __future__ import annotations

import numpy as np
import pytest

from mklcvx import Instance

from refusals import check_refused
from stacks import FOR_INSTANCES

N = 8
Y, K = FOR_INSTANCES.y, FOR_INSTANCES.kernels


# ------------------------------------------------------------------------------------------------------ frozen
def full_instance(kernels=K):
    return Instance(
        kernels,
        Y,
        groups=[0, 0, 1],
        names="abc",
        sample_weight=np.arange(1, 9),
        test_kernels=K[:, :4],
        test_y=Y[:4],
        test_diagonals=np.ones((3, 4)),
    )


def test_attributes_cannot_be_set():
    instance = full_instance()
    for name in ("kernels", "y", "names", "test_kernels", "colour"):
        with pytest.raises(AttributeError):
            setattr(instance, name, None)
    with pytest.raises(AttributeError):
        del instance.y


@pytest.mark.parametrize(
    "name", ["kernels", "y", "groups", "sample_weight", "test_kernels", "test_y", "test_diagonals"]
)
def test_arrays_are_read_only(name):
    array = getattr(full_instance(), name)
    with pytest.raises(ValueError, match="read-only"):
        array[...] = 1


@pytest.mark.parametrize("given", [{"labels": np.eye(N)}, {"classes": np.arange(N)}], ids=["labels", "classes"])
def test_labels_and_classes_are_read_only_and_the_callers_stay_writeable(given):
    ((kind, value),) = given.items()
    own = value.copy()
    instance = Instance(K, **{kind: own, f"test_{kind}": own}, test_kernels=K)
    own[...] = 0
    for array in (instance.targets.values, instance.test_targets):
        np.testing.assert_array_equal(array, value)
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1


def test_arrays_of_the_caller_stay_writeable():
    kernels, y, test, diagonals = K.copy(), Y.astype(float), K[:, :4].copy(), np.ones((3, 4))
    instance = Instance(kernels, y, test_kernels=test, test_y=y[:4], test_diagonals=diagonals)
    for array in (kernels, y, test, diagonals):
        array[...] = array
    y[0] = -1
    assert instance.y[0] == 1


# ------------------------------------------------------------------------------------------------------ select
def test_kernels_are_selected_by_index_or_name():
    chosen = full_instance().select(["c", 0])
    assert chosen.names == ("c", "a")
    np.testing.assert_array_equal(chosen.kernels, K[[2, 0]])
    np.testing.assert_array_equal(chosen.test_kernels, K[[2, 0], :4])
    np.testing.assert_array_equal(chosen.groups, [1, 0])
    np.testing.assert_array_equal(chosen.sample_weight, np.arange(1, 9))
    assert full_instance().select([-1]).names == ("c",)


def test_other_kernels_leave_labels_and_their_names_as_they_are():
    labels, test_labels = np.eye(N)[:, :2] + np.eye(N)[:, 2:4], np.eye(4)[:, :2]
    instance = Instance(
        K, labels=labels, label_names=["red", "blue"], names="abc", test_kernels=K[:, :4], test_labels=test_labels
    )
    for other in (instance.select(["c", 0]), instance.with_kernels(2 * K)):
        assert (other.targets.kind, other.targets.names) == ("labels", ("red", "blue"))
        np.testing.assert_array_equal(other.targets.values, labels)
        np.testing.assert_array_equal(other.test_targets, test_labels)


def test_other_kernels_leave_classes_and_their_names_as_they_are():
    classes = np.repeat([3, 7], N // 2)
    instance = Instance(K, classes=classes, label_names=["cat", "dog"], test_kernels=K, test_classes=classes)
    chosen = instance.select([1])
    assert chosen.targets.names == ("cat", "dog")
    np.testing.assert_array_equal(chosen.targets.values, classes)
    np.testing.assert_array_equal(chosen.test_targets, classes)


def test_selecting_one_kernel_copies_nothing():
    assert np.shares_memory(Instance(K, Y).select([1]).kernels, K)


@pytest.mark.parametrize("kernel", ["d", 3, -4, "7", None, ""])
def test_unknown_kernel_is_refused_with_the_known_ones(kernel):
    with check_refused(f"unknown kernel {kernel!r}", "give an index below 3 or one of a, b, c"):
        full_instance().select([kernel])


def test_selecting_nothing_is_refused():
    with check_refused("the stack holds no kernel"):
        full_instance().select([])
