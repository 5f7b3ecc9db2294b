"""Finished cells, in a file of JSON lines: a run that is killed loses the cell it was at and nothing else.

A line counts for the code under which it was written: the digest of the package's source files without comments and
docstrings, of the campaign's own, and its seed. Lines of other code stay in the file until a cell is run again.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mklcvx
from grid import SEED
from mklcvx.io.writing import write_text
from shared.journals import add_line, records

FOLDER = Path(__file__).parent
Row = dict[str, Any]


def code_digest() -> str:
    digest = hashlib.blake2b(str(SEED).encode(), digest_size=6)
    package = Path(mklcvx.__file__).parent
    formulations = Path(mklcvx.formulations.__file__).parent
    for folder in (package, formulations, FOLDER):
        for file in sorted(folder.rglob("*.py")):
            if file.name not in ("__main__.py", "page.py", "_version.py"):
                digest.update(f"{file.relative_to(folder)}\n{_bare(file)}\n".encode())
    return digest.hexdigest()


def _bare(file: Path) -> str:
    """What the interpreter sees of a file, without its docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return ast.dump(tree)


class Kept:
    """The rows of a file by the names of their cells."""

    def __init__(self, file: Path, code: str, any_code: bool = False) -> None:
        self.file, self.code = file, code
        self.rows = {row["cell"]: row for row in self._read() if any_code or row["code"] == code}

    def _read(self) -> Iterator[Row]:
        """Lines that were cut off when their writer was killed are passed over."""
        for row in records(self.file):
            if all(row.get(name) for name in ("cell", "code", "status", "truth")):
                yield row

    def add(self, name: str, result: Row) -> None:
        row = {"cell": name, "code": self.code, **result}
        self.rows[name] = row
        add_line(self.file, row)

    def tidy(self, names: list[str]) -> None:
        """The file anew, with one line for each of these cells, in their order."""
        lines = [json.dumps(self.rows[name], ensure_ascii=False) for name in names if name in self.rows]
        write_text(self.file, "".join(line + "\n" for line in lines))
