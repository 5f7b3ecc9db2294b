"""Where things are."""

import importlib
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import SimpleNamespace

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent


def modules_of(folder: str, *names: str) -> SimpleNamespace:
    """Modules of a folder that is no package, and that is on the path while they are imported."""
    sys.path.insert(0, str(ROOT / folder))
    try:
        return SimpleNamespace(**{name: importlib.import_module(name) for name in names})
    finally:
        sys.path.remove(str(ROOT / folder))


def check_nobody_else(finds: Callable[[str], Iterator[int]], may: Collection[str]) -> None:
    """Something is found on lines of these files of ours, and of no others."""
    files = [*(ROOT / "mklcvx").rglob("*.py"), *(ROOT / "formulations").rglob("*.py")]
    found = {file.relative_to(ROOT).as_posix(): list(finds(file.read_text(encoding="utf-8"))) for file in files}
    assert {name: lines for name, lines in found.items() if lines and name not in may} == {}
    assert {name for name in may if not found[name]} == set()
