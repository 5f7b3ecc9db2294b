"""What a page concludes: each conclusion of a paper, whether a rule finds it here, and the numbers it was found by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

LEVEL = 0.05  # of significance


class Finding(NamedTuple):
    conclusion: str
    holds: bool | str  # a word of its own where yes and no do not do
    evidence: str

    @property
    def words(self) -> str:
        told = self.holds if isinstance(self.holds, str) else "holds" if self.holds else "does not hold"
        return f"{self.conclusion}: {told} ({self.evidence})"


def sentence(findings: Sequence[Finding]) -> str:
    """One sentence on all of them."""
    kept, partly = (
        sum(test(f.holds) for f in findings) for test in (lambda h: h is True, lambda h: isinstance(h, str))
    )
    told = f"{kept} of {len(findings)} conclusions hold here" + (f", {partly} in part" if partly else "")
    return f"{told}: " + "; ".join(finding.words for finding in findings) + "."


def probability(p: float) -> str:
    if math.isnan(p):
        return "too few for a test"
    return "p < 0.001" if p < 1e-3 else f"p = {p:.3f}" if p < 0.1 else f"p = {p:.2f}"


def spread(mean: float, deviation: float, digits: int = 3) -> str:
    return f"{mean:.{digits}f} ± {deviation:.{digits}f}"
