"""Outer ranges of weights against answers that were looked for: the largest and the least weight within the gap.

    python validation/weight_ranges.py [-o validation/weight_ranges.md] [--count 5000] [--zoo]

Every instance is random: 8 to 20 samples, 2 to 5 kernels of all sizes, ranks and degrees of likeness, a formulation, a
loss, a price, and an ε between 1e-7 and 1e-1 of the scale. A conic program, written from the formulations' primals,
maximises and minimises every weight over all answers that cost at most the certified lower bound plus ε. Its functions
and weights are evaluated in NumPy; an answer that costs too much by rounding is moved towards the certified optimum
until it does not. Such an answer outside of its interval is a violation; in a quarter of the instances the
intervals are those of `narrow_weights`, which are no wider. A run that is broken off goes on where it was.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import cvxpy as cp
import numpy as np

import mklcvx
from shared.journals import add_line, records
from shared.running import put

SIZES = ((8, 2), (10, 4), (12, 3), (20, 5))
SHARES = (1.0, 1 - 1e-9, 1 - 1e-7, 1 - 1e-5, 1 - 1e-3, 0.99, 0.9, 0.5, 0.0)  # of the way to the answer that was found
NARROWED = 4  # one round of formulations and sizes in so many is narrowed by cutting planes, too
THETA, LAM, CAP = 0.5, 0.7, 0.6


def nothing(_):
    return 0.0


def anywhere(_):
    return []


def on_simplex(mu):
    return [cp.sum(mu) == 1]


def normalised(mu):
    return mu / mu.sum()


def as_it_is(mu):
    return mu


@dataclass(frozen=True, eq=False)
class Kind:
    """A formulation with its own parameters: the constraints of R in CVXPY, and the way into its domain; R(μ) in CVXPY
    and in NumPy."""

    name: str
    own: dict[str, float]
    limits: Callable[[cp.Expression], list[cp.Constraint]] = on_simplex
    into: Callable[[np.ndarray], np.ndarray] = normalised
    price: Callable[[cp.Expression], cp.Expression | float] = nothing
    value: Callable[[np.ndarray], float] = nothing


def powered(name: str, power: float, **own: float) -> Kind:
    c = (2 * (power - 1) / (THETA * power)) ** (power - 1) / power
    price = (lambda mu: c * cp.sum(cp.power(mu, power, approx=False))), (lambda mu: c * np.sum(mu**power))
    return Kind(name, {"theta": THETA, **own}, on_simplex, normalised, *price)


def ball(name: str, power: float, **own: float) -> Kind:
    def inside(mu):
        return [cp.pnorm(mu, power, approx=False) <= 1]

    return Kind(name, own, inside, lambda mu: mu / max(np.sum(mu**power) ** (1 / power), 1.0))


def within(constraint: Callable[[np.ndarray], float], mu: np.ndarray) -> np.ndarray:
    """Shortened until the constraint is at most 1; all of ours grow along rays."""
    low, high = 0.0, 1.0
    if constraint(mu) <= 1:
        return mu
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if constraint(middle * mu) <= 1 else (low, middle)
    return low * mu


def net(r: float) -> Kind:
    def size(mu):
        return r * mu.sum() + (1 - r) * mu @ mu

    def inside(mu):
        return [r * cp.sum(mu) + (1 - r) * cp.sum_squares(mu) <= 1]

    return Kind("elastic", {"l1_ratio": r}, inside, partial(within, size))


def block(r: float) -> Kind:
    def size(mu):
        return np.sum(r * mu / (1 - (1 - r) * mu)) if mu.max() * (1 - r) < 1 else math.inf

    def inside(mu):
        return [r / (1 - r) * cp.sum(cp.inv_pos(1 - (1 - r) * mu) - 1) <= 1]

    return Kind("block_elastic", {"l1_ratio": r}, inside, partial(within, size))


def capped(mu: np.ndarray) -> np.ndarray:
    """On the simplex below CAP: what is above it goes to the others."""
    mu = mu / mu.sum()
    for _ in range(len(mu)):
        over = np.maximum(mu - CAP, 0.0)
        mu = np.minimum(mu, CAP)
        room = np.where(mu < CAP, mu + 1e-300, 0.0)
        mu = mu + over.sum() * room / room.sum() if room.sum() > 0 else mu
    return mu


KINDS = (
    Kind("l1", {}),
    Kind("sm1", {"theta": CAP}, lambda mu: [cp.sum(mu) == 1, mu <= CAP], capped),
    powered("sm2", 2.0),
    powered("smp", 1.5, p=1.5),
    powered("smp", 3.0, p=3.0),
    replace(powered("square", 2.0), limits=anywhere, into=as_it_is),
    ball("l2", 2.0),
    ball("lp", 1.5, p=1.5),
    ball("lp", 4.0, p=4.0),
    net(0.4),
    block(0.4),
    Kind("group_lasso", {"lam": LAM}, anywhere, as_it_is, *[lambda mu: LAM**2 / 2 * mu.sum()] * 2),
)


# ------------------------------------------------------------------------------------------------ random instances
@dataclass(frozen=True)
class Drawn:
    kind: Kind
    instance: mklcvx.Instance
    loss: str
    price: float
    bias: bool
    share: float


def drawn(seed: int) -> Drawn:
    rng = np.random.default_rng([20, seed])
    kind, (n, count) = KINDS[seed % len(KINDS)], SIZES[seed // len(KINDS) % len(SIZES)]
    loss = "squared" if rng.random() < 0.25 else "hinge"
    x = rng.normal(size=(n, 4))
    y = np.where(x[:, 0] + 0.7 * rng.normal(size=n) > 0, 1, -1)
    y[:2] = 1, -1
    kernels: list[np.ndarray] = []
    for _ in range(count):
        width, columns = 10 ** rng.uniform(-1.5, 1), x[:, rng.permutation(4)[: rng.integers(1, 5)]]
        distances = np.sum((columns[:, None] - columns[None]) ** 2, axis=2)
        way = rng.random()
        if way < 0.15 and kernels:
            kernel = kernels[-1] + 10 ** rng.uniform(-6, -1) * np.exp(-distances)
        elif way < 0.35:
            kernel = columns @ columns.T
        else:
            kernel = np.exp(-width * distances)
        kernels.append(kernel * 10 ** rng.uniform(-0.7, 0.7))
    target = {"y": y} if loss == "hinge" else {"response": y + 0.1 * x[:, 1]}
    instance = mklcvx.Instance(np.stack(kernels), **target)
    return Drawn(kind, instance, loss, 10 ** rng.uniform(-1, 2), bool(rng.random() < 0.7), 10 ** rng.uniform(-7, -1))


# -------------------------------------------------------------------------------------------- extremes, independently
@dataclass(frozen=True)
class Extremes:
    problem: cp.Problem
    mu: cp.Variable
    w: list[cp.Variable]
    b: cp.Variable
    factors: list[cp.Parameter]
    y: cp.Parameter
    price: cp.Parameter
    level: cp.Parameter
    direction: cp.Parameter


@cache
def extremes(kind: Kind, loss: str, bias: bool, n: int, count: int) -> Extremes:
    """A direction's largest value over the weights of all answers that cost at most a level. For the hinge the rows of
    the factors are multiplied by the labels."""
    mu, w, ratios = cp.Variable(count, nonneg=True), [cp.Variable(n) for _ in range(count)], cp.Variable(count)
    b, slack = cp.Variable(), cp.Variable(n, nonneg=loss == "hinge")
    factors = [cp.Parameter((n, n)) for _ in range(count)]
    y, price, level, direction = cp.Parameter(n), cp.Parameter(nonneg=True), cp.Parameter(), cp.Parameter(count)
    outputs = sum(factor @ one for factor, one in zip(factors, w, strict=True))
    fits = [outputs + y * b >= 1 - slack] if loss == "hinge" else [y - outputs - b == slack]
    risk = cp.sum(slack) if loss == "hinge" else cp.sum_squares(slack) / 2
    total = cp.Variable()
    cones = [risk <= total, *(cp.quad_over_lin(one, mu[m]) <= ratios[m] for m, one in enumerate(w))]
    costs = [cp.sum(ratios) / 2 + kind.price(mu) + price * total <= level]
    held = [] if bias else [b == 0]
    problem = cp.Problem(cp.Maximize(direction @ mu), [*fits, *cones, *costs, *held, *kind.limits(mu)])
    return Extremes(problem, mu, w, b, factors, y, price, level, direction)


def cost(drawn: Drawn, factors: list[np.ndarray], mu: np.ndarray, w: np.ndarray, b: float) -> float:
    """What an answer costs: ½ Σ ‖f_m‖²/μ_m + R(μ) + risk."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where((w != 0).any(axis=1), np.sum(w**2, axis=1) / mu, 0.0)
    z = sum(factor @ one for factor, one in zip(factors, w, strict=True)) + b
    if drawn.loss == "hinge":
        risk = np.maximum(1 - drawn.instance.y * z, 0.0).sum()
    else:
        risk = np.sum((np.ravel(drawn.instance.response) - z) ** 2) / 2
    return float(ratios.sum() / 2 + drawn.kind.value(mu) + drawn.price * risk)


def check(seed: int) -> dict[str, object] | None:
    """A row of the table, or None where nothing was certified to an ε that is worth a look."""
    one = drawn(seed)
    n, count = one.instance.samples, one.instance.count
    given = {"C": one.price, "bias": one.bias, "loss": one.loss}
    solution = mklcvx.solve(one.instance, one.kind.name, tol=min(1e-8, one.share / 10), **given, **one.kind.own)
    certificate = solution.certificate
    excess = max(one.share * certificate.base, 3 * certificate.gap)
    share = excess / certificate.base if certificate.base > 0 else math.inf
    if not math.isfinite(share) or share > 1:
        return None
    found = narrow = solution.weights_interval(share)
    if seed // (len(KINDS) * len(SIZES)) % NARROWED == 0:
        narrow = mklcvx.narrow_weights(one.instance, solution, tolerance=share)
    level = certificate.lower + excess
    factors = [root(kernel) for kernel in one.instance.kernels]
    beta = solution.alpha * solution.y
    start = solution.weights, solution.weights[:, None] * np.stack([factor.T @ beta for factor in factors])
    bias = float(solution.bias)
    program = extremes(one.kind, one.loss, one.bias, n, count)
    for parameter, factor in zip(program.factors, factors, strict=True):
        parameter.value = one.instance.y[:, None] * factor if one.loss == "hinge" else factor
    program.y.value = one.instance.y if one.loss == "hinge" else np.ravel(one.instance.response)
    program.price.value, program.level.value = one.price, level
    widths, narrowed, reached, outside, looked = [], [], [], 0.0, 0
    for m in range(count):
        ends = []
        for sign in (-1, 1):
            program.direction.value = sign * np.eye(count)[m]
            mu, w, b = answer(program, one.kind) or (*start, bias)
            inner = solution.weights[m]
            for way in SHARES:
                mixed = [(1 - way) * a + way * z for a, z in zip((*start, bias), (mu, w, b), strict=True)]
                if cost(one, factors, *mixed) <= level - 4e-16 * abs(level):
                    inner = mixed[0][m]
                    looked += way > 0
                    break
            ends.append(float(inner))
        low, high = narrow[m]
        widths.append(float(found[m, 1] - found[m, 0]))
        narrowed.append(float(high - low))
        reached.append(ends[1] - ends[0])
        outside = max(outside, low - ends[0], ends[1] - high)
    spread = max(solution.weights.max(), 1e-300)
    return {
        "seed": seed, "kind": label(one.kind), "loss": one.loss, "share": share, "outside": outside, "looked": looked,
        "kernels": count, "width": float(np.median(np.array(widths) / spread)),
        "found": float(np.median(np.array(reached) / spread)), "scale": float(spread),
        "narrowed": None if narrow is found else float(np.median(np.array(narrowed) / spread)),
    }  # fmt: skip


def root(kernel: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(kernel)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def answer(program: Extremes, kind: Kind) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Weights made feasible, functions and bias; None where the conic solver finds none."""
    try:
        program.problem.solve(solver=cp.CLARABEL)
    except cp.error.SolverError:
        return None
    if program.mu.value is None or not np.isfinite(program.mu.value).all():
        return None
    mu = kind.into(np.maximum(program.mu.value, 1e-11))
    return mu, np.stack([one.value for one in program.w]), float(program.b.value)


def label(kind: Kind) -> str:
    return " ".join([kind.name, *(f"{name}={value:g}" for name, value in kind.own.items())])


# --------------------------------------------------------------------------------------------------------- the zoo
ZOO = ("l1", "sm1", "sm2", "l2", "elastic", "group_lasso")
FEW = 100, 12  # samples and kernels of specimens that are narrowed


def zoo() -> Iterator[str]:
    """For every formulation: how many weights of the zoo's specimens are proved to be small, positive, or known."""
    yield "| formulation | specimens | kernels | at most 1e-6 | needed | known to 1e-3 |"
    yield "|---|---|---|---|---|---|"
    for name in ZOO:
        plain, narrowed = [], []
        for specimen in mklcvx.zoo.SPECIMENS:
            instance = specimen.instance()
            if instance.targets.kind != "y" or instance.samples > 200:
                continue
            solution = mklcvx.solve(instance, name)
            plain.append((solution, solution.weights_interval()))
            if name in ("l1", "group_lasso") and instance.samples <= FEW[0] and instance.count <= FEW[1]:
                narrowed.append((solution, mklcvx.narrow_weights(instance, solution)))
        yield covered(f"`{name}`", plain)
        if narrowed:
            yield covered(f"`{name}`, the smaller ones", [(one, one.weights_interval()) for one, _ in narrowed])
            yield covered(f"`{name}`, the smaller ones, narrowed", narrowed)


def covered(title: str, found: list[tuple[mklcvx.Solution, np.ndarray]]) -> str:
    ends = np.concatenate([interval for _, interval in found])
    sizes = np.concatenate([np.full(len(one.weights), max(one.weights.max(), 1e-300)) for one, _ in found])
    small, needed = int((ends[:, 1] <= 1e-6).sum()), int((ends[:, 0] > 0).sum())
    known = int((np.ptp(ends, axis=1) <= 1e-3 * sizes).sum())
    return f"| {title} | {len(found)} | {len(ends)} | {small} | {needed} | {known} |"


# --------------------------------------------------------------------------------------------------------- the page
def page(rows: list[dict], seconds: float, zoo_lines: list[str]) -> str:
    violations = sum(row["outside"] > 0 for row in rows)
    looked, ends = sum(row["looked"] for row in rows), sum(2 * row["kernels"] for row in rows)
    lines = [
        "# Outer ranges of weights against answers that were looked for", "",
        f"{len(rows)} random instances, {ends} ends of ranges, {looked} of them with an answer of the conic solver "
        f"that costs at most the certified lower bound plus ε: **{violations} outside of their intervals**. "
        f"{seconds:.0f} s of processor time. Widths are medians, relative to the largest weight, of the certified "
        "interval, of the one that cutting planes narrow, and of what was found.", "",
        "| formulation | instances | violations | "
        + " | ".join(f"ε ≈ 1e{k}: certified / narrowed / found" for k in (-6, -4, -2)) + " |",
        "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for kind in dict.fromkeys(map(label, KINDS)):
        own = [row for row in rows if row["kind"] == kind]
        cells = []
        for power in (-6, -4, -2):
            near = [row for row in own if abs(math.log10(row["share"]) - power) <= 1]
            columns = [[row[name] for row in near if row[name] is not None] for name in ("width", "narrowed", "found")]
            cells.append(" / ".join(f"{np.median(column):.0e}" if column else "–" for column in columns))
        lines.append(f"| `{kind}` | {len(own)} | {sum(r['outside'] > 0 for r in own)} | {' | '.join(cells)} |")
    lines.append("")
    if zoo_lines:
        about = "Weights in every answer as good as the one found, at the default tolerance:"
        lines += ["## The zoo", "", about, "", *zoo_lines, ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--zoo", action="store_true", help="report the coverage on the zoo, too")
    options = parser.parse_args()
    kept = (options.output or Path("weight_ranges.md")).with_suffix(".partial.jsonl")
    rows = list(records(kept))
    seed = 1 + max((row["seed"] for row in rows), default=-1)
    done = sum(row["seconds"] for row in rows)
    while len(rows) < options.count:
        started = time.process_time()
        row = check(seed)
        if row is not None:
            row["seconds"] = time.process_time() - started
            done += row["seconds"]
            rows.append(row)
            add_line(kept, row)
            if row["outside"] > 0:
                print("outside", row, flush=True)
        if seed % 100 == 0:
            print(seed, f"{done:.0f} s", flush=True)
        seed += 1
    put(page(rows, done, list(zoo()) if options.zoo else []), options.output)
    kept.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
