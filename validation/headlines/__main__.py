"""Measure two papers' headline results, how cost grows, as ratios, and write what came out.

    python validation/headlines [HEADLINE...] [--quick] [--folder validation/headlines]

Writes headlines.md, headlines.json and the pictures. BLAS is kept to one thread; contestants take turns.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from threadpoolctl import threadpool_limits

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where `shared` is

import many_labels
from measuring import Headline, Setting

import hypergraphs
from mklcvx.io.writing import write_text

HEADLINES = {"many_labels": many_labels, "hypergraphs": hypergraphs}
SCHEMA = "mklcvx.headlines/1"
CAVEAT = (
    "The sentence that opens each part is chosen by rules in the code. Some of these rules were settled after a run of "
    "the same measurements had been seen, so the sentences summarise and do not confirm: read the tables."
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headlines", nargs="*", choices=[[], *HEADLINES], help="all if none is given")
    parser.add_argument("--quick", action="store_true", help="a smoke run: small, few repeats, no evidence")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent, help="where the files go")
    asked = parser.parse_args(arguments)
    asked.folder.mkdir(parents=True, exist_ok=True)
    started, found = time.perf_counter(), {}
    console = Console(stderr=True)
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=console) as progress, threadpool_limits(1):
        shown = progress.add_task("headlines")
        setting = Setting(asked.quick, asked.folder, lambda words: progress.update(shown, description=words))
        for name in asked.headlines or HEADLINES:
            found[name] = HEADLINES[name].run(setting)
            write(found, setting, time.perf_counter() - started)
    for headline in found.values():
        console.print(headline.verdict, "\n")
    return 0


def write(found: dict[str, Headline], setting: Setting, seconds: float) -> None:
    """After every headline anew: what was measured stays, whatever comes after it."""
    write_text(setting.folder / "headlines.md", as_markdown(found, setting.quick, seconds))
    write_text(setting.folder / "headlines.json", as_json(found, setting.quick, seconds))


def as_markdown(found: dict[str, Headline], quick: bool, seconds: float) -> str:
    lines = [
        "# Headline results, measured",
        "",
        "What two papers are known for, measured in one run with the algorithms of `mklcvx`: contestants tuned and "
        "in turn, BLAS on one thread, CPU time of the steps alone, medians and ratios. Seconds are those of one "
        "machine and prove nothing; ratios are what is claimed. Written by `python validation/headlines` in "
        f"{seconds / 60:.0f} minutes (Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}).",
        "",
        CAVEAT,
    ]
    if quick:
        lines += ["", "**A smoke run (`--quick`): too small to be evidence.**"]
    for headline in found.values():
        lines += ["", f"## {headline.title}", "", f"**{headline.verdict}**", "", *headline.lines]
        for picture in headline.pictures:
            lines += ["", f"![{headline.title}]({picture})"]
    return "\n".join(lines) + "\n"


def as_json(found: dict[str, Headline], quick: bool, seconds: float) -> str:
    record = {
        name: {"title": h.title, "verdict": h.verdict, "numbers": _plain(h.numbers), "pictures": h.pictures}
        for name, h in found.items()
    }
    return json.dumps(
        {"schema": SCHEMA, "quick": quick, "seconds": round(seconds), "headlines": record}, indent=1, ensure_ascii=False
    )


def _plain(value: Any) -> Any:
    """Python's own numbers; what is not finite is null."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return int(value) if isinstance(value, np.integer) else value


if __name__ == "__main__":
    sys.exit(main())
