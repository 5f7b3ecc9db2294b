"""Figures with matplotlib (the extra `plot`). Each function draws on the given axes, or on new ones, and returns them.

Readable in black and white: what differs in colour differs in marker, line or hatch too. Names are drawn as they are.
"""

from __future__ import annotations

from .charts import gaps, kkt, path, predictions, residuals, weights
from .kernel_charts import alone, classes, importance, stability
from .losses import losses
from .weight_space import cutting_planes, landscape

__all__ = [
    "alone", "classes", "cutting_planes", "gaps", "importance", "kkt", "landscape", "losses", "path", "predictions",
    "residuals", "stability", "weights",
]  # fmt: skip
