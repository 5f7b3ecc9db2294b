"""The judge's bench: what each part of an answer is worth, family by family, and what may have gone wrong."""

from __future__ import annotations

from .case import Case, pose
from .diagnosis.diagnose import Diagnosis, diagnose
from .families import judged_parts
from .parts import Part, Violation

__all__ = ["Case", "Diagnosis", "Part", "Violation", "diagnose", "judged_parts", "pose"]
