"""The zoo: generators of instances with chosen difficulties, and specimens that are the same on every machine."""

from __future__ import annotations

from .generators import ZOO, badly_scaled, by_hand, duplicated, imbalanced, make, random, rank_one, tiny
from .planted import Planted, planted
from .real import REAL, real

__all__ = [
    "REAL",
    "ZOO",
    "Planted",
    "badly_scaled",
    "by_hand",
    "duplicated",
    "imbalanced",
    "make",
    "planted",
    "random",
    "rank_one",
    "real",
    "tiny",
]
