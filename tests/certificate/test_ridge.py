"""δ, whichever way it was found, is proved again in fractions."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

from mklcvx import Instance, formulations, solve
from mklcvx.certificate import ridge
from mklcvx.checker.numbers import Kernel, by_elimination
from mklcvx.problem.stack import KernelStack, Memory

WEIGHTS = np.array([0.7, 0.0, 1.3])


def features(rng, offset, whole):
    drawn = rng.normal(size=(3, 18, 3))
    return (np.round(drawn * 16) / 16 if whole else drawn) + offset


def dented(kernels, size):
    """No longer semidefinite: the last entry of the diagonal is too small."""
    kernels[:, -1, -1] -= size * np.abs(kernels).max()
    return kernels


def least(way, stack, centred):
    """The least δ that a way finds."""
    return ridge.Successive(way(stack, WEIGHTS, centred)).until(0.0)


@pytest.mark.parametrize("way", [ridge._by_factors, ridge._as_one])
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("offset", "centred"), [(0.0, False), (1e3, True), (1e6, True), (1e3, False)])
def test_a_ridge_is_enough_and_not_much_too_large(way, whole, offset, centred):
    rng = np.random.default_rng(7)
    for dent in (0.0, 1e-15, 1e-12):
        points = features(rng, offset, whole)
        kernels = dented(points @ points.transpose(0, 2, 1), dent)
        stack = KernelStack((kernels + kernels.transpose(0, 2, 1)) / 2)
        delta = least(way, stack, centred)
        if delta == np.inf:  # what is left of a kernel is noise, not a few columns
            assert way is ridge._by_factors
            assert dent or not whole
            continue
        used = [(Kernel(kernel), float(w)) for kernel, w in zip(stack.kernels, WEIGHTS, strict=True) if w]
        assert by_elimination(used, Fraction(delta), centred)
        assert delta <= 1e-10 * np.abs(kernels).max()


def test_kernels_of_full_rank_have_no_few_columns():
    points = np.random.default_rng(5).normal(size=(3, 18, 18))
    stack = KernelStack(points @ points.transpose(0, 2, 1))
    assert least(ridge._by_factors, stack, False) == np.inf
    assert least(ridge._as_one, stack, False) == 0.0


def test_what_is_remembered_is_what_would_be_found_whatever_was_asked_before():
    points = np.random.default_rng(5).normal(size=(3, 60, 9))
    kernels = points @ points.transpose(0, 2, 1)
    alone = [ridge.combined_ridge(KernelStack(kernels), WEIGHTS, True, enough) for enough in (np.inf, 1e-12, 0.0)]
    assert alone[0] > alone[1] > alone[2]  # each took more work
    for order in ([0, 1, 2], [2, 0, 1]):
        memory = Memory(kernels)
        for k in order:
            stack = KernelStack(kernels[:], memory=memory)
            assert ridge.combined_ridge(stack, WEIGHTS, True, (np.inf, 1e-12, 0.0)[k]) == alone[k]
            np.testing.assert_array_equal(stack.combined(WEIGHTS), KernelStack(kernels).combined(WEIGHTS))
    others = KernelStack(2 * kernels, memory=memory)
    np.testing.assert_array_equal(others.combined(WEIGHTS), 2 * stack.combined(WEIGHTS))


def test_row_sums_are_those_of_the_symmetric_matrix():
    """Above what fractions find, by no more than rounding."""
    for n in (1, 2, 7, 40):
        entries = np.random.default_rng(n).normal(size=(n, n))
        whole = [[abs(Fraction(entries[max(i, j), min(i, j)])) for j in range(n)] for i in range(n)]
        most, found = max(sum(row) for row in whole), Fraction(ridge._row_sums(entries))
        assert most <= found <= most * (1 + Fraction(4 * n + 8, 2**52))


@pytest.mark.parametrize("bias", [True, False])
def test_whole_numbers_are_eliminated_only_where_the_rank_can_be_low(bias, monkeypatch):
    """Wide Gaussians have few directions up to rounding, but as stored no low rank."""
    entered, eliminated = [], ridge._eliminated
    monkeypatch.setattr(ridge, "_eliminated", lambda matrix: entered.append(len(matrix)) or eliminated(matrix))
    points = np.random.default_rng(0).normal(size=(30, 2))
    wide = KernelStack(np.exp(-1e-3 * ((points[:, None] - points) ** 2).sum(axis=-1))[None])
    assert wide.rank(0) <= ridge.LOW
    assert not ridge.exactly_semidefinite(wide, 0, bias)
    assert not entered
    whole = np.round(8 * points)
    assert ridge.exactly_semidefinite(KernelStack((whole @ whole.T)[None] * 2.0**-70), 0, bias)
    assert entered


@pytest.mark.parametrize("rank", [0, 1, ridge.LOW - 1, ridge.LOW, ridge.LOW + 1, ridge.LOW + 2])
def test_ranks_modulo_a_prime(rank):
    factor = np.random.default_rng(rank).integers(0, 2**20, (40, rank))
    assert ridge._has_low_rank(factor @ factor.T % ridge.PRIME) == (rank <= ridge.LOW)


@pytest.fixture
def ridges_found(monkeypatch):
    """The kernels of which a δ was looked for, and whether with a bias."""
    found, look = [], ridge.combined_ridge

    def looked(stack, weights, bias, *given):
        found.append((int(np.flatnonzero(weights)[0]), bias))
        return look(stack, weights, bias, *given)

    monkeypatch.setattr(ridge, "combined_ridge", looked)
    return found


def test_ridges_of_single_kernels_are_found_once_for_an_instance(ridges_found):
    points = np.random.default_rng(0).normal(size=(3, 24, 30))  # definite: implied coefficients are enough
    kernels, y = points @ points.transpose(0, 2, 1), np.where(np.arange(24) % 2, 1, -1)
    instance, with_bias = Instance(kernels, y, groups=[0, 0, 1]), [(m, True) for m in range(3)]
    solve(instance, "li", C=1.0)
    assert ridges_found == with_bias
    for other in (instance, instance.remembering(), instance.with_targets(instance.targets)):
        solve(other, "li", C=1.0)
        solve(other, "vskl", C=2.0)
    assert ridges_found == with_bias
    solve(instance, "li", C=1.0, bias=False)  # other vectors count
    assert ridges_found == [*with_bias, *((m, False) for m in range(3))]


def test_nothing_is_remembered_of_a_memory_map(ridges_found, tmp_path):
    """Its file may change while it is read, and change back before it is looked at again."""
    points = np.random.default_rng(0).normal(size=(2, 12, 14))
    np.save(tmp_path / "kernels.npy", points @ points.transpose(0, 2, 1))
    instance = Instance(np.load(tmp_path / "kernels.npy", mmap_mode="r"), np.where(np.arange(12) % 2, 1, -1))
    for times in (1, 2):
        solve(instance, "li", C=1.0)
        assert len(ridges_found) == 2 * times


def test_a_task_is_sent_to_another_process_without_its_memory():
    points = np.random.default_rng(0).normal(size=(2, 12, 14))
    instance = Instance(points @ points.transpose(0, 2, 1), np.where(np.arange(12) % 2, 1, -1))
    task, _ = formulations.get("li").task(instance.with_targets(instance.targets), {"C": 1.0})
    sent = pickle.dumps(task)
    assert len(sent) < 1.5 * task.kernels.nbytes + 2000
    assert pickle.loads(sent).memory is None


def test_other_kernels_have_ridges_of_their_own(ridges_found):
    points = np.random.default_rng(0).normal(size=(3, 24, 5))
    kernels, y = points @ points.transpose(0, 2, 1), np.where(np.arange(24) % 2, 1, -1)
    instance = Instance(kernels, y)
    solve(instance, "li", C=1.0)
    copied = pickle.loads(pickle.dumps(instance))  # our own
    parts = instance.select([2, 0]), instance.of_samples(np.arange(20)), instance.with_kernels(2 * kernels)
    for other in (*parts, copied):
        ridges_found.clear()
        found, alone = (solve(one, "li", C=1.0) for one in (other, Instance(np.array(other.kernels), other.y)))
        assert found.certificate == alone.certificate
        half = len(ridges_found) // 2
        assert ridges_found[:half] == ridges_found[half:]
        assert {m for m, _ in ridges_found} == set(range(other.count))


def test_where_every_ridge_is_enough_a_finite_one_is_found():
    """A kernel of full rank with a large constant has no factor of low rank: that way ends, the other one does not."""
    x = np.random.default_rng(0).normal(size=(7, 7))
    instance = Instance((x @ x.T + 1e4)[None], response=np.full(7, 3.0))
    task, _ = formulations.get("svm").task(instance, {"loss": "absolute"})
    assert 0 <= ridge.combined_ridge(task, np.ones(1), True, np.inf) < 1e-6
    assert solve(instance, "svm", loss="absolute").certified


# ----------------------------------------------------------------------------------------------------- block by block
def at_the_edge(kind, size):
    """Kernels with λ_min = 0 up to rounding, with a negative eigenvalue of some roundings, and of low rank."""
    rng = np.random.default_rng(11)
    if kind == "low rank":
        points = rng.normal(size=(22, 5))
        matrix = points @ points.T
    else:
        vectors = np.linalg.qr(rng.normal(size=(22, 22)))[0]
        values = np.geomspace(1e-9, 1.0, 22)
        values[0] = {"singular": 0.0, "negative": -3e-15, "very negative": -1e-9, "definite": 1e-9}[kind]
        matrix = (vectors * values) @ vectors.T
    return size * (matrix + matrix.T) / 2


@pytest.mark.parametrize("kind", ["low rank", "singular", "negative", "very negative", "definite"])
@pytest.mark.parametrize("size", [1.0, 2.0**-332, 2.0**332])
def test_every_ridge_on_the_way_is_proved_in_fractions(monkeypatch, kind, size):
    monkeypatch.setattr(ridge, "BLOCK", 5)  # four blocks and a part of one
    monkeypatch.setattr(ridge, "STRIP", 3)
    tried, by_blocks = [], ridge._apart_by_blocks
    monkeypatch.setattr(ridge, "_apart_by_blocks", lambda *given: tried.append(by_blocks(*given)) or tried[-1])
    matrix = at_the_edge(kind, size)
    found = list(ridge.ridge_bounds(matrix, 0.0))
    assert any(found) or kind == "definite"
    for delta in found:
        assert by_elimination([(Kernel(matrix), 1.0)], Fraction(delta), False)
    assert all(tried)
    assert bool(tried) == (kind != "very negative")
    if tried and kind != "definite":
        assert found[1] < found[0]  # more work, and sharper
    if kind == "very negative":
        assert min(found) >= 1e-9 * size * (1 - 1e-6)


def test_a_matrix_that_is_not_definite_has_no_factor_by_blocks(monkeypatch):
    monkeypatch.setattr(ridge, "BLOCK", 5)
    matrix = at_the_edge("definite", 1.0)
    assert ridge._apart_by_blocks(matrix, 0.0)
    for at in (0, 7, 21):  # in the first block, in the middle, in the last one
        dented_there = matrix.copy()
        dented_there[at, at] -= 2.0
        assert not ridge._apart_by_blocks(dented_there, 0.0)


def test_only_the_lower_triangle_is_read(monkeypatch):
    monkeypatch.setattr(ridge, "BLOCK", 5)
    lower = np.tril(at_the_edge("definite", 1.0)) + np.triu(np.full((22, 22), np.nan), 1)
    assert ridge._apart_by_blocks(lower, 0.0)


def test_blocks_prove_no_more_than_their_triangular_solves_are_worth(monkeypatch):
    """A library that solves badly, here for a panel that is too short, makes an indefinite matrix look definite."""
    import scipy.linalg.blas

    monkeypatch.setattr(ridge, "BLOCK", 5)
    vectors = np.linalg.qr(np.random.default_rng(4).normal(size=(22, 22)))[0]
    values = np.linspace(0.0, 1.0, 22)
    values[0] = -1e-11
    matrix = (vectors * values) @ vectors.T
    matrix = (matrix + matrix.T) / 2
    assert ridge._apart_by_blocks(matrix, 0.0) is None
    solved = scipy.linalg.blas.dtrsm
    monkeypatch.setattr(scipy.linalg.blas, "dtrsm", lambda *given, **options: solved(*given, **options) * (1 - 1e-7))
    apart = ridge._apart_by_blocks(matrix, 0.0)
    counted = ridge._lost(np.diagonal(matrix), 0.0, 5 + 5 + 8)
    assert not by_elimination([(Kernel(matrix), 1.0)], Fraction(counted), False)
    assert by_elimination([(Kernel(matrix), 1.0)], Fraction(counted + apart), False)
