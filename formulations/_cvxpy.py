"""CVXPY, imported when a program is first built, so that importing a theorem is fast."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import cvxpy as cp
else:

    class _OnFirstUse:
        def __getattr__(self, name: str) -> Any:
            return getattr(importlib.import_module("cvxpy"), name)

    cp = _OnFirstUse()

__all__ = ["cp"]
