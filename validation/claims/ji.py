"""Ji, Sun, Jin, Ye. Multi-label Multiple Kernel Learning. NIPS 2008."""

from __future__ import annotations

import ji_graph
import ji_lipschitz
import ji_method
import ji_smooth
import ji_tables

CLAIMS = (
    *ji_graph.CLAIMS,
    *ji_smooth.CLAIMS,
    *ji_lipschitz.CLAIMS,
    *ji_method.CLAIMS,
    *ji_tables.CLAIMS,
)
