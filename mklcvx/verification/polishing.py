"""An active-set method in rational numbers: the optimal α of a machine at given weights, to the last digit.

    max over α of   gain(α) − ½ β'Kβ,   β = s∘α,      low ≤ α ≤ high,  s'α = 0 with a bias,  1'α = 1 where ρ is free

The gain is aα − ε|α| − ½κα² for every sample: κ joins the diagonal of K, and where ε > 0 every α stays on its side of
0, a bound that it may leave on either. So does every α where ‖α‖₁ ≤ N: on their sides it is one more bound, whose
multiplier is the tube. From a solver's α, the samples near their bounds put there, steps go to the
stationary point on the free samples, or along a direction that costs nothing, up to the first bound that is met; where
no step is left, the sample whose multiplier has the wrong sign most is freed. A singular K does no harm. The
multipliers of the equalities are the bias, −ρ and the tube.

Samples are those of the checker, which evaluates the point that comes out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..checker.losses import FREE_MARGIN, LEVELS, TARGETS, most_of, samples_of
from ..checker.numbers import combination, fractions, numerators, stack_of

Numbers = NDArray[Any]  # of whole numbers or fractions
LARGEST, MOST_FREE, STEPS = 150, 40, 60  # samples, free samples and steps that take seconds
NEAR = Fraction(1, 10**7)  # of the box
ZERO, ONE = Fraction(0), Fraction(1)
RATIONAL = set(TARGETS) - {"logistic", "poisson"}  # losses with optima in rational numbers


def sharpened(data: Mapping[str, Any], record: Mapping[str, Any]) -> dict[str, Any] | None:
    """The record with the optimal α, bias and level of every machine at its weights; None where they are not found."""
    loss = record["parameters"].get("loss", "nu" if "nu" in record["parameters"] else "hinge")
    signs, alphas = np.atleast_2d(record["y"]), None if record["alpha"] is None else np.atleast_2d(record["alpha"])
    if alphas is None or alphas.shape[1] > LARGEST or alphas.shape != signs.shape or loss not in RATIONAL:
        return None
    weight, bias = data.get("sample_weight", 1.0), record["parameters"].get("bias", True)
    given = {key: Fraction(x) for key, x in record["parameters"].items() if isinstance(x, float)}
    real = np.atleast_2d(np.transpose(data.get("response", np.zeros(alphas.shape[::-1]))))
    weights = np.nan_to_num(np.array(record["weights"], dtype=float))  # some are undefined
    kernel, common = combination(zip(stack_of(data["kernels"]), weights, strict=True))
    most, free_margin = most_of(loss, given, weight, alphas.shape[1]), loss in FREE_MARGIN
    points = []
    for y, response, alpha in zip(signs, real, alphas, strict=True):
        losses = samples_of(loss, given, response, y, weight, bias)
        problem = QuadraticProgram(kernel, Fraction(1, common), y, losses, bias, free_margin, most)
        best = optimum(problem, fractions(alpha))
        if best is None:
            return None
        points.append(best)
    return _moved({**record, "weights": weights}, points, LEVELS.get(loss))


def _moved(record: Mapping[str, Any], points: list[SharpPoint], level: str | None) -> dict[str, Any]:
    alphas, biases = np.stack([best.alpha for best in points]), np.array([best.bias for best in points], dtype=object)
    if np.ndim(record["alpha"]) == 1:
        alphas, biases = alphas[0], biases[0]
    multipliers = {key: x for key, x in record["multipliers"].items() if key != "second_stage_stretch"}
    if level:
        multipliers[level] = points[0].level
    plain = {"bias_low": 0.0, "alpha_low": None, "coefficients": None, "certificate": {"stretch": 1.0}}
    return {**record, **plain, "alpha": alphas, "bias": biases, "multipliers": multipliers}


class QuadraticProgram(NamedTuple):
    """Of one SVM: K as whole numbers times a unit, signs, losses, and which of the sums are equalities."""

    kernel: Numbers
    unit: Fraction
    signs: Numbers
    losses: Sequence[Any]
    bias: bool
    free_margin: bool
    most: Fraction | None  # N

    @property
    def equalities(self) -> list[list[int]]:
        ones = [1] * len(self.losses)
        return [self.signs.tolist()] * self.bias + [ones] * self.free_margin

    @property
    def sums(self) -> list[list[int]]:
        """The same without a sample in two of them: where ρ is free, those of either class."""
        if not (self.bias and self.free_margin):
            return self.equalities
        return [(self.signs == side).astype(int).tolist() for side in (1, -1)]


class SharpPoint(NamedTuple):
    alpha: Numbers
    bias: Fraction
    level: Fraction  # ρ or ε


def optimum(problem: QuadraticProgram, alpha: Numbers) -> SharpPoint | None:
    """From a feasible α; None where the problem is large, or the optimum is not reached."""
    if len(alpha) > LARGEST:
        return None
    walk = _Walk(problem, alpha.tolist())
    walk.snap()
    for _ in range(STEPS):
        if len(walk.free) > MOST_FREE:
            return None
        if not walk.step():
            return walk.optimum()
    return None


def _smooth(loss: Any, most: Fraction | None) -> bool:
    """Whether 0 is no place of its own: neither a bound nor a kink, of the gain or of ‖α‖₁."""
    return bool(loss.epsilon == 0 and loss.low != 0 and most is None)


class _Walk:
    def __init__(self, problem: QuadraticProgram, alpha: list[Fraction]) -> None:
        self.problem, self.losses, self.alpha, self.most = problem, problem.losses, alpha, problem.most
        self.kappa = np.array([loss.kappa for loss in self.losses], dtype=object)
        self._settle()

    def _settle(self) -> None:
        """Everything that follows from α."""
        rise, alpha = (np.array(x, dtype=object) for x in ([loss.a for loss in self.losses], self.alpha))
        self.gradient = rise - self._image(alpha)
        self.side = [1 if value > 0 else -1 for value in self.alpha]  # of 0, where the sample is free
        self.free = [i for i, value in enumerate(self.alpha) if value not in self._bounds(i)]
        self.full = self._spare() == 0  # whether ‖α‖₁ = N holds
        self.multipliers = [ZERO] * len(self.rows)

    def snap(self) -> None:
        """Put α near 0 or a bound there; in every sum a sample in the middle of its box makes up for it, if it can."""
        most, old = max((abs(value) for value in self.alpha), default=ZERO), self.alpha
        new = [self._snapped(loss, value, most) for loss, value in zip(self.losses, old, strict=True)]
        for row in self.problem.sums:
            missing = sum((s * (a - b) for s, a, b in zip(row, old, new, strict=True)), ZERO)
            freest = max(range(len(new)), key=lambda i: self._room(i, new[i]) * abs(row[i]))
            new[freest] += row[freest] * missing
        inside = all(self._room(i, value) >= 0 for i, value in enumerate(new))
        if inside and (self.most is None or sum(map(abs, new), ZERO) <= self.most):
            self.alpha = new
            self._settle()

    def _snapped(self, loss: Any, value: Fraction, most: Fraction) -> Fraction:
        ends = [end for end in (loss.low, loss.high) if end is not None]
        near = NEAR * max((abs(end) for end in ends if end != 0), default=most)
        bounds = ends if _smooth(loss, self.most) else [*ends, ZERO]
        return next((bound for bound in bounds if abs(value - bound) < near), value)

    def _room(self, i: int, value: Fraction) -> Fraction:
        """How far from its bounds on its side α_i is."""
        low, high = self._bounds(i)
        distances = [*([] if low is None else [value - low]), *([] if high is None else [high - value])]
        return min(distances, default=abs(value))

    def _image(self, vector: Numbers) -> Numbers:
        """Of the Hessian."""
        signs, (numbers, common) = self.problem.signs, numerators(vector * self.problem.signs)
        return signs * (self.problem.kernel @ numbers) * (self.problem.unit / common) + self.kappa * vector

    def _spare(self) -> Fraction | None:
        """N − ‖α‖₁."""
        return None if self.most is None else self.most - sum(map(abs, self.alpha), ZERO)

    @property
    def rows(self) -> list[list[int]]:
        """Of the equalities; ‖α‖₁ = N is one, too, where it holds."""
        return [*self.problem.equalities, self.side] if self.full else self.problem.equalities

    def _bounds(self, i: int) -> tuple[Fraction | None, Fraction | None]:
        """Of α_i on its side."""
        loss = self.losses[i]
        if _smooth(loss, self.most):
            return loss.low, loss.high
        return (ZERO, loss.high) if self.side[i] > 0 else (loss.low, ZERO)

    def step(self) -> bool:
        """Move α, or free a sample; False at the optimum."""
        direction, self.multipliers, length = self._direction()
        if any(direction):
            self._move(direction, length)
            return True
        if self.full and self.multipliers[-1] < 0:  # no tube is negative
            self.full = False
            return True
        bound = [i for i in range(len(self.alpha)) if i not in self.free]
        violations = {(i, way): self._violation(i, way) for i in bound for way in (1, -1)}
        worst = max(violations, key=lambda place: violations[place], default=None)
        if worst is None or violations[worst] <= 0:
            return False
        i, way = worst
        self.free.append(i)
        self.side[i] = way if self.alpha[i] == 0 else 1 if self.alpha[i] > 0 else -1
        return True

    def _direction(self) -> tuple[list[Fraction], list[Fraction], Fraction | None]:
        """The step on the free samples, the equalities' multipliers, and how far it goes at most."""
        free, count, rows = self.free, len(self.free), np.array(self.rows, dtype=object)
        if not free:
            return [], [ZERO] * len(rows), None
        right = fractions([self.gradient[i] - self.side[i] * self.losses[i].epsilon for i in free] + [ZERO] * len(rows))
        table = np.full((len(right), len(right)), ZERO, dtype=object)
        signs = self.problem.signs[free]
        table[:count, :count] = self.problem.kernel[np.ix_(free, free)] * np.outer(signs, signs) * self.problem.unit
        table[range(count), range(count)] += self.kappa[free]
        if len(rows):
            table[:count, count:], table[count:, :count] = rows[:, free].T, rows[:, free]
        vector, steady = solved(table, right)
        if steady:
            return vector[:count], vector[count:], ONE
        return vector[:count], [ZERO] * len(rows), None

    def _move(self, direction: list[Fraction], length: Fraction | None) -> None:
        moves = {i: move for i, move in zip(self.free, direction, strict=True) if move != 0}
        ends = {i: self._bounds(i)[move > 0] for i, move in moves.items()}
        room = {i: (end - self.alpha[i]) / moves[i] for i, end in ends.items() if end is not None}
        spare, growth = self._spare(), sum((self.side[i] * move for i, move in moves.items()), ZERO)
        until_full = spare / growth if spare is not None and growth > 0 and not self.full else None
        taken = min(way for way in (*room.values(), until_full, length) if way is not None)
        for i, move in moves.items():
            self.alpha[i] += taken * move
        if taken != 0:
            change = [taken * moves.get(i, ZERO) for i in range(len(self.alpha))]
            self.gradient = self.gradient - self._image(np.array(change, dtype=object))
        self.free = [i for i in self.free if room.get(i) != taken]
        self.full = self.full or taken == until_full

    def _violation(self, i: int, way: int) -> Fraction:
        """By how much the objective grows when a sample at its bound leaves it this way; 0 where it cannot."""
        value, loss = self.alpha[i], self.losses[i]
        if value == (loss.high if way > 0 else loss.low):
            return ZERO
        count = len(self.problem.equalities)
        known, tube = self.multipliers[:count], self.multipliers[-1] if self.full else ZERO
        pull = self.gradient[i] - sum((m * row[i] for m, row in zip(known, self.problem.equalities, strict=True)), ZERO)
        price = loss.epsilon + tube
        return way * pull + (price if value * way < 0 else -price)  # towards 0, ε|α| falls

    def optimum(self) -> SharpPoint:
        bias = self.multipliers[0] if self.problem.bias else ZERO
        margin = -self.multipliers[-1] if self.problem.free_margin else ZERO
        return SharpPoint(np.array(self.alpha, dtype=object), bias, self.multipliers[-1] if self.full else margin)


def solved(table: Numbers, right: Numbers) -> tuple[list[Fraction], bool]:
    """A solution x of Ax = r, A symmetric; or where there is none, an x with Ax = 0 and r'x > 0, and False."""
    (matrix, unit), (column, over) = numerators(table), numerators(right)
    rows, pivots, last = reduced(np.column_stack([matrix, column]))
    width = len(right)
    if not pivots or pivots[-1] != width:
        x = [ZERO] * width
        for line, pivot in zip(rows, pivots, strict=False):
            x[pivot] = Fraction(line[-1] * unit, last * over)
        return x, True
    for other in (j for j in range(width) if j not in pivots):
        null = [ZERO] * width
        null[other] = ONE
        for line, pivot in zip(rows, pivots[:-1], strict=False):
            null[pivot] = Fraction(-line[other], last)
        growth = sum((r * x for r, x in zip(right, null, strict=True) if x), ZERO)
        if growth != 0:
            return [value if growth > 0 else -value for value in null], False
    raise ArithmeticError  # no such system


def reduced(rows: Numbers) -> tuple[Numbers, list[int], int]:
    """Gauss–Jordan elimination in whole numbers: rows whose pivots are all one number, their columns, that number."""
    pivots: list[int] = []
    last = 1
    for j in range(rows.shape[1]):
        k = len(pivots)
        left = np.flatnonzero(rows[k:, j] != 0)
        if not len(left):
            continue
        rows[[k, k + left[0]]] = rows[[k + left[0], k]]
        others, pivot = np.arange(len(rows)) != k, rows[k, j]
        rows[others] = (rows[others] * pivot - np.outer(rows[others, j], rows[k])) // last
        last = pivot
        pivots.append(j)
    return rows, pivots, last
