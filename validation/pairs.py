"""Every regulariser with every loss, five witnesses: primal and dual as declared, Clarabel, SCS and the engine.

    python validation/pairs.py [--journal FILE] [--every K] [--only NAME...] [--losses NAME...] [-o validation/pairs.md]

Six kinds of instance (balanced, outliers, duplicated kernels, kernels of rank one, kernels 1e9 apart, two to five
samples), with a bias and without; losses of classes with three of them, losses of real targets with one output and
with two that share their weights. Every solver's answer has a certificate, an interval that is a proof: the three must
have a point in common. The values of the declared programmes, primal and dual apart, are those of Clarabel (or SCS,
where Clarabel gives up), without any proof: they should lie within 1e-6 of the narrowest interval. `interior` is to
certify 1e-8.

A journal keeps what is done, so that an interrupted run goes on where it ended; with `--every K` every K-th problem is
taken.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mklcvx import InputError, Instance, formulations, solve, zoo
from mklcvx.certificate.run import Run
from mklcvx.formulations import Formulation
from mklcvx.formulations.losses import ALL, CLASSES, COUNTS, KNOWN, LABELS, REAL
from mklcvx.solvers.conic import CLARABEL, SCS, solve_program
from shared.running import completed, put
from shared.tables import table

KINDS = ("balanced", "outliers", "duplicated", "rank_one", "badly_scaled", "tiny")
SAMPLES, COUNT, SMALLEST = 16, 3, 2
GROUPED = 4  # kernels where groups are needed, in pairs
TOLERANCE = 1e-8
SOLVERS = ("clarabel", "scs", "interior")
SETTINGS = CLARABEL, {"solver": "CLARABEL"}, SCS  # of declared programmes, until one is called optimal
NEAR = 1e-6  # of the scale or the value: how far a declared value may lie from a proved interval
OUTLIERS, FAR = 2, 30.0
OUTPUTS = {REAL: (1, 2), COUNTS: (1, 2), CLASSES: (3,)}


class Case(NamedTuple):
    formulation: str
    loss: str
    kind: str
    bias: bool
    outputs: int = 1

    @property
    def sample_side(self) -> str:
        """The loss, and how many outputs share the weights."""
        return self.loss if self.outputs == 1 else f"{self.loss} × {self.outputs}"

    @property
    def key(self) -> str:
        return f"{self.formulation} {self.sample_side} {self.kind} {'bias' if self.bias else 'no bias'}"


def cases(names: Sequence[str], losses: Sequence[str]) -> list[Case]:
    """All of them, those with one output first."""
    every = itertools.product(names, losses, KINDS, (True, False))
    each = [Case(*one, outputs) for one in every for outputs in OUTPUTS.get(KNOWN[one[1]].targets, (1,))]
    return sorted(each, key=lambda case: case.outputs > 1)


def kernels_of(kind: str, count: int, seed: int) -> tuple[Any, np.ndarray]:
    """Kernels, and labels that they know something of."""
    match kind:
        case "duplicated" | "rank_one" | "badly_scaled":
            base = zoo.make(kind, n=SAMPLES, M=count, seed=seed)
        case "tiny":
            base = zoo.random(SMALLEST + seed % 4, count, seed=seed)
        case _:
            base = zoo.random(SAMPLES, count, seed=seed)
    return base.kernels, np.asarray(base.y)


def instance_of(case: Case, targets: str) -> Instance:
    """An instance with the targets that the loss takes."""
    formulation = formulations.get(case.formulation)
    seed = KINDS.index(case.kind) + sum(map(ord, case.formulation + case.loss))
    count = GROUPED if formulation.needs_groups else COUNT
    kernels, y = kernels_of(case.kind, count, seed % 97)
    if formulation.single_kernel:
        kernels = kernels[:1]
    groups = np.arange(count) // 2 if formulation.needs_groups else None
    rng = np.random.default_rng(seed)
    if targets == LABELS:
        if case.kind == "outliers":
            y = np.where(np.arange(len(y)) < OUTLIERS, -y, y)
        return Instance(kernels, y, groups=groups)
    if targets == CLASSES:
        number = (y > 0).astype(int) + (rng.random(len(y)) < 1 / case.outputs)
        if case.kind == "tiny":
            number = np.arange(len(y)) % case.outputs
        return Instance(kernels, classes=number, groups=groups)
    if targets not in (REAL, COUNTS):
        return Instance(kernels, groups=groups)
    responses = [response_to(kernels, case.kind, rng) for _ in range(case.outputs)]
    if targets == COUNTS:
        responses = [np.maximum(np.round(one), 0.0) for one in responses]
    return Instance(kernels, response=responses[0] if case.outputs == 1 else np.stack(responses, axis=1), groups=groups)


def response_to(kernels: Any, kind: str, rng: np.random.Generator) -> np.ndarray:
    """A function of the kernels' spaces, with noise, away from 0."""
    count = len(kernels[0])
    f = np.tensordot(rng.random(len(kernels)), np.asarray(kernels) @ rng.normal(size=count), axes=1)
    response = f / max(float(np.std(f)), 1e-300) + rng.normal(size=count) / 4 + 3
    if kind == "outliers":
        response[:OUTLIERS] += FAR
    return response


def judged(case: Case) -> dict[str, Any]:
    """Intervals and relative gaps of the witnesses; a pair that is refused says why."""
    loss = KNOWN[case.loss]
    instance = instance_of(case, loss.targets)
    given: dict[str, Any] = {"loss": case.loss, "bias": case.bias}
    given |= {"nu": 0.3} if loss.free_margin else {"C": 1.0 if case.bias else 10.0}
    try:
        found = {name: solve(instance, case.formulation, solver=name, tol=TOLERANCE, **given) for name in SOLVERS}
    except InputError as refusal:
        return {"refused": str(refusal)}
    engine = found["interior"]
    return {
        "declared": declared(formulations.get(case.formulation).posed_for(instance, given), instance, given),
        "lower": {name: one.certificate.lower for name, one in found.items()},
        "upper": {name: one.certificate.upper for name, one in found.items()},
        "gap": {name: one.certificate.relative_gap for name, one in found.items()},
        "scale": engine.certificate.scale, "iterations": engine.iterations,
        "certified": engine.certified, "message": engine.message,
    }  # fmt: skip


def declared(formulation: Formulation, instance: Instance, given: dict[str, Any]) -> list[float | None]:
    """The values of primal and dual, each by its own solve, of the first solver that calls its answer optimal; of the
    first that has one where none does."""
    task, _ = formulation.task(instance, given)
    size = task.typical_kernel_size()
    scaled, values = formulation.in_units(task, size), []
    for program in (formulation.declare_primal(scaled), formulation.declare_dual(scaled)):
        found = []
        for settings in SETTINGS:
            if solve_program(program.problem, settings, Run()):
                found.append((program.problem.status == "optimal", float(program.problem.value)))
                if found[-1][0]:
                    break
        best = max(found, key=lambda one: one[0], default=(False, None))[1]
        values.append(None if best is None else best / task.loss_function.value_unit(size))
    return values


def agree(result: dict[str, Any]) -> bool:
    """Whether the proved intervals have a point in common."""
    return max(result["lower"].values()) <= min(result["upper"].values())


def far_off(result: dict[str, Any]) -> list[str]:
    """Which declared values lie away from what is proved."""
    lower, upper = max(result["lower"].values()), min(result["upper"].values())
    slack = NEAR * max(result["scale"], abs(lower), abs(upper))
    values = dict(zip(("primal", "dual"), result["declared"], strict=True))
    return [name for name, value in values.items() if value is None or not lower - slack <= value <= upper + slack]


def report(results: dict[Case, dict[str, Any]], planned: int) -> str:
    solved = {case: one for case, one in results.items() if "refused" not in one}
    apart = [case for case, one in solved.items() if not agree(one)]
    distant = [case for case, one in solved.items() if far_off(one)]
    missed = [case for case, one in solved.items() if not one["certified"]]
    share = 100 * (1 - len(missed) / max(1, len(solved)))
    lines = ["# Every regulariser with every loss", "", (__doc__ or "").split("\n\n")[2].strip(), ""]
    lines += [f"{len(results)} of {planned} problems, {len(solved)} solved, {len(results) - len(solved)} refused."]
    lines += [f"The intervals of the three solvers meet in {len(solved) - len(apart)}."]
    lines += [f"Both declared values lie within 1e-6 of them in {len(solved) - len(distant)}."]
    lines += [f"`interior` certifies 1e-8 in {len(solved) - len(missed)} ({share:.1f} %).", ""]
    gaps = {name: np.median([one["gap"][name] for one in solved.values()] or [np.nan]) for name in SOLVERS}
    lines += ["Median relative gaps: " + ", ".join(f"{name} {gap:.1e}" for name, gap in gaps.items()) + "."]
    losses = list(dict.fromkeys(case.sample_side for case in results))
    names = list(dict.fromkeys(case.formulation for case in results))
    lines += ["", "Certified by `interior`, of so many; – where the pair is refused:", ""]
    rows = []
    for name in names:
        cells = []
        for loss in losses:
            alike = [case for case in solved if (case.formulation, case.sample_side) == (name, loss)]
            count = sum(solved[case]["certified"] for case in alike)
            cells.append(f"{count} of {len(alike)}" if alike else "–")
        rows.append([name, *cells])
    lines += [*table(["", *losses], rows), "", f"## Exceptions: {len(missed)}", ""]
    rows = []
    for case, gaps, why in ((c, solved[c]["gap"], solved[c]["message"].split("; ")[-1]) for c in missed):
        rows.append([case.key, f"{gaps['interior']:.1e}", f"{min(gaps.values()):.1e}", why])
    lines += table(("problem", "gap of interior", "best gap", "why"), rows)
    lines += ["", f"## Intervals without a common point: {len(apart)}", ""] + [f"- {case.key}" for case in apart]
    lines += ["", f"## Declared values away from what is proved: {len(distant)}", ""]
    lines += [f"- {case.key}: {' and '.join(far_off(solved[case]))}" for case in distant]
    refused = sorted({(one["refused"]) for one in results.values() if "refused" in one})
    lines += ["", f"## Refusals: {len(refused)}", ""] + [f"- {words}" for words in refused]
    return "\n".join(lines) + "\n"


def with_infinities(result: dict[str, Any]) -> dict[str, Any]:
    """Bounds and gaps that are not finite, which a journal has as null."""
    ends = {"lower": -np.inf, "upper": np.inf, "gap": np.inf}
    for name in ends.keys() & result.keys():
        result = {**result, name: {solver: ends[name] if x is None else x for solver, x in result[name].items()}}
    return result


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, help="write the page here; printed unless given")
    parser.add_argument("--journal", type=Path, help="file of results, to go on with an interrupted run")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="the problems 0, K, 2K, … of the list")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these formulations alone")
    parser.add_argument("--losses", nargs="+", metavar="NAME", help="these losses alone")
    asked = parser.parse_args(arguments)
    names = asked.only or [formulation.name for formulation in formulations.SINGLE_TASKS]
    chosen = cases(names, asked.losses or [loss.name for loss in ALL])[:: asked.every]
    results = {case: with_infinities(one) for case, one in completed(chosen, judged, asked.journal)}
    text = report(results, len(chosen))
    put(text, asked.output)
    return 0 if all("refused" in one or agree(one) for one in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
