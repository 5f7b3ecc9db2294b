"""The notebooks that readers download, run with the built wheel in an empty environment: part of `make site-test`.

There must be one for every chapter, and every chapter's page must offer it.
"""

import sys
import tempfile
from pathlib import Path

from wheel_check import ROOT, installed, run

SITE = ROOT / "build" / "site"


def notebooks(site: Path) -> list[Path]:
    """One for every chapter, in their order, as the pages link them."""
    found = {path.stem: path for path in site.glob("_downloads/*/plot_*.ipynb")}
    chapters = sorted(path.stem for path in (ROOT / "docs" / "course").glob("plot_*.py"))
    for name in chapters:
        if name not in found:
            sys.exit(f"{site}: no notebook of {name}: make docs")
        page = (site / "chapters" / f"{name}.html").read_text(encoding="utf-8")
        if found[name].relative_to(site).as_posix() not in page:
            sys.exit(f"{name}: its page does not offer the notebook")
    return [found[name] for name in chapters]


def main() -> None:
    chosen = notebooks(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else SITE)
    with tempfile.TemporaryDirectory() as folder:
        python = installed(Path(folder), "plot")
        run([str(python), str(Path(__file__).with_name("run_notebooks.py")), *map(str, chosen)], Path(folder))
    print(f"{len(chosen)} notebooks run with the wheel")


if __name__ == "__main__":
    main()
