"""The benchmarks: what solving costs in LIBSVM fits, how it grows, how often it succeeds, how much memory it takes.

    python validation/bench [--study headline|prices|growth|profiles|memory|beside]... [--quick]
                            [--external NAME=COMMAND]... [-o DIR]

Writes one CSV file per study, the pictures, and bench.md. Contestants run in turns in a process whose BLAS has one
thread; everybody's gap is recomputed by the same code (`mklcvx.bench`). External commands take part in the headline.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import platform
import sys
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where `shared` is

import beside
import growth
import headline
import memory
import prices
import profiles
from jobs import Study, rows, run
from mklcvx import InputError
from mklcvx.bench.external import External
from mklcvx.io.writing import write_text

WHOLE = {"headline": headline, "prices": prices, "growth": growth, "profiles": profiles, "memory": memory}
STUDIES = {**WHOLE, "beside": beside}  # by its name alone: others' programs have an environment of their own
RESULTS = Path(__file__).parent / "results"
PACKAGES = ("mklcvx", "numpy", "scipy", "scikit-learn", "cvxpy", "clarabel", "scs", "MKLpy", "himalaya")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--study", action="append", choices=list(STUDIES), help="all but beside if none is given")
    parser.add_argument("--quick", action="store_true", help="a smoke run: tiny, one round, no evidence")
    parser.add_argument("--external", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("-o", "--output", type=Path, help="a folder; validation/bench/results unless given")
    asked = parser.parse_args(arguments)
    whole = not asked.quick and not asked.study
    if asked.output is None and not whole:
        parser.error("a part of the benchmarks does not replace the results of all: give -o DIR")
    try:
        for text in asked.external:
            External.parse(text)
    except InputError as fault:
        parser.error(str(fault))
    folder = asked.output or RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    made: dict[str, Study] = {}
    for name in asked.study or WHOLE:
        made[name] = one(name, asked.quick, asked.external, folder)
        write_csv(folder / f"{name}.csv", made[name])
        write_text(folder / "bench.md", as_markdown(made, asked.quick, asked.study))
    return 0


def one(name: str, quick: bool, externals: Sequence[str], folder: Path) -> Study:
    module = STUDIES[name]
    jobs = module.jobs(quick, externals)
    told = TextColumn("{task.description}")
    columns = TextColumn(name), BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn(), told
    with Progress(*columns, console=Console(stderr=True)) as progress:
        shown = progress.add_task("", total=len(jobs))
        results = run(jobs, lambda words: progress.update(shown, description=words), lambda: progress.advance(shown))
    return module.study(results, folder)


def write_csv(path: Path, study: Study) -> None:
    table = rows(study.results)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(table[0]), restval="")
    writer.writeheader()
    writer.writerows(table)
    write_text(path, text.getvalue())


def as_markdown(made: dict[str, Study], quick: bool, asked: Sequence[str] | None) -> str:
    lines = ["# Benchmarks", "", preamble(quick, asked)]
    if quick:
        lines += ["", "**A smoke run (`--quick`): too small to be evidence.**"]
    for name, study in made.items():
        lines += ["", f"## {study.title}", "", *study.lines, ""]
        lines += [f"![{study.title}]({picture})\n" for picture in study.pictures]
        lines += [f"All numbers: [{name}.csv]({name}.csv)."]
    return "\n".join(lines).rstrip() + "\n"


def preamble(quick: bool, asked: Sequence[str] | None) -> str:
    command = " ".join(["python validation/bench", *(f"--study {name}" for name in asked or ()), *["--quick"] * quick])
    versions = ", ".join(f"{package} {_version(package)}" for package in PACKAGES)
    return (
        f"Written by `{command}` on {time.strftime('%Y-%m-%d')}: Python {platform.python_version()}, {versions}; "
        f"{os.cpu_count()} cores, {_gigabytes():.0f} GB. A *fit* is one fit of LIBSVM (scikit-learn's SVC) on the "
        "average kernel, same C, default tolerance, measured in the same rounds; BLAS has one thread, and times are "
        "those of the CPU. Seconds are those of one machine; ratios are what is claimed. The gap is the relative "
        "duality gap of what was returned, recomputed by one piece of code for everybody. "
        "See [how to read this](../../../docs/bench.md)."
    )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _gigabytes() -> float:
    return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")) / 1e9


if __name__ == "__main__":
    sys.exit(main())
