"""Solutions that are executed and yet hidden: in a chapter, a code cell whose first line is `# Solution …`.

On the page it is folded together with what it prints and draws. In the downloaded notebook its source is folded, and
text that is folded on the page (`.. dropdown::`) is folded there too.
"""

from __future__ import annotations

import json
import re
import textwrap
from itertools import pairwise
from pathlib import Path
from typing import Any

CELL = re.compile(r"(?<=\n)\.\. GENERATED FROM PYTHON SOURCE LINES [\d-]+\n")
SOLUTION = re.compile(r"\s*\.\. code-block:: Python\n+ +# (Solution[^\n]*)\n")
DROPDOWN = re.compile(r"^\.\. dropdown:: *(.+)\n((?: *\n| {4}.*\n?)+)", re.MULTILINE)
END = "\n.. _sphx_glr_download"


def fold_cells(text: str) -> str:
    """The reStructuredText of a chapter, its solutions in dropdowns."""
    body, end, rest = text.partition(END)
    starts = [match.start() for match in CELL.finditer(body)] + [len(body)]
    cells = [body[: starts[0]], *(body[a:b] for a, b in pairwise(starts))]
    return "".join(map(_folded, cells)) + end + rest


def _folded(cell: str) -> str:
    marker = CELL.match("\n" + cell, 1)
    content = cell[marker.end() - 1 :] if marker else cell
    solution = SOLUTION.match(content)
    if solution is None:
        return cell
    title = solution[1].removesuffix(".")
    return f"\n.. dropdown:: {title}\n\n{textwrap.indent(content, '    ')}\n\n"


def fold_notebook(notebook: dict[str, Any]) -> dict[str, Any]:
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code" and text.startswith("# Solution"):
            cell["metadata"] = {**cell["metadata"], "jupyter": {"source_hidden": True}, "tags": ["hide-cell"]}
        elif cell["cell_type"] == "markdown" and ".. dropdown::" in text:
            cell["source"] = [DROPDOWN.sub(_details, text)]
    return notebook


def _details(match: re.Match[str]) -> str:
    return f"<details><summary>{match[1]}</summary>\n\n{textwrap.dedent(match[2]).strip()}\n\n</details>\n\n"


def fold_notebooks(app: Any) -> None:
    for folder in app.config.sphinx_gallery_conf["gallery_dirs"]:
        for path in sorted((Path(app.srcdir) / folder).glob("*.ipynb")):
            text = path.read_text(encoding="utf-8")
            folded = json.dumps(fold_notebook(json.loads(text)), indent=1, ensure_ascii=False) + "\n"
            if folded != text:
                path.write_text(folded, encoding="utf-8")


def read(app: Any, name: str, source: list[str]) -> None:
    if name.split("/")[0] in app.config.sphinx_gallery_conf["gallery_dirs"]:
        source[0] = fold_cells(source[0])


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", fold_notebooks, priority=900)  # after the gallery has run the chapters
    app.connect("source-read", read)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
