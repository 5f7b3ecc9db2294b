"""Rigorous enclosures of optimal values: both bounds in ball arithmetic, at exactly feasible points."""

from __future__ import annotations

from .proof import WIDTH, Proof, prove

__all__ = ["WIDTH", "Proof", "prove"]
