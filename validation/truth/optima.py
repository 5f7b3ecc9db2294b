"""Exact optima of quadratic programs in rational numbers, with their proof; nothing here comes from the package.

    maximise  g'α − ½ α'Qα   over  0 ≤ α ≤ box  and, for every group of samples,  Σ_i s_i α_i = total,  s_i = ±1

Each sample is in one group at most, so that one multiplier λ goes with a group. With the slopes r = g − Qα, a point is
optimal if and only if it is feasible and there are λ with

    r_i − s_i λ ≤ 0 where α_i < box_i,      r_i − s_i λ ≥ 0 where α_i > 0        (no group: λ = 0)

for concave objectives. `maximised` climbs from face to face of the box: on the face where samples at an end of their
box stay there, the best point is the solution of linear equations; at the best point of a face, two samples (or one)
that violate the conditions give a direction in which the value grows. Every face is left for good, so that the climb
ends, and its end is checked by `multipliers`, which knows nothing of the climb.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq, fmpq_mat

ZERO, HALF = fmpq(0), fmpq(1, 2)
Point = list[fmpq]
Direction = dict[int, fmpq]


@dataclass(frozen=True)
class Group:
    """Σ s_i α_i = total over some of the samples."""

    members: tuple[int, ...]
    signs: tuple[int, ...]
    total: fmpq

    def sum(self, alpha: Sequence[fmpq]) -> fmpq:
        return sum((s * alpha[i] for i, s in zip(self.members, self.signs, strict=True)), ZERO)


@dataclass(frozen=True)
class Feasible:
    """The box, and the groups."""

    box: tuple[fmpq, ...]
    groups: tuple[Group, ...] = ()

    def contains(self, alpha: Sequence[fmpq]) -> bool:
        inside = len(alpha) == len(self.box) and all(0 <= a <= top for a, top in zip(alpha, self.box, strict=True))
        return inside and all(group.sum(alpha) == group.total for group in self.groups)

    def start(self) -> Point:
        """Zero; a total is filled up sample by sample."""
        alpha = [ZERO] * len(self.box)
        for group in self.groups:
            left = group.total
            for i, sign in zip(group.members, group.signs, strict=True):
                if sign > 0 and left > 0:
                    alpha[i] = min(self.box[i], left)
                    left -= alpha[i]
            if left != 0:
                raise ValueError("the feasible set is empty")
        return alpha

    def room(self, alpha: Sequence[fmpq], direction: Direction) -> fmpq:
        """The longest step that stays in the box."""
        return min((self.box[i] - alpha[i] if d > 0 else -alpha[i]) / d for i, d in direction.items() if d != 0)


def multipliers(slopes: Sequence[fmpq], feasible: Feasible, alpha: Sequence[fmpq]) -> list[fmpq] | None:
    """λ for which a feasible point fulfils every condition of optimality, checked one by one; None if there is none."""
    if not feasible.contains(alpha):
        return None
    left, found = list(slopes), []
    for group in feasible.groups:
        price = _between(*_ends(slopes, feasible, alpha, group))
        found.append(price)
        for i, sign in zip(group.members, group.signs, strict=True):
            left[i] -= sign * price
    for rest, value, top in zip(left, alpha, feasible.box, strict=True):
        if (value < top and rest > 0) or (value > 0 and rest < 0):
            return None
    return found


def _ends(
    slopes: Sequence[fmpq], feasible: Feasible, alpha: Sequence[fmpq], group: Group
) -> tuple[tuple[fmpq, int] | None, tuple[fmpq, int] | None]:
    """The largest s_i r_i of samples whose s_i α_i can grow, and the smallest of those that can shrink."""
    upward, downward = [], []
    for i, sign in zip(group.members, group.signs, strict=True):
        below, above = alpha[i] < feasible.box[i], alpha[i] > 0
        if below if sign > 0 else above:
            upward.append((sign * slopes[i], i))
        if above if sign > 0 else below:
            downward.append((sign * slopes[i], i))
    return max(upward, default=None), min(downward, default=None)


def _between(low: tuple[fmpq, int] | None, high: tuple[fmpq, int] | None) -> fmpq:
    ends = [end[0] for end in (low, high) if end is not None]
    return sum(ends, ZERO) / len(ends) if ends else ZERO


# ------------------------------------------------------------------------------------------------------ the climb
@dataclass(frozen=True)
class Optimum:
    """The value and a point that has it; λ prove both."""

    value: fmpq
    alpha: Point
    multipliers: list[fmpq]

    @property
    def fraction(self) -> Fraction:
        return as_fraction(self.value)


def as_fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def maximised(matrix: fmpq_mat, gain: Sequence[fmpq], feasible: Feasible) -> Optimum:
    """The optimum for a positive semidefinite Q; Q need be so only along the directions that the groups allow."""
    alpha = feasible.start()
    while True:
        alpha = _best_of_face(matrix, gain, feasible, alpha)
        slopes = slopes_at(matrix, gain, alpha)
        found = multipliers(slopes, feasible, alpha)
        if found is not None:
            value = sum((a * (g + r) for a, g, r in zip(alpha, gain, slopes, strict=True)), ZERO) / 2
            return Optimum(value, alpha, found)
        alpha = _climbed(matrix, slopes, feasible, alpha, _uphill(slopes, feasible, alpha))


def slopes_at(matrix: fmpq_mat, gain: Sequence[fmpq], alpha: Sequence[fmpq]) -> Point:
    image = matrix * fmpq_mat(len(alpha), 1, list(alpha))
    return [g - z for g, z in zip(gain, image.entries(), strict=True)]


def _uphill(slopes: Sequence[fmpq], feasible: Feasible, alpha: Sequence[fmpq]) -> Direction:
    """Two samples of a group, or one of none, that violate their conditions most."""
    grouped = {i for group in feasible.groups for i in group.members}
    found: list[tuple[fmpq, Direction]] = []
    for i, slope in enumerate(slopes):
        if i not in grouped and ((slope > 0 and alpha[i] < feasible.box[i]) or (slope < 0 and alpha[i] > 0)):
            found.append((abs(slope), {i: fmpq(1 if slope > 0 else -1)}))
    for group in feasible.groups:
        up, down = _ends(slopes, feasible, alpha, group)
        if up is not None and down is not None and up[0] > down[0]:
            signs = dict(zip(group.members, group.signs, strict=True))
            found.append((up[0] - down[0], {up[1]: fmpq(signs[up[1]]), down[1]: fmpq(-signs[down[1]])}))
    return max(found, key=lambda pair: pair[0])[1]


def _climbed(matrix: fmpq_mat, slopes: Sequence[fmpq], feasible: Feasible, alpha: Point, direction: Direction) -> Point:
    """As far along a direction as the value grows and the box allows."""
    slope = sum((slopes[i] * d for i, d in direction.items()), ZERO)
    curvature = sum((matrix[i, j] * d * e for i, d in direction.items() for j, e in direction.items()), ZERO)
    step = feasible.room(alpha, direction)
    return _moved(alpha, direction, min(step, slope / curvature) if curvature > 0 else step)


def _moved(alpha: Point, direction: Direction, step: fmpq) -> Point:
    moved = list(alpha)
    for i, d in direction.items():
        moved[i] += step * d
    return moved


# ------------------------------------------------------------------------------------------------------- one face
def _best_of_face(matrix: fmpq_mat, gain: Sequence[fmpq], feasible: Feasible, alpha: Point) -> Point:
    """The best point of the face that the point is on, or of a face of that one where the box is in the way."""
    while True:
        free = [i for i, (a, top) in enumerate(zip(alpha, feasible.box, strict=True)) if 0 < a < top]
        if not free:
            return alpha
        direction, unbounded = _towards(matrix, gain, feasible, alpha, free)
        if not any(d != 0 for d in direction.values()):
            return alpha
        room = feasible.room(alpha, direction)
        if not unbounded and room >= 1:
            return _moved(alpha, direction, fmpq(1))
        alpha = _moved(alpha, direction, room)


def _towards(
    matrix: fmpq_mat, gain: Sequence[fmpq], feasible: Feasible, alpha: Point, free: list[int]
) -> tuple[Direction, bool]:
    """The step to a best point on the free samples; or a direction in which the value grows without end."""
    groups = [group for group in feasible.groups if set(group.members) & set(free)]
    rows, rhs = _equations(matrix, gain, alpha, free, groups)
    size = len(rows)
    reduced, _ = fmpq_mat([[*row, value] for row, value in zip(rows, rhs, strict=True)]).rref()
    table = reduced.tolist()
    pivots = [next(k for k, entry in enumerate(row) if entry != 0) for row in table if any(e != 0 for e in row)]
    loose = [k for k in range(size) if k not in pivots]
    if size in pivots:  # no solution: some direction without curvature climbs for ever
        for k in loose:
            vector = [ZERO] * size
            vector[k] = fmpq(1)
            for row, pivot in zip(table, pivots, strict=False):
                if pivot < size:
                    vector[pivot] = -row[k]
            slope = sum((v * c for v, c in zip(vector, rhs, strict=True)), ZERO)
            if slope != 0:
                sign = 1 if slope > 0 else -1
                return {i: sign * d for i, d in zip(free, vector, strict=False)}, True
    held = [alpha[i] for i in free] + [ZERO] * len(groups)
    direction = dict.fromkeys(free, ZERO)
    for row, pivot in zip(table, pivots, strict=False):
        if pivot < len(free):
            direction[free[pivot]] = row[size] - sum((row[k] * held[k] for k in loose), ZERO) - held[pivot]
    return direction, False


def _equations(
    matrix: fmpq_mat, gain: Sequence[fmpq], alpha: Point, free: list[int], groups: list[Group]
) -> tuple[list[Point], Point]:
    """Q α + s λ = g on the free samples, and the groups' totals; the others stay at their ends."""
    fixed = [i for i in range(len(alpha)) if i not in free and alpha[i] != 0]
    signs = [dict(zip(group.members, group.signs, strict=True)) for group in groups]
    rows = [[*(matrix[i, j] for j in free), *(fmpq(sign.get(i, 0)) for sign in signs)] for i in free]
    rhs = [gain[i] - sum((matrix[i, j] * alpha[j] for j in fixed), ZERO) for i in free]
    for group, sign in zip(groups, signs, strict=True):
        rows.append([*(fmpq(sign.get(j, 0)) for j in free), *(ZERO for _ in groups)])
        rhs.append(group.total - sum((sign[j] * alpha[j] for j in fixed if j in sign), ZERO))
    return rows, rhs
