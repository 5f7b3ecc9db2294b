"""A primal–dual interior point with named blocks, and what every family does with one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Self

import numpy as np

from .step_length import Array, max_step


class Iterate(ABC):
    """A frozen dataclass of blocks. A direction is an iterate too: the change of every block."""

    @property
    @abstractmethod
    def pairs(self) -> Sequence[tuple[Array, Array]]:
        """Every variable with a bound, and the multiplier of the bound. All are positive; at the optimum their
        products vanish."""

    @property
    def complementarity(self) -> float:
        """The sum of the products: the duality gap, once the equations hold."""
        return float(sum(np.vdot(value, multiplier) for value, multiplier in self.pairs))

    @property
    def mu(self) -> float:
        """The mean product: τ, the barrier parameter."""
        return self.complementarity / sum(value.size for value, _ in self.pairs)

    def moved(self, length: float, direction: Self) -> Self:
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        blocks: dict[str, Any] = {name: getattr(self, name) + length * getattr(direction, name) for name in names}
        return type(self)(**blocks)

    def max_step(self, direction: Self) -> float:
        """At most 1, and as far as all pairs stay positive."""
        return max_step(_flat(self), _flat(direction))


def _flat(at: Iterate) -> Array:
    return np.concatenate([block.ravel() for pair in at.pairs for block in pair])
