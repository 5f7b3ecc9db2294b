"""The losses: one per file, each with its risk, its gain and the feasible set of α. Tasks name them, or carry them."""

from __future__ import annotations

from ._loss import LABELS, NONE, REAL, Loss, Risk
from ._quadratic import PiecewiseQuadratic, Quadratic
from .epsilon_insensitive import ABSOLUTE, EPSILON_INSENSITIVE, EpsilonInsensitive
from .hinge import HINGE
from .huber import HUBER, Huber
from .logistic import LOGISTIC
from .nu import NU
from .one_class import ONE_CLASS
from .quantile import QUANTILE, Quantile
from .smoothed_hinge import SMOOTHED_HINGE, SmoothedHinge
from .squared import SQUARED
from .squared_epsilon_insensitive import SQUARED_EPSILON_INSENSITIVE, SquaredEpsilonInsensitive
from .squared_hinge import SQUARED_HINGE

EVERY: tuple[Loss, ...] = (
    HINGE, NU, SQUARED_HINGE, SMOOTHED_HINGE, LOGISTIC, SQUARED, EPSILON_INSENSITIVE, ABSOLUTE,
    SQUARED_EPSILON_INSENSITIVE, HUBER, QUANTILE, ONE_CLASS,
)  # fmt: skip
LOSSES: dict[str, Loss] = {name: loss for loss in EVERY for name in (*loss.other_names, loss.name)}
OWN = tuple(dict.fromkeys(parameter.name for loss in EVERY for parameter in loss.own))

__all__ = [
    "ABSOLUTE", "EPSILON_INSENSITIVE", "EVERY", "HINGE", "HUBER", "LABELS", "LOGISTIC", "LOSSES", "NONE", "NU",
    "ONE_CLASS", "OWN", "QUANTILE", "REAL", "SMOOTHED_HINGE", "SQUARED", "SQUARED_EPSILON_INSENSITIVE", "SQUARED_HINGE",
    "EpsilonInsensitive", "Huber", "Loss", "PiecewiseQuadratic", "Quadratic", "Quantile", "Risk", "SmoothedHinge",
    "SquaredEpsilonInsensitive",
]  # fmt: skip
