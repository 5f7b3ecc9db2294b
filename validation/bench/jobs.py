"""A study is a list of jobs, one instance with its contestants each, and something made of what they give."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mklcvx import Instance, formulations
from mklcvx.bench.comparison import Benchmark, BenchmarkRow, compare, contestants
from mklcvx.solvers.solving import SOLVERS

DECLARED = ("clarabel", "scs", "silp_exact")


@dataclass(frozen=True)
class Job:
    """`labels` tell it from others in a table. In a `lane`, jobs grow: who was cut off or failed leaves it."""

    labels: Mapping[str, Any]
    problem: Callable[[], Instance]
    solvers: Sequence[str]
    formulation: str = "l1"
    given: Mapping[str, Any] = field(default_factory=dict)
    externals: Sequence[str] = ()
    rounds: int = 3
    limit: float = 20.0
    tol: float | None = None
    lane: str = ""


@dataclass(frozen=True)
class Result:
    job: Job
    benchmark: Benchmark

    def row(self, name: str) -> BenchmarkRow | None:
        return next((s for s in self.benchmark.rows if s.name == name), None)


@dataclass
class Study:
    """Markdown, pictures by name, and rows for the CSV file."""

    title: str
    lines: list[str]
    results: list[Result]
    pictures: list[str] = field(default_factory=list)


def all_solvers(formulation: str, without: Sequence[str] = ()) -> list[str]:
    """Every solver that fits, `interior` first."""
    return [c.name for c in contestants(formulations.get(formulation)) if c.name not in without]


def published(formulation: str) -> list[str]:
    """The iterative solvers of this package that fit."""
    own = {solver.name for solver in SOLVERS if solver.algorithm is not None}
    return [name for name in all_solvers(formulation, DECLARED) if name in own]


def run(jobs: Sequence[Job], report: Callable[[str], None], advance: Callable[[], None]) -> list[Result]:
    """One job after the other; a job that nobody is left for is not run."""
    results, gone = [], defaultdict[str, set[str]](set)
    for job in jobs:
        left = [name for name in job.solvers if name not in gone[job.lane]]
        if left or job.externals:
            entrants = contestants(formulations.get(job.formulation), left, job.externals)
            about = ", ".join(f"{key} {value}" for key, value in job.labels.items())

            def say(words: str, about: str = about) -> None:
                report(f"{about}: {words}")

            limits: dict[str, Any] = {"rounds": job.rounds, "tol": job.tol, "time_limit": job.limit}
            found = compare(job.problem(), job.formulation, entrants, report=say, **limits, **job.given)
            results.append(Result(job, found))
            if job.lane:
                gone[job.lane] |= {s.name for s in found.rows if s.status in ("cut_off", "failed")}
        advance()
    return results


def rows(results: Sequence[Result]) -> list[dict[str, Any]]:
    """One row for every contestant of every job, flat."""
    made = []
    for result in results:
        whole = result.benchmark.as_dict()
        about = {key: whole[key] for key in ("formulation", "samples", "kernels")}
        units = {key: whole[key] for key in ("libsvm_seconds", "validation_seconds")}
        for row in whole["contestants"]:
            gap = (row.pop("certificate") or {}).get("relative_gap")
            row.pop("all_seconds")
            made.append({**result.job.labels, **about, **row, "gap": gap, **units})
    return made
