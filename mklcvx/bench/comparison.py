"""Benchmarks: contestants take turns, BLAS uses one thread, and the same certificate judges every answer.

In every round each contestant runs once, and so do a LIBSVM fit on the average kernel (with the same C or ν and the
default tolerance) and the validation of the instance. Times are medians over the rounds: CPU seconds, or wall time for
external commands. *Fits* are ratios of medians, contestant to LIBSVM; other machines should reproduce them, unlike
seconds. The gap is that of the worst round, recomputed by `answers.judge` from the answer. A contestant leaves when it
has used up the time limit, in one round or in all rounds together.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .. import formulations
from ..certificate import Certificate
from ..defaults import BENCH_TIME_LIMIT, ROUNDS
from ..errors import InputError, InternalError
from ..formulations import Formulation
from ..io.files import save_instance
from ..problem.instance import Instance
from ..problem.numbers import check_tolerance
from ..solvers.solving import SOLVERS, Solver, solver_named
from ..verification.answers import read_answer
from ..verification.judge import judge
from .external import External
from .functions import Function, check_importable, named, search_path
from .process import EXPECTED, Attempt, Setting, Worker
from .worker import sides

GRACE = 2.0  # times the time limit: a solver that checks the clock between its steps may finish a step
SCHEMA = "mklcvx.bench/1"


@dataclass(frozen=True)
class InWorker:
    """A solver of this package (`service` "solve") or a third party's function ("call"), which is also searched for in
    the folders of `path`."""

    name: str
    service: str = "solve"
    tolerance: float = EXPECTED
    note: str = ""
    path: tuple[str, ...] = ()

    def run(self, setting: Setting, parameters: Mapping[str, Any], worker: Worker) -> Attempt:
        answer = setting.folder / "answer.npz"
        request = {"service": self.service, "name": self.name, "path": self.path, "answer": str(answer)}
        limits = {"formulation": setting.formulation, "tol": setting.tol, "time_limit": setting.time_limit}
        patience = GRACE * setting.time_limit + 1.0
        reply = worker.ask({**request, **limits, "parameters": dict(parameters)}, patience)
        if reply is None:
            return Attempt(seconds=patience, cut=True, message="ended: it did not stop at the time limit")
        if reply.get("fault") or reply.get("skipped"):
            return Attempt(fault=reply.get("fault", ""), skipped=reply.get("skipped", ""))
        try:
            return Attempt(answer=read_answer(answer), cut=reply["elapsed"] >= setting.time_limit, **reply)
        except InputError as fault:
            return Attempt(fault=str(fault))


Contestant = InWorker | External


@dataclass
class BenchmarkRow:
    """The results of one contestant."""

    name: str
    note: str
    asked: float
    seconds: list[float] = field(default_factory=list)
    elapsed: float = 0.0
    certificates: list[Certificate] = field(default_factory=list)
    iterations: int | None = None
    peak: int | None = None
    message: str = ""
    fault: str = ""
    cut: bool = False

    @property
    def median(self) -> float | None:
        return float(np.median(self.seconds)) if self.seconds else None

    @property
    def certificate(self) -> Certificate | None:
        """The certificate of the worst round."""
        return max(self.certificates, key=lambda c: c.relative_gap, default=None)

    @property
    def gap(self) -> float | None:
        """The relative gap; None without an answer, or if the gap cannot be compared with anything."""
        gap = math.inf if self.certificate is None else self.certificate.relative_gap
        return gap if math.isfinite(gap) else None

    @property
    def status(self) -> str:
        """certified, not_certified, failed, or cut_off: stopped at the time limit before the tolerance was proved."""
        if self.fault:
            return "failed"
        if self.certificates and all(certificate.proves(self.asked) for certificate in self.certificates):
            return "certified"
        return "cut_off" if self.cut else "not_certified"

    def add(self, attempt: Attempt, formulation: Formulation, task: Any) -> None:
        self.cut |= attempt.cut
        self.elapsed += attempt.elapsed
        self.iterations, self.message = attempt.iterations, attempt.message
        self.fault = attempt.fault or attempt.skipped
        self.peak = max(self.peak or 0, attempt.peak) if attempt.peak is not None else self.peak
        if attempt.answer is not None:
            try:
                self.certificates.append(judge(formulation, task, attempt.answer, self.asked))
            except InputError as fault:
                self.fault = str(fault)
        if attempt.seconds is not None and not self.fault:
            self.seconds.append(attempt.seconds)

    def goes_on(self, time_limit: float) -> bool:
        return not (self.fault or self.cut) and self.elapsed < time_limit


@dataclass(frozen=True)
class Benchmark:
    """The rows in the order of the contestants, and the times they are compared with."""

    formulation: str
    parameters: dict[str, Any]
    samples: int
    count: int
    rounds: int
    time_limit: float
    reference: list[float]
    validation: list[float]
    rows: list[BenchmarkRow]

    @property
    def fit(self) -> float:
        """Seconds of one LIBSVM fit on the average kernel."""
        return float(np.median(self.reference))

    @property
    def validating(self) -> float:
        return float(np.median(self.validation))

    def fits(self, row: BenchmarkRow, validated: bool = False) -> float | None:
        """The median time in LIBSVM fits; `validated` adds the validation of the instance."""
        if row.median is None:
            return None
        return (row.median + (self.validating if validated else 0.0)) / self.fit

    def as_dict(self) -> dict[str, Any]:
        fields = ("formulation", "parameters", "samples", "rounds", "time_limit")
        return {
            "schema": SCHEMA,
            **{field: getattr(self, field) for field in fields},
            "kernels": self.count,
            "libsvm_seconds": self.fit,
            "validation_seconds": self.validating,
            "contestants": [self._record(row) for row in self.rows],
        }

    def _record(self, row: BenchmarkRow) -> dict[str, Any]:
        certificate = row.certificate
        return {
            **{field: getattr(row, field) for field in ("name", "status", "asked", "iterations", "note")},
            "seconds": row.median,
            "runs": len(row.seconds),
            "all_seconds": row.seconds,
            "fits": self.fits(row),
            "fits_with_validation": self.fits(row, validated=True),
            "certificate": None if certificate is None else certificate.as_dict(),
            "peak_bytes": row.peak,
            "message": row.fault or row.message,
        }


def contestants(
    formulation: Formulation, names: Sequence[str] | None = None, externals: Sequence[str] = ()
) -> list[Contestant]:
    """The solvers and functions with these names, or all solvers that fit, `interior` first; then the commands."""
    commands = [External.parse(text) for text in externals]
    if names is None:
        names = sorted((s.name for s in fitting(formulation.name)), key=lambda name: name != "interior")
    entrants = [*(_named(name, formulation) for name in names), *commands]
    listed = [entrant.name for entrant in entrants]
    if twice := next((name for name in listed if listed.count(name) > 1), None):
        raise InputError(f"contestant {twice!r} is named twice: keep one, or give the other another name")
    if not entrants:
        raise InputError("no contestant is named: name one with --solvers or --external")
    return entrants


def fitting(formulation: str) -> list[Solver]:
    """The solvers of a formulation; `auto` is interior or clarabel under another name."""
    return [s for s in SOLVERS if s.name != "auto" and (s.serves is None or formulation in s.serves)]


def _named(name: str, formulation: Formulation) -> Contestant:
    if ":" in name:
        return third_party(name)
    return InWorker(name, tolerance=solver_named(name, formulation).tolerance)


def third_party(solver: str | Function) -> InWorker:
    """A function, or package.module:function, as a contestant; its module is imported in the worker alone."""
    name, path = named(solver), search_path()
    check_importable(name, path)
    return InWorker(name, "call", path=path)


def compare(
    instance: Instance,
    formulation: str,
    entrants: Sequence[Contestant],
    *,
    rounds: int = ROUNDS,
    tol: float | None = None,
    time_limit: float = BENCH_TIME_LIMIT,
    report: Callable[[str], None] = lambda _: None,
    **parameters: Any,
) -> Benchmark:
    """Let the contestants solve one instance in turns, and judge their answers."""
    chosen = formulations.get(formulation)
    if rounds < 1:
        raise InputError(f"rounds = {rounds} is below 1: give a number of rounds, such as 5")
    if tol is not None:
        check_tolerance(tol, "a relative gap such as 1e-6")
    if not 0 < time_limit < math.inf:
        raise InputError(f"time limit {time_limit:g} is not positive and finite: give seconds")
    task, resolved = chosen.task(instance, parameters)
    if not np.ptp(sides(instance), axis=1).any():
        raise InputError("all targets are equal, and a LIBSVM fit, the unit of time, needs two sides: use solve")
    rows = [BenchmarkRow(e.name, e.note, e.tolerance if tol is None else tol) for e in entrants]
    reference, validation = list[float](), list[float]()
    with tempfile.TemporaryDirectory(prefix="mklcvx.") as place:
        file, folder = Path(place) / "instance.npz", Path(place) / "answers"
        save_instance(file, instance, compressed=False)
        folder.mkdir()
        stamp = _stamp(file)
        setting = Setting(formulation, file, folder, tol, time_limit)
        with Worker(file) as worker:
            for turn in range(1, rounds + 1):
                report(f"round {turn} of {rounds}: LIBSVM, validation")
                reference.append(_seconds(worker, "reference", resolved))
                validation.append(_seconds(worker, "validate", resolved))
                for entrant, row in zip(entrants, rows, strict=True):
                    if turn == 1 or row.goes_on(time_limit):
                        report(f"round {turn} of {rounds}: {entrant.name}")
                        attempt = entrant.run(setting, resolved, worker)
                        if _stamp(file) != stamp:
                            attempt = Attempt(fault="it changed the instance's file")
                            save_instance(file, instance, compressed=False)
                            stamp = _stamp(file)
                        row.add(attempt, chosen, task)
    about = formulation, resolved, instance.samples, instance.count
    return Benchmark(*about, rounds, time_limit, reference, validation, rows)


def _stamp(file: Path) -> tuple[int, ...]:
    """Numbers that change when a file is written to, replaced or removed."""
    status = file.stat() if file.exists() else None
    return () if status is None else (status.st_ino, status.st_size, status.st_mtime_ns)


def _seconds(worker: Worker, service: str, parameters: Mapping[str, Any]) -> float:
    reply = worker.ask({"service": service, "parameters": dict(parameters)}) or {}
    if "seconds" not in reply:
        raise InternalError(f"the benchmark's {service} failed: {reply.get('fault', 'no reply')}")
    return float(reply["seconds"])
