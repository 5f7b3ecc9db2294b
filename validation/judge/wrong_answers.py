"""Wrong answers as data: lists of answers that are not to be accepted, the first six each by another hand.

`lists/NAME.json` has the instances and the answers, `lists/NAME.npz` the arrays that they refer to. Nearly every answer
comes from really solving the wrong problem, or from a right answer that was spoiled on the way. What explains it was
written down before the judge was run on any of them: in `accepted`, sets of kinds, each of which is true of the
answer (`blind`, `second`, `third`), or in `says`, in words (`faults`, by the author of the judge, `mistakes`,
`blunders`). With the latter `named` is the name that the judge has for it by now, None where it has none; `pattern` is
what a report has to say for its author to find the fault, unless it says something else that is as true
(`other_words`); and `really` is the instance that was really solved. `losses` and `numbers` are by the author of the
judge, for the tests: mistakes with other losses than the hinge, and ones that have no name of their own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mklcvx import Instance, Report, verify

FOLDER = Path(__file__).parent / "lists"
CORPORA = ("faults", "mistakes", "blunders")


@dataclass(frozen=True)
class Problem:
    instance: Instance
    formulation: str
    parameters: dict[str, Any]
    title: str = ""


@dataclass(frozen=True)
class WrongAnswer:
    name: str
    instance: Instance
    formulation: str
    parameters: dict[str, Any]
    parts: dict[str, Any]
    family: str = ""
    category: str = ""
    accepted: tuple[frozenset[str], ...] = ()
    double: bool = False
    says: str = ""
    named: str | None = None
    pattern: str = ""
    other_words: bool = False
    tol: float = 1e-6
    really: Instance | None = None

    def report(self, **changed: Any) -> Report:
        """The judge's; `changed` are other arguments of `verify`."""
        given = {"tol": self.tol, "parameters": self.parameters, **self.parts, **changed}
        return verify(given.pop("instance", self.instance), self.formulation, **given)


class WrongAnswers:
    """A list. `blind`: how many of how many the judge named when it was first tried on them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.record = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
        with np.load(FOLDER / f"{name}.npz") as arrays:
            self.arrays = dict(arrays)
        self.blind = tuple(self.record.get("blind", ()))

    @cached_property
    def answers(self) -> list[WrongAnswer]:
        return [self._answer(row) for row in self.record["answers"]]

    @cached_property
    def problems(self) -> list[Problem]:
        """Problems of all families, for answers at random."""
        return [
            Problem(self.instance(row["instance"]), row["formulation"], self._read(row["parameters"]), row["title"])
            for row in self.record["problems"]
        ]

    @cache  # noqa: B019 - lists are loaded once
    def instance(self, index: int) -> Instance:
        return Instance(**self._read(self.record["instances"][index]))

    def _answer(self, row: Mapping[str, Any]) -> WrongAnswer:
        read = {
            **row,
            "instance": self.instance(row["instance"]),
            "parameters": self._read(row["parameters"]),
            "parts": self._read(row["parts"]),
            "accepted": tuple(frozenset(kinds) for kinds in row.get("accepted", ())),
            "really": None if "really" not in row else self.instance(row["really"]),
        }
        return WrongAnswer(**read)

    def _read(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._value(value) for name, value in fields.items()}

    def _value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._value(one) for one in value]
        if not isinstance(value, dict):
            return value
        ((kind, content),) = value.items()
        return {"array": self.arrays.get, "dict": self._read, "float": float}[kind](content)


@cache
def wrong_answers(name: str) -> WrongAnswers:
    return WrongAnswers(name)
