"""Specimens: instances with a name and a provenance, the same on every machine, and proved to be so by a checksum."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from .. import formulations
from ..errors import InternalError
from ..problem.instance import Instance
from .grid import checksum
from .plans import Optimum

RECORD = Path(__file__).with_name("recorded.json")
SINGLE = ("sum", "average", "l1", "sm1", "sm2", "smp", "square", "l2", "lp", "elastic", "li")
GROUPED = (*SINGLE, "ckl", "vskl")
PAIRS = ("ts", "ts_l1", "alignment")
LABELLED = ("ml_sum", "ml_minimax", *PAIRS, "hypergraph", "hypergraph_smooth")


@dataclass(frozen=True)
class Specimen:
    """A named instance: what is special, where it comes from, what it suits, and parameters to solve it with.

    `parameters` are recommended to every formulation that has them, `own` ones to those that they are listed for.
    `optimum`, where there is one, is known without any solver.
    """

    name: str
    kind: str
    special: str
    source: str
    build: Callable[[], Instance] = field(repr=False)
    seed: int | None = None
    suits: tuple[str, ...] = GROUPED
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"C": 1.0})
    optimum: Callable[[], Optimum] | None = field(default=None, repr=False)
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def instance(self) -> Instance:
        """The instance; refused where this machine makes another one than was recorded."""
        made = self.build()
        if checksum(made) != self.recorded["sha256"]:
            raise InternalError(
                f"specimen {self.name} is not the one on record: its source ({self.source}) or NumPy has changed"
            )
        return made

    def parameters_for(self, formulation: str) -> dict[str, Any]:
        """The recommended parameters that the formulation has."""
        known = formulations.get(formulation).parameter_names
        shared = {name: value for name, value in self.parameters.items() if name in known}
        return {**shared, **self.own.get(formulation, {})}

    @property
    def recorded(self) -> Mapping[str, Any]:
        """Numbers of kernels and samples, kind of targets, checksum."""
        return recorded()[self.name]

    def as_dict(self) -> dict[str, Any]:
        """Everything but the instance, in plain words and numbers."""
        return {
            "name": self.name,
            "kind": self.kind,
            "special": self.special,
            "source": self.source,
            "seed": self.seed,
            "suits": list(self.suits),
            "parameters": dict(self.parameters),
            "own_parameters": {name: dict(given) for name, given in self.own.items()},
            "optimum": self.optimum is not None,
            **self.recorded,
        }


@cache
def recorded() -> Mapping[str, Mapping[str, Any]]:
    return dict(json.loads(RECORD.read_text(encoding="utf-8")))


def measured(specimen: Specimen) -> dict[str, Any]:
    """What the record should say of a specimen."""
    made = specimen.build()
    return {
        "kernels": made.count,
        "samples": made.samples,
        "targets": made.targets.kind,
        "sha256": checksum(made),
    }
