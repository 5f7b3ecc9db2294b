"""The instance once made: it cannot be changed, and other kernels make another instance."""

import copy
import pickle

import numpy as np
import pytest

from covering import covering
from mklcvx import Instance, LowRank, solve, verify
from mklcvx.io import files
from mklcvx.io.archives import Archive
from mklcvx.io.files import save_instance
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


# -------------------------------------------------------------------------------------------------- ownership
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("form", [np.asarray, list, memoryview], ids=["array", "list", "buffer"])
def test_kernels_changed_afterwards_are_not_those_that_are_solved(form, order):
    kernels, test = np.array(K, order=order), K[:, :4].copy()
    instance = Instance(form(kernels), Y, test_kernels=form(test))
    before = solve(instance, "l1").objective
    kernels[0] *= -1
    test[...] = np.nan
    np.testing.assert_array_equal(instance.kernels, K)
    np.testing.assert_array_equal(instance.test_kernels, K[:, :4])
    assert solve(instance, "l1").objective == before


def test_a_read_only_view_of_a_writeable_array_is_copied():
    kernels = K.copy()
    view = kernels[:]
    view.flags.writeable = False
    assert not np.shares_memory(Instance(view, Y).kernels, kernels)
    kernels.flags.writeable = False
    assert np.shares_memory(Instance(view, Y).kernels, kernels)


@pytest.mark.parametrize("content", [bytes, bytearray])
def test_a_buffer_is_copied_unless_nobody_can_write_to_it(content):
    kernels = np.frombuffer(content(K.tobytes())).reshape(K.shape)
    kernels.flags.writeable = False
    assert np.shares_memory(Instance(kernels, Y).kernels, kernels) == (content is bytes)


def test_nothing_below_the_instance_can_be_written_to():
    instance = full_instance()
    for array in (instance.kernels, instance.test_kernels, instance.sample_weight, instance.targets.values):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))])
@pytest.mark.parametrize("kernels", [K, LowRank([np.eye(N), np.ones((N, 1)), np.eye(N)[:, :3]])], ids=["dense", "low"])
def test_copies_are_as_frozen(again, kernels):
    instance = again(full_instance(kernels))
    assert solve(instance, "l1").objective == solve(full_instance(kernels), "l1").objective
    dense = instance.kernels.columns if isinstance(kernels, LowRank) else instance.kernels
    for array in (dense, instance.y, instance.groups, instance.sample_weight, instance.test_kernels):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 1


@pytest.mark.parametrize(("kind", "as_view", "order"), covering(["c", "r+"], [False, True], ["C", "F"]))
def test_a_memory_map_that_has_changed_is_not_solved(tmp_path, kind, as_view, order):
    np.save(tmp_path / "stack.npy", np.array(K, order=order))
    mapped = np.load(tmp_path / "stack.npy", mmap_mode=kind)
    instance = Instance(np.asarray(mapped) if as_view else mapped, Y, names="abc")
    assert np.shares_memory(instance.kernels, mapped)
    objective = solve(instance, "l1").objective
    mapped[1] *= -1
    with check_refused("kernel 'b' has changed since it was validated: build the Instance again"):
        solve(instance, "l1")
    with check_refused("kernel 'b' has changed since it was validated: build the Instance again"):
        verify(instance, "l1", objective=objective)
    mapped[1] *= -1
    assert solve(instance, "l1").objective == objective


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble, ">f8", np.int32])
def test_a_memory_map_of_any_type_is_watched(tmp_path, dtype):
    np.save(tmp_path / "stack.npy", np.broadcast_to(np.eye(N, dtype=dtype), (2, N, N)))
    mapped = np.load(tmp_path / "stack.npy", mmap_mode="r+")
    instance = Instance(mapped, Y)
    instance.check_unchanged()
    mapped[1, 0, 0] = 2
    with check_refused("kernel 'K2' has changed"):
        instance.check_unchanged()


def test_a_repaired_memory_map_is_in_memory(tmp_path):
    np.save(tmp_path / "stack.npy", K - 2 * np.eye(N))
    mapped = np.load(tmp_path / "stack.npy", mmap_mode="r+")
    instance = Instance(mapped, Y, repair="clip")
    np.testing.assert_array_equal(mapped, K - 2 * np.eye(N))
    mapped[...] = 0
    assert solve(instance, "l1").certified


@pytest.mark.parametrize("count", [1, 2])
def test_factors_are_copied_and_the_callers_stay_writeable(count):
    factor = np.arange(2.0 * N).reshape(N, 2)
    stack = LowRank([factor] * count)
    factor[...] = 0
    np.testing.assert_array_equal(stack.factor(0), np.arange(2.0 * N).reshape(N, 2))
    assert np.shares_memory(stack[:1].columns, stack.columns)


def test_a_file_is_read_without_a_second_copy(tmp_path):
    save_instance(tmp_path / "problem.npz", full_instance())
    content = dict(Archive(tmp_path / "problem.npz"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "read_arrays", lambda _: content)
        assert np.shares_memory(files.load_instance("problem.npz").kernels, content["kernels"])


# ------------------------------------------------------------------------------------------------------ select
def test_kernels_are_selected_by_index_or_name():
    chosen = full_instance().select(["c", 0])
    assert chosen.names == ("c", "a")
    np.testing.assert_array_equal(chosen.kernels, K[[2, 0]])
    np.testing.assert_array_equal(chosen.test_kernels, K[[2, 0], :4])
    np.testing.assert_array_equal(chosen.groups, [1, 0])
    np.testing.assert_array_equal(chosen.sample_weight, np.arange(1, 9))
    assert full_instance().select([-1]).names == ("c",)


def test_selecting_one_kernel_copies_nothing():
    instance = Instance(K, Y)
    assert np.shares_memory(instance.select([1]).kernels, instance.kernels)


@pytest.mark.parametrize("kernel", ["d", 3, -4, "7", None, "", True, np.False_, 1.7])
def test_unknown_kernel_is_refused_with_the_known_ones(kernel):
    with check_refused(f"unknown kernel {kernel!r}", "give an index below 3 or one of a, b, c"):
        full_instance().select([kernel])
