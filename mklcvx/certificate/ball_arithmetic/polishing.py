"""An active-set method in rational numbers: the optimal α of a machine at given weights, to the last digit.

    max over α of   gain(α) − ½ β'Kβ,   β = s∘α,      low ≤ α ≤ high,  s'α = 0 with a bias,  1'α = 1 where ρ is free

The gain is aα − ε|α| − ½κα² for every sample: κ joins the diagonal of K, and where ε > 0 every α stays on its side of
0, a bound that it may leave on either. So does every α where ‖α‖₁ ≤ N: on their sides it is one more bound, whose
multiplier is the tube. From a solver's α, the samples near their bounds put there, steps go to the
stationary point on the free samples, or along a direction that costs nothing, up to the first bound that is met; where
no step is left, the sample whose multiplier has the wrong sign most is freed. A singular K does no harm. What comes out
is one more point for the bounds.
"""

from __future__ import annotations

from typing import Any

from flint import fmpq, fmpq_mat

from .balls import ZERO
from .kernels import KernelBalls
from .samples import Samples

LARGEST, MOST_FREE, STEPS = 150, 40, 200  # samples, free samples and steps that take seconds at most
NEAR = fmpq(1, 10**7)  # of the box


def polished(
    kernels: KernelBalls, mu: list[fmpq], machines: list[Samples], alphas: list[list[fmpq]]
) -> list[list[fmpq]]:
    """The optimal α of machines with the same weights, or the best one that was found; what was given where the
    problem is large, or its optima are not rational."""
    if kernels.samples > LARGEST or not all(one.rational for samples in machines for one in samples.losses):
        return alphas
    matrix = kernels.rational(mu)
    return [_walked(samples, matrix, alpha) for samples, alpha in zip(machines, alphas, strict=True)]


def _walked(samples: Samples, kernel: fmpq_mat, alpha: list[fmpq]) -> list[fmpq]:
    walk = _Walk(samples, kernel, samples.feasible(_snapped(samples, alpha)))
    for _ in range(STEPS):
        if len(walk.free) > MOST_FREE or not walk.step():
            break
    return walk.alpha


def _snapped(samples: Samples, alpha: list[fmpq]) -> list[fmpq]:
    """α near 0 or a bound is put there; where there is no bound, the largest α says what is near."""
    most, snapped = max((abs(value) for value in alpha), default=ZERO), []
    for value, one in zip(alpha, samples.losses, strict=True):
        ends = [end for end in (one.low, one.high) if end is not None]
        near = NEAR * max((abs(end) for end in ends if end != 0), default=most)
        bounds = ends if _smooth(one, samples.most) else [*ends, ZERO]
        snapped.append(next((bound for bound in bounds if abs(value - bound) < near), value))
    return snapped


def _smooth(one: Any, most: fmpq | None) -> bool:
    """Whether 0 is no place of its own: neither a bound nor a kink, of the gain or of ‖α‖₁."""
    return bool(one.epsilon == 0 and one.low != 0 and most is None)


class _Walk:
    def __init__(self, samples: Samples, kernel: fmpq_mat, alpha: list[fmpq]) -> None:
        self.losses, self.alpha, self.equalities, self.most = samples.losses, alpha, samples.equalities, samples.most
        s, table = samples.signs, kernel.tolist()
        self.hessian = [[s[i] * s[j] * entry for j, entry in enumerate(row)] for i, row in enumerate(table)]
        for i, one in enumerate(self.losses):
            self.hessian[i][i] += one.kappa
        self.matrix = fmpq_mat(self.hessian)
        images = self._image(alpha)
        self.gradient = [one.a - image for one, image in zip(self.losses, images, strict=True)]  # without that of ε|α|
        self.side = [1 if value > 0 else -1 for value in alpha]  # of 0, where the sample is free
        self.free = [i for i in range(len(alpha)) if alpha[i] not in self._bounds(i)]
        self.full = self._spare() == 0  # whether ‖α‖₁ = N holds

    def _image(self, vector: list[fmpq]) -> list[fmpq]:
        return list((self.matrix * fmpq_mat(len(vector), 1, vector)).entries())

    def _spare(self) -> fmpq | None:
        """N − ‖α‖₁."""
        return None if self.most is None else self.most - sum((abs(value) for value in self.alpha), ZERO)

    @property
    def rows(self) -> list[list[int]]:
        """Of the equalities; ‖α‖₁ = N is one, too, where it holds."""
        return [*self.equalities, self.side] if self.full else self.equalities

    def _bounds(self, i: int) -> tuple[fmpq | None, fmpq | None]:
        """Of α_i on its side."""
        one = self.losses[i]
        if _smooth(one, self.most):
            return one.low, one.high
        return (ZERO, one.high) if self.side[i] > 0 else (one.low, ZERO)

    def step(self) -> bool:
        """Move α, or free a sample; False at the optimum."""
        direction, multipliers, length = self._direction()
        if any(direction):
            self._move(direction, length)
            return True
        if self.full and multipliers[-1] < 0:  # no tube is negative
            self.full = False
            return True
        bound = [i for i in range(len(self.alpha)) if i not in self.free]
        violations = {(i, side): self._violation(i, side, multipliers) for i in bound for side in (1, -1)}
        worst = max(violations, key=lambda place: violations[place], default=None)
        if worst is None or violations[worst] <= 0:
            return False
        i, way = worst
        self.free.append(i)
        self.side[i] = way if self.alpha[i] == 0 else 1 if self.alpha[i] > 0 else -1
        return True

    def _direction(self) -> tuple[list[fmpq], list[fmpq], fmpq | None]:
        """The step on the free samples, the equalities' multipliers, and how far it goes at most."""
        free, count = self.free, len(self.free)
        if not free:
            return [], [ZERO] * len(self.rows), None
        table = [
            *([self.hessian[i][j] for j in free] + [fmpq(row[i]) for row in self.rows] for i in free),
            *([fmpq(row[j]) for j in free] + [ZERO] * len(self.rows) for row in self.rows),
        ]  # fmt: skip
        right = [self.gradient[i] - self.side[i] * self.losses[i].epsilon for i in free] + [ZERO] * len(self.rows)
        width = len(right)
        try:
            found = fmpq_mat(table).solve(fmpq_mat(width, 1, right), algorithm="dixon").entries()
            return found[:count], found[count:], fmpq(1)
        except ZeroDivisionError:  # a singular system takes longer
            pass
        reduced, rank = fmpq_mat([[*row, value] for row, value in zip(table, right, strict=True)]).rref()
        lines = reduced.tolist()[: int(rank)]
        pivots = [next(j for j, entry in enumerate(line) if entry != 0) for line in lines]
        if pivots and pivots[-1] == width:
            return self._costless(lines[:-1], pivots[:-1], right, count), [], None
        found = [ZERO] * width
        for line, pivot in zip(lines, pivots, strict=True):
            found[pivot] = line[-1]
        return found[:count], found[count:], fmpq(1)

    def _costless(self, lines: list[list[fmpq]], pivots: list[int], right: list[fmpq], count: int) -> list[fmpq]:
        """A direction without curvature along which the objective grows."""
        width = len(right)
        for other in (j for j in range(width) if j not in pivots):
            null = [ZERO] * width
            null[other] = fmpq(1)
            for line, pivot in zip(lines, pivots, strict=True):
                null[pivot] = -line[other]
            growth = _dot(right, null)
            if growth != 0:
                return [value if growth > 0 else -value for value in null[:count]]
        return [ZERO] * count

    def _move(self, direction: list[fmpq], length: fmpq | None) -> None:
        moves = {i: move for i, move in zip(self.free, direction, strict=True) if move != 0}
        ends = {i: self._bounds(i)[move > 0] for i, move in moves.items()}
        room = {i: (end - self.alpha[i]) / moves[i] for i, end in ends.items() if end is not None}
        spare, growth = self._spare(), sum((self.side[i] * move for i, move in moves.items()), ZERO)
        until_full = spare / growth if spare is not None and growth > 0 and not self.full else None
        taken = min(way for way in (*room.values(), until_full, length) if way is not None)
        for i, move in moves.items():
            self.alpha[i] += taken * move
        if taken != 0:
            image = self._image([taken * moves.get(i, ZERO) for i in range(len(self.alpha))])
            self.gradient = [value - change for value, change in zip(self.gradient, image, strict=True)]
        self.free = [i for i in self.free if room.get(i) != taken]
        self.full = self.full or taken == until_full

    def _violation(self, i: int, way: int, multipliers: list[fmpq]) -> fmpq:
        """By how much the objective grows when a sample at its bound leaves it this way; 0 where it cannot."""
        value, one = self.alpha[i], self.losses[i]
        if value == (one.high if way > 0 else one.low):
            return ZERO
        known, tube = (multipliers[:-1], multipliers[-1]) if self.full else (multipliers, ZERO)
        pull = self.gradient[i] - sum((m * row[i] for m, row in zip(known, self.equalities, strict=True)), ZERO)
        inward = value * way < 0  # towards 0, where ε|α| falls
        price = one.epsilon + tube
        return way * pull + (price if inward else -price)


def _dot(left: list[fmpq], right: list[fmpq]) -> fmpq:
    return sum((a * b for a, b in zip(left, right, strict=True) if b != 0), ZERO)
