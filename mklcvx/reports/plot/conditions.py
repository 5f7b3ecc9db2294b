"""The optimality conditions of the samples, seen: α against the margin.

At the optimum every sample lies on a staircase: α = 0 beyond the level, anything between 0 and C at it, α = C short of
it. The level is 1, or ρ for loss nu.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...certificate.residuals import sample_side
from ...certificate.solution import Solution
from ...problem.instance import Instance
from ._style import COLOURS, FAINT, INK, PAPER, axes, legend

EDGE = 1e-7  # of C: what an interior-point method means by 0 and by C
KINDS = (("α = 0", "o", PAPER), ("0 < α < C", "D", COLOURS[0]), ("α = C", "s", COLOURS[1]))


def kkt(instance: Instance, solution: Solution, ax: Any = None) -> Any:
    """α/C against y f(x) for every sample (and label), marked as 0, free or at the bound, over the staircase that the
    conditions ask for. The instance is the one that was solved, after any preprocessing."""
    samples = sample_side(instance, solution)
    margins, shares = samples.margins.ravel(), samples.shares.ravel()
    ax = axes(ax)
    level = samples.level
    least = 0.3 * (abs(level) or 1.0)  # on either side, lest rounding be magnified
    low, high = min(margins.min(), level - least), max(margins.max(), level + least)
    room = 0.06 * (high - low)
    stairs = [low - room, level, level, high + room], [1.0, 1.0, 0.0, 0.0]
    ax.plot(*stairs, color=FAINT, linewidth=4, alpha=0.5, solid_capstyle="butt", zorder=1)
    free = (shares > EDGE) & (shares < 1 - EDGE)
    handles, names = [], []
    for chosen, (name, marker, color) in zip((shares <= EDGE, free, shares >= 1 - EDGE), KINDS, strict=True):
        if chosen.any():
            dots = {"linestyle": "none", "marker": marker, "markersize": 5, "markerfacecolor": color}
            handles += ax.plot(margins[chosen], shares[chosen], markeredgecolor=INK, markeredgewidth=0.7, **dots)
            names.append(f"{name}: {int(np.sum(chosen))}")
    ax.set_xlim(low - room, high + room)
    ax.set_ylim(-0.08, 1.08)
    ax.set_xlabel("margin y f(x)")
    ax.set_ylabel("α / C")
    legend(ax, handles, names, loc="best")
    return ax
