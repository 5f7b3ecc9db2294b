"""What an experiment leaves behind: a page in Markdown with date, versions and command, tables as CSV, pictures."""

from __future__ import annotations

import csv
import io
import platform
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from _harness import Experiment, Outcome, Row, Setting
from mklcvx.io.writing import write_whole

PACKAGES = ("mklcvx", "numpy", "scipy", "scikit-learn", "cvxpy", "joblib")


@dataclass(frozen=True)
class Table:
    """Shown in the page under its title and written as NAME.csv; `note` stands below it."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""

    def markdown(self) -> list[str]:
        lines = [_line(self.columns), "|" + "---|" * len(self.columns), *(_line(row) for row in self.rows)]
        return [f"## {self.title}", "", *lines, "", *([self.note, ""] if self.note else [])]

    def csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue()


@dataclass(frozen=True)
class Picture:
    """A file in the experiment's folder, already drawn, and what it shows."""

    file: str
    caption: str


@dataclass(frozen=True)
class Page:
    """`verdict` is a sentence chosen by a rule in code; `differs` says what is not as in the paper."""

    verdict: str
    differs: Sequence[str]
    parts: Sequence[Table | Picture | str]
    rule: str = ""


def write_page(
    experiment: Experiment, setting: Setting, outcome: Outcome, command: str, page: Page | None = None
) -> Path:
    """The page and its tables, each file whole or not at all; returns the page."""
    folder = experiment.folder(setting)
    folder.mkdir(parents=True, exist_ok=True)
    page = page or experiment.report(setting, outcome.rows)
    for part in page.parts:
        if isinstance(part, Table):
            _write(folder / f"{part.name}.csv", part.csv())
    target = folder / f"{experiment.name}.md"
    _write(target, "\n".join(_lines(experiment, setting, outcome, page, command)).rstrip() + "\n")
    return target


def _lines(experiment: Experiment, setting: Setting, outcome: Outcome, page: Page, command: str) -> Iterator[str]:
    yield from (f"# {experiment.title}", "")
    if setting.size == "quick":
        yield from ("**A smoke run (`--quick`): too small to be evidence.**", "")
    if not outcome.complete:
        yield from (f"**Unfinished: {len(outcome.rows)} of {len(outcome.wanted)} cells.**", "")
    yield from (f"**{page.verdict}**", "")
    if page.rule:
        yield from (f"(The sentence is chosen by a rule in the code: {page.rule})", "")
    for part in page.parts:
        if isinstance(part, Table):
            yield from part.markdown()
        elif isinstance(part, Picture):
            yield from (f"![{part.caption}]({part.file})", "", part.caption, "")
        else:
            yield from (part, "")
    yield from ("## What differs from the paper", "", *(f"- {line}" for line in page.differs), "")
    yield from ("## How this was made", "", made_by(setting, outcome, command))
    for row in outcome.failed:
        yield from ("", f"Failed: `{row.cell}`: {row.error}")


def made_by(setting: Setting, outcome: Outcome, command: str) -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    minutes = sum(row.seconds for row in outcome.rows) / 60
    return (
        f"`{command}` on {time.strftime('%Y-%m-%d')}, seed {setting.seed}, {len(outcome.rows)} cells, "
        f"{minutes:.0f} minutes of one core in all. Python {platform.python_version()}, {packages}. "
        "Finished cells are in `cells.jsonl`; the command takes an interrupted run up where it ended."
    )


def words(name: str, setting: Setting, **filled: object) -> tuple[str, list[str]]:
    """The rule behind a page's sentence, and how the experiment was made: the first paragraph of `words/NAME.md` and
    its points, with numbers filled in. A point that begins with "Reduced:" is of that size alone."""
    text = (Path(__file__).parent / "words" / f"{name}.md").read_text(encoding="utf-8").format(**filled)
    rule, *points = (" ".join(part.split()) for part in re.split(r"^- ", text, flags=re.MULTILINE))
    return rule, [point for point in points if setting.size == "reduced" or not point.startswith("Reduced:")]


def certificates(rows: Sequence[Row], exact: Callable[[str], bool] = lambda _: True) -> str:
    """How well the classifiers were solved that cells of several methods report; `exact` says which were to be."""
    final = [r["gap"] for row in rows for method, r in row["methods"].items() if exact(method) and r["gap"] is not None]
    inner = [row.result["worst_fold_gap"] for row in rows if row.result.get("worst_fold_gap") is not None]
    return (
        f"Certified relative gaps, at worst: {max(final, default=0.0):.1e} of the {len(final)} classifiers that were "
        f"judged, {max(inner, default=0.0):.1e} of those of the folds."
    )


def _write(path: Path, text: str) -> None:
    write_whole(path, lambda file: file.write(text.encode()))


def _line(cells: Sequence[Any]) -> str:
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |"


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value).replace("|", "\\|")
