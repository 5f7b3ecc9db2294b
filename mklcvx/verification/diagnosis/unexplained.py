"""What is known of an answer that nothing explains."""

from __future__ import annotations

from ..answers import Answer
from ..case import Case, Part
from .conditions import Conditions
from .inexact import Said
from .kinds import UNKNOWN


def described(case: Case, answer: Answer, parts: list[Part], tolerance: float, found: Conditions | None) -> Said:
    wrong, right = ([part for part in parts if (part.off > tolerance) == side] for side in (True, False))
    rest = f"; {are(right)} right" if right else ""
    return "unknown", f"none of the usual mistakes: {are(wrong)} wrong{rest}", UNKNOWN, ""


def are(parts: list[Part]) -> str:
    return f"{', '.join(part.name for part in parts)} {'is' if len(parts) == 1 else 'are'}"
