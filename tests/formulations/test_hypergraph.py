"""Hypergraphs: four programs for one optimum, the embedding, and the expansions worked by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import eigh

from checks import check_meets, unscaled_values
from hypergraphs import INSTANCES, NAMES
from labelled import digits, synthetic
from mklcvx import Instance, formulations, solve
from mklcvx.formulations import _silp
from mklcvx.formulations.families.hypergraph import EXPANSIONS, Embedding, HyperTask, incidence, solved
from mklcvx.solvers.conic import CLARABEL, SCS, Run, solve_program

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", INSTANCES)
def test_both_programs_lie_within_the_certificate(name, kind):
    instance = INSTANCES[kind]()
    solution = solve(instance, name, solver="clarabel", lam=0.3, expansion="clique")
    assert solution.certified, solution.message
    formulation = formulations.get(name)
    # The cone program over Z by Clarabel, the semidefinite one over θ by SCS.
    for value in unscaled_values(formulation, formulation.task(instance, {"lam": 0.3})[0], (CLARABEL, SCS)):
        assert solution.certificate.lower - 1e-7 <= value <= solution.certificate.upper + 1e-7
    check_meets(solution, solve(instance, name, solver="interior", lam=0.3, expansion="clique"))
    assert solution.weights.sum() == pytest.approx(1)


@pytest.mark.parametrize("expansion", EXPANSIONS)
def test_the_embedding_solves_the_generalised_eigenproblem(expansion):
    """The top eigenvalues of (KCK, K² + λK), by SciPy, and B normalised as the constraint asks."""
    instance, lam = synthetic(18, 3, seed=5), 0.4
    solution = solve(instance, "hypergraph", solver="clarabel", lam=lam, expansion=expansion)
    h = incidence(instance.targets.values, expansion)
    kernel = sum(w * k for w, k in zip(solution.weights, instance.kernels, strict=True))
    constraint = kernel @ kernel + lam * kernel
    values = eigh(kernel @ h @ h.T @ kernel, constraint + 1e-13 * np.eye(18), eigvals_only=True)[::-1]
    found = solution.multipliers["eigenvalues"]
    assert found == pytest.approx(values[: len(found)], abs=1e-6)
    basis = solution.multipliers["B"]
    assert basis.T @ constraint @ basis == pytest.approx(np.eye(basis.shape[1]), abs=1e-8)
    assert basis.T @ kernel @ h @ h.T @ kernel @ basis == pytest.approx(np.diag(found), abs=1e-8)


def test_expansions_by_hand():
    """Three samples, two labels: {1, 2} and {2, 3}. All four matrices worked out on paper."""
    labels = np.array([[1.0, 0], [1, 1], [0, 1]])
    expected = {
        # YY' = [[1,1,0],[1,2,1],[0,1,1]], its row sums 2, 4, 2
        "clique": np.array([[1 / 2, 1 / 8**0.5, 0], [1 / 8**0.5, 1 / 2, 1 / 8**0.5], [0, 1 / 8**0.5, 1 / 2]]),
        # D_e = 2, 2: Y D_e⁻² Y' = YY'/4; D_s = Y D_e⁻¹ 1 = ½, 1, ½
        "star": np.array([[1 / 2, 1 / 8**0.5, 0], [1 / 8**0.5, 1 / 2, 1 / 8**0.5], [0, 1 / 8**0.5, 1 / 2]]),
        # D_v = 1, 2, 1: YY'/2 scaled by D_v^−½ on both sides
        "zhou": np.array([[1 / 2, 1 / 8**0.5, 0], [1 / 8**0.5, 1 / 2, 1 / 8**0.5], [0, 1 / 8**0.5, 1 / 2]]),
        # projection onto the span of (1,1,0) and (0,1,1)
        "kcca": np.array([[2, 1, -1], [1, 2, 1], [-1, 1, 2]]) / 3,
    }
    for expansion, matrix in expected.items():
        h = incidence(labels, expansion)
        assert h.shape == (3, 2)
        assert h @ h.T == pytest.approx(matrix)


def test_edges_of_different_size_tell_the_expansions_apart():
    """Labels {1, 2, 3} and {3}: D_e = 3, 1."""
    labels = np.array([[1.0, 0], [1, 0], [1, 1]])
    clique = np.diag([3**-0.5, 3**-0.5, 0.5])
    assert incidence(labels, "clique") @ incidence(labels, "clique").T == pytest.approx(
        clique @ (labels @ labels.T) @ clique
    )
    raw = labels / np.array([3.0, 1.0])
    star = np.diag([3**0.5, 3**0.5, (4 / 3) ** -0.5])
    assert incidence(labels, "star") @ incidence(labels, "star").T == pytest.approx(star @ raw @ raw.T @ star)
    raw = labels / np.sqrt([3.0, 1.0])
    zhou = np.diag([1, 1, 2**-0.5])
    assert incidence(labels, "zhou") @ incidence(labels, "zhou").T == pytest.approx(zhou @ raw @ raw.T @ zhou)


@pytest.mark.parametrize("expansion", EXPANSIONS)
def test_one_label_is_the_same_in_every_expansion(expansion):
    """One edge around m samples: C = yy'/m, whichever way the edge becomes a graph."""
    label = np.array([[1.0], [0], [1], [1]])
    h = incidence(label, expansion)
    assert h.shape == (4, 1)
    assert h @ h.T == pytest.approx(label @ label.T / 3)


@pytest.mark.parametrize("expansion", EXPANSIONS)
def test_copies_of_a_label_add_no_rank_however_many(expansion):
    """Two labels among ninety copies; rounding grows with their number."""
    labels = np.repeat(np.array([[1.0, 0], [1, 1], [0, 1], [1, 1], [1, 0]]), [70, 20], axis=1)
    assert incidence(labels, expansion).shape == (5, 2)


@pytest.mark.parametrize("expansion", EXPANSIONS)
def test_dependent_labels_lower_the_rank_and_empty_rows_stay_empty(expansion):
    labels = np.array([[1.0, 0, 1], [1, 0, 1], [0, 1, 0], [0, 0, 0], [1, 1, 1]])
    h = incidence(labels, expansion)
    assert h.shape == (5, 2)
    assert h[3] == pytest.approx(np.zeros(2), abs=1e-12)
    assert np.linalg.eigvalsh(h @ h.T)[-1] <= 1 + 1e-12


def test_what_was_handled_is_said():
    instance = INSTANCES["no labels for some"]()
    alone = int((instance.targets.values.sum(axis=1) == 0).sum())
    assert alone >= 3
    notes = solve(instance, "hypergraph", solver="clarabel").notes
    assert any(f"{alone} of 18 samples have no label" in note for note in notes)
    labels = synthetic(20, 3, seed=1).targets.values
    repeated = Instance(synthetic(20, 3, seed=1).kernels, labels=labels[:, [0, 1, 1]])
    assert any(
        "dependent: the hypergraph's matrix A has rank 2" in n
        for n in solve(repeated, "hypergraph", solver="clarabel").notes
    )


def task(seed: int = 0, smoothing: float | None = None) -> HyperTask:
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(3, 6, 4))
    return HyperTask(factors @ factors.transpose(0, 2, 1), rng.normal(size=(6, 2)), 0.7, smoothing)


def test_values_follow_their_definitions():
    problem, rng = task(), np.random.default_rng(1)
    z = rng.normal(size=(6, 2))
    expected = [
        np.sum(z**2) / 4 + np.trace(z.T @ k @ z) / (4 * 0.7) - np.trace(z.T @ problem.h) for k in problem.kernels
    ]
    assert problem.scores(z) == pytest.approx(expected)
    exact, smooth = formulations.get("hypergraph"), formulations.get("hypergraph_smooth")
    assert exact.upper(problem, z).value == pytest.approx(max(expected))
    smoothed = task(smoothing=0.3)
    value = 0.3 * np.log(np.sum(np.exp(np.array(expected) / 0.3)))
    assert smooth.upper(smoothed, z).value == pytest.approx(value)
    theta = np.array([0.2, 0.5, 0.3])
    matrix = np.eye(6) + sum(t * k for t, k in zip(theta, problem.kernels, strict=True)) / 0.7
    trace = np.trace(problem.h.T @ np.linalg.solve(matrix, problem.h))
    best = solved(problem, theta)
    assert best == pytest.approx(2 * np.linalg.solve(matrix, problem.h))
    assert solved(problem, 3 * theta) == pytest.approx(best)
    assert exact.lower(problem, Embedding(2 * theta, best)).value == pytest.approx(-trace)
    assert problem.scores(best) @ theta == pytest.approx(-trace)
    entropy = -0.3 * np.sum(theta * np.log(theta))
    assert smooth.lower(smoothed, Embedding(theta, best)).value == pytest.approx(entropy - trace)
    assert smooth.responsible(smoothed, np.array([1.0, 1.3, 0.0])) == pytest.approx(np.exp([-1, 0, -1.3 / 0.3]))
    assert exact.responsible(problem, np.array([1.0, 3.0, 0.0])).tolist() == [0, 1, 0]
    corner = Embedding(np.array([1.0, 0.0, 0.0]), best)
    assert np.isfinite(smooth.lower(smoothed, corner).value)


@pytest.mark.parametrize("seed", range(10))
def test_the_bound_without_a_solve_holds_for_any_z(seed):
    rng, problem = np.random.default_rng(seed), task(seed)
    theta, x = rng.dirichlet(np.ones(3)), rng.normal(size=(6, 2))
    matrix = np.eye(6) + problem.combined(theta) / problem.lam
    trace = np.trace(problem.h.T @ np.linalg.solve(matrix, problem.h))
    residual = problem.h - matrix @ x
    expected = 2 * np.vdot(x, problem.h) - np.vdot(x, matrix @ x) + np.sum(residual**2)
    bound, fit = problem.trace_bound(theta, x)
    assert bound == pytest.approx(expected)
    assert bound >= trace - 1e-12
    assert fit == pytest.approx(max(np.sum(problem.h**2) - bound, 0.0))


def test_smoothed_scores_are_joined_by_a_sum_of_exponentials():
    formulation, scores = formulations.get("hypergraph_smooth"), np.array([3.0, 2.9, -400.0])
    found = formulation.joined(task(0, 0.5), scores)
    assert found == pytest.approx(0.5 * np.logaddexp(6.0, 5.8), rel=1e-14)


def test_the_oracle_finds_the_least_score():
    problem, theta = task(2), np.array([0.2, 0.5, 0.3])
    oracle = _silp.embedding_oracle(problem, theta)
    assert solve_program(oracle.problem, CLARABEL, Run())
    assert oracle.z.value == pytest.approx(solved(problem, theta), abs=1e-6)
    assert oracle.problem.value == pytest.approx(problem.scores(solved(problem, theta)) @ theta)


def test_points_at_hand_confine_the_sum_of_eigenvalues_to_what_any_kernel_can_reach():
    """0 ≤ tr(A) + τ* ≤ tr(A): μ on the simplex and Z = 0 prove both."""
    problem, formulation = task(), formulations.get("hypergraph")
    (dual,), (primal,) = formulation.trivial_points(problem)
    assert (dual.weights >= 0).all()
    assert dual.weights.sum() == pytest.approx(1)
    assert formulation.lower(problem, dual).value == pytest.approx(-np.sum(problem.h**2))
    assert formulation.upper(problem, primal).value == 0


def test_a_solved_dual_leaves_weights_without_negative_parts_and_the_best_embedding_for_them():
    problem, theta = task(), np.array([0.4, 1.2, 0.0])
    program = SimpleNamespace(mu=SimpleNamespace(value=theta - [0, 0, 1e-9]))
    (dual,), (primal,) = formulations.get("hypergraph").from_dual(program, problem, 1.0)
    assert dual.weights == pytest.approx(theta)
    assert (dual.weights >= 0).all()
    matrix = np.eye(6) + (problem.kernels[0] / 4 + problem.kernels[1] * 3 / 4) / problem.lam
    for z in (dual.z, primal):
        assert matrix @ z == pytest.approx(2 * problem.h)


def test_a_matrix_that_is_singular_as_rounded_has_a_least_solution(monkeypatch):
    problem, mu = task(), np.array([0.2, 0.5, 0.3])
    expected = solved(problem, mu)

    def refuse(*_):
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(np.linalg, "solve", refuse)
    assert solved(problem, mu) == pytest.approx(expected)


@pytest.mark.parametrize("expansion", EXPANSIONS)
def test_every_expansion_is_certified_by_all_programs_and_the_eigenvalues(expansion):
    instance = digits(30)
    solution = solve(instance, "hypergraph", solver="clarabel", lam=0.3, expansion=expansion)
    by_cuts = solve(instance, "hypergraph", lam=0.3, expansion=expansion, solver="silp_exact", tol=1e-6)
    assert by_cuts.certified
    assert by_cuts.objective == pytest.approx(solution.objective, abs=2e-6)
    formulation = formulations.get("hypergraph")
    task, _ = formulation.task(instance, {"lam": 0.3, "expansion": expansion})
    for value in unscaled_values(formulation, task, (CLARABEL, SCS)):
        assert value == pytest.approx(solution.objective, abs=1e-7)
    total = solution.multipliers["eigenvalues"].sum()
    assert total == pytest.approx(solution.multipliers["trace"] + solution.objective, abs=1e-7)
