"""The losses: one per file, each with its risk, its gain and the feasible set of α. Tasks name them."""

from __future__ import annotations

from ._loss import Loss, Risk
from .hinge import HINGE
from .nu import NU
from .squared_hinge import SQUARED_HINGE

LOSSES: dict[str, Loss] = {"c": HINGE, "nu": NU, "squared_hinge": SQUARED_HINGE}

__all__ = ["HINGE", "LOSSES", "NU", "SQUARED_HINGE", "Loss", "Risk"]
