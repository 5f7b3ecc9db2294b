"""Answers to the right problem that are inexact: rounded, or stopped early.

That an answer was stopped early is said on evidence alone, after every other explanation has failed: no constraint is
violated by more than the gap, the objective belongs to the rest, and all conditions fail by a little; or the weights
lie on the way from even ones to the optimum, and α is nearly that of their machine. A gap is about the root of what the
value is off by.
"""

from __future__ import annotations

import numpy as np

from ..answers import Answer
from ..case import FITS, AnswerPart, Case
from ..precision import few_decimals, single_precision
from .families.conditions import Conditions
from .kinds import kind_of
from .mistakes import given_weights

EARLY = 0.03  # what an answer may be off by, of the problem's scale, to count as stopped early
ALONE = 1e-4  # the same of one part, which nothing else supports
INNER = 3e-3  # the same beside a bias that fits it, or where α is converged at weights that are not on their way
WIDEST = 0.08  # gap of an answer that is nearly optimal
ROOTS = 3.0  # a bias that is off by δ costs δ, one that comes with a value off by δ² is off by this times δ at most
MIDWAY = 0.3  # gap of weights on their way from the start to the optimum
STRAIGHT = 0.7  # cosine of the way gone and the whole way
ENOUGH = 3  # weights, for their way to tell
Said = tuple[str, str, str, str]  # name, words, kind and evidence


def rounded(case: Case, answer: Answer, parts: list[AnswerPart]) -> Said | None:
    """The diagnosis of an answer whose numbers have few digits."""
    off = max(part.off for part in parts)
    known = case.known
    most = 0.2 * max(abs(known.lower), abs(known.upper), known.scale) / known.scale
    honest, written = single_precision(case, answer), few_decimals(case, answer)
    if honest is not None and off <= min(honest, most):
        words = f"optimal up to single precision, which can honestly claim a tolerance of {honest:.0e} here"
        return "single_precision", words, kind_of("single_precision"), "every number is one of single precision"
    if written is not None and off <= written[1]:
        words = f"optimal up to rounding: the numbers are written with {written[0]} decimals; write all of them"
        evidence = f"the optimum, rounded so, is off by as much: {off:.1e}"
        return "few_decimals", words, kind_of("few_decimals"), evidence
    return None


def stopped_early(
    case: Case, answer: Answer, parts: list[AnswerPart], conditions: Conditions | None, converged: bool
) -> Said | None:
    """The evidence: gaps and violations are small; or the weights lie between the start and the optimum, and α is that
    of their machine. A bias is off by the root of what the value is. α that is `converged`, some machine's own, is
    evidence only beside weights on their way."""
    arrays = {part.name: part.off for part in parts if part.name not in ("objective", "bias", "certificate")}
    claims = {part.name: part.off for part in parts if part.name in ("objective", "bias")}
    off = max(arrays.values(), default=0.0)
    if not off > case.tolerance or claims.get("bias", 0.0) > ROOTS * off**0.5:
        return None
    residuals = {} if conditions is None else conditions.residuals
    gaps = [by for name, by in residuals.items() if name in ("margins", "tightness", "gap")]
    beside = residuals.get("objective", claims.get("objective", 0.0)) <= ROOTS * max([off, *gaps])
    supported = len(arrays) > 1 or ("objective" in claims and beside)
    violated = max((violation.by for part in parts for violation in part.violations), default=0.0)
    alone = INNER if "bias" in claims else ALONE  # the bias is off by the root of it, as it should be
    little = off <= (EARLY if supported else alone) and max([0.0, *gaps]) <= min(max(EARLY, ROOTS * off**0.5), WIDEST)
    little = little and violated <= off and claims.get("objective", 0.0) <= EARLY
    little = little and (not converged or (supported and off <= INNER))
    if not beside or not (little or (violated <= FITS and _on_the_way(case, answer, residuals))):
        return None
    names = ", ".join(part.name for part in parts if part.off > case.tolerance)
    words = f"stopped early: {names} {max(off, *claims.values(), 0.0):.1e} from the optimum; let it run longer"
    evidence = ", ".join(f"{name} {by:.0e}" for name, by in residuals.items() if by > 0) or f"off by {off:.0e}"
    kept = "no constraint is violated" if violated <= FITS else f"constraints are violated by {violated:.0e} at most"
    return "stopped_early", words, kind_of("stopped_early"), f"{kept}; what is left: {evidence}"


def _on_the_way(case: Case, answer: Answer, residuals: dict[str, float]) -> bool:
    """Whether the weights lie between even ones and the certified ones, and α is nearly their machine's own."""
    weights, ours = given_weights(case, answer), np.nan_to_num(case.reference.weights)
    if weights is None or answer.alpha is None or len(weights) < ENOUGH or weights.sum() <= 0 or ours.sum() <= 0:
        return False
    if residuals.get("margins", 1.0) > EARLY or residuals.get("tightness", 1.0) > MIDWAY:
        return False
    start, here, end = 1 / len(weights), weights / weights.sum(), ours / ours.sum()
    gone, whole = here - start, end - start
    sizes = float(np.linalg.norm(gone) * np.linalg.norm(whole))
    return sizes > 0 and float(gone @ whole) >= STRAIGHT * sizes and bool(np.linalg.norm(gone) < np.linalg.norm(whole))
