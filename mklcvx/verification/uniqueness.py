"""How far optimal weights may differ: kernels that can stand in for each other.

Keep α at the optimum and let g_m = K_m(α∘y). The classifier Σ μ_m g_m + b costs

    P(μ, b, ξ) = ½ Σ μ_m q_m(α) + Σ c_i ξ_i,      ξ_i ≥ 0,  ξ_i ≥ 1 − y_i (Σ_m μ_m g_m(x_i) + b),

which is linear, and at least what μ is worth. So {μ feasible: P ≤ v* + tolerance} contains only weights that are
optimal up to the tolerance, and linear programs find how far each weight can go in it. (Loss nu: ρ in place of 1, and
−ρ in the cost. Many labels: a sum over classes, or the largest. Block-∞: the norms Σ_{m∈j} μ_m √q_m of groups stay
where they are, and the risk is bounded.) A strictly convex R or ball, and fixed weights, leave one optimum only. Two
stages and hypergraphs have inequalities of their own.

`alignment` and `hypergraph` have a sharp excess near their optimum μ: for weights μ + d and slacks c ≥ 0, c'μ = 0,

    c'd + d'Bd/L  ≤  how far μ + d is above the optimum  ≤  c'd + d'Bd.

For `alignment` it is that of the quadratic program: B = G, c = 2(Gμ − a), L = 1, so that the weights are unique if G,
the Gram matrix of the kernels, is positive definite. For `hypergraph` let Z be its unique primal optimum and
P = I + K(μ + d)/λ. Minimising Σ_m (μ + d)_m S_m(Z + D) over D gives −tr(H'P⁻¹H) = Σ_m (μ + d)_m S_m(Z) − tr(r'P⁻¹r),
r = Σ_m d_m K_mZ/(2λ). As I ⪯ P ⪯ L·I with L = 1 + max_m ‖K_m‖/λ, it has B_ml = ⟨K_mZ, K_lZ⟩/(4λ²) and c_m = τ − S_m(Z):
the weights are unique if the K_mZ of the kernels with c_m = 0 are affinely independent.

The right inequality gives weights that differ and are as good, by linear programs over
{μ + d ≥ 0: c'd ≤ budget/2, |R d| ≤ √(budget/2M) componentwise}, R'R = B; the left one proves that there are none. Where
neither does, nothing is said. `ts_l1` is a linear program itself, over {μ ≥ 0: λΣμ + Σ w ξ ≤ v* + tolerance}.
`ts`, and the smoothed hypergraph, are strictly convex.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..certificate.solution import Solution, plain
from ..problem.stack import Array
from .case import Case

WIDE = 0.02  # a weight that can move by this share of the largest is undetermined
SHOWN = 6  # kernels that are named
FINEST = 1e-7  # relative: what linear programs can tell apart
TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
Ends = list[tuple[float, float]]
Limits = list[tuple[float | None, float | None]]
LinearProgram = tuple[Array, Array, Array | None, Array | None, Limits]  # as `linprog` takes it, after the objective


class Range(NamedTuple):
    """A kernel whose weight may lie anywhere from `low` to `high`, for suitable weights of the others."""

    kernel: str
    low: float
    high: float

    def as_dict(self) -> dict[str, object]:
        return {"kernel": self.kernel, "low": self.low, "high": plain(self.high)}

    @property
    def words(self) -> str:
        """Both ends, short."""
        if self.low == self.high:
            return f"{self.low:.6g}"
        if self.low == 0:
            return f"≤ {self.high:.2g}" if np.isfinite(self.high) else "≥ 0"
        digits = 2 + max(0, math.ceil(-math.log10(max(1 - self.low / self.high, 1e-14)))) if self.high > 0 else 2
        return f"{self.low:.{digits}g} – {self.high:.{digits}g}"


def ranges_of(solution: Solution, tolerance: float | None = None) -> tuple[Range, ...] | None:
    """The outer ranges of a solution's weights (`certificate/weight_ranges`), by the names of the kernels."""
    intervals = solution.weights_interval(tolerance)
    if intervals is None:
        return None
    return tuple(Range(name, *map(float, ends)) for name, ends in zip(solution.names, intervals, strict=True))


def in_every_answer(ranges: Sequence[Range]) -> list[tuple[str, str]]:
    """What the ranges prove, in words: the kernels that every answer as good needs, and those that none has use for."""
    needed = [interval for interval in ranges if interval.low > 0]
    largest = max((interval.high for interval in ranges), default=0.0)
    small = [interval for interval in ranges if interval.low == 0 and interval.high <= WIDE * largest]
    rows = []
    for title, chosen in (("needed in every answer", needed), ("small in every answer", small)):
        shown = [f"{interval.kernel} {interval.words}" for interval in chosen[:SHOWN]]
        more = [f"{len(chosen) - SHOWN} more"] if len(chosen) > SHOWN else []
        rows += [(title, ", ".join([*shown, *more]))] if shown else []
    return rows


def outer_ranges(case: Case, tolerance: float) -> tuple[Range, ...] | None:
    """Of every answer that the tolerance accepts: its value is at most that above a lower bound on the optimum, so at
    most that and the gap above the reference's."""
    return ranges_of(case.reference, tolerance + case.reference.certificate.relative_gap)


class Bowl(NamedTuple):
    """μ, c, B, L and the budget of the text; `total` says that weights sum to one, `unit` scales them as shown."""

    mu: Array
    slack: Array
    curvature: Array
    flattest: float
    budget: float
    total: bool
    unit: float


def ends_of(count: int, rows: Array, *program: object, **options: object) -> Ends | None:
    """The least and the largest value of the first `count` unknowns of a linear program, whose arguments are those of
    `linprog`; None if it finds nothing, since the certified point is not sharp enough."""
    from scipy.optimize import linprog

    ends = []
    for m in range(count):
        direction = np.zeros(rows.shape[1])
        direction[m] = 1.0
        low, high = (linprog(sign * direction, rows, *program, **options) for sign in (1, -1))
        if not (low.success and high.success):
            return None
        ends.append((float(low.fun), -float(high.fun)))
    return ends


def in_bowl(case: Case, bowl: Bowl | None) -> list[Range] | None:
    """The weights that an excess of this shape leaves undetermined; None where that cannot be told."""
    if bowl is None:
        return None
    if 2 * _farthest(bowl) <= WIDE * case.reference.weights.max():
        return []
    return wide(case, _bowl_ends(bowl)) or None


def determined(case: Case, tolerance: float) -> bool:
    """Whether the outer ranges of all answers as good leave no weight any room."""
    ranges = ranges_of(case.reference, tolerance)
    room = WIDE * float(np.nan_to_num(case.reference.weights).max())
    return ranges is not None and all(interval.high - interval.low <= room for interval in ranges)


def wide(case: Case, ends: Ends | None) -> list[Range] | None:
    """The weights that are not determined; None where their ends are not known."""
    if ends is None:
        return None
    ranges, optimal = [], np.nan_to_num(case.reference.weights)
    for name, weight, (low, high) in zip(case.instance.names, optimal, ends, strict=True):
        low, high = min(low, weight), max(high, weight)
        if high - low > WIDE * optimal.max():
            ranges.append(Range(name, float(low), float(high)))
    return ranges


def _farthest(bowl: Bowl) -> float:
    """The farthest that a weight as good can be away, by the left inequality; infinite if that says nothing.

    A kernel with slack c_m has at most budget/c_m; let h be the sum of these. For the others d'Bd ≤ (√(budget·L) +
    √‖B‖ h)², and their sum differs from 1 by h at most where weights sum to one.
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


def _bowl_ends(bowl: Bowl) -> Ends | None:
    """How far every weight can go, by the right inequality."""
    count, largest = len(bowl.mu), bowl.slack.max() or 1.0
    values, vectors = np.linalg.eigh(bowl.curvature)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    reach, middle = np.sqrt(bowl.budget / (2 * count)), root @ bowl.mu
    size = np.sqrt(max(float(values[-1]), 0.0)) or 1.0
    rows = np.vstack([root / size, -root / size, bowl.slack[None] / largest])
    bounds = np.concatenate([(middle + reach) / size, (reach - middle) / size, [bowl.budget / (2 * largest)]])
    equal = (np.ones((1, count)), np.ones(1)) if bowl.total else (None, None)
    ends = ends_of(count, rows, bounds, *equal)
    return None if ends is None else [(low * bowl.unit, high * bowl.unit) for low, high in ends]
