"""`mklcvx zoo`: the specimens listed, and exported as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError

app = typer.Typer(invoke_without_command=True, rich_markup_mode="markdown")

ENDINGS = {"npz": ".npz", "mat": ".mat", "json": ".json", "csv": ""}  # without an ending: a folder of csv files
INDEX = "zoo.json"


@app.callback()
def zoo(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the zoo: named instances, the same on every machine, with their provenance."""
    if context.invoked_subcommand is not None:
        if as_json:
            raise InputError("--json: lists the zoo, it exports nothing: leave it out, or name the format with --as")
        return
    from ..zoo import SPECIMENS

    if as_json:
        typer.echo(json.dumps(_index([specimen.name for specimen in SPECIMENS]), ensure_ascii=False, indent=1))
        return
    from .display import zoo_table

    zoo_table(SPECIMENS)


@app.command()
def export(
    name: Annotated[str, typer.Argument(help="An instance of the zoo, or 'all'.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output",
            help="A file (.npz, .mat, .json) or a new folder (of csv files); for 'all' a new folder of files.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--as", help="npz, mat, json or csv, where the output's name does not say.", show_default=False),
    ] = None,
) -> None:  # fmt: skip
    """Write an instance of the zoo to a file, or all of them into a folder.

    Example: `mklcvx zoo export planted-l1 -o planted.mat`
    """
    from ..zoo import SPECIMENS, specimen

    if kind is not None and kind not in ENDINGS:
        raise InputError(f"--as {kind!r} is unknown: choose npz, mat, json or csv")
    if name == "all":
        _export_all([one.name for one in SPECIMENS], output, kind or "npz")
        return
    chosen = specimen(name)
    if output is None:
        output = Path(chosen.name + ENDINGS[kind or "npz"])
    elif kind is not None and output.suffix != ENDINGS[kind]:
        raise InputError(f"--as {kind} and --output {output} contradict each other: leave out --as")
    from ..io.files import check_instance_output, save_instance

    check_instance_output(output)
    instance = chosen.instance()
    save_instance(output, instance)
    typer.echo(f"{chosen.name}: {instance.count} kernels, {instance.samples} samples, written to {output}")


def _export_all(names: list[str], output: Path | None, kind: str) -> None:
    from ..io.files import save_instance, write_folder
    from ..zoo import specimen

    if output is None:
        raise InputError("zoo export all: no folder given: name one with -o")

    def write(folder: Path) -> None:
        for name in names:
            save_instance(folder / (name + ENDINGS[kind]), specimen(name).instance())
        text = json.dumps(_index(names), ensure_ascii=False, indent=1) + "\n"
        (folder / INDEX).write_text(text, encoding="utf-8")

    write_folder(output, write)
    typer.echo(f"{len(names)} instances and {INDEX} written to {output}")


def _index(names: list[str]) -> dict[str, object]:
    from ..zoo import specimen

    return {"schema": "mklcvx.zoo/1", "instances": [specimen(name).as_dict() for name in names]}
