"""Two orders of axes, kernels that are nearly symmetric, and samples that lack a view."""

import numpy as np
import pytest

from mklcvx import InputError, Instance, MKLClassifier, fill_missing, solve
from mklcvx.errors import at_command_line
from mklcvx.problem.preprocessing import Centre, Preprocessing
from refusals import check_refused
from stacks import FOR_COMMANDS

K, Y, TEST = FOR_COMMANDS.kernels, FOR_COMMANDS.y, FOR_COMMANDS.test_kernels
M, N = K.shape[:2]
LAST = np.moveaxis(K, 0, -1)


# ------------------------------------------------------------------------------------------------ 7: orders of axes
def test_the_kernel_index_may_come_last_and_that_is_said():
    with pytest.warns(UserWarning, match=r"shape \(8, 8, 3\): read as \(n, n, M\), kernel index last") as caught:
        instance = Instance(LAST, Y)
    np.testing.assert_array_equal(instance.kernels, K)
    assert caught[0].filename == __file__


def test_a_memory_map_with_the_index_last_is_not_copied(tmp_path):
    np.save(tmp_path / "kernels.npy", LAST)
    with pytest.warns(UserWarning, match="kernel index last"):
        instance = Instance(np.load(tmp_path / "kernels.npy", mmap_mode="r"), Y)
    assert len(instance.checksums) == M
    np.testing.assert_array_equal(instance.kernels, K)


def test_test_kernels_may_have_their_index_last():
    solution = solve(Instance(K, Y), "average")
    with pytest.warns(UserWarning, match=r"read as \(t, n, M\), kernel index last"):
        values = solution.decision_function(np.moveaxis(TEST, 0, -1))
    np.testing.assert_array_equal(values, solution.decision_function(TEST))


def test_lists_of_matrices_are_stacks():
    np.testing.assert_array_equal(Instance(list(K), Y).kernels, K)
    np.testing.assert_array_equal(Instance([kernel.tolist() for kernel in K], Y).kernels, K)


def test_where_the_shape_does_not_decide_the_other_order_is_named():
    cube = np.stack([(1 + m) * np.eye(N) + K[0] for m in range(N)])
    np.testing.assert_array_equal(Instance(cube, Y).kernels, cube)
    turned = np.moveaxis(cube, 0, -1)
    with check_refused("is not symmetric", "M = n: if the kernel index is at the other end, give numpy.moveaxis"):
        Instance(turned, Y)
    with at_command_line(), check_refused("--repair symmetrise", "store the stack in the other order of its axes"):
        Instance(turned, Y)


# ---------------------------------------------------------------------------------------------------- 5: symmetrise
def skewed(size, dtype=float):
    stack = K.astype(dtype)
    stack[1, 2, 5] += size
    return stack


def test_symmetrising_takes_the_mean_of_both_triangles_and_says_how_much_changed():
    stack = skewed(1e-3)
    mended = Instance(stack, Y, repair="symmetrise")
    np.testing.assert_allclose(mended.kernels[1], (stack[1] + stack[1].T) / 2, rtol=1e-15)
    np.testing.assert_array_equal(mended.kernels[[0, 2]], K[[0, 2]])
    assert mended.repairs == ("kernel 'K2' (index 1): symmetrised, largest entry change 0.0005",)
    np.testing.assert_array_equal(stack, skewed(1e-3))  # the caller's own


def test_symmetrising_does_not_mend_what_is_indefinite_and_both_can_be_asked_for():
    stack = skewed(1e-3)
    stack[1, 0, 0] = -2.0
    with check_refused("is not positive semidefinite", "repair='clip'"):
        Instance(stack, Y, repair="symmetrise")
    with check_refused("is not symmetric"):
        Instance(stack, Y, repair="clip")
    for both in ("symmetrise,clip", "shift, symmetrise"):
        repairs = Instance(stack, Y, repair=both).repairs
        assert ["symmetrised" in repair for repair in repairs] == [True, False]


def test_rounding_needs_no_repair_and_integers_become_floats():
    assert Instance(skewed(1e-12), Y, repair="symmetrise").repairs == ()
    whole = np.eye(N, dtype=int)[None] * 4
    whole[0, 1, 0] = 1
    mended = Instance(whole, Y, repair="symmetrise")
    assert mended.kernels[0, 0, 1] == mended.kernels[0, 1, 0] == 0.5


def test_a_memory_map_is_not_written_to(tmp_path):
    np.save(tmp_path / "kernels.npy", skewed(1e-3))
    mended = Instance(np.load(tmp_path / "kernels.npy", mmap_mode="r+"), Y, repair="symmetrise")
    assert mended.kernels[1, 2, 5] == mended.kernels[1, 5, 2]
    np.testing.assert_array_equal(np.load(tmp_path / "kernels.npy"), skewed(1e-3))


# ------------------------------------------------------------------------------------------------------ missing views
ABSENT = [0, 3]
HERE = [i for i in range(N) if i not in ABSENT]


@pytest.fixture
def gappy():
    """Two samples lack the second view; of the new samples the first does."""
    kernels, test = K.copy(), TEST.copy()
    kernels[1, ABSENT] = np.nan
    kernels[1][:, ABSENT] = np.nan
    test[1][:, ABSENT] = np.nan
    test[1, 0] = np.nan
    return kernels, test


def test_missing_views_are_refused_with_kernel_count_and_what_can_be_done(gappy):
    words = ("kernel 'K2' (index 1) has NaN in the rows and columns of 2 of 8 samples", "leave these samples out")
    with check_refused(*words, "mklcvx.fill_missing centres the kernels and puts them at the mean, by zeros"):
        Instance(gappy[0], Y)
    with at_command_line(), check_refused(*words, "in Python, mklcvx.fill_missing"):
        Instance(gappy[0], Y)


@pytest.mark.parametrize("place", [(1, 2, 5), (1, 2, slice(None)), (slice(None), slice(None), slice(None))])
def test_other_numbers_that_are_not_finite_are_no_missing_view(place):
    stack = K.copy()
    stack[place] = np.nan
    with check_refused("has the entry nan at"):
        Instance(stack, Y)


def test_samples_without_a_view_are_put_at_the_mean_of_the_others(gappy):
    kernels, test = gappy
    filled, test = fill_missing(kernels, test_kernels=test)
    part = K[1:2][:, HERE][:, :, HERE]
    steps = Preprocessing([Centre()]).fit(part)
    np.testing.assert_array_equal(filled[1][np.ix_(HERE, HERE)], steps.train(part)[0])
    assert not filled[1][ABSENT].any()
    assert not filled[1][:, ABSENT].any()
    np.testing.assert_allclose(filled.sum(axis=2), 0, atol=1e-12)  # the mean of every view is 0
    np.testing.assert_array_equal(test[1][1:, HERE], steps.test(TEST[1:2][:, 1:][:, :, HERE])[0])
    assert not test[1, 0].any()
    assert not test[1][:, ABSENT].any()
    np.testing.assert_array_equal(fill_missing(gappy[0]), filled)


def test_stacks_of_the_estimators_are_filled_in_their_own_order(gappy):
    kernels, test = gappy
    filled, test_filled = fill_missing(kernels, test_kernels=test)
    last, test_last = (np.moveaxis(stack, 0, -1) for stack in gappy)
    np.testing.assert_array_equal(fill_missing(last), np.moveaxis(filled, 0, -1))
    for found, expected in zip(fill_missing(last, test_kernels=test_last), (filled, test_filled), strict=True):
        np.testing.assert_array_equal(found, np.moveaxis(expected, 0, -1))
    with check_refused("test_kernels have shape (3, 5, 8): give (t, 8, 3)"):
        fill_missing(last, test_kernels=test)


def test_where_nothing_is_missing_filling_in_is_centring():
    np.testing.assert_array_equal(fill_missing(K), Preprocessing([Centre()]).fit(K).train(K))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda k, t: (k[0], None), "kernels have shape (8, 8)"),
        (lambda k, t: (k, t[:2]), "test_kernels have shape (2, 5, 8): give (3, t, 8)"),
        (lambda k, t: (np.where(np.arange(N) < N - 1, np.nan, k), None), "kernel 0"),
        (lambda k, t: (np.where(k == k[0, 1, 2], np.inf, k), None), "kernel 0"),
    ],
    ids=["matrix", "test", "one left", "infinite"],
)
def test_what_cannot_be_filled_in_is_refused(change, words):
    kernels, test = change(K, TEST)
    with pytest.raises(InputError) as refused:
        fill_missing(kernels, test_kernels=test)
    assert words in str(refused.value)


def test_estimators_name_the_parameter_that_a_stack_needs():
    with check_refused("a stack of kernels", "set kernels='precomputed'"):
        MKLClassifier("average", "gaussians").fit(LAST, Y)
