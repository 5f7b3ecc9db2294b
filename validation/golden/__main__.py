"""The golden optima: for every specimen of the zoo and every formulation it suits, an interval that is proved.

    python validation/golden [--only NAME]... [-o validation/golden/golden.json] [--time-limit 60]
    python validation/golden --losses [--only NAME]... [-o validation/golden/losses.json]

NAME is a specimen, a formulation, or both as SPECIMEN/FORMULATION. What is computed replaces what the file has of it,
the rest stays; the file is written after every specimen, so that an interrupted run keeps what it has. Specimens with a
response or without targets, and losses other than the hinge, are in a file of their own (`of_losses.py`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

import of_losses
from mklcvx.errors import InputError
from mklcvx.io.writing import write_whole
from mklcvx.problem import targets
from mklcvx.verification.proof import WIDTH, prove
from mklcvx.zoo import SPECIMENS, Specimen

SCHEMA = "mklcvx.golden/1"
FILE = Path(__file__).with_name("golden.json")
LABELLED = [specimen for specimen in SPECIMENS if specimen.recorded["targets"] in targets.LABELLED]
KEPT = ("lower", "upper", "relative_width", "scale", "why_wide", "solver")
Records = dict[tuple[str, str], dict[str, Any]]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", metavar="NAME", help="a specimen, a formulation, or both with a /")
    parser.add_argument("-o", "--output", type=Path, help="the file to write, or to renew")
    parser.add_argument("--losses", action="store_true", help="the optima of losses, which have a file of their own")
    parser.add_argument("--time-limit", type=float, default=60.0, help="seconds for one solve")
    asked = parser.parse_args(arguments)
    if asked.losses:
        return with_losses(parser, asked.only or [], asked.output or of_losses.FILE)
    asked.output = asked.output or FILE
    wanted = chosen(asked.only or [])
    if not wanted:
        parser.error(f"--only {' '.join(asked.only)}: no specimen, formulation or pair of that name; see 'mklcvx zoo'")
    known, console = read(asked.output), Console(stderr=True)
    with Progress(console=console) as progress:
        bar = progress.add_task("golden optima", total=sum(len(names) for _, names in wanted))
        for specimen, names in wanted:
            instance = specimen.instance()
            for name in names:
                progress.update(bar, description=f"{specimen.name}/{name}")
                known[specimen.name, name] = record(specimen, name, instance, asked.time_limit)
                progress.advance(bar)
            write(asked.output, known)
    console.print(counted(known))
    return 0


def with_losses(parser: argparse.ArgumentParser, only: list[str], output: Path) -> int:
    if not list(of_losses.wanted(only)):
        parser.error(f"--only {' '.join(only)}: no specimen, formulation or loss of that name")
    console = Console(stderr=True)
    for key in of_losses.renewed(output, only):
        console.print("/".join(key))
    console.print(f"{len(of_losses.read(output))} optima of losses")
    return 0


def chosen(only: list[str]) -> list[tuple[Specimen, list[str]]]:
    """The formulations to compute, specimen by specimen."""
    found = []
    for specimen in LABELLED:
        names = [f for f in specimen.suits if not only or {specimen.name, f, f"{specimen.name}/{f}"} & set(only)]
        if names:
            found.append((specimen, names))
    return found


def record(specimen: Specimen, name: str, instance: Any, time_limit: float) -> dict[str, Any]:
    """What the file says of one optimum."""
    head = {"specimen": specimen.name, "formulation": name, "sha256": specimen.recorded["sha256"]}
    try:
        proof = prove(instance, name, time_limit=time_limit, **specimen.parameters_for(name)).as_dict()
    except InputError as fault:
        return {**head, "parameters": specimen.parameters_for(name), "refused": str(fault)}
    return {**head, "parameters": proof["parameters"], **{key: proof[key] for key in KEPT}}


def read(path: Path) -> Records:
    if not path.exists():
        return {}
    rows = json.loads(path.read_text(encoding="utf-8"))["optima"]
    return {(row["specimen"], row["formulation"]): row for row in rows}


def write(path: Path, known: Mapping[tuple[str, str], dict[str, Any]]) -> None:
    """In the order of the catalogue; what is no longer in the zoo is dropped."""
    keys = [(specimen.name, name) for specimen in LABELLED for name in specimen.suits]
    lines = ",\n".join(json.dumps(known[key], ensure_ascii=False, allow_nan=False) for key in keys if key in known)
    head = json.dumps({"schema": SCHEMA, "width": WIDTH})[:-1]
    text = f'{head}, "optima": [\n{lines}\n]}}\n'
    write_whole(path, lambda file: file.write(text.encode("utf-8")))


def counted(known: Mapping[tuple[str, str], dict[str, Any]]) -> str:
    widths = [row.get("relative_width") for row in known.values()]
    sharp = sum(width is not None and width <= WIDTH for width in widths)
    return f"{len(widths)} optima, {sharp} of them enclosed to a relative width of {WIDTH:g}"


if __name__ == "__main__":
    sys.exit(main())
