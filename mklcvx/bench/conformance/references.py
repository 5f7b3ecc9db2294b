"""The optimum that answers on a specimen are judged against: a stored enclosure if there is one, else a certificate."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from ...certificate import Certificate
from ...formulations import losses
from ...verification.case import Case, Enclosure, enclosure_of, pose
from ...zoo import Specimen

# Proved enclosures. They exist only in a checkout: computing them takes too long at run time.
GOLDEN = Path(__file__).resolve().parents[3] / "validation" / "golden" / "golden.json"
LOSSES = GOLDEN.with_name("losses.json")  # certificates of two solvers


@dataclass(frozen=True)
class ProvedCase(Case):
    """A problem whose optimum has been enclosed before, so that it need not be solved."""

    proved: Enclosure | None = None

    @cached_property
    def known(self) -> Enclosure:
        return super().known if self.proved is None else self.proved


def case_of(specimen: Specimen, formulation: str, params: Mapping[str, Any], tolerance: float) -> ProvedCase:
    """Pose a specimen as a problem; `params` override the parameters that the specimen recommends."""
    recommended = dict(specimen.parameters_for(formulation, params.get("loss")))
    loss = losses.KNOWN.get(str(params.get("loss")))
    if "nu" in params and (loss is None or loss.parameter.name == "nu"):
        recommended.pop("C", None)  # they exclude each other
    posed = pose(specimen.instance(), formulation, {**recommended, **params}, tolerance)
    proved = enclosed(specimen, formulation, posed.parameters)
    return ProvedCase(posed.instance, posed.formulation, posed.parameters, posed.task, tolerance, proved)


def enclosed(specimen: Specimen, formulation: str, parameters: Mapping[str, Any]) -> Enclosure | None:
    """The golden enclosure of exactly this problem, or None."""
    loss = parameters.get("loss")
    entry = _golden(GOLDEN if loss is None else LOSSES).get((specimen.name, formulation, loss))
    if entry is None or entry["sha256"] != specimen.recorded["sha256"] or entry["parameters"] != dict(parameters):
        return None
    return enclosure_of(Certificate(float(entry["lower"]), float(entry["upper"]), float(entry["scale"])))


@cache
def _golden(path: Path) -> dict[tuple[str, str, str | None], dict[str, Any]]:
    if not path.is_file():
        return {}
    entries = json.loads(path.read_text(encoding="utf-8"))["optima"]
    known = [entry for entry in entries if entry.get("lower") is not None]
    return {(entry["specimen"], entry["formulation"], entry.get("loss")): entry for entry in known}
