"""Kernels of low rank as their factors: the same optima as the kernels they make, which are never formed."""

import numpy as np
import pytest

from mklcvx import InputError, Instance, LowRank, solve
from mklcvx.formulations import SINGLE_TASKS, RankOneCoefficients, Task, get
from mklcvx.problem.stack import KernelStack
from mklcvx.solvers.interior.reduced_hessian import LowRankReducedHessian, ReducedHessian, reduced_hessian_of
from mklcvx.solvers.polish import refined, sharpened

RNG = np.random.default_rng(5)
N = 40
FACTORS = [RNG.normal(size=(N, r)) for r in (1, 3, 2, 4)]
Y = np.where(FACTORS[1][:, 0] + FACTORS[3][:, 1] + 0.5 * RNG.normal(size=N) > 0, 1.0, -1.0)
DENSE = np.stack([factor @ factor.T for factor in FACTORS])
GROUPS = [0, 0, 1, 1]
LOW = Instance(LowRank(FACTORS), Y, groups=GROUPS)
WEIGHTS = np.array([0.1, 0.4, 0.2, 0.3])


def test_it_looks_like_the_stack():
    stack = LowRank(FACTORS)
    assert (stack.shape, stack.ndim, len(stack), stack.rank) == (DENSE.shape, 3, 4, 10)
    assert stack[1] == pytest.approx(DENSE[1])
    assert stack[-1] == pytest.approx(DENSE[-1])
    assert np.stack(list(stack)) == pytest.approx(DENSE)
    assert np.stack(list(stack[[2, 0]])) == pytest.approx(DENSE[[2, 0]])
    assert stack[1:3].ranks == (3, 2)


def test_products_combinations_and_traces_are_those_of_the_kernels():
    low, dense = KernelStack(LowRank(FACTORS)), KernelStack(DENSE)
    vector = RNG.normal(size=N)
    assert low.matvecs(vector) == pytest.approx(dense.matvecs(vector))
    assert low.quad_forms(vector) == pytest.approx(dense.quad_forms(vector))
    assert low.combined(WEIGHTS) == pytest.approx(dense.combined(WEIGHTS))
    assert low.traces == pytest.approx(dense.traces)
    assert low.typical_kernel_size() == pytest.approx(dense.typical_kernel_size())
    for factor, kernel in zip(low.factors, DENSE, strict=True):
        assert factor.columns @ factor.columns.T == pytest.approx(kernel, abs=1e-10)
        identity = np.eye(factor.columns.shape[1])
        assert factor.to_coefficients.T @ kernel @ factor.to_coefficients == pytest.approx(identity)


def test_squares_that_vanish_are_seen_to():
    """Where K(α∘y) is zero, √q is known to 1e-15 from factors and to 1e-8 from the kernel."""
    vector = RNG.normal(size=N)
    vector -= FACTORS[0][:, 0] * (FACTORS[0][:, 0] @ vector) / (FACTORS[0][:, 0] @ FACTORS[0][:, 0])
    assert np.sqrt(KernelStack(LowRank(FACTORS)).quad_forms(vector)[0]) < 1e-13


def test_a_kernel_of_low_rank_shows_that_its_square_vanishes():
    """From the stored kernel its root is rounding, 1e-8; the factor found from the kernel knows better."""
    vector = RNG.normal(size=N)
    vector -= FACTORS[1] @ np.linalg.lstsq(FACTORS[1], vector, rcond=None)[0]
    stack = KernelStack(DENSE)
    assert np.sqrt(stack.accurate_quad_forms(vector)[1]) < 1e-13
    assert stack.accurate_quad_forms(vector)[[0, 2, 3]].tolist() == stack.quad_forms(vector)[[0, 2, 3]].tolist()
    full = KernelStack((DENSE[1] + 1e-9 * np.eye(N))[None])
    assert full.accurate_quad_forms(vector) == pytest.approx(1e-9 * vector @ vector, rel=1e-4)


def test_nothing_is_factored_for_the_zero_vector(monkeypatch):
    """Every run asks for the bound that α = 0 proves; a factorisation of every kernel is no price for that."""
    monkeypatch.setattr(KernelStack, "_pivot", lambda self, m: pytest.fail(f"kernel {m} was factored"))
    assert KernelStack(DENSE).accurate_quad_forms(np.zeros(N)).tolist() == [0.0] * len(DENSE)


@pytest.mark.parametrize("name", [f.name for f in SINGLE_TASKS if f.name != "svm"])
def test_the_optimum_is_that_of_the_kernels(name):
    found = solve(LOW, name, solver="interior")
    dense = solve(Instance(DENSE, Y, groups=GROUPS), name, solver="clarabel")
    assert found.certified, found.message
    assert found.certificate.lower <= dense.certificate.upper + 1e-12
    assert dense.certificate.lower <= found.certificate.upper + 1e-12


@pytest.mark.parametrize("name", ["l1", "li"])
def test_the_declarations_take_factors_as_they_are(name):
    found, dense = (solve(one, name, solver="clarabel", tol=1e-7) for one in (LOW, Instance(DENSE, Y)))
    assert found.certified
    # Rounded products are semidefinite up to δ only, and `li` pays a root of it where α does not see them.
    near = 1e-5 if name == "li" else 3e-7
    assert found.certificate.lower == pytest.approx(dense.certificate.lower, rel=near)
    assert found.objective == pytest.approx(dense.objective, rel=near)


def test_no_kernel_is_formed(monkeypatch):
    def forbidden(*_):
        raise AssertionError("a kernel is formed")

    monkeypatch.setattr(LowRank, "__getitem__", forbidden)
    monkeypatch.setattr(LowRank, "__iter__", forbidden)
    monkeypatch.setattr(KernelStack, "combined", forbidden)
    monkeypatch.setattr(KernelStack, "add_combined", forbidden)
    assert solve(Instance(LowRank(FACTORS), Y), "l1", solver="interior").certified


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_alpha_is_sharpened_by_factors_as_by_kernels(monkeypatch, loss):
    """Kernels of 20,000 samples would take 3.2 GB, and as much again with their signs."""
    formulation, own = get("l1"), {"C": 0.1, "loss": loss}
    (low, _), (stored, _) = (formulation.task(Instance(kernels, Y), own) for kernels in (LowRank(FACTORS), DENSE))
    known = solve(Instance(DENSE, Y), "l1", **own)
    alpha = low.feasible(known.alpha * (1 + 1e-6 * RNG.normal(size=N)))
    upper = formulation.upper(stored, RankOneCoefficients(known.weights, known.alpha * Y))
    expected = [sharpened(stored, known.weights, alpha, upper), *refined(stored, stored, known.weights, alpha)]
    monkeypatch.setattr(KernelStack, "combined", lambda *_: pytest.fail("a kernel was formed"))
    found = [sharpened(low, known.weights, alpha, upper), *refined(low, low, known.weights, alpha)]
    assert found[0] == pytest.approx(expected[0], abs=1e-12)
    assert found[1] == pytest.approx(expected[1], abs=1e-12)
    assert np.abs(found[0] - known.alpha).max() < 1e-9 < np.abs(alpha - known.alpha).max()


def test_the_inverse_by_factors_is_the_inverse():
    task, _ = get("l1").task(LOW, {})
    hessian = reduced_hessian_of(task)
    assert isinstance(hessian, LowRankReducedHessian)
    hessian.set_weights(WEIGHTS)
    diagonal = np.geomspace(0.01, 1e4, N)
    hessian.factor(diagonal)
    matrix, rows = task.combined(WEIGHTS) + np.diag(diagonal), RNG.normal(size=(3, N))
    assert hessian.matvec(rows[0]) == pytest.approx(matrix @ rows[0])
    assert hessian.solve_roughly(rows) == pytest.approx(np.linalg.solve(matrix, rows.T).T)
    assert hessian.solve_roughly(rows[0]) == pytest.approx(np.linalg.solve(matrix, rows[0]))
    assert hessian.trace == pytest.approx(np.trace(task.combined(WEIGHTS)))


def test_many_columns_are_dense_after_all():
    wide = Instance(LowRank([RNG.normal(size=(N, 30)) for _ in range(3)]), Y)
    task, _ = get("l1").task(wide, {})
    assert type(reduced_hessian_of(task)) is ReducedHessian
    assert solve(wide, "l1", solver="interior").certified


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        ([], "none rows"),
        ([np.ones(5)], r"factor 0 has shape \(5,\)"),
        ([np.ones((5, 0))], r"factor 0 has shape \(5, 0\)"),
        ([np.ones((5, 1)), np.ones((6, 1))], "factors have 5, 6 rows"),
        ([[["a"]]], "factor 0 is not an array of real numbers"),
    ],
)
def test_bad_factors_are_refused(factors, words):
    with pytest.raises(InputError, match=words):
        LowRank(factors)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e80])
def test_bad_entries_are_refused_by_the_instance(bad):
    factor = np.ones((4, 1))
    factor[2] = bad
    with pytest.raises(InputError, match="the factor of kernel 'K1'"):
        Instance(LowRank([factor]), [1, 1, -1, -1])


@pytest.mark.parametrize(("size", "words"), [(1e80, "too large .* divide"), (1e-80, "too small .* multiply")])
def test_factors_whose_kernels_would_leave_the_range_are_refused_with_the_right_remedy(size, words):
    with pytest.raises(InputError, match=words):
        Instance(LowRank([np.full((4, 1), size)]), [1, 1, -1, -1])


def test_a_selection_keeps_the_factors():
    chosen = LOW.select([3, 1])
    assert isinstance(chosen.kernels, LowRank)
    assert chosen.kernels.ranks == (4, 3)
    task: Task = get("l1").task(chosen, {})[0]
    assert task.count == 2
