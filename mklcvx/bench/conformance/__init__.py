"""Conformance: anybody's solver over the zoo, judged at three levels of accuracy."""

from __future__ import annotations

from .summary import Conformance, conform
from .trials import LEVELS, Trial

__all__ = ["LEVELS", "Conformance", "Trial", "conform"]
