"""The zoo: generators of instances with chosen difficulties, and specimens that are the same on every machine."""

from __future__ import annotations

from .banks import REAL, real
from .generators import ZOO, badly_scaled, by_hand, duplicated, imbalanced, make, random, rank_one, tiny
from .grid import checksum, quantised
from .plans import Optimum, Planted, planted
from .regression import planted_response
from .specimens import SPECIMENS, Specimen, specimen

__all__ = [
    "REAL", "SPECIMENS", "ZOO", "Optimum", "Planted", "Specimen", "badly_scaled", "by_hand", "checksum", "duplicated",
    "imbalanced", "make", "planted", "planted_response", "quantised", "random", "rank_one", "real", "specimen", "tiny",
]  # fmt: skip
