"""The matrix as a picture: one square for each solver and formulation; darker means more digits."""

from __future__ import annotations

import io

import numpy as np

from ...errors import InputError
from .cells import ALL_SOLVERS, MOST
from .table import Matrix

TITLE = "Digits shared with the optimum, median (*: not every run certified what was asked; blank: not solved by it)"


def picture(matrix: Matrix) -> bytes:
    """Draw the matrix as SVG. Equal matrices give equal bytes."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("the picture needs matplotlib: pip install 'mklcvx[plot]'") from None
    solvers = [name for name in ALL_SOLVERS if any(entry.solver == name for entry in matrix.filled)]
    names = list(dict.fromkeys(entry.formulation for entry in matrix.filled))
    digits = np.full((len(names), len(solvers)), np.nan)
    figure = Figure(figsize=(2.5 + 0.55 * len(solvers), 1.6 + 0.34 * len(names)), layout="constrained")
    axes = figure.subplots()
    for i, name in enumerate(names):
        for j, solver in enumerate(solvers):
            entry = matrix.entry(name, solver).as_dict()
            if entry["digits_median"] is not None:
                digits[i, j] = entry["digits_median"]
                text = f"{digits[i, j]:.0f}" + ("" if entry["certified"] == entry["runs"] else "*")
                axes.text(j, i, text, ha="center", va="center", color="white" if digits[i, j] > 8 else "black", size=8)
    image = axes.imshow(digits, vmin=0, vmax=MOST, cmap="Blues", aspect="auto")
    axes.set_xticks(range(len(solvers)), solvers, rotation=60, ha="right")
    axes.set_yticks(range(len(names)), names)
    axes.set_title(TITLE, size=9)
    figure.colorbar(image, ax=axes, label="digits", shrink=0.7)
    stream = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "mklcvx", "svg.fonttype": "none"}):
        figure.savefig(stream, format="svg", metadata={"Date": None})
    return stream.getvalue()
