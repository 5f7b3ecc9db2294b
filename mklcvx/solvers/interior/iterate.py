"""An interior point: values and their prices, all positive."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Interior:
    """`values` are α, box − α, x and cap − x, one after the other, `prices` their multipliers: all positive."""

    values: Array
    prices: Array
    nu: Array
    kappa: Array

    @property
    def total(self) -> float:
        """The complementarity: what is left of the duality gap once the equations hold."""
        return float(self.values @ self.prices)

    @property
    def level(self) -> float:
        """The mean product of a value and its price: τ."""
        return self.total / len(self.values)

    def moved(self, length: float, step: Interior) -> Interior:
        return Interior(
            self.values + length * step.values, self.prices + length * step.prices,
            self.nu + length * step.nu, self.kappa + length * step.kappa,
        )  # fmt: skip

    def longest(self, step: Interior) -> float:
        """At most 1, and as far as all values and prices stay positive."""
        shrink = max(float(np.max(-step.values / self.values)), float(np.max(-step.prices / self.prices)))
        return 1.0 if shrink <= 1.0 else 1.0 / shrink
