"""The SVM without bias: a convex quadratic over a box, solved from wherever one stands.

    max over 0 ≤ α ≤ box of   1'α − ½ α'Qα

With gradient g = Qα − 1, the classifier that α implies costs ½ α'Qα + Σ box (−g)₊, so that Σ α g + Σ box (−g)₊ ≥ 0 is
what α is off by at most; it is what stops the iterations. A projected Newton method (Bertsekas 1982) starts from the
last answer and is done in a few steps where Q is well conditioned on the free samples. Where it is not, as with kernels
of low rank, the interior-point method of `interior.qp` takes over.
"""

from __future__ import annotations

import numpy as np

from .interior.qp import Array, Quadratic, factored, interior_point

ACCURACY = 1e-10  # of the gap, relative to the objective's larger term
SUFFICIENT = 1e-4  # of the decrease that the gradient promises (Armijo)
NEWTON_STEPS = 25


def box_qp(q: Array, box: Array, start: Array | None = None, accuracy: float = ACCURACY) -> Array:
    """α, to a relative gap of `accuracy` or as near to it as rounding allows."""
    program = Quadratic(q, np.ones(len(box)), box, np.zeros((0, len(box))), np.zeros(0))
    alpha = projected_newton(program, np.zeros(len(box)) if start is None else np.clip(start, 0.0, box), accuracy)
    if relative_gap(program, alpha) <= accuracy:
        return alpha
    inner = interior_point(program, accuracy)
    candidates = (alpha, inner, projected_newton(program, inner, accuracy))
    return min(candidates, key=lambda candidate: relative_gap(program, candidate))


def relative_gap(program: Quadratic, alpha: Array) -> float:
    gap = program.gap(alpha, program.q @ alpha - program.c)
    return gap / max(program.size(alpha), gap)


def projected_newton(program: Quadratic, alpha: Array, accuracy: float) -> Array:
    """Newton's step on the samples that no bound holds, projected onto the box, shortened until it descends."""
    gradient = program.q @ alpha - program.c
    for _ in range(NEWTON_STEPS):
        if program.gap(alpha, gradient) <= accuracy * program.size(alpha):
            break
        free = ~((alpha <= 0) & (gradient >= 0) | (alpha >= program.box) & (gradient <= 0))
        if not free.any():
            break
        step = np.zeros(len(alpha))
        step[free] = -factored(program.q[np.ix_(free, free)])(gradient[free])
        moved = _descend(program, alpha, gradient, step)
        if moved is None:
            break
        alpha, gradient = moved, program.q @ moved - program.c
    return alpha


def _descend(program: Quadratic, alpha: Array, gradient: Array, step: Array) -> Array | None:
    """The first of the shortened, projected steps that descends enough; None where rounding lets none."""
    for length in 0.5 ** np.arange(40):
        target = np.clip(alpha + length * step, 0.0, program.box)
        change = target - alpha
        promised = float(gradient @ change)
        if promised < 0 and promised + float(change @ (program.q @ change)) / 2 <= SUFFICIENT * promised:
            return target
    return None
