"""Sum up the matrix of solvers in the README, between two marks: python validation/matrix/readme.py

The table is made from validation.json and from nothing else; a test sees that the README has it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mklcvx.io.writing import write_text

HERE = Path(__file__).resolve().parent
README = HERE.parents[1] / "README.md"
START, END = "<!-- matrix: made by `make matrix` -->", "<!-- end of matrix -->"
OURS = ("interior", "clarabel", "scs")
NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")

Entry = Mapping[str, Any]


def block(record: Mapping[str, Any]) -> str:
    """What stands between the marks."""
    entries = [entry for entry in record["entries"] if entry["runs"]]
    names = list(dict.fromkeys(entry["formulation"] for entry in entries))
    rows = [["formulation", *(f"`{solver}`" for solver in OURS), "best published"], ["---"] * (len(OURS) + 2)]
    rows += [_row(name, [entry for entry in entries if entry["formulation"] == name]) for name in names]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows).replace("| --- ", "|---").replace("--- |", "---|")
    return f"{START}\n\n{table}\n\n{_totals(entries)}\n\n{END}"


def _row(name: str, entries: Sequence[Entry]) -> list[str]:
    by_solver = {entry["solver"]: entry for entry in entries}
    published = [entry for entry in entries if entry["solver"] not in OURS and entry["digits_median"] is not None]
    best = max(published, key=_quality, default=None)
    shown = "none" if best is None else f"`{best['solver']}` {_shown(best)}"
    return [f"`{name}`", *(_shown(by_solver[solver]) for solver in OURS), shown]


def _quality(entry: Entry) -> tuple[int, float]:
    """Digits first, whole ones; then the share of runs that certified what was asked."""
    return round(entry["digits_median"]), entry["certified"] / entry["runs"]


def _shown(entry: Entry) -> str:
    count = f"{entry['certified']}/{entry['runs']}"
    if entry["digits_median"] is None:
        return f"no answer, {count}"
    mark = " ‼" if entry["dishonest"] else ""
    return f"{entry['digits_median']:.0f} ({max(entry['digits_worst'], 0):.0f}) {count}{mark}"


def _totals(entries: Sequence[Entry]) -> str:
    runs, certified, lies = (sum(entry[key] for entry in entries) for key in ("runs", "certified", "dishonest"))
    many = NUMBERS[lies] if lies < len(NUMBERS) else f"{lies:,}"
    proves = "its point proves" if lies in (0, 1) else "their points prove"
    return (
        f"{runs:,} runs, {certified:,} of which certified what was asked; {many} claimed more than {proves}"
        f"{' (‼)' if lies else ''}:\n[all of it](validation/matrix/validation.md)."
    )


def updated(text: str, record: Mapping[str, Any]) -> str:
    before, _, rest = text.partition(START)
    _, mark, after = rest.partition(END)
    if not mark:
        raise SystemExit(f"README.md: no marks {START} and {END}: put them where the table belongs")
    return before + block(record) + after


def main() -> None:
    record = json.loads((HERE / "validation.json").read_text(encoding="utf-8"))
    write_text(README, updated(README.read_text(encoding="utf-8"), record))


if __name__ == "__main__":
    main()
