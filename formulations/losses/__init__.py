"""The losses: one per file, each with its risk, its gain and the feasible set of α. Tasks name them, or carry them."""

from __future__ import annotations

from ._joint import JointLoss, JointRisk, Separable
from ._loss import CLASSES, COUNTS, LABELS, NONE, REAL, AnyLoss, Loss, Risk
from ._quadratic import PiecewiseQuadratic, QuadraticShape
from .crammer_singer import CRAMMER_SINGER
from .epsilon_insensitive import ABSOLUTE, EPSILON_INSENSITIVE, EpsilonInsensitive
from .hinge import HINGE
from .huber import HUBER, Huber
from .logistic import LOGISTIC
from .nu import NU
from .nu_svr import NU_SVR, NuSVR
from .one_class import ONE_CLASS
from .poisson import POISSON
from .quantile import QUANTILE, Quantile
from .smoothed_hinge import SMOOTHED_HINGE, SmoothedHinge
from .softmax import SOFTMAX
from .squared import SQUARED
from .squared_epsilon_insensitive import SQUARED_EPSILON_INSENSITIVE, SquaredEpsilonInsensitive
from .squared_hinge import SQUARED_HINGE

EVERY: tuple[Loss, ...] = (
    HINGE, NU, SQUARED_HINGE, SMOOTHED_HINGE, LOGISTIC, SQUARED, EPSILON_INSENSITIVE, ABSOLUTE,
    SQUARED_EPSILON_INSENSITIVE, HUBER, QUANTILE, NU_SVR, POISSON, ONE_CLASS,
)  # fmt: skip
LOSSES: dict[str, Loss] = {name: loss for loss in EVERY for name in (*loss.other_names, loss.name)}
JOINT: dict[str, JointLoss] = {loss.name: loss for loss in (CRAMMER_SINGER, SOFTMAX)}  # of several outputs
ALL: tuple[AnyLoss, ...] = (*EVERY, *JOINT.values())
KNOWN: dict[str, AnyLoss] = {**LOSSES, **JOINT}
OWN = tuple(dict.fromkeys(parameter.name for loss in EVERY for parameter in loss.own))

__all__ = [
    "ABSOLUTE", "ALL", "CLASSES", "COUNTS", "CRAMMER_SINGER", "EPSILON_INSENSITIVE", "EVERY", "HINGE", "HUBER", "JOINT",
    "KNOWN", "LABELS", "LOGISTIC",
    "LOSSES", "NONE", "NU", "NU_SVR", "ONE_CLASS", "OWN", "POISSON", "QUANTILE", "REAL", "SMOOTHED_HINGE",
    "SOFTMAX", "SQUARED", "SQUARED_EPSILON_INSENSITIVE", "SQUARED_HINGE", "AnyLoss", "EpsilonInsensitive", "Huber",
    "JointLoss", "JointRisk", "Loss", "NuSVR", "PiecewiseQuadratic", "QuadraticShape", "Quantile", "Risk", "Separable",
    "SmoothedHinge", "SquaredEpsilonInsensitive",
]  # fmt: skip
