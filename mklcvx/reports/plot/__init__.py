"""Pictures as functions (matplotlib, the extra `plot`). Each draws on the axes given, or on new ones, and returns them.

Readable in black and white: what differs in colour differs in marker, line or hatch too. Names are drawn as they are.
"""

from __future__ import annotations

from .bars import weights
from .conditions import kkt
from .lines import gaps, path
from .planes import cutting_planes
from .simplex import landscape

__all__ = ["cutting_planes", "gaps", "kkt", "landscape", "path", "weights"]
