"""The golden optima of losses: every loss with six regularisers on two small specimens, two witnesses each.

    python validation/golden --losses [--only NAME]... [-o validation/golden/losses.json]

NAME is a specimen, a formulation or a loss. The first witness is Clarabel, the second SCS: two solvers, each with a
certificate of its own, which pays for rounding. Both intervals contain the optimum, so that they overlap. Rows that the
file has are kept and not computed again, unless they are named by --only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mklcvx import solve
from mklcvx.formulations import losses
from mklcvx.io.writing import write_whole
from mklcvx.problem.instance import Instance
from mklcvx.zoo import specimen

SCHEMA = "mklcvx.golden_losses/1"
FILE = Path(__file__).with_name("losses.json")
REGULARISERS = ("sum", "l1", "sm2", "l2", "elastic", "li")
ON = {
    losses.LABELS: ("by-hand", "three-samples"),
    losses.REAL: ("response", "response-ties"),
    losses.COUNTS: ("counts", "counts-large"),
    losses.NONE: ("one-cloud", "one-cloud-outliers"),
}
NU = {losses.NU.name: {"nu": 0.5}}  # it has no default
WITNESSES = {"clarabel": 1e-9, "scs": 1e-6}  # and the relative gap that each is asked for
Key = tuple[str, str, str]  # specimen, formulation, loss


def wanted(only: list[str]) -> Iterator[Key]:
    """In the order of the losses; ν-forms have no li."""
    for loss in losses.EVERY:
        for name in ON[loss.targets]:
            for formulation in REGULARISERS:
                fits = not (loss.free_margin and formulation == "li")
                if fits and (not only or {name, formulation, loss.name} & set(only)):
                    yield name, formulation, loss.name


def row(key: Key, instance: Instance) -> dict[str, Any]:
    name, formulation, loss = key
    chosen = specimen(name)
    given = {**chosen.parameters_for(formulation, loss), **NU.get(loss, {})}
    found = {solver: solve(instance, formulation, solver=solver, tol=tol, **given) for solver, tol in WITNESSES.items()}
    first, second = (one.certificate for one in found.values())
    head = {"specimen": name, "formulation": formulation, "loss": loss, "sha256": chosen.recorded["sha256"]}
    interval = {"lower": first.lower, "upper": first.upper, "scale": first.scale}
    parameters = dict(found["clarabel"].parameters)
    return {**head, "parameters": parameters, **interval, "second": [second.lower, second.upper]}


def read(path: Path) -> dict[Key, dict[str, Any]]:
    rows = json.loads(path.read_text(encoding="utf-8"))["optima"] if path.exists() else []
    return {(one["specimen"], one["formulation"], one["loss"]): one for one in rows}


def write(path: Path, known: Mapping[Key, dict[str, Any]]) -> None:
    lines = ",\n".join(json.dumps(known[key], allow_nan=False) for key in wanted([]) if key in known)
    text = f'{{"schema": "{SCHEMA}", "optima": [\n{lines}\n]}}\n'
    write_whole(path, lambda file: file.write(text.encode("utf-8")))


def renewed(path: Path, only: list[str]) -> Iterator[Key]:
    """Compute what is missing or asked for, and write the file after every row."""
    known = read(path)
    built: dict[str, Instance] = {}
    for key in wanted(only):
        if key in known and not only:
            continue
        if key[0] not in built:
            built[key[0]] = specimen(key[0]).instance()
        known[key] = row(key, built[key[0]])
        write(path, known)
        yield key
