"""Run notebooks without Jupyter: python run_notebooks.py A.ipynb B.ipynb …

The code cells of each are executed in order, in one namespace and a folder of their own, and whatever they draw is
drawn nowhere. Depends on the standard library alone, and on what the notebooks import.
"""

import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path


def code(notebook: Path) -> list[str]:
    """The code cells, without magics and shell commands."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    texts = ("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    return ["\n".join("" if line.startswith(("%", "!")) else line for line in text.splitlines()) for text in texts]


def run(notebook: Path) -> str:
    """What the cells print. A fault of a cell is raised, with the cell's number."""
    os.environ["MPLBACKEND"] = "Agg"
    space, printed = {"__name__": "__main__"}, io.StringIO()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), contextlib.redirect_stdout(printed):
        for number, text in enumerate(code(notebook), start=1):
            exec(compile(text, f"{notebook.name}, cell {number}", "exec"), space)
    return printed.getvalue()


def main() -> None:
    import mklcvx

    print(f"with {Path(mklcvx.__file__).parent}")
    for path in map(Path, sys.argv[1:]):
        lines = run(path.resolve()).count("\n")
        print(f"{path.name}: {len(code(path))} cells, {lines} lines printed", flush=True)
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")


if __name__ == "__main__":
    main()
