"""Estimators with scikit-learn's conventions: kernels from features or a precomputed stack, certified weights.

`mklcvx` imports each on first use, because importing scikit-learn is slow.
"""

from __future__ import annotations

from . import bank as bank  # the docstrings point to it
