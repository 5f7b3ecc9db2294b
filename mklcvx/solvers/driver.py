"""One loop for every iterative algorithm: the algorithm steps; the loop certifies, stops, traces and reports.

An algorithm defines its first state (`start`), its iteration (`step`) and the points that it offers to the certificate
(`points`). The loop does everything else. It stops when the certified relative gap reaches the tolerance, never because
weights have stopped moving. It keeps the point with the least relative gap, and returns it: a limit, a callback or a
dead end loses nothing that was certified before. Points far from the optimum may be left uncertified, since they cost
time; but not where a limit may end the run (`WATCHED`), so that the gap does not grow with the limit. The points that
were the best before are kept, too: an estimate knows nothing of δ, and where δ is the gap an earlier point may be worth
more. Those that a shorter run would have are among them, so that the answer of a longer one is no worse.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import ClassVar, Generic, TypeAlias, TypeVar

import numpy as np

from ..certificate import CertifiedPoint, certify
from ..certificate.run import Ending, Row, Run
from ..errors import InputError, clipped, nearest
from ..formulations import Formulation, Points
from ..formulations._formulation import FormulationT, Posed, TaskT
from ..problem.faults import is_numerical, of_caller
from ..problem.stack import Array
from .interrupts import Keep, Outcome

LARGEST_OPTION = 10**9
WATCHED = 0.5  # of the time limit: from there on every iterate is certified, as all are where iterations are limited
Report = Callable[[str], None]
Callback = Callable[[Row], object]
Options: TypeAlias = Mapping[str, float | str]


@dataclass
class Problem(Generic[FormulationT, TaskT]):
    """The input of an algorithm: a formulation's task, and the tolerance of the certified gap."""

    formulation: FormulationT
    task: TaskT
    tolerance: float
    svm_solves: int = 0
    machine: object = None  # the SVM inside, made at its first use; it keeps its last solution as a start
    warm: object = None  # the last state of a run for a neighbouring parameter
    closing: bool = False  # whether the next points may be the last to be certified

    @property
    def even(self) -> Array:
        """Equal weights on the simplex."""
        return np.full(self.task.count, 1 / self.task.count)


@dataclass(frozen=True)
class State:
    """The state of an algorithm. `stop_reason` says why it cannot continue: an `Ending`, or a message of its own."""

    weights: Array
    stop_reason: str = field(default="", kw_only=True)


S = TypeVar("S", bound=State)


@dataclass(frozen=True)
class Algorithm(ABC, Generic[S]):
    """A published algorithm; its options are its fields."""

    name: ClassVar[str]
    summary: ClassVar[str]
    reference: ClassVar[str]
    serves: ClassVar[tuple[str, ...]]
    losses: ClassVar[tuple[str, ...] | None] = None  # of single tasks; None: every one
    joint: ClassVar[bool] = False  # whether it takes losses of several outputs
    tolerance: ClassVar[float] = 1e-4  # what it can be expected to certify
    max_iter: ClassVar[int] = 1000

    @abstractmethod
    def start(self, problem: Problem) -> S:
        """The state from which the paper starts."""

    @abstractmethod
    def step(self, problem: Problem, state: S) -> S:
        """One iteration, as in the paper."""

    @abstractmethod
    def points(self, problem: Problem, state: S) -> Points:
        """The dual and primal points that the state offers to the certificate."""

    @classmethod
    def takes(cls, task: Posed) -> bool:
        """Whether it takes the loss of this task, if the task has one to choose."""
        loss = getattr(task, "loss_function", None)
        if loss is None:
            return True
        return loss.joint <= cls.joint and (cls.losses is None or loss.name in cls.losses)

    def due(self, iteration: int) -> bool:
        """Whether to certify at this iteration: always, unless a certificate costs much more than a step."""
        return True


def every_tenth_part(iteration: int) -> bool:
    """Certify whenever the number of iterations has grown by a tenth: for steps far cheaper than a certificate."""
    return iteration < 10 or int(np.log(iteration) / np.log(1.1)) > int(np.log(iteration - 1) / np.log(1.1))


def with_options(algorithm: type[Algorithm], options: Options) -> Algorithm:
    """The algorithm with its options set. Refuse unknown options and values of the wrong type."""
    known = {option.name: option.default for option in fields(algorithm)}
    for name in options:
        if name not in known:
            listed = nearest(name, known) if known else "it has none"
            raise InputError(f"unknown option {name!r} of solver {algorithm.name}: {listed}")
    return algorithm(**{name: _of_kind(name, value, known[name]) for name, value in options.items()})


def _of_kind(name: str, value: float | str, default: object) -> float:
    """The value as a number: an integer if the default is one. An option whose default is None takes any number."""
    whole = isinstance(default, int)
    try:
        number = int(value) if whole and not isinstance(value, float) else float(value)
        fits = 0 <= number <= LARGEST_OPTION and (not whole or number == int(number))
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits or isinstance(value, bool):
        kind = f"{'a whole number' if whole else 'a number'} between 0 and {LARGEST_OPTION:.0e}"
        raise InputError(f"option {name} = {str(value)[:40]!r} is not {kind}: the default is {default}")
    return int(number) if whole else number


def check_switch(name: str, value: int) -> None:
    if value not in (0, 1):
        raise InputError(f"option {name} = {value} is neither 0 nor 1: leave it out, or give one of them")


def _wants_end(answer: object) -> bool:
    """Whether what a callback returned ends the run."""
    try:
        return bool(answer)
    except Exception:  # whatever a stranger's object may raise, arrays among them
        fault = f"callback returned {clipped(type(answer).__name__, 40)}, which is neither true nor false"
        raise InputError(f"{fault}: return True to end the run, else nothing") from None


@dataclass
class _Loop:
    """A run at work: `best` is its best point so far, `state` the iterate at hand."""

    algorithm: Algorithm
    problem: Problem
    run: Run
    best: CertifiedPoint
    state: State | None = None

    def certify(self, closing: bool) -> CertifiedPoint:
        """Certify the iterate at hand, if it offers points."""
        self.problem.closing, self.run.svm_solves = closing, self.problem.svm_solves
        points = self.algorithm.points(self.problem, self.state)
        if points.duals or points.primals:
            best = certify(self.problem.formulation, self.problem.task, points, self.best)
            if best is not self.best:
                self.run.points.append(self.best)
            self.best = best
        return self.best

    def left(self) -> Outcome:
        """The best point when the run is left, the iterate at hand among them."""
        try:
            return self.best if self.state is None else self.certify(closing=True), self.run
        except Exception as fault:
            if not is_numerical(fault):
                raise
            return self.best, self.run

    def end(self, limit: int, over: float | None, stopped: bool) -> None:
        """End the run where the tolerance is proved, the algorithm cannot continue, or the user wants no more."""
        run, reason = self.run, self.state.stop_reason if self.state else ""
        if self.best.certificate.proves(self.problem.tolerance):
            run.end(Ending.CERTIFIED)
        elif reason:
            run.end(reason if isinstance(reason, Ending) else Ending.DEAD_END, why=reason)
        elif stopped:
            run.end(Ending.CALLBACK)
        elif run.iterations >= limit:
            run.end(Ending.ITERATION_LIMIT, limit=limit)
        elif over is not None:
            run.end(Ending.TIME_LIMIT, limit=over)


def drive(
    algorithm: Algorithm,
    formulation: Formulation,
    task: Posed,
    tolerance: float,
    *,
    time_limit: float | None = None,
    max_iter: int | None = None,
    report: Report = lambda _: None,
    callback: Callback = lambda _: None,
    warm: object = None,
    keep: Keep = lambda _: None,
) -> Outcome:
    """Step until the certificate proves the tolerance or something else ends the run; `run.ending` says what.

    `callback` sees every row of the trace as it is made, and ends the run by returning something true. `warm` is the
    last state of a run for a neighbouring parameter (`run.last`), for algorithms that can use one.
    """
    started, run, limit = time.perf_counter(), Run(), max_iter or algorithm.max_iter
    problem = Problem(formulation, task, tolerance, warm=warm)
    loop = _Loop(algorithm, problem, run, certify(formulation, task, formulation.trivial_points(task)))
    keep(loop.left)
    try:
        state = loop.state = algorithm.start(problem)
        while run.status is Ending.NONE:
            spent = 0.0 if time_limit is None else (time.perf_counter() - started) / time_limit
            last = bool(state.stop_reason) or run.iterations >= limit or spent >= 1
            if last or algorithm.due(run.iterations):
                closing = last or max_iter is not None or spent >= WATCHED
                reached, costs = loop.certify(closing).certificate, (problem.svm_solves, time.perf_counter() - started)
                gap = max(reached.relative_gap, 0.0)
                row = Row(run.iterations, reached.lower, reached.upper, gap, state.weights.copy(), *costs)
                run.trace.append(row)
                report(f"{formulation.name} by {algorithm.name}: iteration {row.iteration}, relative gap {row.gap:.1e}")
                stopped = _wants_end(callback(row))
                if stopped and not closing:
                    loop.certify(closing=True)
                loop.end(limit, float(time_limit) if time_limit and spent >= 1 else None, stopped)
            run.last = state
            if run.status is Ending.NONE:
                state = loop.state = algorithm.step(problem, state)
                run.iterations += 1
    except Exception as fault:
        if not is_numerical(fault) or of_caller(fault, (callback, report)):
            raise
        run.end(Ending.OUT_OF_RANGE, why=fault)  # what was certified before stays
    return loop.best, run
