"""The results of a conformance run: success rates at three levels, times, and diagnoses of the failures.

The rate at a level is the share of accepted answers among those that could be judged: an answer is undecided if the
optimum itself could not be enclosed narrowly enough, and a specimen is skipped if the solver lacks a parameter. Times
are summarised by the shifted geometric mean exp(mean log(t + s)) − s with s = SHIFT; a run that failed at the level
counts with the time limit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ... import formulations
from ...defaults import CONFORM_LEVEL, CONFORM_TIME_LIMIT, FORMULATION
from ...errors import InputError
from ...problem.checks import check_lists, check_name, shown
from ...problem.numbers import check_jobs, is_number
from ...verification.case import REJECTED, UNDECIDED
from ...zoo import specimen
from ..comparison import Contestant, InWorker, third_party
from ..external import External
from ..functions import Function
from ..process import Worker
from .references import case_of
from .trials import LEVELS, SKIPPED, Assignment, Room, SpecimenResult, shared_out, suitable

SCHEMA = "mklcvx.conformance/1"
SHIFT = 0.1  # seconds
RATE = ("tolerance", "accepted", "decided", "undecided", "share", "shifted_geometric_mean_seconds")


class Rate(NamedTuple):
    """The results at one level; `seconds` is the shifted geometric mean."""

    tolerance: float
    accepted: int
    decided: int
    undecided: int
    share: float | None
    seconds: float | None


@dataclass(frozen=True)
class Conformance:
    """The trials of one solver, and their summary at the level that was asked for."""

    solver: str
    formulation: str
    parameters: Mapping[str, Any]
    level: str
    time_limit: float
    trials: tuple[SpecimenResult, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing failed and something was accepted."""
        return self.rate(self.level).accepted > 0 and not self.failures

    @property
    def failures(self) -> list[SpecimenResult]:
        """The rejected trials, the worst first: those without an answer, then by distance from the optimum."""
        failed = [trial for trial in self.trials if trial.verdict(self.level) == REJECTED]
        return sorted(failed, key=lambda trial: -(math.inf if trial.off is None else trial.off))

    @property
    def skipped(self) -> list[SpecimenResult]:
        return [trial for trial in self.trials if trial.outcome == SKIPPED]

    @property
    def diagnoses(self) -> dict[str, int]:
        """How often each diagnosis occurs, the most frequent first."""
        return dict(Counter(trial.diagnosis for trial in self.failures).most_common())

    def rate(self, level: str) -> Rate:
        run = [trial for trial in self.trials if trial.verdict(level) not in (SKIPPED, UNDECIDED)]
        undecided = sum(trial.verdict(level) == UNDECIDED for trial in self.trials)
        times = [t.seconds if t.accepted(level) and t.seconds is not None else self.time_limit for t in run]
        accepted = sum(trial.accepted(level) for trial in run)
        share = accepted / len(run) if run else None
        return Rate(LEVELS[level], accepted, len(run), undecided, share, shifted_mean(times))

    def as_dict(self) -> dict[str, Any]:
        fields = ("solver", "formulation", "parameters", "level", "time_limit", "passed", "diagnoses")
        return {
            "schema": SCHEMA,
            **{field: getattr(self, field) for field in fields},
            "rates": {level: dict(zip(RATE, self.rate(level), strict=True)) for level in LEVELS},
            "trials": [trial.as_dict() for trial in self.trials],
        }


def shifted_mean(seconds: Sequence[float], shift: float = SHIFT) -> float | None:
    """The shifted geometric mean, which neither the shortest nor the longest times dominate."""
    if not seconds:
        return None
    return math.exp(sum(math.log(time + shift) for time in seconds) / len(seconds)) - shift


def check_found(solver: Contestant, time_limit: float) -> None:
    """Refuse a function that cannot be imported. Its module runs in a separate process."""
    if not isinstance(solver, InWorker):
        return
    patience = max(time_limit, CONFORM_TIME_LIMIT)
    with Worker(Path()) as worker:
        reply = worker.ask({"service": "find", "name": solver.name, "path": list(solver.path)}, patience)
    if reply is None:
        raise InputError(f"solver {solver.name}: importing it takes more than {patience:g} s: raise the time limit")
    if reply.get("fault"):
        where = "" if reply["fault"].startswith("solver ") else f"solver {solver.name}: cannot be imported: "
        raise InputError(f"{where}{reply['fault']}")


def assignment(
    solver: str | Function | None, formulation: str, parameters: Mapping[str, Any], *,
    command: str | None = None, time_limit: float = CONFORM_TIME_LIMIT, level: str = CONFORM_LEVEL,
) -> Assignment:  # fmt: skip
    """Check all settings and return them as one record."""
    chosen = formulations.get(formulation)
    if parameters:
        _check_parameters(chosen.name, parameters)
    check_name("level", level, LEVELS)
    if not (is_number(time_limit) and 0 < time_limit < math.inf):
        given = f"{time_limit:g}" if is_number(time_limit) else shown(time_limit)
        raise InputError(f"time limit {given} is not positive and finite: give seconds")
    if solver is None and command is not None:
        candidate: Contestant = External.of(command, "command", "--command")
    elif solver is not None and command is None:
        candidate = third_party(solver)
    else:
        raise InputError("give either a function, package.module:function, or a command with --command")
    return Assignment(candidate, chosen.name, dict(parameters), float(time_limit), level)


def _check_parameters(formulation: str, parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that no specimen accepts; limits may depend on the number of kernels."""
    refusals = []
    for name in suitable(formulation, loss=parameters.get("loss")):
        try:
            case_of(specimen(name), formulation, parameters, min(LEVELS.values()))
            return
        except InputError as fault:
            refusals.append(fault)
    if not refusals:
        raise InputError(f"no instance of the zoo suits {formulation} with loss {str(parameters.get('loss'))[:40]}")
    raise refusals[0]


def conform(
    solver: str | Function | None = None,
    formulation: str = FORMULATION,
    *,
    command: str | None = None,
    specimens: Sequence[str] | None = None,
    jobs: int | None = None,
    time_limit: float = CONFORM_TIME_LIMIT,
    level: str = CONFORM_LEVEL,
    done: Callable[[SpecimenResult], None] | None = None,
    **parameters: Any,
) -> Conformance:
    r"""Run a solver over the zoo and judge every answer.

    The work goes through joblib: `jobs` processes, or, inside `joblib.parallel_config`, whatever that says.

    Parameters
    ----------
    solver : str or callable, optional
        The solver, "package.module:function" or such a function. It is called with kernels, y and parameters.
    formulation : str, default="l1"
        Name of the formulation that it solves.
    command : str, optional
        Command with {instance} and {answer}, in place of a function.
    specimens : list of str, optional
        Names of instances. The default is all that suit the formulation and the loss.
    jobs : int, optional
        Processes.
    time_limit : float, default=20.0
        Seconds for each instance.
    level : {"low", "mid", "high"}, default="mid"
        What must be reached: 1e-3, 1e-6 or 1e-9.
    done : callable, optional
        Function that is called with every trial.
    **parameters : dict
        Parameters of the formulation. They come before those that an instance recommends.

    Returns
    -------
    Conformance
        Trials, success rates and times.

    Raises
    ------
    InputError
        If the solver cannot be found or does not fit.

    See Also
    --------
    verify : Judge one answer.

    Examples
    --------
    >>> import mklcvx
    >>> with open("mine.py", "w") as file:
    ...     _ = file.write("def even(kernels, y, C=1.0):\n    return {'weights': [1 / len(kernels)] * len(kernels)}\n")
    >>> mklcvx.conform("mine:even", "average", specimens=["by-hand"]).passed
    True
    """
    check_jobs(jobs=jobs)
    check_lists("a list of names", specimens=() if specimens is None else specimens)
    names = suitable(formulations.get(formulation).name, specimens, parameters.get("loss"))
    task = assignment(solver, formulation, parameters, command=command, time_limit=time_limit, level=level)
    check_found(task.solver, task.time_limit)
    trials = []
    for trial in shared_out(partial(_trial, task), names, jobs):
        trials.append(trial)
        if done is not None:
            done(trial)
    shown = task.solver.name if command is None else command
    return Conformance(shown, task.formulation, task.parameters, level, task.time_limit, tuple(trials))


def _trial(task: Assignment, room: Room, name: str) -> SpecimenResult:
    return room.trial(task, specimen(name))
