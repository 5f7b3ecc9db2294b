"""`mklcvx zoo`: list the specimens, and export them as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError

app = typer.Typer(invoke_without_command=True, rich_markup_mode="markdown")

ENDINGS = {"npz": ".npz", "mat": ".mat", "json": ".json", "csv": ""}  # csv is a folder
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
    elif as_json:
        typer.echo(_index())
    else:
        from ..zoo import SPECIMENS
        from .display import zoo_table

        zoo_table(SPECIMENS)


def _index() -> str:
    from ..zoo import SPECIMENS

    index = {"schema": "mklcvx.zoo/1", "instances": [specimen.as_dict() for specimen in SPECIMENS]}
    return json.dumps(index, ensure_ascii=False, indent=1)


@app.command()
def export(
    name: Annotated[str, typer.Argument(help="An instance of the zoo, or 'all'.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output",
            help="A file (.npz, .mat, .json) or a new folder (of csv files); for 'all' a new folder of files.",
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--as", help="npz, mat, json or csv, where the output's name does not say."),
    ] = None,
) -> None:  # fmt: skip
    """Write an instance of the zoo to a file, or all of them into a folder.

    Example: `mklcvx zoo export planted-l1 -o planted.mat`
    """
    from ..io.files import check_instance_output, save_instance
    from ..zoo import specimen

    if kind is not None and kind not in ENDINGS:
        raise InputError(f"--as {kind!r} is unknown: choose npz, mat, json or csv")
    ending = ENDINGS[kind or "npz"]
    if name == "all":
        _export_all(output, ending)
        return
    chosen = specimen(name)
    if output is None:
        output = Path(chosen.name + ending)
    elif kind is not None and output.suffix != ending:
        raise InputError(f"--as {kind} and --output {output} contradict each other: leave out --as")
    check_instance_output(output)
    instance = chosen.instance()
    save_instance(output, instance)
    typer.echo(f"{chosen.name}: {instance.count} kernels, {instance.samples} samples, written to {output}")


def _export_all(output: Path | None, ending: str) -> None:
    from ..io.files import save_instance
    from ..io.writing import write_folder, write_text
    from ..zoo import SPECIMENS

    if output is None:
        raise InputError("zoo export all: no folder given: name one with -o")

    def write(folder: Path) -> None:
        for specimen in SPECIMENS:
            save_instance(folder / (specimen.name + ending), specimen.instance())
        write_text(folder / INDEX, _index() + "\n")

    write_folder(output, write)
    typer.echo(f"{len(SPECIMENS)} instances and {INDEX} written to {output}")
