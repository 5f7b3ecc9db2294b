"""The instance's kernels: what is refused and in which words, what is repaired, what is welcome, and what is copied."""

import re
import sys

import numpy as np
import pytest

from mklcvx import InputError, Instance, solve
from mklcvx.problem import validation
from mklcvx.problem.preprocessing import Preprocessing
from refusals import check_refused, peak_of
from stacks import FOR_INSTANCES

N, M = 8, 3
Y, K, RNG = FOR_INSTANCES.y, FOR_INSTANCES.kernels, FOR_INSTANCES.rng

LONG = pytest.mark.skipif(np.finfo("longdouble").eps > 2.0**-53, reason="long doubles are doubles here")


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
        ({"a": K[0]}, ("kernels are a dict", "give list(kernels.values())")),
        (K[0, :, :5], ("kernels have shape (8, 5)", "features make kernels by mklcvx.kernels")),
        (np.empty((0, 8, 8)), ("the stack holds no kernel (M = 0)", "give at least one")),
        (np.empty((3, 0, 0)), ("(3, 0, 0)", "they are empty", "give at least two samples")),
        (np.ones((3, 1, 1)), ("n = 1 sample", "give at least two, one of each class")),
        ([], ("kernels have shape (0,)", "three-dimensional")),
        ([K[0], K[0][:5, :5]], ("kernels is ragged", "all must have one size", "(M, n, n)")),
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
        (np.ma.masked_greater(K, 3.0), ("kernels: entries are masked", "fill them")),
    ],
)
def test_kernels_that_are_no_stack_of_finite_square_matrices_are_refused(kernels, words):
    with check_refused(*words):
        Instance(kernels, Y)


def test_refusals_name_the_kernel_as_its_owner_does():
    with check_refused("kernel 'genes' (index 1)"):
        Instance(changed((1, 2, 3), np.nan), Y, names=["age", "genes", "height"])


# --------------------------------------------------------------------------------------------------- symmetry
def test_asymmetry_is_refused_with_where_and_how_much():
    with check_refused(
        "kernel 'K2' (index 1)", "not symmetric", "differ by 0.25", "for (K + K')/2 give repair='symmetrise'"
    ):
        Instance(changed((1, 5, 2), K[1, 5, 2] + 0.25), Y)
    with pytest.raises(InputError, match=re.escape("[2, 5] and [5, 2]")):
        Instance(changed((1, 5, 2), K[1, 5, 2] + 0.25), Y)


def test_asymmetry_of_rounding_is_accepted_and_the_lower_triangle_taken(tmp_path):
    given = changed((1, 2, 5), K[1, 2, 5] * (1 + 1e-12))
    assert np.array_equal(Instance(given, Y).kernels, K)
    given.flags.writeable = False
    assert np.array_equal(Instance(given, Y).kernels, K)
    assert not np.array_equal(given, K)
    np.save(tmp_path / "kernels.npy", given)
    mapped = Instance(np.load(tmp_path / "kernels.npy", mmap_mode="r"), Y)  # may be larger than memory: left alone
    assert not mapped.symmetric
    one, other = solve(mapped, "l1", solver="clarabel"), solve(Instance(K, Y), "l1", solver="clarabel")
    assert one.certified
    assert one.objective == pytest.approx(other.objective, rel=1e-12)


def test_asymmetry_of_single_precision_is_rounding_in_single_precision_only():
    kernel = changed((1, 5, 2), K[1, 5, 2] + 1e-6 * np.abs(K[1]).max())
    Instance(kernel.astype(np.float32), Y)
    with check_refused("not symmetric"):
        Instance(kernel, Y)


# -------------------------------------------------------------------------------------- positive semidefiniteness
def test_indefinite_kernel_is_refused_with_its_smallest_eigenvalue():
    with check_refused("kernel 'K2' (index 1)", "smallest eigenvalue -0.125", "repair='clip' or repair='shift'"):
        Instance(indefinite(-0.125), Y)


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
    kernels = settled(K)
    untouched = Instance(kernels, Y, repair=repair)
    assert untouched.repairs == ()
    assert np.shares_memory(untouched.kernels, kernels)


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
    with check_refused("repair = 'mend' is unknown", "give 'clip' or 'shift', 'symmetrise'"):
        Instance(K, Y, repair="mend")
    with check_refused("repair = 'clip,shift' asks for two ways of the same"):
        Instance(K, Y, repair="clip,shift")


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
    np.testing.assert_array_equal(Instance(kernels, y).kernels, kernels)


def test_rounding_of_single_precision_is_no_rounding_in_double_precision():
    kernels, y = smooth(1e-4)
    with check_refused("not positive semidefinite"):
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
    monkeypatch.delitem(sys.modules, "scipy.linalg.lapack", raising=False)
    monkeypatch.setattr(np.linalg, "cholesky", counted)
    for name in ("eigvalsh", "eigh", "eigvals", "eig", "svd"):
        monkeypatch.setattr(np.linalg, name, forbidden)
    Instance(K, Y)
    assert factorised == [(N, N)] * M
    Instance(kernels, y)
    assert factorised[M:] == [(200, 200)]


def test_both_ways_to_factorise_find_the_same_kernels_indefinite(monkeypatch):
    from scipy.linalg import lapack

    bad = K.copy()
    bad[1] -= 0.5 * np.eye(N) * np.trace(bad[1]) / N
    for loaded in (True, False):
        if loaded:
            monkeypatch.setitem(sys.modules, "scipy.linalg.lapack", lapack)
        else:
            monkeypatch.delitem(sys.modules, "scipy.linalg.lapack")
        assert Instance(K, Y).count == M
        with pytest.raises(InputError, match=r"'K2'.* is not positive semidefinite"):
            Instance(bad, Y)


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
    instance, alone = Instance(kernels, Y), settled(kernels)
    assert instance.kernels.dtype == kernels.dtype
    assert not np.shares_memory(instance.kernels, kernels)
    assert np.shares_memory(Instance(alone, Y).kernels, alone) == alone[0].flags.forc  # else entries take turns
    assert instance.kernels[0].flags.forc
    np.testing.assert_array_equal(instance.kernels, kernels)
    assert (instance.count, instance.samples) == (len(kernels), N)


def settled(kernels):
    """A copy that nothing can write to any more."""
    own = np.array(kernels, order="K")
    own.flags.writeable = False
    return own


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
def test_a_stack_of_many_kernels_costs_one_copy_and_a_few_matrices_of_memory(dtype):
    n, count = 100, 60
    kernels = np.broadcast_to(2 * np.eye(n, dtype=dtype), (count, n, n)).copy()
    y = np.tile([1, -1], n // 2)
    assert peak_of(lambda: Instance(kernels, y)) < kernels.nbytes + 6 * 8 * n * n
    assert peak_of(lambda: Instance(list(kernels), y)) < kernels.nbytes + 6 * 8 * n * n
    assert peak_of(lambda: Instance(kernels.transpose(1, 2, 0).copy().transpose(2, 0, 1), y)) < 2.2 * kernels.nbytes
    kernels.flags.writeable = False
    assert peak_of(lambda: Instance(kernels, y)) < 6 * 8 * n * n


def test_repair_of_a_copy_makes_no_second_one():
    n, count = 100, 60
    kernels = np.broadcast_to(np.diag(np.r_[-1.0, np.ones(n - 1)]), (count, n, n)).copy()
    y = np.tile([1, -1], n // 2)
    assert peak_of(lambda: Instance(kernels, y, repair="shift")) < kernels.nbytes + 10 * 8 * n * n
    assert kernels[0, 0, 0] == -1


def test_a_memory_map_of_many_kernels_is_read_one_at_a_time(tmp_path):
    n, count = 100, 60
    np.save(tmp_path / "stack.npy", np.broadcast_to(np.eye(n), (count, n, n)))
    kernels = np.load(tmp_path / "stack.npy", mmap_mode="r")
    y = np.tile([1, -1], n // 2)
    assert peak_of(lambda: Instance(kernels, y)) < 6 * 8 * n * n


# --------------------------------------------------------------------------------------------- single precision first
@pytest.fixture(scope="module")
def vectors():
    return np.linalg.qr(np.random.default_rng(0).normal(size=(validation.LEAST, validation.LEAST)))[0]


@pytest.mark.parametrize(("scale", "loaded"), [(1.0, True), (1e-100, True), (3e120, False)])
def test_what_single_precision_proves_is_true_and_nothing_else_is_accepted(monkeypatch, vectors, loaded, scale):
    if not loaded:
        monkeypatch.delitem(sys.modules, "scipy.linalg.lapack", raising=False)
    proved = []
    for smallest in (-1e-3, -1e-7, 0.0, 1e-4, 0.05, 0.2):
        kernel = (vectors * np.append(smallest, np.linspace(0.5, 2, len(vectors) - 1))) @ vectors.T
        kernel = scale * (kernel + kernel.T) / 2
        sure = validation.surely_definite(kernel, validation.largest_entry(kernel))
        least = 0.08 * (len(kernel) + 8) * validation.SINGLE * np.trace(kernel)
        assert not sure or np.linalg.eigvalsh(kernel)[0] >= least
        proved += [smallest] * sure
        refused = validation.smallest_eigenvalue(kernel, validation.rounding(float)) is not None
        assert refused == (smallest < 0)
    assert proved == [0.05, 0.2]


def test_kernels_that_their_diagonals_dominate_are_not_factored(monkeypatch):
    sizes, factored = [], validation._has_factor

    def counted(matrix):
        sizes.append(len(matrix))
        return factored(matrix)

    monkeypatch.setattr(validation, "_has_factor", counted)
    assert validation.surely_definite(np.eye(600) + 1e-4, 1.0001)
    assert max(sizes) <= validation.FEW  # of some of the samples alone
    dented = np.eye(600) + 1e-4
    dented[1, 2] = dented[2, 1] = 1.2  # samples that the quick look does not see
    assert not validation.surely_definite(dented, 1.2)
    with check_refused("not positive semidefinite", "eigenvalue -0.2;"):
        Instance(dented[None], np.where(np.arange(600) % 2, 1, -1))


@pytest.mark.parametrize("dtype", ["int64", "uint64", pytest.param("longdouble", marks=LONG)])
def test_numbers_that_are_no_doubles_are_refused_not_rounded(dtype):
    """With a bias 2^60 + 100 I is 100 I, and as doubles it would be nothing."""
    long, exact = (np.array([[[2**60 + more, 2**60], [2**60, 2**60 + more]]], dtype=dtype) for more in (100, 1024))
    with check_refused("kernel 'K1' (index 0) has", "numbers that are no doubles"):
        Instance(long, [1, -1])
    assert solve(Instance(exact, [1, -1]), "svm", C=1.0).objective == pytest.approx(2 / 2048, rel=1e-9)
