"""Conformance: a third party's solver runs over the zoo and is judged at three levels of accuracy."""

from __future__ import annotations

from .summary import Conformance, conform
from .trials import LEVELS, SpecimenResult

__all__ = ["LEVELS", "Conformance", "SpecimenResult", "conform"]
