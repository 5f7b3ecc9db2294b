"""Trials: a solver solves a specimen of the zoo in a separate process, and its answer is judged.

The value of every part of the answer is compared with the certified optimum, at three levels of accuracy. A solver that
raises an error, dies or takes too long is reported as such. Specimens are distributed in batches through joblib, with
whatever back end it is configured to use; every batch has one process for the solver.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ...errors import InputError
from ...io.files import save_instance
from ...problem.targets import LABELLED
from ...verification.case import ACCEPTED, REJECTED, Case, verdict_of
from ...verification.diagnosis.diagnose import diagnose
from ...verification.families import judged_parts
from ...zoo import SPECIMENS, Specimen, specimen
from ..comparison import Contestant
from ..process import Attempt, Setting, Worker
from .references import case_of

LEVELS = {"low": 1e-3, "mid": 1e-6, "high": 1e-9}
BATCH = 10  # specimens that share one process: starting it costs more than most runs
Item = TypeVar("Item")
Result = TypeVar("Result")
JUDGED, ERROR, TIMEOUT, SKIPPED = "judged", "error", "timeout", "skipped"


@dataclass(frozen=True)
class Assignment:
    """The settings of all trials of a run. Failures at `level` are diagnosed."""

    solver: Contestant
    formulation: str
    parameters: Mapping[str, Any]
    time_limit: float
    level: str = "mid"


@dataclass(frozen=True)
class SpecimenResult:
    """The result on one specimen. `off` is the tolerance at which the answer would be accepted: the largest violation
    or distance from the optimum of any of its parts, relative to the scale of the problem."""

    specimen: str
    outcome: str
    seconds: float | None = None
    off: float | None = None
    verdicts: Mapping[str, str] = field(default_factory=dict)
    wrong: tuple[str, ...] = ()
    diagnosis: str = ""
    words: str = ""

    def verdict(self, level: str) -> str:
        """The verdict at a level. A solver without an answer has failed at every level."""
        return SKIPPED if self.outcome == SKIPPED else self.verdicts.get(level, REJECTED)

    def accepted(self, level: str) -> bool:
        return self.verdict(level) == ACCEPTED

    def as_dict(self) -> dict[str, Any]:
        record = asdict(self)
        wrong, diagnosis, words = (record.pop(name) for name in ("wrong", "diagnosis", "words"))
        return {**record, "wrong_parts": list(wrong), "diagnosis": diagnosis or None, "message": words}


def suitable(formulation: str, names: Sequence[str] | None = None, loss: object = None) -> list[str]:
    """The specimens that suit a formulation with a loss: all of the zoo, or the named ones, each of which must suit it.
    Without a loss these are the ones with labels."""
    if names is None:
        return [chosen.name for chosen in SPECIMENS if _suits(chosen, formulation, loss)]
    for name in names:
        if not _suits(specimen(name), formulation, loss):
            said = formulation if loss is None else f"{formulation} with loss {str(loss)[:40]}"
            raise InputError(f"instance {name!r} does not suit {said}: see 'mklcvx zoo --json'")
    return list(dict.fromkeys(names))


def _suits(chosen: Specimen, formulation: str, loss: object) -> bool:
    fits = chosen.recorded["targets"] in LABELLED if loss is None else loss in chosen.losses
    return formulation in chosen.suits and fits


def shared_out(work: Callable[[Room, Item], Result], items: Sequence[Item], jobs: int | None) -> Iterator[Result]:
    """The results of `work` for all items, in order, in `jobs` processes or as joblib is configured."""
    from joblib import Parallel, delayed

    batches = [items[start : start + BATCH] for start in range(0, len(items), BATCH)]
    for batch in Parallel(n_jobs=jobs, return_as="generator")(delayed(_batch)(work, batch) for batch in batches):
        yield from batch


def _batch(work: Callable[[Room, Item], Result], items: Sequence[Item]) -> list[Result]:
    with Room() as room:
        return [work(room, item) for item in items]


class Room:
    """A folder for files and a process for the solver, which successive trials share."""

    def __enter__(self) -> Room:
        self._place = tempfile.TemporaryDirectory(prefix="mklcvx.")
        self._worker = Worker(Path(self._place.name))
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.end()
        self._place.cleanup()

    def trial(self, assignment: Assignment, chosen: Specimen) -> SpecimenResult:
        try:
            case = case_of(chosen, assignment.formulation, assignment.parameters, min(LEVELS.values()))
        except InputError as fault:
            return SpecimenResult(chosen.name, SKIPPED, words=str(fault))
        attempt = self.attempt(case, assignment.solver, chosen.name, assignment.time_limit)
        return _judged(case, attempt, chosen.name, assignment.level)

    def attempt(self, case: Case, solver: Contestant, name: str, time_limit: float) -> Attempt:
        """Run a solver once. Its answer file, if any, is in `folder`."""
        file = Path(self._place.name) / f"{name}.npz"
        if not file.exists():
            save_instance(file, case.instance, compressed=False)
        self.folder = Path(self._place.name) / "answers"
        self.folder.mkdir(exist_ok=True)
        self._worker.instance = file
        setting = Setting(case.formulation.name, file, self.folder, None, time_limit)
        return solver.run(setting, case.parameters, self._worker)


def _judged(case: Case, attempt: Attempt, name: str, level: str) -> SpecimenResult:
    if attempt.skipped:
        return SpecimenResult(name, SKIPPED, words=attempt.skipped)
    if attempt.fault:
        return SpecimenResult(name, ERROR, diagnosis=ERROR, words=attempt.fault)
    if attempt.cut or attempt.answer is None:
        words = attempt.message or "returned after the time limit"
        return SpecimenResult(name, TIMEOUT, diagnosis=TIMEOUT, words=words)
    try:
        parts, _ = judged_parts(case, attempt.answer, rigorous=True)
    except (InputError, ArithmeticError) as fault:
        return SpecimenResult(name, ERROR, attempt.seconds, diagnosis="unusable", words=str(fault))
    verdicts = {key: verdict_of(parts, tolerance) for key, tolerance in LEVELS.items()}
    wrong = tuple(part.name for part in parts if part.off > LEVELS[level])
    judged = SpecimenResult(name, JUDGED, attempt.seconds, max(part.off for part in parts), verdicts, wrong)
    if verdicts[level] != REJECTED:
        return judged
    with np.errstate(all="ignore"):  # hypotheses may divide by zeros of the answer
        diagnosis = diagnose(case, attempt.answer, parts, LEVELS[level])
    return judged if diagnosis is None else replace(judged, diagnosis=diagnosis.name, words=diagnosis.words)
