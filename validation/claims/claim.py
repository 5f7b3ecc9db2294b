"""A printed statement, the measurement that judges it, and the mutant that the same measurement must reject."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STATEMENTS = Path(__file__).parent / "statements"
HOLDS, FAILS, REPAIRED = "holds", "fails", "holds after repair"
# Of a statement for all problems that has no proof here: instances can contradict it and never establish it.
PASSED, PASSED_REPAIRED = "not contradicted", "not contradicted after repair"
VERDICTS = (HOLDS, PASSED, REPAIRED, PASSED_REPAIRED, FAILS)


@dataclass(frozen=True)
class Measured:
    """How far a statement is from what was found (`error`, compared with the claim's tolerance), and the numbers."""

    error: float
    numbers: Mapping[str, float]


@dataclass(frozen=True)
class Claim:
    """A statement with checkable content.

    `measure(version)` puts one version of the statement to the test: the `printed` one, the `repaired` one where the
    printed one fails, and a deliberately `mutated` one. What a version is (a factor, a sign, a function) is the
    claim's own affair; that one measurement judges all of them is the point.

    A bound for all problems, or that an algorithm arrives on all of them, is either given a `proof`, of the version
    that passes, or marked `unproved`. An equation is neither: where nothing is special it holds by no accident.
    """

    paper: str  # as it is cited, "Ji et al. 2008"
    where: str  # "Lemma 3.1", "Eq. (5)"
    measure: Callable[[Any], Measured]
    tolerance: float
    statement: str  # in our words
    quantity: str  # what `error` is
    printed: Any
    mutated: Any
    mutation: str  # what was changed
    repaired: Any = None
    repair: str = ""
    control: Any = None  # where nothing repairs it: a version that the measurement accepts, to show that it can
    remark: str = ""
    proof: str = ""
    unproved: bool = False

    def verdict(self, plain: str) -> str:
        """Of what passed: the word for it, given the one for a statement that a measurement can settle."""
        return {HOLDS: PASSED, REPAIRED: PASSED_REPAIRED}[plain] if self.unproved else plain


def claims_of(author: str) -> Callable[..., Claim]:
    """What makes the claims of a paper: words and tolerances are in `statements/`, under `where` they are printed."""
    words = tomllib.loads((STATEMENTS / f"{author}.toml").read_text(encoding="utf-8"))

    def claim(where: str, measure: Callable[[Any], Measured], **versions: Any) -> Claim:
        return Claim(words["paper"], where, measure, **words[where], **versions)

    return claim


@dataclass(frozen=True)
class Judgement:
    claim: Claim
    verdict: str
    printed: Measured
    mutated: Measured
    repaired: Measured | None
    control: Measured | None = None
    seconds: float = field(default=0.0, compare=False)

    @property
    def sound(self) -> bool:
        """Whether the measurement can tell: it rejects the mutant, and accepts the statement, a repair or a control."""
        accepts = self.verdict != FAILS or (self.control is not None and _accepts(self.claim, self.control))
        return not _accepts(self.claim, self.mutated) and accepts


def judge(claim: Claim) -> Judgement:
    printed, mutated = claim.measure(claim.printed), claim.measure(claim.mutated)
    if _accepts(claim, printed):
        return Judgement(claim, claim.verdict(HOLDS), printed, mutated, None)
    if claim.repaired is None:
        control = None if claim.control is None else claim.measure(claim.control)
        return Judgement(claim, FAILS, printed, mutated, None, control)
    repaired = claim.measure(claim.repaired)
    verdict = claim.verdict(REPAIRED) if _accepts(claim, repaired) else FAILS
    return Judgement(claim, verdict, printed, mutated, repaired)


def _accepts(claim: Claim, measured: Measured) -> bool:
    return math.isfinite(measured.error) and measured.error <= claim.tolerance
