"""Rigorous enclosures of optimal values: both bounds in ball arithmetic, at exactly feasible points."""

from __future__ import annotations

from importlib.util import find_spec

from ...errors import InputError

if find_spec("flint") is None:
    raise InputError("rigorous bounds need python-flint, which is not installed: pip install 'mklcvx[rigorous]'")

from .enclosure import WIDTH

__all__ = ["WIDTH"]
