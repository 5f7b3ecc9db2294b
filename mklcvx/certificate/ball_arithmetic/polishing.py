"""An active-set method in rational numbers: the optimal α of a machine at given weights, to the last digit.

    max over α of   gain(α) − ½ (α∘y)'K(α∘y),      0 ≤ α ≤ box,  y'α = 0 with a bias,  1'α = 1 for loss nu

From a solver's α, the samples near their bounds put there, steps go to the stationary point on the free samples, or
along a direction that costs nothing, up to the first bound that is met; where no step is left, the sample whose
multiplier has the wrong sign most is freed. A singular K does no harm. What comes out is one more point for the bounds.
"""

from __future__ import annotations

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
    problem is large."""
    if kernels.samples > LARGEST:
        return alphas
    matrix = kernels.rational(mu)
    return [_walked(samples, matrix, alpha) for samples, alpha in zip(machines, alphas, strict=True)]


def _walked(samples: Samples, kernel: fmpq_mat, alpha: list[fmpq]) -> list[fmpq]:
    pairs = zip(alpha, samples.box, strict=True)
    snapped = [ZERO if a < NEAR * cap else cap if a > cap - NEAR * cap else a for a, cap in pairs]
    walk = _Walk(samples, kernel, samples.feasible(snapped))
    for _ in range(STEPS):
        if len(walk.free) > MOST_FREE or not walk.step():
            break
    return walk.alpha


class _Walk:
    def __init__(self, samples: Samples, kernel: fmpq_mat, alpha: list[fmpq]) -> None:
        self.samples, self.alpha, self.rows = samples, alpha, samples.equalities
        y, table = samples.y, kernel.tolist()
        self.hessian = [[y[i] * y[j] * entry for j, entry in enumerate(row)] for i, row in enumerate(table)]
        slope = ZERO if samples.free_margin else fmpq(1)
        self.gradient = [slope - _dot(row, alpha) for row in self.hessian]
        self.free = [i for i, value in enumerate(alpha) if 0 < value < samples.box[i]]

    def step(self) -> bool:
        """Move α, or free a sample; False at the optimum."""
        direction, multipliers, length = self._direction()
        if any(direction):
            self._move(direction, length)
            return True
        violations = {i: self._violation(i, multipliers) for i in range(len(self.alpha)) if i not in self.free}
        worst = max(violations, key=lambda i: violations[i], default=None)
        if worst is None or violations[worst] <= 0:
            return False
        self.free.append(worst)
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
        right = [self.gradient[i] for i in free] + [ZERO] * len(self.rows)
        width = len(right)
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
        room = {i: ((self.samples.box[i] if move > 0 else ZERO) - self.alpha[i]) / move for i, move in moves.items()}
        shortest = min(room.values())
        taken = shortest if length is None else min(length, shortest)
        for i, move in moves.items():
            self.alpha[i] += taken * move
        if taken != 0:
            rows = zip(self.gradient, self.hessian, strict=True)
            self.gradient = [value - taken * sum((row[i] * moves[i] for i in moves), ZERO) for value, row in rows]
        if taken == shortest:
            self.free = [i for i in self.free if room.get(i) != shortest]

    def _violation(self, i: int, multipliers: list[fmpq]) -> fmpq:
        """By how much the objective grows when a sample at its bound leaves it."""
        pull = self.gradient[i] - sum((m * row[i] for m, row in zip(multipliers, self.rows, strict=True)), ZERO)
        return pull if self.alpha[i] == 0 else -pull


def _dot(left: list[fmpq], right: list[fmpq]) -> fmpq:
    return sum((a * b for a, b in zip(left, right, strict=True) if b != 0), ZERO)
