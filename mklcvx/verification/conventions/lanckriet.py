"""lanckriet — the QCQP of Lanckriet et al.: a combination of fixed trace, every term doubled.

With r_m = tr K_m and G_m = Y K_m Y,

    max over α, t    2·1'α − c t,        (1/r_m) α'G_mα ≤ t for every m, 0 ≤ α ≤ C, y'α = 0

is the dual of choosing K = Σ_m μ_m K_m with μ ≥ 0 and tr K = c. Conversion: `l1` on the kernels (c/r_m) K_m; our value
is half of theirs, and our weights are μ_m r_m/c. Proof: c t/2 is the largest ½ α'((c/r_m) G_m)α, so half of their
objective is gain(α) − max ½ q of those kernels; tr K = Σ μ_m r_m = c says that the weights μ_m r_m/c are on the
simplex, and Σ μ_m K_m = Σ (μ_m r_m/c) (c/r_m) K_m is the same kernel. α is the same.
An answer here: weights = μ and coefficients, for the kernels as they were; alpha = α ≥ 0; bias = b; objective = the
maximum.

Reference: Lanckriet et al. 2004, the 1-norm soft margin with μ ≥ 0.
"""

from __future__ import annotations

import numpy as np

from ...problem.instance import Instance
from ._convention import AnswerMap, C, Convention, ConvertedProblem, Parameters, positive, sample_side, unit_trace


def problem(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    trace = parameters["c"]
    scaled, traces = unit_trace(instance)
    if trace != 1:
        test = None if scaled.test_kernels is None else trace * np.asarray(scaled.test_kernels)
        scaled = scaled.with_kernels(trace * np.asarray(scaled.kernels), test_kernels=test)
    note = f"every kernel is scaled to trace {trace:g}"
    size = traces / trace
    answers = AnswerMap(weights=size, coefficients=size[:, None], objective=0.5)
    return ConvertedProblem("l1", sample_side(parameters), scaled, answers, (note,))


LANCKRIET = Convention(
    name="lanckriet",
    title="the QCQP of Lanckriet et al.: fixed trace, twice our objective",
    reference="Lanckriet et al. 2004",
    parameters=(C, positive("c", "c", "trace of the combined kernel")),
    problem=problem,
    serves=("l1",),
)
