"""The predictor–corrector loop of every family. How long a step is, and what it aims at, is in `step_length`.

`solvers.driver` owns stopping, certificates and the trace; it asks an `InteriorMethod` for one step after another. A
family implements `Iterate`, an interior point with named blocks, and `KKTSystem`, its Newton equations at one such
point, factored once for predictor and corrector.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Generic, Self, TypeVar

import numpy as np

from ...certificate.run import Ending
from ..driver import Algorithm, Problem, State
from .settings import SETTINGS
from .step_length import Array, boundary_fraction, centring, max_step


class Iterate(ABC):
    """An interior point: a frozen dataclass of blocks. A direction is an iterate, too: the change of every block."""

    @property
    @abstractmethod
    def pairs(self) -> Sequence[tuple[Array, Array]]:
        """Every variable with a bound, with the multiplier of the bound. All are positive; at the optimum their
        products vanish."""

    @cached_property
    def complementarity(self) -> float:
        """The sum of the products: the duality gap, once the equations hold."""
        return float(sum([np.vdot(value, multiplier) for value, multiplier in self.pairs]))

    @cached_property
    def mu(self) -> float:
        """The mean product: τ, the barrier parameter."""
        return self.complementarity / max(sum([value.size for value, _ in self.pairs]), 1)

    @cached_property
    def bounded(self) -> Array:
        """All blocks of the pairs, one after the other."""
        return np.concatenate([block.ravel() for pair in self.pairs for block in pair])

    def moved(self, length: float, direction: Self) -> Self:
        return type(self)(*[now + length * change for now, change in self._with(direction)])

    def halfway(self, other: Self) -> Self:
        """The point in the middle, which is interior as well."""
        return type(self)(*[(here + there) / 2 for here, there in self._with(other)])

    def _with(self, other: Self) -> list[tuple[Array, Array]]:
        """Every block, the fields in their order, with that of another one."""
        names = self.__dataclass_fields__  # type: ignore[attr-defined]
        return [(getattr(self, name), getattr(other, name)) for name in names]

    def max_step(self, direction: Self) -> float:
        """The largest step length, at most 1, that keeps all pairs nonnegative."""
        return max_step(self.bounded, direction.bounded)


S = TypeVar("S", bound=State)
P = TypeVar("P", bound=Iterate)


class KKTSystem(ABC, Generic[P]):
    """Newton's equations at one interior point `at`. A family's constructor computes the residuals and factors the
    matrix; `direction` solves for one target after another. A direction is an iterate, unless a family has its own
    kind and replaces the methods that use it."""

    at: P
    relative_complementarity: float = 1.0  # if it is small, steps go nearer to the boundary
    centring_exponent: int = SETTINGS.centring_exponent
    min_centring: float = 0.0
    residuals_lag: bool = False  # whether residuals are too large beside the complementarity to aim at less of it

    @abstractmethod
    def direction(self, target_mu: float, predicted: Any = None) -> Any:
        """The direction towards products of `target_mu`, minus the second-order terms of the predictor."""

    def goals(self, target_mu: float, predicted: P | None) -> list[Array]:
        """The wanted first-order change of the product of every pair."""
        goals = [target_mu - value * multiplier for value, multiplier in self.at.pairs]
        if predicted is None:
            return goals
        return [goal - change * other for goal, (change, other) in zip(goals, predicted.pairs, strict=True)]

    def predictor(self) -> Any:
        """The affine direction: towards products of zero."""
        return self.direction(0.0)

    def max_step(self, direction: Any) -> Any:
        """The largest step length, at most 1, that stays in the interior: one number, or an array of several."""
        return self.at.max_step(direction)

    def step_limit(self, direction: Any) -> Any:
        """The same for the corrector; shorter if Newton's model does not hold that far."""
        return self.max_step(direction)

    def mu_after(self, length: Any, direction: Any) -> float:
        return self.advance(length, direction).mu

    def aim(self, reached: float) -> float:
        """The share of τ that the corrector aims at, if the predictor alone would reach τ = `reached`."""
        if self.residuals_lag:
            return 1.0
        return centring(reached / self.at.mu, self.centring_exponent, self.min_centring)

    def advance(self, length: Any, direction: Any) -> P:
        """The point after a step."""
        return self.at.moved(length, direction)


def predictor_corrector(system: KKTSystem[P]) -> tuple[P, Any]:
    """The point after Mehrotra's step, and the length that the boundary would have allowed."""
    affine = system.predictor()
    reached = system.mu_after(system.max_step(affine), affine)
    direction = system.direction(system.at.mu * system.aim(reached), affine)
    length = system.step_limit(direction)
    return system.advance(boundary_fraction(system.relative_complementarity) * length, direction), length


class InteriorMethod(Algorithm[S], ABC, Generic[S, P]):
    """The iteration of every family. A family may replace what comes before a step, and how its result is accepted."""

    name = "interior"
    summary = "our structured interior-point method: all unknowns together, to ten digits"
    reference = ""
    tolerance = 1e-9

    @abstractmethod
    def system(self, problem: Problem, state: S) -> KKTSystem[P]:
        """Newton's equations at the state."""

    @abstractmethod
    def accept(self, problem: Problem, state: S, after: P, length: Any) -> S:
        """The state at the point after a step."""

    def before_step(self, problem: Problem, state: S) -> S | None:
        """Another state instead of a step: an ending, or a change of variables. None if a step is due."""
        return None

    def advance(self, state: S, system: Any) -> tuple[P, Any]:
        """The point after a step and the length of the step."""
        return predictor_corrector(system)

    def failed(self, state: S, fault: FloatingPointError | None) -> S:
        """The state where a matrix could not be factored, or (without `fault`) the point after a step is not finite."""
        return replace(state, stop_reason=Ending.ROUNDING)

    def newton_step(self, problem: Problem, state: S) -> S:
        """The state after one step of the loop."""
        try:
            after, length = self.advance(state, self.system(problem, state))
        except FloatingPointError as fault:
            return self.failed(state, fault)
        return self.accept(problem, state, after, length) if np.isfinite(after.mu) else self.failed(state, None)

    def step(self, problem: Problem, state: S) -> S:
        with np.errstate(all="ignore"):  # overflow is detected at the point after the step
            other = self.before_step(problem, state)
            return self.newton_step(problem, state) if other is None else other
