"""Our docstrings for autodoc: plain text with `names` in backticks and indented formulas, as a terminal shows it.

Names become literals, indented blocks are kept as they stand, and nothing else is markup.
"""

from __future__ import annotations

import re
from typing import Any

SPECIAL = re.compile(r"([\\*|_])")


def converted(lines: list[str]) -> list[str]:
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


def setup(app: Any) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", process)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
