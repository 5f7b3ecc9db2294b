"""The certificate: a lower and an upper bound on the optimal value, with what rounding and δ have cost.

Algorithms are steered by estimates: the two objectives at feasible points in plain double precision, without an account
of rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Real
from operator import attrgetter
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..formulations import Formulation, Points
from ..formulations._formulation import LowerT, Posed, UpperT
from ..problem.checks import check_type, misfit
from .rounding import Array

VANISHING = 2.0**-40  # share of the gain below which the scale counts as zero
NOTHING = 2.0**-900  # more than all guards against underflow add up to
NEGLIGIBLE = 2.0**-20  # share of another point's gap below which a scale vanishes beside it
SHARP = 2.0**-10  # share of a gap by which the bounds may be further apart
NOISE = 2.0**-50  # share of the largest term: the rounding error of a difference of two bounds
Sliced = bool | NDArray[np.bool_]  # whether products are in slices: of all kernels, or those of which
OPTIONAL = ("width", "gain")  # of a certificate


@dataclass(frozen=True)
class Certificate:
    """Bounds on the optimal value: lower ≤ optimal value ≤ upper.

    Both bounds can be recomputed from the solution without a solver.

    Parameters
    ----------
    lower : float
        Lower bound.
    upper : float
        Upper bound.
    scale : float
        What the gap is compared with: U(‖f‖) + U*(√q) at the point for single tasks, constants cancelled.
    width : float, optional
        Gap where it was computed without cancellation. It may be less than upper − lower as rounded.
    rounding : float, default=0.0
        Part of the gap that was paid for rounding.
    ridge : float, default=0.0
        The δ that makes the kernels semidefinite; the largest one, where every kernel has its own.
    ridge_share : float, default=0.0
        Part of the gap that was paid for δ.
    stretch : float, default=1.0
        The t ≥ 1 by which the bound stretches f.
    ridges : tuple of float, optional
        The δ of each kernel.
    gain : float, optional
        Gain of α; for counts, with the sum of prices times counts.

    Examples
    --------
    >>> import mklcvx
    >>> certificate = mklcvx.Certificate(lower=1.0, upper=1.5, scale=2.0)
    >>> certificate.gap, certificate.relative_gap
    (0.5, 0.25)
    >>> certificate.proves(0.1)
    False
    """

    lower: float
    upper: float
    scale: float
    width: float | None = None
    rounding: float = 0.0
    ridge: float = 0.0
    ridge_share: float = 0.0
    stretch: float = 1.0
    ridges: tuple[float, ...] | None = None
    gain: float | None = None

    def __post_init__(self) -> None:
        """Replace NaN, which overflow may leave, by values that prove nothing."""
        for name, value in vars(self).items():
            if not (isinstance(value, Real) or (value is None and name in OPTIONAL) or name == "ridges"):
                raise misfit(name, value, "a number")
        worst = {"lower": -math.inf, "upper": math.inf, "width": math.inf}
        for name in ("lower", "upper", "scale", "width", "rounding", "ridge_share"):
            if math.isnan(getattr(self, name) or 0.0):
                object.__setattr__(self, name, worst.get(name, 0.0))

    def __repr__(self) -> str:
        return f"Certificate(lower={self.lower!r}, upper={self.upper!r}, relative_gap={self.relative_gap:.1e})"

    @property
    def gap(self) -> float:
        """Upper bound less lower bound, without cancellation where `width` is known."""
        return self.upper - self.lower if self.width is None else self.width

    @property
    def size(self) -> float:
        """Size that the scale is compared with to tell whether it vanishes.

        It is the gain where that is known, which no constant enters; else the value.
        """
        return max(abs(self.lower), abs(self.upper)) if self.gain is None else self.gain

    @property
    def vanishing(self) -> bool:
        """Whether the scale is negligible beside the size.

        Then f = 0 is optimal, or nearly so.
        """
        return self.scale <= VANISHING * self.size

    @property
    def base(self) -> float:
        """What the gap is divided by: the scale, or the size where the scale vanishes."""
        return self.size if self.vanishing else self.scale

    @property
    def relative_gap(self) -> float:
        """Gap divided by scale; where the scale vanishes, by size."""
        if self.gap <= NOTHING:
            return 0.0
        return self.gap / self.base if self.base > 0 else math.inf

    def proves(self, tolerance: float) -> bool:
        """Tell whether the relative gap is at most a tolerance.

        Where the scale vanishes, it must be at most 2⁻⁴⁰ too.

        Parameters
        ----------
        tolerance : float
            Relative gap.

        Returns
        -------
        bool
            Whether it is proved.
        """
        check_type(Real, "a number", tolerance=tolerance)
        limit = min(tolerance, VANISHING) if self.vanishing else tolerance
        bounds_meet = math.isfinite(self.upper - self.lower) and self.lower <= self.upper
        return bounds_meet and 0 <= self.relative_gap <= limit

    def as_dict(self) -> dict[str, object]:
        """Convert the certificate to numbers for a record.

        Returns
        -------
        dict
            Fields by name. What is not finite, where nothing is proved, is None.
        """
        names = ("lower", "upper", "gap", "relative_gap", "scale", "rounding", "ridge", "ridge_share", "stretch")
        values = {name: getattr(self, name) for name in names}
        fields: dict[str, object] = {name: value if math.isfinite(value) else None for name, value in values.items()}
        if self.gain is not None:
            fields["gain"] = self.gain
        if self.ridges is not None:
            fields["ridges"] = list(self.ridges)
        return fields


@dataclass(frozen=True)
class ProvedPoint:
    """A certificate with the very point that it was evaluated at, whose parts subclasses add. `slopes`, (2, M), are the
    v of R*(v) at the dual point from below and above, where the formulation has weights with a regulariser."""

    certificate: Certificate
    slopes: Array | None = field(default=None, kw_only=True)


Proved = TypeVar("Proved", bound=ProvedPoint)


def refined_unless_settled(evaluate: Callable[[bool], Proved], tolerance: float) -> Proved:
    """evaluate(False), in plain passes; where that is not settled, evaluate(True), in slices."""
    point = evaluate(False)
    return point if settled(point.certificate, tolerance) else evaluate(True)


def refined_step_by_step(evaluate: Callable[[Sliced], Proved], first: Sliced, tolerance: float) -> Proved:
    """The same; where these are not all kernels, those of `first` are in slices before the others are."""
    point = refined_unless_settled(lambda fine: evaluate(first if fine else False), tolerance)
    return point if first is True or settled(point.certificate, tolerance) else evaluate(True)


def settled(certificate: Certificate, tolerance: float) -> bool:
    """Whether slices cannot help: the tolerance is proved, and the value told as sharply; or it is not, rounding is a
    small part of the gap, and the value told as sharply as that."""
    apart = certificate.upper - certificate.lower
    if certificate.proves(tolerance):
        return apart <= tolerance * certificate.base
    return certificate.rounding <= 1e-2 * certificate.gap and apart <= (1 + SHARP) * certificate.gap


def limit_of(certificate: Certificate, tolerance: float) -> str:
    """What keeps the tolerance from being proved: "rounding", "entries" (kernels are not semidefinite) or nothing."""
    if certificate.proves(tolerance):
        return ""
    share = max(certificate.ridge_share, certificate.rounding)
    if share < certificate.gap / 3:
        return ""
    return "entries" if certificate.ridge_share >= certificate.rounding else "rounding"


# ------------------------------------------------------------------------------------------------------- estimates
@dataclass(frozen=True)
class CertifiedPoint(Generic[LowerT, UpperT]):
    """The bounds of a dual point and of a primal point; `scale` is what their gap is compared with."""

    lower: LowerT
    upper: UpperT
    scale: float

    @property
    def certificate(self) -> Certificate:
        """An estimate from the bounds as they are. Where rounding makes them cross, the distance counts as a gap."""
        lower, upper = self.lower.value, self.upper.value
        noise = NOISE * max(abs(lower), abs(upper), self.lower.largest_term, self.upper.largest_term)
        low, high = min(lower, upper), max(lower, upper)
        return Certificate(low, high, self.scale, width=high - low, rounding=noise)


def certify(
    formulation: Formulation, task: Posed, points: Points, so_far: CertifiedPoint | None = None
) -> CertifiedPoint:
    """The best lower bound that any of the dual points gives, with the best upper bound of any primal point; or, if
    that is better, `so_far`, or one bound of each where one solution can carry both."""
    lowers = [formulation.lower(task, dual) for dual in points.duals]
    uppers = [formulation.upper(task, primal) for primal in points.primals]
    if so_far is not None:  # which has the other bound where there are points of one kind only
        lowers, uppers = lowers or [so_far.lower], uppers or [so_far.upper]
    best = joined(formulation, max(lowers, key=attrgetter("value")), min(uppers, key=attrgetter("value")))
    return best if so_far is None else better(formulation, so_far, best)


def better(formulation: Formulation, point: CertifiedPoint, other: CertifiedPoint) -> CertifiedPoint:
    """The better of two points, or the lower bound of one with the upper bound of the other."""
    pairs = [point, other]
    if formulation.carries_both:
        pairs += [joined(formulation, point.lower, other.upper), joined(formulation, other.lower, point.upper)]
    return best_of(pairs)


class Judged(Protocol):
    """Whatever has a certificate."""

    @property
    def certificate(self) -> Certificate: ...


JudgedT = TypeVar("JudgedT", bound=Judged)


def best_of(points: Sequence[JudgedT]) -> JudgedT:
    """The point of the least relative gap. A scale that is nothing beside the widest gap counts as 2^-20 of that: where
    f = 0 is optimal, scale and gap vanish together."""
    gaps = [point.certificate.gap for point in points]
    least = NEGLIGIBLE * max(filter(math.isfinite, gaps), default=0.0)
    return min(points, key=lambda point: rank(point.certificate, least))


def rank(certificate: Certificate, least: float = 0.0) -> float:
    """The gap's share of the scale; where f vanishes, of what its share must be at most."""
    if certificate.gap <= NOTHING:
        return 0.0
    base = max(certificate.scale, VANISHING * certificate.size, least)
    return certificate.gap / base if base > 0 else math.inf


def joined(formulation: Formulation, lower: LowerT, upper: UpperT) -> CertifiedPoint[LowerT, UpperT]:
    return CertifiedPoint(lower, upper, formulation.scale(lower, upper))
