"""Every fenced `python` and `console` block of a Markdown page is executed while the page is read.

What it prints and the figures that it leaves open follow it; a block that fails is a warning, and warnings are errors.
There is no directive: the same fences are shown by any viewer of Markdown. The tests run those of the README.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util import logging

from blocks import LANGUAGES, Failed, Page

logger = logging.getLogger(__name__)
FOLDER = "_figures"
COLUMNS = re.compile(r"\S {2,}\S")  # what stands in columns is not to be wrapped on a phone


def execute(app: Any, doctree: nodes.document) -> None:
    name = app.env.docname
    if Path(app.env.doc2path(name)).suffix != ".md":
        return
    found = [node for node in doctree.findall(nodes.literal_block) if _runs(node)]
    with tempfile.TemporaryDirectory() as folder:
        page = Page(name, Path(folder))
        for number, node in enumerate(found):
            try:
                printed = page.run(node["language"], node.astext())
            except Failed as fault:
                logger.warning("%s", fault, location=node)
                return
            figures = _figures(app, f"{name.replace('/', '-')}-{number}")
            _follow(node, [*_output(printed), *figures])


def _runs(node: nodes.literal_block) -> bool:
    """Files that are shown (literalinclude) have a source."""
    return node.get("language") in LANGUAGES and "source" not in node


def _follow(node: nodes.Element, new: list[nodes.Node]) -> None:
    place = node.parent.index(node) + 1
    node.parent[place:place] = new


def _output(text: str) -> list[nodes.Node]:
    text = "\n".join(line.rstrip() for line in text.rstrip().splitlines())
    kind = ["printed", "columns"] if COLUMNS.search(text) else ["printed"]
    return [nodes.literal_block(text, text, language="text", classes=kind)] if text else []


def _figures(app: Any, stem: str) -> list[nodes.Node]:
    """Figures that the block has drawn and left open, as images."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    shown: list[nodes.Node] = []
    for number in pyplot.get_fignums() if pyplot else ():
        figure = pyplot.figure(number)
        path = Path(app.srcdir) / FOLDER / f"{stem}-{number}.svg"
        path.parent.mkdir(exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)
        uri = path.relative_to(app.srcdir).as_posix()
        title = figure.get_axes()[0].get_xlabel() if figure.get_axes() else "figure"
        image = nodes.image(uri=f"/{uri}", alt=title, candidates={"*": uri})
        app.env.images.add_file(app.env.docname, uri)
        shown.append(nodes.container("", image, classes=["computed"]))
        image["uri"] = uri
    return shown


def setup(app: Any) -> dict[str, Any]:
    app.connect("doctree-read", execute)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
