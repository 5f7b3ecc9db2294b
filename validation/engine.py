"""The engine against the zoo's generators: which share is certified to 1e-9, in how many steps, and the exceptions.

    python validation/engine.py [-o validation/engine.md] [--quick] [--only l1 li]

Every formulation on ordinary, duplicated, rank-one, badly scaled (1e9) and separable instances, up to n = 500 and
M = 50, for prices from small to large. Small instances are solved by `clarabel` too, and the two intervals must meet.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track

from mklcvx import Instance, Solution, formulations, solve, zoo
from mklcvx.formulations import Formulation, SingleTask
from shared.running import put
from shared.tables import table

SIZES = ((24, 4), (100, 12), (500, 50))
LARGEST_FOR_EXACT = 24
KINDS = ("random", "duplicated", "rank_one", "badly_scaled", "separable")
PRICES: dict[str, tuple[dict[str, Any], ...]] = {
    "single task": ({"C": 1e-2}, {"C": 1.0}, {"C": 1e4}, {"nu": 0.3}, {"C": 1.0, "bias": False}),
    "many labels": ({"C": 1e-2}, {"C": 1.0}, {"C": 1e3}),
    "two stages": ({"lam": 1e-4}, {"lam": 1e-2}, {"lam": 1.0}),
    "hypergraph": ({"lam": 1e-2}, {"lam": 1.0}, {"lam": 1e2}),
}
OWN: dict[str, tuple[dict[str, Any], ...]] = {
    "sm1": ({"theta": 0.3},), "sm2": ({"theta": 0.7}, {"theta": 25.0}), "lp": ({"p": 1.5}, {"p": 1.0}),
    "elastic": ({"l1_ratio": 0.3},), "vskl": ({"s": 3.0},), "block_elastic": ({"l1_ratio": 0.3}, {"l1_ratio": 1e-3}),
    "group_lasso": ({"lam": 0.3}, {"lam": 30.0}),
}  # fmt: skip


ABOUT = """\
Certified relative gap 1e-9; made by `make engine`. A certificate pays for the rounding of stored entries: the
kernels of `rank_one` are outer products whose entries were rounded, so that they are semidefinite up to δ only,
and at C = 10000, or where roots of q enter (`li`, `ckl`), that is more than 1e-9. Given as factors (`LowRank`)
they are certified but for `li`, `ckl` and `vskl` at C = 10000, n = 24. In the ν-form their classes' hulls meet,
and the optimum is f = 0. For `ts` the status is the worse of two stages, and `badly_scaled` is the second stage's
exception; the gap is the first one's."""


class Case(NamedTuple):
    name: str
    kind: str
    samples: int
    count: int
    given: dict[str, Any]


def made(kind: str, samples: int, count: int, labelled: bool) -> Instance:
    base = zoo.random(samples, count, overlap=0.0) if kind == "separable" else zoo.make(kind, n=samples, M=count)
    if not labelled:
        return base
    rng = np.random.default_rng(0)
    members = np.column_stack([base.y > 0, rng.random(samples) < 0.4, rng.random(samples) < 0.2])
    members[:3] = np.eye(3, dtype=bool)
    members[3:6] = ~members[:3]
    return Instance(base.kernels, labels=members.astype(int))


def cases(names: list[str], quick: bool) -> Iterator[Case]:
    for name in names:
        formulation = formulations.get(name)
        own = OWN.get(name, ({},))
        sizes = SIZES[:1] if quick else SIZES
        for kind, (samples, count), more in itertools.product(KINDS, sizes, own):
            for price in PRICES[formulation.family][: 1 if quick else None]:
                if isinstance(formulation, SingleTask) and not set(price) <= {"C", "bias", *formulation.losses}:
                    continue
                if name == "alignment":
                    price = {}
                yield Case(name, kind, samples, 1 if name == "svm" else count, {**price, **more})


def judged(case: Case) -> tuple[Solution, bool | None]:
    """The engine's solution, and whether its interval meets that of `clarabel` (None where that was not asked)."""
    formulation: Formulation = formulations.get(case.name)
    instance = made(case.kind, case.samples, max(case.count, 2), not isinstance(formulation, SingleTask))
    if case.name == "svm":
        instance = instance.select([0])
    found = solve(instance, case.name, solver="interior", **case.given)
    if case.samples > LARGEST_FOR_EXACT:
        return found, None
    exact = solve(instance, case.name, solver="clarabel", **case.given).certificate
    rounding = 1e-12 * exact.scale
    meets = found.certificate.lower <= exact.upper + rounding and exact.lower <= found.certificate.upper + rounding
    return found, meets


def report(results: list[tuple[Case, Solution, bool | None]]) -> str:
    rows = []
    for name in dict.fromkeys(case.name for case, _, _ in results):
        mine = [(s, meets) for case, s, meets in results if case.name == name]
        steps, asked = [s.iterations for s, _ in mine], [meets for _, meets in mine if meets is not None]
        certified = sum(s.certified for s, _ in mine)
        agreed = f"{sum(asked)} of {len(asked)}"
        rows.append([name, str(len(mine)), str(certified), f"{np.median(steps):.0f}", str(max(steps)), agreed])
    header = ("formulation", "solved", "certified", "median steps", "most", "agrees with `clarabel`")
    lines = ["# The engine on the zoo's generators", "", ABOUT, "", *table(header, rows)]
    missed = [(case, s) for case, s, _ in results if not s.certified]
    share = 100 * len(missed) / len(results)
    lines += ["", f"{len(missed)} exceptions in {len(results)} ({share:.1f} %):", ""]
    exceptions = []
    for case, s in missed:
        given = ", ".join(f"{key} = {value:g}" for key, value in case.given.items())
        why, gap = s.message.split("; ")[-1], f"{s.certificate.relative_gap:.1e}"
        exceptions.append([case.name, case.kind, str(case.samples), str(case.count), given, gap, why])
    header = ("formulation", "instance", "n", "M", "parameters", "gap", "why")
    return "\n".join([*lines, *table(header, exceptions)]) + "\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="write the table here; printed unless given")
    parser.add_argument("--quick", action="store_true", help="a smoke run: the smallest size, one price")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these formulations alone")
    asked = parser.parse_args(arguments)
    names = asked.only or [formulation.name for formulation in formulations.FORMULATIONS]
    every = list(dict.fromkeys((*case[:4], tuple(case.given.items())) for case in cases(names, asked.quick)))
    console = Console(stderr=True)
    results = []
    for name, kind, samples, count, given in track(every, "solving", console=console, disable=not console.is_terminal):
        case = Case(name, kind, samples, count, dict(given))
        results.append((case, *judged(case)))
    text = report(results)
    put(text, asked.output)
    return 0 if all(meets is not False for _, _, meets in results) else 1


if __name__ == "__main__":
    sys.exit(main())
