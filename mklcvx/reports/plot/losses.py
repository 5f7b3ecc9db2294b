"""Losses side by side: each as a function of the residual, its conjugate, and the bounds that it puts on α.

The residual is r = 1 − yz for labels, y − z for a response, log y − z for the count y = 1, ρ − z where the margin ρ is
unknown. In it every loss is cℓ = sup over α of rα − h(α), and its gain is g(α) = aα − h(α), with a = 1, y or 0: the
conjugate h is drawn, which the target does not change, unless it is a count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import InputError
from ...formulations.losses import COUNTS, LABELS, LOSSES, Loss
from ...problem.checks import check_name
from ._style import look

REACH, WIDEST = 2.5, 1.8  # residuals, and α in units of the price, that are drawn
HIGHEST, TOP, BOTTOM = 3.2, 1.4, -0.6  # of losses and of conjugates, in units of the price
POINTS = 201


def losses(losses: Sequence[str | Loss], axes: Sequence[Any] | None = None, price: float = 1.0) -> Any:
    """Draw losses, by their names or with parameters of their own, in three panels: loss, conjugate, and the bounds of
    α, where an arrow has no end and an open circle is never reached."""
    chosen = [_named(loss) if isinstance(loss, str) else loss for loss in losses]
    panels = _panels() if axes is None else axes
    for place, loss in enumerate(chosen):
        _draw(panels, place, loss, price)
    for panel, words in zip(panels, ("residual r", "α", "α"), strict=True):
        panel.set(xlabel=words)
    panels[0].set(ylabel="loss", xlim=(-REACH, REACH), ylim=(-0.15, HIGHEST * price))
    panels[1].set(ylabel="conjugate h(α)", xlim=(-WIDEST * price, WIDEST * price), ylim=(BOTTOM * price, TOP * price))
    panels[2].set(xlim=(-WIDEST * price, WIDEST * price), ylim=(len(chosen) - 0.4, -0.6))
    panels[2].set_yticks(range(len(chosen)), [loss.name.replace("_", " ") for loss in chosen], fontsize="small")
    panels[2].axvline(0.0, color="0.8", linewidth=0.8, zorder=0)
    return panels


def _named(name: str) -> Loss:
    check_name("loss", name, LOSSES)
    return LOSSES[name]


def _panels() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise InputError("pictures need matplotlib: pip install 'mklcvx[plot]'") from None
    return pyplot.subplots(1, 3, figsize=(8, 2.8), layout="constrained")[1]


def _draw(panels: Sequence[Any], place: int, loss: Loss, price: float) -> None:
    labelled = loss.targets == LABELS
    level = 1.0 if labelled and not loss.free_margin else 0.0
    y, prices = np.full(POINTS, float(labelled or loss.targets == COUNTS)), np.full(POINTS, price)
    style = {**look(place), "markersize": 4, "linewidth": 1.4}
    spread = {"markevery": (13 * place, 80)}
    r = np.linspace(-REACH, REACH, POINTS)
    panels[0].plot(r, loss.value(level - r, y, prices), **style, **spread)
    low, high = (float(ends[0]) for ends in loss.bounds(y, prices))
    first, last = max(low, -WIDEST * price), min(high, WIDEST * price)
    alpha = np.linspace(first, last, POINTS)
    conjugate = [level * point - loss.gain(np.array([point]), y[:1], prices[:1]) for point in alpha]
    panels[1].plot(alpha, conjugate, **style, **spread)
    for end, height in ((low, conjugate[0]), (high, conjugate[-1])):
        if abs(end) <= WIDEST * price:  # beyond it h is infinite: a wall
            panels[1].plot([end, end], [height, TOP * price], color=style["color"], linewidth=0.6, linestyle=":")
    panels[2].plot([first, last], [place, place], color=style["color"], linestyle=style["linestyle"], linewidth=2)
    for end, arrow in ((low, "<"), (high, ">")):
        seen = abs(end) <= WIDEST * price
        reached = seen and np.isfinite(loss.curvature(np.array([end]), y[:1], prices[:1])[0])
        marker, face = (("|" if reached else "o"), "white") if seen else (arrow, style["color"])
        where = np.clip(end, first, last)
        panels[2].plot([where], [place], marker=marker, markerfacecolor=face, color=style["color"], markersize=8)
