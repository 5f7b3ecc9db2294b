"""Formulations of two classes for several: one machine for each class against the rest, or for each pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import formulations
from ..certificate.machines import Machines
from ..certificate.solution import Solution
from ..errors import InputError, Interrupted
from ..formulations._formulation import Given, Own
from ..formulations.losses import HINGE, KNOWN, LABELS
from ..problem.instance import Instance
from ..problem.machines import check_multi_class, machines_for
from ..problem.preprocessing import Preprocessing
from ..problem.targets import Targets
from .paths import each
from .solving import solve

MULTI_CLASS = "ovr"  # unless another is asked for


class MachineProblem(NamedTuple):
    """The problem of one machine, and its samples."""

    instance: Instance
    members: NDArray[np.intp]


def needs_machines(instance: Instance, formulation: str, points: Sequence[Given]) -> bool:
    """Whether the targets are classes, and the formulation with the loss of each point tells two apart."""
    if instance.targets.kind != "classes" or not formulations.get(formulation).loss_names:
        return False
    pairs = [KNOWN.get(str(point.get("loss")), HINGE).targets == LABELS for point in points]
    if any(pairs) and not all(pairs):
        raise InputError("loss: some of these losses are of all classes at once, some are of two: run them apart")
    return all(pairs)


def parts_of(instance: Instance, multi_class: str) -> list[MachineProblem]:
    """The problems of the machines, in their order."""
    check_multi_class(multi_class)
    codes = np.unique(instance.targets.values, return_inverse=True)[1].astype(np.intp)
    instance, parts = instance.remembering(), []
    for machine in machines_for(len(instance.targets.names), multi_class):
        members = machine.members(codes)
        targets = Targets("y", machine.signs(codes[members]), ("y",))
        parts.append(MachineProblem(instance.of_samples(members, targets), members))
    return parts


def joined(
    instance: Instance, multi_class: str, parts: Sequence[MachineProblem], solutions: Sequence[Solution],
    preprocessing: Preprocessing | None = None,
) -> Machines:  # fmt: skip
    """The solutions of all machines as one answer."""
    targets = instance.targets
    return Machines(
        multi_class, targets.names, targets.classes(), targets.classes_kind(), tuple(solutions),
        tuple(part.members for part in parts), instance.samples, preprocessing,
    )  # fmt: skip


def solve_by_machines(
    instance: Instance, formulation: str, multi_class: str = MULTI_CLASS, *,
    preprocessing: Preprocessing | None = None, report: Callable[[str], None] = lambda _: None, **settings: Own,
) -> Machines:  # fmt: skip
    """Solve the problems of all machines; `settings` are the other arguments of `solve`."""
    parts, solutions = parts_of(instance, multi_class), []
    for number, part in enumerate(parts):
        report(f"{formulation}: machine {number + 1} of {len(parts)}")
        try:
            solutions.append(solve(part.instance, formulation, **settings))
        except KeyboardInterrupt:
            ended = f"{len(solutions)} of {len(parts)} machines had ended"
            raise Interrupted(tuple(solutions), ended) from None
    return joined(instance, multi_class, parts, solutions, preprocessing)


def each_by_machines(
    instance: Instance, formulation: str, points: Sequence[Given], multi_class: str = MULTI_CLASS, *,
    preprocessing: Preprocessing | None = None, report: Callable[[str], None] = lambda _: None, **settings: Own,
) -> Iterator[Machines]:  # fmt: skip
    """One answer after the other along a grid; every machine starts where it ended at the last point."""
    parts = parts_of(instance, multi_class)

    def named(number: int) -> Callable[[str], None]:
        return lambda text: report(f"machine {number + 1} of {len(parts)}, {text}")

    runs = [each(part.instance, formulation, points, report=named(i), **settings) for i, part in enumerate(parts)]
    for solutions in zip(*runs, strict=True):
        yield joined(instance, multi_class, parts, solutions, preprocessing)
