"""A trial: an answer for a problem, and the sentence that is true if the one is optimal for the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...problem.instance import Instance
from ..answers import Answer
from ..case import Case


@dataclass(frozen=True)
class Trial:
    """An answer for a problem; what is None is as it was. A `task` stands in for the one that instance and parameters
    make; `also` are trials that must hold as well."""

    name: str
    words: str
    answer: Answer
    instance: Instance | None = None
    formulation: str | None = None
    parameters: Mapping[str, Any] | None = None
    task: Any = None
    also: tuple[Trial, ...] = ()

    @property
    def unchanged(self) -> bool:
        return all(one is None for one in self._problem)

    @property
    def problem(self) -> str:
        """A digest of what is changed in the problem: two trials share it if they pose the same one."""
        from joblib import hash as digest

        return str(digest(self._problem))

    @property
    def _problem(self) -> tuple[Any, ...]:
        return self.instance, self.formulation, self.parameters, self.task


Trials = Iterator[Trial]
Hypothesis = Callable[[Case, Answer], Trials]
