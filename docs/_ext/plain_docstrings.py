"""Our docstrings for autodoc: plain text with `names` in backticks and indented formulas, as a terminal shows it.

Names become literals, indented blocks are kept as they stand, and nothing else is markup. Sections as numpydoc has them
(a heading and a line of dashes under it) are left to napoleon: only names and special characters in what they say are
turned into markup here, and examples stay as they are.
"""

from __future__ import annotations

import re
from typing import Any

PROSE = ("Notes", "References", "Warnings")
SPECIAL = re.compile(r"([\\*|_])")


def converted(lines: list[str]) -> list[str]:
    start = next((i for i in range(len(lines) - 1) if _heading(lines, i)), len(lines))
    return _text(lines[:start]) + _sections(lines[start:])


def _heading(lines: list[str], i: int) -> bool:
    title, below = lines[i].strip(), lines[i + 1].strip() if i + 1 < len(lines) else ""
    return bool(title) and len(below) == len(title) and set(below) == {"-"}


def _sections(lines: list[str]) -> list[str]:
    made: list[str] = []
    section, prose = "", False
    for i, line in enumerate(lines):
        if _heading(lines, i):
            section, prose = line.strip(), line.strip() in PROSE
        under = i > 0 and _heading(lines, i - 1)
        entry = not prose and not line.startswith(" ")
        made.append(line if under or entry or section == "Examples" or _heading(lines, i) else _inline(line))
    return made


def _text(lines: list[str]) -> list[str]:
    made: list[str] = []
    inside = False
    for line in lines:
        indented = line.startswith("    ")
        if indented and not inside:
            made += ["", "::", ""]
        elif inside and line.strip() and not indented:
            made += [""]
        inside = indented or (inside and not line.strip())
        made.append(line if inside else _inline(line))
    return made


def _inline(line: str) -> str:
    parts = re.split(r"(`[^`]+`)", line)
    return "".join(f"`{part}`" if part.startswith("`") else SPECIAL.sub(r"\\\1", part) for part in parts)


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = converted(lines)


def skip(app: Any, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Fields of a tuple that say nothing but their number."""
    return True if str(getattr(obj, "__doc__", "")).startswith("Alias for field number") else None


def setup(app: Any) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-skip-member", skip)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
