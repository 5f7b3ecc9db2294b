"""Where things are."""

import importlib
import sys
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
