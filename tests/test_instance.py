"""The instance: what it refuses and in which words, what it welcomes, and that it neither copies nor changes."""

from __future__ import annotations

import re
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest

from mklcvx import InputError, Instance, solve
from mklcvx.preprocess import Preprocessing

RNG = np.random.default_rng(7)
N, M = 8, 3
Y = np.repeat([1, -1], N // 2)
FEATURES = RNG.normal(size=(M, N, 2)) + 0.5 * Y[:, None]
K = FEATURES @ FEATURES.transpose(0, 2, 1) + 0.5 * np.eye(N)


@contextmanager
def refused(*words):
    """An InputError of one line with these words: the input, the fault, the remedy."""
    with pytest.raises(InputError) as caught:
        yield
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def changed(index, value):
    """The stack with one entry set."""
    stack = K.copy()
    stack[index] = value
    return stack


def indefinite(smallest, name_index=1):
    """A stack whose second kernel has the given smallest eigenvalue, others unchanged."""
    stack = K.copy()
    vectors = np.linalg.qr(RNG.normal(size=(N, N)))[0]
    stack[name_index] = (vectors * np.array([smallest, *range(1, N)])) @ vectors.T
    stack[name_index] = (stack[name_index] + stack[name_index].T) / 2
    return stack


# ------------------------------------------------------------------------------------------- shapes and numbers
@pytest.mark.parametrize(
    ("kernels", "words"),
    [
        (K[0], ("kernels have shape (8, 8)", "give a three-dimensional stack (M, n, n)")),
        (K[None], ("kernels have shape (1, 3, 8, 8)", "give a three-dimensional stack (M, n, n)")),
        (K[:, :5], ("kernels have shape (3, 5, 8), not square", "give (M, n, n), kernel index first")),
        (np.moveaxis(K, 0, 2), ("(8, 8, 3), not square", "the index seems to come last")),
        (np.empty((0, 8, 8)), ("the stack holds no kernel (M = 0)", "give at least one")),
        (np.empty((3, 0, 0)), ("(3, 0, 0)", "they are empty", "give at least two samples")),
        (np.ones((3, 1, 1)), ("n = 1 sample", "give at least two, one of each class")),
        ([], ("kernels have shape (0,)", "three-dimensional")),
        ([K[0], K[0][:5, :5]], ("kernels are ragged", "all must have one size", "(M, n, n)")),
        (K.astype(object), ("kernels have dtype object", "give real numbers")),
        (K.astype(complex), ("kernels have dtype complex128", "give real numbers")),
        (K.astype(str), ("kernels have dtype <U", "give real numbers")),
        (None, ("kernels have dtype object", "give real numbers")),
        (changed((1, 2, 3), np.nan), ("kernel 'K2' (index 1)", "entry nan at [2, 3]", "give finite numbers")),
        (changed((2, 0, 7), -np.inf), ("kernel 'K3' (index 2)", "entry -inf at [0, 7]", "give finite numbers")),
        (K * 1e200, ("kernel 'K1'", "e+20", "too large for double precision", "divide it by a constant")),
        (K * 1e-200, ("kernel 'K1'", "e-20", "too small for double precision", "multiply it by a constant")),
        (np.full((1, 8, 8), np.finfo(float).max), ("too large for double precision",)),
        (np.eye(8, dtype=np.longdouble)[None] * np.longdouble("1e400"), ("entry inf at [0, 0]",)),
        (np.ma.masked_greater(K, 3.0), ("kernels have masked entries", "give finite numbers")),
    ],
)
def test_kernels_that_are_no_stack_of_finite_square_matrices_are_refused(kernels, words):
    with refused(*words):
        Instance(kernels, Y)


def test_refusals_name_the_kernel_as_its_owner_does():
    with refused("kernel 'genes' (index 1)"):
        Instance(changed((1, 2, 3), np.nan), Y, names=["age", "genes", "height"])


def test_line_breaks_in_a_name_do_not_break_the_line():
    with refused(r"kernel 'two\nlines' (index 1)"):
        Instance(changed((1, 2, 3), np.nan), Y, names=["age", "two\nlines", "height"])


# --------------------------------------------------------------------------------------------------- symmetry
def test_asymmetry_is_refused_with_where_and_how_much():
    with refused("kernel 'K2' (index 1)", "not symmetric", "differ by 0.25", "give (K + K')/2"):
        Instance(changed((1, 5, 2), K[1, 5, 2] + 0.25), Y)
    with pytest.raises(InputError, match=re.escape("[2, 5] and [5, 2]")):
        Instance(changed((1, 5, 2), K[1, 5, 2] + 0.25), Y)


def test_asymmetry_of_rounding_is_accepted_and_remembered():
    assert Instance(K, Y).symmetric
    rounded = Instance(changed((1, 5, 2), K[1, 5, 2] * (1 + 1e-12)), Y)
    assert not rounded.symmetric
    assert solve(rounded, "l1").certified


def test_asymmetry_of_single_precision_is_rounding_in_single_precision_only():
    kernel = changed((1, 5, 2), K[1, 5, 2] + 1e-6 * np.abs(K[1]).max())
    Instance(kernel.astype(np.float32), Y)
    with refused("not symmetric"):
        Instance(kernel, Y)


# -------------------------------------------------------------------------------------- positive semidefiniteness
def test_indefinite_kernel_is_refused_with_its_smallest_eigenvalue():
    with refused("kernel 'K2' (index 1)", "smallest eigenvalue -0.125", "repair='clip' or repair='shift'"):
        Instance(indefinite(-0.125), Y)


def test_negative_eigenvalue_far_above_rounding_but_small_is_refused():
    with refused("not positive semidefinite", "smallest eigenvalue -1e-07"):
        Instance(indefinite(-1e-7), Y)


def test_clip_sets_negative_eigenvalues_to_zero_and_says_so():
    kernels = indefinite(-0.125)
    mended = Instance(kernels, Y, repair="clip")
    values, vectors = np.linalg.eigh(kernels[1])
    expected = (vectors * np.maximum(values, 0)) @ vectors.T
    np.testing.assert_allclose(mended.kernels[1], expected, atol=1e-13)
    assert np.linalg.eigvalsh(mended.kernels[1])[0] > -1e-13
    (change,) = mended.repairs
    assert change.startswith("kernel 'K2' (index 1): clipped: 1 negative eigenvalues set to zero")
    largest = float(re.search(r"largest entry change (\S+)", change)[1])
    assert largest == pytest.approx(np.abs(expected - kernels[1]).max(), rel=0.01)


def test_shift_adds_the_smallest_eigenvalue_to_the_diagonal_and_says_so():
    kernels = indefinite(-0.125)
    mended = Instance(kernels, Y, repair="shift")
    np.testing.assert_allclose(mended.kernels[1], kernels[1] + 0.125 * np.eye(N), atol=1e-10)
    assert np.linalg.eigvalsh(mended.kernels[1])[0] > -1e-13
    assert mended.repairs == ("kernel 'K2' (index 1): shifted: 0.125 added to the diagonal",)


@pytest.mark.parametrize("repair", ["clip", "shift"])
def test_repair_leaves_the_caller_and_the_good_kernels_alone(repair):
    kernels = indefinite(-0.125)
    before = kernels.copy()
    mended = Instance(kernels, Y, repair=repair)
    np.testing.assert_array_equal(kernels, before)
    np.testing.assert_array_equal(mended.kernels[[0, 2]], kernels[[0, 2]])
    assert Instance(mended.kernels, Y).repairs == ()


@pytest.mark.parametrize("repair", ["clip", "shift"])
def test_repair_of_good_kernels_changes_nothing_and_copies_nothing(repair):
    untouched = Instance(K, Y, repair=repair)
    assert untouched.repairs == ()
    assert np.shares_memory(untouched.kernels, K)


@pytest.mark.parametrize("repair", ["clip", "shift"])
def test_repair_of_one_single_precision_kernel_does_not_repair_the_rounding_of_its_neighbours(repair):
    x = RNG.normal(size=(30, 2))
    squares = ((x[:, None] - x) ** 2).sum(axis=2)
    stack = np.stack([np.tanh(x @ x.T - 1), np.exp(-1e-4 * squares)]).astype(np.float32)
    mended = Instance(stack, np.tile([1, -1], 15), repair=repair)
    assert len(mended.repairs) == 1
    assert "kernel 'K1'" in mended.repairs[0]
    np.testing.assert_array_equal(mended.kernels[1], stack[1])


def test_unknown_repair_is_refused():
    with refused("repair = 'mend' is unknown", "give 'clip' or 'shift'"):
        Instance(K, Y, repair="mend")


def smooth(gamma, n=200):
    x = np.random.default_rng(1).normal(size=(n, 5))
    squares = ((x[:, None] - x) ** 2).sum(axis=2)
    return np.exp(-gamma * squares)[None], np.tile([1, -1], n // 2)


@pytest.mark.parametrize("gamma", [1e-4, 1e-6])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_indefiniteness_of_rounding_is_accepted(gamma, dtype):
    kernels, y = smooth(gamma)
    kernels = kernels.astype(dtype)
    assert np.linalg.eigvalsh(kernels[0].astype(float))[0] < 0
    assert np.shares_memory(Instance(kernels, y).kernels, kernels)


def test_rounding_of_single_precision_is_no_rounding_in_double_precision():
    kernels, y = smooth(1e-4)
    with refused("not positive semidefinite"):
        Instance(kernels.astype(np.float32).astype(float), y)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("options", [{"centre": True}, {"normalise": "trace"}, {"centre": True, "normalise": "cosine"}])
def test_preprocessing_of_an_accepted_kernel_is_accepted(dtype, options):
    """Centring takes most of a smooth kernel's size away and leaves its rounding."""
    kernels, y = smooth(1e-4, n=60)
    offset = np.random.default_rng(2).normal(1000.0, 1.0, size=(60, 3))
    for stack in (kernels.astype(dtype), (offset @ offset.T)[None]):
        before = Instance(stack, y).kernels
        after = Preprocessing.from_options(**options).fit(before).train(before)
        assert Instance(after, y).repairs == ()


def test_good_kernels_cost_one_cholesky_factorisation_each_and_no_eigenvalues(monkeypatch):
    factorised = []
    cholesky = np.linalg.cholesky

    def counted(matrix):
        factorised.append(matrix.shape)
        return cholesky(matrix)

    def forbidden(*_, **__):
        raise AssertionError("eigenvalues of a good kernel")

    kernels, y = smooth(1e-4)
    monkeypatch.setattr(np.linalg, "cholesky", counted)
    for name in ("eigvalsh", "eigh", "eigvals", "eig", "svd"):
        monkeypatch.setattr(np.linalg, name, forbidden)
    Instance(K, Y)
    assert factorised == [(N, N)] * M
    Instance(kernels, y)
    assert factorised[M:] == [(200, 200)]


def test_zero_kernel_is_accepted():
    assert solve(Instance(np.stack([np.zeros((N, N)), K[0]]), Y), "l1").certified


# ------------------------------------------------------------------------------------------------------ labels
def mapping_in(message):
    """The expression that a refusal suggests."""
    return re.search(r"numpy\.where\(.*, 1, -1\)", message)[0]


@pytest.mark.parametrize(
    ("y", "shown"),
    [
        (np.array([0, 1] * 4), "labels 0, 1,"),
        (np.array([1, 2] * 4), "labels 1, 2,"),
        (np.array([0.0, 1.0] * 4), "labels 0.0, 1.0,"),
        (np.array(["cat", "dog"] * 4), "labels cat, dog,"),
        (np.array(["cat", "dog"] * 4, dtype=object), "labels cat, dog,"),
        (np.array([b"cat", b"dog"] * 4), "labels b'cat', b'dog',"),
        (np.array([True, False] * 4), "labels False, True,"),
        (np.array([-1, 0, 1, 1] * 2), "labels -1, 0, 1,"),
        (np.arange(8), "labels 0, 1, 2, 3, … (8 values),"),
        (["cat", "dog"] * 4, "labels cat, dog,"),
        ([0, 1] * 4, "labels 0, 1,"),
        ((1 + 0j) * np.array([1, 2] * 4), "labels (1+0j), (2+0j),"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_labels_other_than_plus_and_minus_one_are_refused_with_a_mapping_that_works(y, shown):
    with pytest.raises(InputError, match="not −1 and \\+1: ") as caught:
        Instance(K, y)
    message = str(caught.value)
    assert message.startswith(f"y has {shown}")
    mapped = eval(mapping_in(message), {"numpy": np, "y": y})
    assert Instance(K, mapped).y.shape == (N,)


def test_of_three_classes_one_is_set_against_the_rest():
    with refused("choose one against the rest, for example numpy.where(y == 2, 1, -1)"):
        Instance(K, np.array([0, 1, 2, 2] * 2))


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.ones(N), ("y has one class only (+1)", "give samples of both −1 and +1")),
        (-np.ones(N), ("y has one class only (-1)", "give samples of both")),
        (np.zeros(N), ("y has labels 0.0, not −1 and +1", "give samples of two classes")),
        (Y[:-1], ("y has 7 labels, the kernels are 8 by 8", "give one label per sample")),
        (Y.reshape(2, 4), ("y has shape (2, 4)", "give one label per sample, shape (n,)")),
        (1, ("y has shape ()", "give one label per sample")),
        (None, ("give exactly one of y, classes and labels", "none of them given")),
        ([], ("y is empty", "give samples of both −1 and +1")),
        ([[1], [1, -1]], ("y is ragged", "give one label per sample")),
        (np.where(np.arange(N) == 3, np.nan, Y), ("y has NaN at [3]", "give −1 or +1 for every sample")),
        (np.array([1, "a"] * 4, dtype=object), ("y has missing or mixed entries", "give −1 or +1")),
        ([1, -1, None, 1] * 2, ("y has missing or mixed entries", "give −1 or +1")),
        (np.ma.masked_array(Y, mask=np.arange(N) == 1), ("y has missing", "give −1 or +1")),
    ],
)
def test_labels_that_cannot_be_used_are_refused(y, words):
    with refused(*words):
        Instance(K, y)


@pytest.mark.parametrize(
    "y",
    [
        Y.tolist(),
        tuple(Y.tolist()),
        Y.astype(np.int8),
        Y.astype(np.float32),
        Y[:, None],
        Y[None],
        Y.astype(object),
    ],
    ids=["list", "tuple", "int8", "float32", "column", "row", "object"],
)
def test_labels_come_in_many_forms(y):
    labels = Instance(K, y).y
    assert labels.dtype == np.float64
    np.testing.assert_array_equal(labels, Y)


# ------------------------------------------------------------------------------------------------------ groups
@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([0, 0], ("groups do not cover the kernels: 2 entries for 3 kernels", "give one integer")),
        ([0, 0, 1, 1], ("4 entries for 3 kernels",)),
        ([], ("0 entries for 3 kernels",)),
        ([[0], [2]], ("groups do not cover the kernels: kernel 1 is in none", "each of the 3 kernels one group")),
        ([[0, 1], [1, 2]], ("a kernel is in two, or unknown",)),
        ([[0, 1], [2, 3]], ("a kernel is in two, or unknown",)),
        ([[0, 1], [-1]], ("kernel 2 is in none",)),
        (["a", "a", "b"], ("groups are no integers", "give one integer for each of the 3 kernels")),
        ([0, 0.5, 1], ("groups are no integers",)),
        ([0, np.nan, 1], ("groups are no integers",)),
        ([0, np.inf, 1], ("groups are no integers",)),
        ([True, False, True], ("groups are no integers",)),
        ([[0.5, 1], [2]], ("groups are no integers",)),
        ([["a"], [1, 2]], ("groups are no integers",)),
        ([[[0], [1, 2]], [2]], ("groups are no integers",)),
        (3, ("groups are no integers",)),
        (np.array(3), ("groups are no integers",)),
    ],
)
def test_groups_that_do_not_cover_the_kernels_are_refused(groups, words):
    with refused(*words):
        Instance(K, Y, groups=groups)


@pytest.mark.parametrize(
    "groups",
    [[5, 5, 7], np.array([-1, -1, 0]), [0.0, 0.0, 3.0], [[0, 1], [2]], [[1, 0], [2]], [(0, 1), (), (2,)]],
)
def test_both_forms_of_groups_are_numbered_from_zero_without_holes(groups):
    np.testing.assert_array_equal(Instance(K, Y, groups=groups).groups, [0, 0, 1])


# ----------------------------------------------------------------------------------------------------- weights
@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(7), ("sample_weight has shape (7,) for 8 samples", "give one per sample")),
        (np.ones((2, 4)), ("sample_weight has shape (2, 4)",)),
        (1.0, ("sample_weight has shape ()",)),
        (np.zeros(N), ("not positive and finite", "leave such samples out")),
        (-np.ones(N), ("not positive and finite",)),
        (np.full(N, np.nan), ("not positive and finite",)),
        (np.full(N, np.inf), ("not positive and finite",)),
        (["a"] * N, ("sample_weight", "dtype <U1", "give real numbers")),
        ([[1], [1, 2]], ("sample_weight", "ragged")),
    ],
)
def test_bad_sample_weights_are_refused(weights, words):
    with refused(*words):
        Instance(K, Y, sample_weight=weights)


@pytest.mark.parametrize(
    ("weights", "fault"),
    [
        ("equal", "give 'balanced' or {-1: weight, 1: weight}"),
        ({0: 1.0, 1: 1.0}, "give 'balanced'"),
        ({1: 1.0}, "give 'balanced'"),
        (np.ones(2), "give 'balanced'"),
        ({-1: 0.0, 1: 1.0}, "weights must be positive and finite"),
        ({-1: np.nan, 1: 1.0}, "weights must be positive and finite"),
        ({-1: 1.0, 1: np.inf}, "weights must be positive and finite"),
        ({-1: "a", 1: 1.0}, "weights must be positive and finite"),
        ({-1: None, 1: 1.0}, "weights must be positive and finite"),
    ],
)
def test_bad_class_weights_are_refused(weights, fault):
    with refused("class_weight = ", fault):
        Instance(K, Y, class_weight=weights)


@pytest.mark.parametrize("given", [{"labels": np.eye(N)}, {"classes": np.arange(N)}], ids=["labels", "classes"])
def test_class_weights_are_for_y_only(given):
    with refused("class_weight needs y, the instance has ", "give sample_weight instead"):
        Instance(K, **given, class_weight="balanced")


def test_weights_whose_product_overflows_are_refused():
    with refused("sample_weight times class_weight", "give moderate weights"):
        Instance(K, Y, sample_weight=np.full(N, 1e200), class_weight={-1: 1e200, 1: 1.0})


def test_class_weights_multiply_sample_weights():
    y = np.array([1, 1, 1, 1, 1, 1, -1, -1])
    np.testing.assert_array_equal(Instance(K, y).sample_weight, np.ones(N))
    given = Instance(K, y, sample_weight=np.arange(1, 9), class_weight={-1: 3.0, 1: 0.5}).sample_weight
    np.testing.assert_array_equal(given, np.arange(1, 9) * np.where(y > 0, 0.5, 3.0))
    balanced = Instance(K, y, class_weight="balanced").sample_weight
    assert balanced[y > 0].sum() == pytest.approx(4)
    assert balanced[y < 0].sum() == pytest.approx(4)


# ----------------------------------------------------------------------------------------------- names and tests
@pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "c", "d"], []])
def test_names_of_another_number_are_refused(names):
    with refused(f"names: {len(names)} names for 3 kernels", "give one per kernel"):
        Instance(K, Y, names=names)


@pytest.mark.parametrize("names", [5, np.array("abc"), [b"\xff", b"b", b"c"]])
def test_names_that_are_no_words_are_refused(names):
    with refused("names are no list of words", "give one per kernel"):
        Instance(K, Y, names=names)


def test_names_have_a_default_and_bytes_are_text():
    assert Instance(K, Y).names == ("K1", "K2", "K3")
    assert Instance(K, Y, names=[b"a", "b", 3]).names == ("a", "b", "3")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"test_kernels": K[:2]}, ("test_kernels have shape (2, 8, 8)", "give (3, t, 8)")),
        ({"test_kernels": K[:, :, :5]}, ("test_kernels have shape (3, 8, 5)", "training samples in columns")),
        ({"test_kernels": K[0]}, ("test_kernels have shape (8, 8)", "give (3, t, 8)")),
        ({"test_kernels": K * np.nan}, ("test_kernels have entries that are not finite", "give finite")),
        ({"test_kernels": K.astype(object)}, ("test_kernels have dtype object", "give real numbers")),
        ({"test_kernels": K[:, :4], "test_y": Y}, ("test_y has 8 labels for 4 rows of test_kernels",)),
        ({"test_y": Y}, ("test_y has 8 labels for 0 rows of test_kernels",)),
        ({"test_kernels": K, "test_y": (Y > 0) * 1}, ("test_y has labels 0, 1", "numpy.where(test_y == 1, 1, -1)")),
        ({"test_kernels": K[:, :4], "test_diagonals": np.ones((3, 5))}, ("test_diagonals have shape (3, 5)", "(3, 4)")),
        ({"test_kernels": K, "test_diagonals": np.full((3, 8), np.inf)}, ("test_diagonals", "not finite")),
        ({"test_kernels": K, "test_diagonals": "a"}, ("test_diagonals have dtype <U1", "give real numbers")),
    ],
)
def test_bad_test_data_are_refused(given, words):
    with refused(*words):
        Instance(K, Y, **given)


def test_test_labels_may_all_be_of_one_class():
    np.testing.assert_array_equal(Instance(K, Y, test_kernels=K[:, :2], test_y=[1, 1]).test_y, [1, 1])


# ----------------------------------------------------------------------------------------------------- welcome
@pytest.mark.parametrize(
    "kernels",
    [
        np.stack([np.eye(N, dtype=int) * 3, np.ones((N, N), dtype=int)]),
        np.stack([np.eye(N, dtype=bool), np.ones((N, N), dtype=bool)]),
        np.eye(N, dtype=np.uint8)[None],
        K.astype(np.float32),
        K.astype(np.float16),
        K.astype(np.longdouble),
        np.asfortranarray(K),
        K.transpose(2, 1, 0).copy().transpose(2, 1, 0),
        np.repeat(np.repeat(K, 2, axis=1), 2, axis=2)[:, ::2, ::2],
        K.astype(">f8"),
    ],
    ids=["int", "bool", "uint8", "float32", "float16", "longdouble", "fortran", "reversed", "strided", "big-endian"],
)
def test_any_real_array_is_taken_as_it_comes(kernels):
    instance = Instance(kernels, Y)
    assert instance.kernels.dtype == kernels.dtype
    assert np.shares_memory(instance.kernels, kernels)
    np.testing.assert_array_equal(instance.kernels, kernels)
    assert (instance.count, instance.samples) == (len(kernels), N)


@pytest.mark.parametrize("form", [np.ndarray.tolist, list, tuple], ids=["nested", "list", "tuple"])
def test_lists_of_kernels_are_welcome(form):
    np.testing.assert_array_equal(Instance(form(K), Y).kernels, K)


def test_read_only_array_is_welcome():
    kernels = K.copy()
    kernels.setflags(write=False)
    assert np.shares_memory(Instance(kernels, Y).kernels, kernels)


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_memory_map_is_not_copied(tmp_path, mode):
    np.save(tmp_path / "stack.npy", K)
    kernels = np.load(tmp_path / "stack.npy", mmap_mode=mode)
    instance = Instance(kernels, Y)
    assert np.shares_memory(instance.kernels, kernels)
    assert not instance.kernels.flags.writeable


def peak_of(work):
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_a_stack_of_many_kernels_costs_a_few_matrices_of_memory(dtype):
    n, count = 100, 60
    kernels = np.broadcast_to(2 * np.eye(n, dtype=dtype), (count, n, n)).copy()
    y = np.tile([1, -1], n // 2)
    assert peak_of(lambda: Instance(kernels, y)) < 6 * 8 * n * n


def test_a_memory_map_of_many_kernels_is_read_one_at_a_time(tmp_path):
    n, count = 100, 60
    np.save(tmp_path / "stack.npy", np.broadcast_to(np.eye(n), (count, n, n)))
    kernels = np.load(tmp_path / "stack.npy", mmap_mode="r")
    y = np.tile([1, -1], n // 2)
    assert peak_of(lambda: Instance(kernels, y)) < 6 * 8 * n * n


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
    with refused(f"unknown kernel {kernel!r}", "give an index below 3 or one of a, b, c"):
        full_instance().select([kernel])


def test_selecting_nothing_is_refused():
    with refused("the stack holds no kernel"):
        full_instance().select([])
