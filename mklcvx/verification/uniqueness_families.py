"""How far optimal weights may differ in two stages and in hypergraphs, where single tasks' programs do not apply.

`alignment` and `hypergraph` have a sharp excess near their optimum μ: with d = ν − μ and slacks c ≥ 0, c'μ = 0,

    c'ν + d'Bd/L  ≤  what ν is above the optimum  ≤  c'ν + d'Bd.

For `alignment` it is that of the quadratic program: B = G, c = 2(Gμ − a), L = 1, so that the weights are unique if G,
the Gram matrix of the kernels, is positive definite. For `hypergraph` with Z its unique primal optimum, minimising
Σ ν_j S_j(Z + D) over D gives −tr(H'A(ν)⁻¹H) = Σ ν_j S_j(Z) − tr(r'A(ν)⁻¹r), r = Σ_j d_j K_jZ/(2λ). As I ⪯ A(ν) ⪯ L·I
with L = 1 + max_j ‖K_j‖/λ, it has B_jl = ⟨K_jZ, K_lZ⟩/(4λ²) and c_j = γ − S_j(Z): the weights are unique if the K_jZ of
the kernels with c_j = 0 are affinely independent.

From the right inequality come weights that differ and are as good, by linear programs over
{ν ≥ 0: c'ν ≤ ε/2, |R d| ≤ √(ε/2M) componentwise}, R'R = B; from the left a proof that there are none. Where there is
neither, nothing is said. `ts_l1` is a linear program itself: {μ ≥ 0: λΣμ + Σ w ξ ≤ v* + ε} has ends that it finds.
`ts`, and the smoothed hypergraph, are strictly convex.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..problem.stack import Array
from .case import Case

MOST_PAIRS = 1000  # beyond, the programs take seconds


class Bowl(NamedTuple):
    """μ, c, B, L and ε of the text; whether weights sum to one (`total`); `unit` turns ν into weights as shown."""

    mu: Array
    slack: Array
    curvature: Array
    flattest: float
    budget: float
    total: bool
    unit: float


def alignment_bowl(case: Case, tolerance: float) -> Bowl | None:
    """The alignment's square is what the program has: twice the alignment times what is off."""
    task, weights = case.task, case.reference.weights
    size, along = float(weights @ task.products @ weights), float(task.target @ weights)
    if size <= 0 or along <= 0:
        return None
    mu = weights * (along / size)
    slack = np.maximum(2 * (task.products @ mu - task.target), 0.0)
    budget = 2 * tolerance * case.known.scale * case.known.upper
    return Bowl(mu, slack, task.products, 1.0, budget, False, 1 / float(np.linalg.norm(mu)))


def hypergraph_bowl(case: Case, tolerance: float) -> Bowl:
    task, z = case.task, case.reference.multipliers["Z"]
    images = np.stack([(kernel @ z).ravel() for kernel in task.each_kernel()]) / (2 * task.lam)
    scores = task.scores(z)
    largest = max(float(np.linalg.norm(np.asarray(kernel, dtype=float), 2)) for kernel in task.each_kernel())
    slack = np.maximum(scores.max() - scores, 0.0)
    budget = tolerance * case.known.scale
    return Bowl(case.reference.weights, slack, images @ images.T, 1 + largest / task.lam, budget, True, 1.0)


def farthest(bowl: Bowl) -> float:
    """What no weight that is as good can be away by, by the left inequality; infinite if that says nothing.

    A kernel with slack c_j has at most ε/c_j; what they have together is η. For the others d'Bd ≤ (√(εL) + √‖B‖ η)²,
    and their sum is off by η at most where weights sum to one.
    """
    size = float(np.linalg.norm(bowl.curvature, 2)) or 1.0
    with np.errstate(divide="ignore"):
        most = bowl.budget / bowl.slack
    free = most > bowl.mu.max()
    rest = float(most[~free].sum())
    held = bowl.curvature[np.ix_(free, free)] + (size if bowl.total else 0.0)
    least = float(np.linalg.eigvalsh(held)[0]) - len(held) * np.finfo(float).eps * 2 * size * max(len(held), 1)
    if least <= 0:
        return np.inf
    bound = (np.sqrt(bowl.budget * bowl.flattest) + np.sqrt(size) * rest) ** 2 + size * rest**2
    return max(float(np.sqrt(bound / least)), rest) * bowl.unit


def ends(bowl: Bowl) -> list[tuple[float, float]] | None:
    """How far every weight can go, by the right inequality."""
    from scipy.optimize import linprog

    count = len(bowl.mu)
    values, vectors = np.linalg.eigh(bowl.curvature)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    reach, middle = np.sqrt(bowl.budget / (2 * count)), root @ bowl.mu
    size = np.sqrt(max(float(values[-1]), 0.0)) or 1.0
    rows = np.vstack([root / size, -root / size, bowl.slack[None] / (bowl.slack.max() or 1.0)])
    top = bowl.budget / (2 * (bowl.slack.max() or 1.0))
    bounds = np.concatenate([(middle + reach) / size, (reach - middle) / size, [top]])
    equal = (np.ones((1, count)), np.ones(1)) if bowl.total else (None, None)
    found = []
    for m in range(count):
        both = [linprog(sign * np.eye(count)[m], rows, bounds, *equal) for sign in (1, -1)]
        if not all(one.success for one in both):
            return None
        found.append((both[0].fun * bowl.unit, -both[1].fun * bowl.unit))
    return found


def pair_ends(case: Case, tolerance: float) -> list[tuple[float, float]] | None:
    """`ts_l1`: unknowns μ and ξ."""
    from scipy import sparse
    from scipy.optimize import linprog

    task = case.task
    pairs = len(task.labels)
    if pairs > MOST_PAIRS:
        return None
    margins = sparse.csr_matrix(-(task.labels[:, None] * task.examples))
    cost = sparse.csr_matrix(np.concatenate([np.full(task.count, task.lam), task.weight])[None])
    rows = sparse.vstack([sparse.hstack([margins, -sparse.identity(pairs)]), cost]).tocsr()
    bounds = np.append(-np.ones(pairs), case.known.upper + tolerance * case.known.scale)
    found = []
    for m in range(task.count):
        direction = np.zeros(task.count + pairs)
        direction[m] = 1.0
        both = [linprog(sign * direction, rows, bounds) for sign in (1, -1)]
        if not all(one.success for one in both):
            return None
        found.append((float(both[0].fun), -float(both[1].fun)))
    return found
