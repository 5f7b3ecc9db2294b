"""Govindaraj 2009, section 6: the redundancy experiment on synthetic data, and printed accuracies against the text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial

import numpy as np

import mklcvx
from claim import Measured, claims_of
from govindaraj_setting import Array
from mklcvx.problem.instance import Instance

# ------------------------------------------------------------------------- section 6.2.1: redundancy of kernels
# The thesis has l = n = 30 kernels and features and m = 450 samples; a smaller copy, τ = 4 as there.
COUNT, SAMPLES, TAU, SEEDS = 12, 60, 4, 10
DISTANCE = 1.5  # of each class's mean from the origin
PRICES = tuple(10.0**power for power in range(-4, 2))


def samples(mean: Array, count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Two normal clouds around ±mean, covariance the identity."""
    y = np.where(np.arange(count) % 2 == 0, 1.0, -1.0)
    return rng.normal(size=(count, len(mean))) + y[:, None] * mean, y


def kernel_maps(parts: int, rng: np.random.Generator) -> list[tuple[Array, Array]]:
    """The features of every kernel and a random linear map of them: `parts` disjoint sets, copies to fill up."""
    sets = np.array_split(rng.permutation(COUNT), parts)
    chosen = [*range(parts), *rng.integers(parts, size=COUNT - parts)]
    return [(sets[s], rng.normal(size=(TAU * len(sets[s]), len(sets[s])))) for s in chosen]


def kernels(maps: list[tuple[Array, Array]], rows: Array, columns: Array) -> Array:
    return np.stack([(rows[:, used] @ A.T) @ (columns[:, used] @ A.T).T for used, A in maps])


@cache
def accuracies(spread: str, parts: int, seed: int) -> Mapping[str, tuple[Array, Array]]:
    """Accuracy of L1-MKL, Li-MKL and the sum on validation and test samples, for every C."""
    rng = np.random.default_rng([seed, parts])
    direction = np.ones(COUNT) if spread == "all features" else np.eye(COUNT)[0]
    mean = DISTANCE * direction / np.linalg.norm(direction)
    (train, y), (valid, y_valid), (test, y_test) = (samples(mean, count, rng) for count in (SAMPLES, 300, 1000))
    maps = kernel_maps(parts, rng)
    stack = kernels(maps, train, train)
    instance = Instance((stack + stack.transpose(0, 2, 1)) / 2, y)
    to_valid, to_test = kernels(maps, valid, train), kernels(maps, test, train)
    found = {}
    for name in ("l1", "li", "sum"):
        models = [mklcvx.solve(instance, name, solver="clarabel", C=price, tol=1e-5) for price in PRICES]
        scores = [(np.mean(m.predict(to_valid) == y_valid), np.mean(m.predict(to_test) == y_test)) for m in models]
        found[name] = tuple(np.transpose(scores))
    return found


def accuracy(spread: str, parts: int, seed: int, name: str) -> float:
    """On test samples, with the C that is best on the validation samples."""
    valid, test = accuracies(spread, parts, seed)[name]
    return float(test[np.argmax(valid)])


def rise_of_the_ratio(spread: str, rival: str) -> Measured:
    """How far accuracy(Li)/accuracy(rival) without redundancy (p = l) exceeds that with most of it (p = 1)."""
    ratios = {
        parts: np.array(
            [accuracy(spread, parts, seed, "li") / accuracy(spread, parts, seed, rival) for seed in range(SEEDS)]
        )
        for parts in (1, COUNT)
    }
    rise = float(ratios[COUNT].mean() - ratios[1].mean())
    deviation = float(np.sqrt(sum(r.var(ddof=1) for r in ratios.values()) / SEEDS))
    numbers = {
        "ratio at ρ = 1/l": float(ratios[1].mean()),
        "ratio at ρ = 1": float(ratios[COUNT].mean()),
        "standard error of the rise": deviation,
    }
    return Measured(3 * deviation - rise, numbers)


def sensitivity_to_the_price(rival: str) -> Measured:
    """How far the rival's accuracy falls over the range of C, beyond Li-MKL's, without redundancy."""
    falls = {
        name: np.array([np.ptp(accuracies("all features", COUNT, seed)[name][1]) for seed in range(SEEDS)])
        for name in ("li", rival)
    }
    beyond = falls[rival] - falls["li"]
    numbers = {"fall of Li": float(falls["li"].mean()), f"fall of {rival}": float(falls[rival].mean())}
    return Measured(float(3 * beyond.std(ddof=1) / np.sqrt(SEEDS) - beyond.mean()), numbers)


# -------------------------------------------------------------------------- printed accuracies, in per cent
# Data set: (L1-MKL, Li-MKL)
MEANS: Mapping[str, tuple[float, float]] = {
    "Caltech-4": (92.00, 93.50),
    "Oxford, 6.2.3": (85.88, 87.35),
    "Oxford, 6.5": (85.3922, 86.6667),
    "Caltech-101": (31.45, 27.12),
}


def li_is_better(means: Mapping[str, tuple[float, float]]) -> Measured:
    """The largest lead of L1-MKL where the text says that Li-MKL generalises better."""
    leads = {f"Li − L1, {name}": li - l1 for name, (l1, li) in means.items()}
    return Measured(max(0.0, *(-lead for lead in leads.values())), leads)


def swapped(*names: str) -> dict[str, tuple[float, float]]:
    return {name: pair[::-1] if name in names else pair for name, pair in MEANS.items()}


def same_experiment(means: Mapping[str, tuple[float, float]]) -> Measured:
    first, second = means["Oxford, 6.2.3"], means["Oxford, 6.5"]
    numbers = {"L1 in 6.2.3": first[0], "L1 in 6.5": second[0], "Li in 6.2.3": first[1], "Li in 6.5": second[1]}
    return Measured(max(abs(a - b) for a, b in zip(first, second, strict=True)), numbers)


claim = claims_of("govindaraj")
CLAIMS = (
    claim(
        "Section 6.2.1, Figure 1", partial(rise_of_the_ratio, rival="l1"), printed="all features", mutated="one feature"
    ),
    claim(
        "Section 6.2.1, baseline",
        partial(rise_of_the_ratio, rival="sum"),
        printed="all features",
        mutated="one feature",
    ),
    claim("Sections 6.2.3, 7: C", sensitivity_to_the_price, printed="l1", mutated="sum"),
    claim("Section 6.2.4", li_is_better, printed=MEANS, repaired=swapped("Caltech-101"), mutated=swapped(*MEANS)),
    claim(
        "Sections 6.2.3, 6.5",
        same_experiment,
        printed=MEANS,
        mutated=swapped("Oxford, 6.5"),
        control={**MEANS, "Oxford, 6.5": MEANS["Oxford, 6.2.3"]},
    ),
)
