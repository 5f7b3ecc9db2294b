"""A solver under test, specimen by specimen: one test for each instance of the zoo that suits the formulation.

    pytest --mklcvx-solver=package.module:function [--mklcvx-formulation=l1] [--mklcvx-level=low|mid|high]

The tests are added to those that pytest collects anyway and are named mklcvx::FORMULATION::SPECIMEN, so that
`-k mklcvx` runs them alone. Without the first option nothing is imported and nothing is done.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mklcvx", "multiple kernel learning: conformance of a solver")
    group.addoption("--mklcvx-solver", metavar="MODULE:FUNCTION", help="the solver: function(kernels, y, **parameters)")
    group.addoption("--mklcvx-formulation", default="l1", metavar="NAME", help="what it solves (l1)")
    group.addoption("--mklcvx-level", default="mid", metavar="LEVEL", help="accuracy: low 1e-3, mid 1e-6, high 1e-9")
    group.addoption("--mklcvx-time-limit", type=float, default=20.0, metavar="SECONDS", help="for each instance (20)")


@pytest.hookimpl(tryfirst=True)  # before tests are deselected by name
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    solver = config.getoption("--mklcvx-solver")
    if solver is None:
        return
    from mklcvx.bench.conformance.summary import assignment, check_found
    from mklcvx.bench.conformance.trials import suitable
    from mklcvx.errors import InputError

    name, level = config.getoption("--mklcvx-formulation"), config.getoption("--mklcvx-level")
    try:
        task = assignment(solver, name, {}, time_limit=config.getoption("--mklcvx-time-limit"), level=level)
        check_found(task.solver, task.time_limit)
    except InputError as fault:
        raise pytest.UsageError(str(fault)) from None
    for specimen in suitable(task.formulation):
        nodeid = f"mklcvx::{task.formulation}::{specimen}"
        items.append(SpecimenTest.from_parent(session, name=nodeid, nodeid=nodeid, task=task, specimen=specimen))


class Rejected(Exception):
    """What is wrong with an answer, in words."""


class SpecimenTest(pytest.Item):
    """One instance: the solver's answer must be accepted."""

    def __init__(self, *, task: Any, specimen: str, **given: Any) -> None:
        super().__init__(**given)
        self.task, self.specimen = task, specimen

    def runtest(self) -> None:
        from mklcvx import zoo

        found = _room(self.config).trial(self.task, zoo.specimen(self.specimen))
        verdict = found.verdict(self.task.level)
        if verdict in ("skipped", "undecided"):
            pytest.skip(found.words or "the optimum itself is not known that accurately")
        if verdict != "accepted":
            off = "" if found.off is None else f"{', '.join(found.wrong)} off by {found.off:.1e}; "
            raise Rejected(f"{self.specimen}: {found.outcome}: {off}{found.words}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return str(excinfo.value) if isinstance(excinfo.value, Rejected) else super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


def _room(config: pytest.Config) -> Any:
    """The process of the solver: one for the whole run."""
    from mklcvx.bench.conformance.trials import Room

    room = getattr(config, "_mklcvx_room", None)
    if room is None:
        room = Room()
        room.__enter__()
        config._mklcvx_room = room  # type: ignore[attr-defined]
        config.add_cleanup(lambda: room.__exit__())
    return room
