"""Files outside docs/ that are pages of the site all the same, and links that lead to them.

`outside_pages` leads from a file of the project to its page, both from the top of the project. A Markdown file whose
page is in docs/outside/ is copied there before the build. Its links, and links of other pages to it, are rewritten, so
that the same text can be read where it lies. Links to other files (scripts, tables) become downloads.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import Any

COPIES = "docs/outside/"
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)#\s]+)(?=[)#])")


def redirected(text: str, folder: str, pages: dict[str, str], moved: str | None = None) -> str:
    """The text of a file in `folder`, its links leading to pages where there are some; it may have moved."""
    here = folder if moved is None else moved

    def target(match: re.Match[str]) -> str:
        file = posixpath.normpath(posixpath.join(folder, match[1]))
        return posixpath.relpath(pages[file], here) if file in pages else _same(match[1], file)

    def _same(link: str, file: str) -> str:
        return link if moved is None else posixpath.relpath(file, here)

    return LINK.sub(target, text)


def copy(app: Any) -> None:
    top, pages = Path(app.srcdir).parent, app.config.outside_pages
    for file, page in pages.items():
        if not page.startswith(COPIES) or not file.endswith(".md"):
            continue  # a page that stands in for the file
        text = (top / file).read_text(encoding="utf-8")
        new = redirected(text, posixpath.dirname(file), pages, posixpath.dirname(page))
        target = top / page
        target.parent.mkdir(exist_ok=True)
        if not target.exists() or target.read_text(encoding="utf-8") != new:
            target.write_text(new, encoding="utf-8")


def read(app: Any, name: str, source: list[str]) -> None:
    path = Path(app.env.doc2path(name))
    if path.suffix == ".md":
        folder = Path(os.path.relpath(path.parent, Path(app.srcdir).parent)).as_posix()
        source[0] = redirected(source[0], folder, app.config.outside_pages)


def setup(app: Any) -> dict[str, Any]:
    app.add_config_value("outside_pages", {}, "env")
    app.connect("builder-inited", copy)
    app.connect("source-read", read)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
