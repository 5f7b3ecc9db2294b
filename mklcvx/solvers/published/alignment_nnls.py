"""alignment_nnls — target alignment by one non-negative least-squares problem (Cortes et al. 2010).

    min over v ≥ 0 of   v'Gv − 2 a'v   =   ‖Rv − b‖² − ‖b‖²,        R'R = G,   R'b = a

Lawson and Hanson's active-set method solves it exactly; the start is each kernel's own alignment, the paper's cheaper
variant, so that the first row of the trace shows what the exact solution gains.
"""

from __future__ import annotations

import numpy as np

from ...formulations import Points
from ..driver import Algorithm, Problem, State


class AlignmentNNLS(Algorithm[State]):
    name = "alignment_nnls"
    summary = "non-negative least squares"
    reference = "Cortes et al. 2010"
    serves = ("alignment",)
    tolerance = 1e-8
    max_iter = 1

    def start(self, problem: Problem) -> State:
        return State(problem.task.own_alignment)

    def step(self, problem: Problem, state: State) -> State:
        from scipy.optimize import nnls

        root = problem.task.factor
        # The rows of R are orthogonal: b = (RR')⁻¹ R a, where R sees anything.
        lengths = np.einsum("ij,ij->i", root, root)
        seen = lengths > len(lengths) * np.finfo(float).eps * lengths.max()
        return State(nnls(root[seen], root[seen] @ problem.task.target / lengths[seen])[0])

    def points(self, problem: Problem, state: State) -> Points:
        """μ as its own witness from both sides; the approximate variant keeps its own weights."""
        return Points([] if problem.task.approximate else [state.weights], [state.weights])
