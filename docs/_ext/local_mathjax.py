"""MathJax out of a package on PyPI, as one file that needs no other: glyphs are paths in it, and no font is loaded.

sphinx-mathjax-offline ships MathJax 3.2.2 and would copy all of it, 24 MB of languages and output formats. The one file
`tex-svg-full.js` has every TeX extension and the glyphs, and works from a folder on disk as from a server.
"""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGE, FILE = "sphinx-mathjax-offline", "tex-svg-full.js"


def source() -> Path:
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"{PACKAGE} is not installed: pip install 'mklcvx[docs]'")
    return Path(spec.origin).parent / "static" / "mathjax" / FILE


def configure(app: Any, config: Any) -> None:
    config.mathjax_path = f"mathjax/{FILE}"


def copy(app: Any, failure: Exception | None) -> None:
    if failure is None and app.builder.format == "html":
        target = Path(app.outdir) / "_static" / "mathjax"
        target.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source(), target / FILE)


def setup(app: Any) -> dict[str, Any]:
    app.connect("config-inited", configure)
    app.connect("build-finished", copy)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
