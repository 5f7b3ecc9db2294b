"""Enclosures of the optimal values of `l1`, `sm1` and `l2`: a method of many digits, and a proof in rational numbers.

All three are  v = min over μ in U of max over α in S of  gain(α) − ½ Σ μ_m q_m(α)  with U the simplex (`l1`), the
simplex capped by θ (`sm1`), the non-negative part of the unit ball (`l2`). A primal-dual interior-point method in
PRECISION bits follows the central path; it is trusted with nothing. Its α is made feasible and its μ put into U, both
exactly, and then

    gain(α) − R*(½ q(α))  ≤  v  ≤  ½ Σ μ_m q_m(α) + Σ_i box_i (r_i − s_i λ)₊ + Σ λ total,      r = g − Σ μ_m Y K_m Y α

in rational numbers (but for one square root in balls), λ being any multipliers of the groups.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import flint
from flint import arb, arb_mat, fmpq

from optima import ZERO, Feasible, slopes_at
from records import Record

PRECISION = 500  # bits
NARROW, WIDEST = fmpq(1, 10**25), fmpq(1, 10**13)
STEPS = 400
Vector = list[arb]


class NotEnclosed(Exception):
    """The interval stayed wider than WIDEST: nothing is said of the value."""


@dataclass(frozen=True)
class Enclosure:
    lower: fmpq
    upper: fmpq

    def width(self, floor: fmpq = ZERO) -> fmpq:
        """Relative to the value, or to `floor` where that is larger."""
        size = max(abs(self.lower), abs(self.upper), floor)
        return (self.upper - self.lower) / size if size else self.upper - self.lower


def enclosed(record: Record) -> Enclosure:
    """An interval around the value, NARROW where the method gets that far."""
    floor, best = smallest_size(record), None
    with flint.ctx.workprec(PRECISION):
        path = Path(record)
        for step in range(STEPS):
            moved = path.advance()
            if step % 5 and moved:
                continue
            now = path.proved()
            best = now if best is None else Enclosure(max(best.lower, now.lower), min(best.upper, now.upper))
            if best.width(floor) <= NARROW:
                return best
            if not moved:
                break
    if best is None or best.width(floor) > WIDEST:
        width = "no interval" if best is None else f"relative width {as_float(best.width(floor)):.1e}"
        raise NotEnclosed(f"{record.formulation}: {width}")
    return best


def smallest_size(record: Record) -> fmpq:
    """Loss nu has value zero where the hulls of the classes meet: then widths are relative to the kernels' entries."""
    if record.loss == "c":
        return ZERO
    return max(kernel[i, i] for kernel in record.kernels for i in range(len(record.y)))


def as_float(value: fmpq) -> float:
    return int(value.p) / int(value.q)


# ------------------------------------------------------------------------------------------------------- the proof
def proved(record: Record, alpha: Sequence[fmpq], weights: Sequence[fmpq], prices: Sequence[fmpq]) -> Enclosure:
    """What feasible α, μ in U and any λ prove."""
    halves = record.half_squares(alpha)
    gain = sum((g * a for g, a in zip(record.gain, alpha, strict=True)), ZERO)
    slopes = slopes_at(record.combined(weights), record.gain, alpha)
    upper = sum((w * v for w, v in zip(weights, halves, strict=True)), ZERO)
    for group, price in zip(record.feasible.groups, prices, strict=True):
        upper += price * group.total
        for i, sign in zip(group.members, group.signs, strict=True):
            slopes[i] -= sign * price
    upper += sum((top * slope for top, slope in zip(record.box, slopes, strict=True) if slope > 0), ZERO)
    return Enclosure(gain - conjugate(record, halves), upper)


def conjugate(record: Record, halves: Sequence[fmpq]) -> fmpq:
    """R*(v): exact, for `l2` from above."""
    if record.formulation == "l1":
        return max(halves)
    if record.formulation == "l2":
        return root_above(sum((v * v for v in halves), ZERO))
    theta = record.own["theta"]
    return min(tau + theta * sum((v - tau for v in halves if v > tau), ZERO) for tau in halves)


def root_above(square: fmpq) -> fmpq:
    """A rational number just above the root."""
    return exact_end(arb(square).sqrt().upper()) if square else ZERO


def exact_end(ball: arb) -> fmpq:
    """A ball without a radius, as the number that it is."""
    mantissa, exponent = ball.man_exp()
    power = int(exponent)
    return fmpq(int(mantissa) << power) if power >= 0 else fmpq(int(mantissa), 1 << -power)


def made_feasible(feasible: Feasible, alpha: Sequence[fmpq]) -> list[fmpq]:
    """Clipped to the box; then samples are moved, the freest first, until every total is met exactly."""
    inside = [min(max(a, ZERO), top) for a, top in zip(alpha, feasible.box, strict=True)]
    for group in feasible.groups:
        signs = dict(zip(group.members, group.signs, strict=True))
        missing = group.total - group.sum(inside)
        for i in sorted(signs, key=lambda i: -min(inside[i], feasible.box[i] - inside[i])):
            wanted = min(max(inside[i] + signs[i] * missing, ZERO), feasible.box[i])
            missing -= signs[i] * (wanted - inside[i])
            inside[i] = wanted
        if missing:
            raise NotEnclosed("no feasible point near the solution")
    return inside


def into_domain(record: Record, weights: Sequence[fmpq]) -> list[fmpq]:
    """Weights moved into U exactly."""
    inside = [max(w, ZERO) for w in weights]
    if record.formulation == "l2":
        size = root_above(sum((w * w for w in inside), ZERO))
        return [w / size for w in inside] if size else inside
    cap = record.own.get("theta", fmpq(1))
    inside = [min(w, cap) for w in inside]
    missing = 1 - sum(inside, ZERO)
    for m in sorted(range(len(inside)), key=lambda m: -min(inside[m], cap - inside[m])):
        wanted = min(max(inside[m] + missing, ZERO), cap)
        missing -= wanted - inside[m]
        inside[m] = wanted
    return inside


# -------------------------------------------------------------------------------------------------- the many digits
class Path:
    """The iterates: α with its multipliers z (of 0) and w (of the box), λ; μ with s (of 0), t (of its cap), and τ.

    In the ball τ is the multiplier of ½‖μ‖² + c = ½, c ≥ 0; with c a variable of its own, the rim blocks no step.
    """

    def __init__(self, record: Record) -> None:
        self.record = record
        self.ball, self.cap = record.formulation == "l2", record.own.get("theta")
        count = len(record.kernels)
        self.matrices = [arb_mat(matrix) for matrix in record.signed]
        self.box, self.gain = [arb(top) for top in record.box], [arb(g) for g in record.gain]
        self.alpha = [arb(top / 2) for top in record.box]
        self.mu = [arb(fmpq(1, count)) if not self.ball else arb(fmpq(1, 2 * count))] * count
        self.prices = [arb(0)] * len(record.feasible.groups)
        images = self.images()
        halves = self.halves(images)
        size = max([abs(a * (g - z)) for a, g, z in zip(self.alpha, self.gain, self.mixed(images), strict=True)])
        centre = max([size, *halves, arb(fmpq(1, 10**30))])
        self.z = [centre / a for a in self.alpha]
        self.w = [centre / (top - a) for top, a in zip(self.box, self.alpha, strict=True)]
        self.s = [centre / m for m in self.mu]
        self.t = [centre / (arb(self.cap) - m) for m in self.mu] if self.cap is not None else []
        self.tau, self.c = max(halves), [self.slack()] if self.ball else []
        if self.ball:
            self.tau = centre / self.c[0]

    # ------------------------------------------------------------------------------------------------ quantities
    def images(self) -> list[Vector]:
        """Y K_m Y α."""
        column = arb_mat(len(self.alpha), 1, self.alpha)
        return [(matrix * column).entries() for matrix in self.matrices]

    def halves(self, images: list[Vector]) -> Vector:
        return [dot(self.alpha, image) / 2 for image in images]

    def mixed(self, images: list[Vector]) -> Vector:
        return [dot(self.mu, column) for column in zip(*images, strict=True)]

    def slack(self) -> arb:
        return (1 - dot(self.mu, self.mu)) / 2

    def pairs(self) -> list[tuple[arb, arb]]:
        """What is to be complementary."""
        found = list(zip(self.z, self.alpha, strict=True))
        found += [(w, top - a) for w, top, a in zip(self.w, self.box, self.alpha, strict=True)]
        found += list(zip(self.s, self.mu, strict=True))
        if self.cap is not None:
            found += [(t, arb(self.cap) - m) for t, m in zip(self.t, self.mu, strict=True)]
        return [*found, (self.tau, self.c[0])] if self.ball else found

    # ---------------------------------------------------------------------------------------------------- a step
    def advance(self) -> bool:
        """One step of Newton's method towards a point further down the path; false where no step can be made."""
        pairs = self.pairs()
        centre = sum((a * b for a, b in pairs), arb(0)) / len(pairs)
        images = self.images()
        try:
            inverse = self.system(images).inv()
        except ZeroDivisionError:
            return False
        longest = self.longest(self.direction(inverse, images, arb(0)))
        sigma = max((1 - longest) ** 3, 0.001)
        change = self.direction(inverse, images, centre * arb(sigma))
        step = 0.99 * self.longest(change) if self.longest(change) < 1 else 1.0
        self.move(change, arb(step))
        return step > 1e-6

    def system(self, images: list[Vector]) -> arb_mat:
        n, count, groups = len(self.alpha), len(self.mu), self.record.feasible.groups
        size = n + len(groups) + count + 1
        rows = [[arb(0)] * size for _ in range(size)]
        mixed = sum((m * matrix for m, matrix in zip(self.mu, self.matrices, strict=True)), arb_mat(n, n)).tolist()
        first = n + len(groups)
        for i in range(n):
            rows[i][:n] = mixed[i]
            rows[i][i] += self.z[i] / self.alpha[i] + self.w[i] / (self.box[i] - self.alpha[i])
            for m in range(count):
                rows[i][first + m], rows[first + m][i] = images[m][i], -images[m][i]
        for k, group in enumerate(groups):
            for i, sign in zip(group.members, group.signs, strict=True):
                rows[i][n + k] = rows[n + k][i] = arb(sign)
        for m in range(count):
            rows[first + m][first + m] = self.s[m] / self.mu[m] + self.bend(m)
            rows[first + m][-1] = self.mu[m] if self.ball else arb(1)
            rows[-1][first + m] = -self.mu[m] if self.ball else arb(1)
        rows[-1][-1] = self.c[0] / self.tau if self.ball else arb(0)
        return arb_mat(rows)

    def bend(self, m: int) -> arb:
        if self.ball:
            return self.tau
        return self.t[m] / (arb(self.cap) - self.mu[m]) if self.cap is not None else arb(0)

    def direction(self, inverse: arb_mat, images: list[Vector], centre: arb) -> dict[str, Vector]:
        n, count, groups = len(self.alpha), len(self.mu), self.record.feasible.groups
        pulled = list(self.prices_on())
        rooms = [top - a for top, a in zip(self.box, self.alpha, strict=True)]
        rhs = [
            g - q - p + centre / a - centre / u
            for g, q, p, a, u in zip(self.gain, self.mixed(images), pulled, self.alpha, rooms, strict=True)
        ]
        rhs += [arb(group.total) - dot_signs(group, self.alpha) for group in groups]
        caps = [arb(self.cap) - m for m in self.mu] if self.cap is not None else []
        for m, half in enumerate(self.halves(images)):
            tension = self.tau * self.mu[m] if self.ball else self.tau
            rhs.append(half - tension + centre / self.mu[m] - (centre / caps[m] if caps else 0))
        rhs.append(centre / self.tau - self.slack() if self.ball else 1 - sum(self.mu, arb(0)))
        moved = (inverse * arb_mat(len(rhs), 1, rhs)).mid().entries()
        alpha, mu = moved[:n], moved[n + len(groups) : n + len(groups) + count]
        return {
            "alpha": alpha,
            "prices": moved[n : n + len(groups)],
            "mu": mu,
            "tau": moved[-1:],
            "z": [centre / a - z - z * d / a for z, a, d in zip(self.z, self.alpha, alpha, strict=True)],
            "w": [centre / u - w + w * d / u for w, u, d in zip(self.w, rooms, alpha, strict=True)],
            "s": [centre / m - s - s * d / m for s, m, d in zip(self.s, self.mu, mu, strict=True)],
            "t": [centre / h - t + t * d / h for t, h, d in zip(self.t, caps, mu, strict=True)] if caps else [],
            "c": [(centre - c * moved[-1]) / self.tau - c for c in self.c],
        }

    def prices_on(self) -> Vector:
        """s_i λ of every sample."""
        pulled = [arb(0)] * len(self.alpha)
        for group, price in zip(self.record.feasible.groups, self.prices, strict=True):
            for i, sign in zip(group.members, group.signs, strict=True):
                pulled[i] = sign * price
        return pulled

    def longest(self, change: dict[str, Vector]) -> float:
        """The longest step, at most one, that keeps every sign."""
        step = arb(1)
        for name in ("alpha", "z", "w", "s", "t", "mu", "c"):
            for value, d in zip(getattr(self, name), change[name], strict=True):
                step = min(step, (-value / d).mid()) if d < 0 else step
        for top, value, d in zip(self.box, self.alpha, change["alpha"], strict=True):
            step = min(step, ((top - value) / d).mid()) if d > 0 else step
        if self.cap is not None:
            for value, d in zip(self.mu, change["mu"], strict=True):
                step = min(step, ((arb(self.cap) - value) / d).mid()) if d > 0 else step
        fall = change["tau"][0]
        return float(min(step, (-self.tau / fall).mid()) if self.ball and fall < 0 else step)

    def move(self, change: dict[str, Vector], step: arb) -> None:
        for name in ("alpha", "prices", "z", "w", "s", "t", "mu", "c"):
            now = getattr(self, name)
            setattr(self, name, [(v + step * d).mid() for v, d in zip(now, change[name], strict=True)])
        self.tau = (self.tau + step * change["tau"][0]).mid()

    def proved(self) -> Enclosure:
        alpha = made_feasible(self.record.feasible, [exact_end(a.mid()) for a in self.alpha])
        weights = into_domain(self.record, [exact_end(m.mid()) for m in self.mu])
        return proved(self.record, alpha, weights, [exact_end(price.mid()) for price in self.prices])


def dot(left: Sequence[arb], right: Sequence[arb]) -> arb:
    return sum((a * b for a, b in zip(left, right, strict=True)), arb(0))


def dot_signs(group: Any, alpha: Sequence[arb]) -> arb:
    return sum((sign * alpha[i] for i, sign in zip(group.members, group.signs, strict=True)), arb(0))
