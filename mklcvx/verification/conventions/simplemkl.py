"""simplemkl — SimpleMKL: the simplex, C per sample.

Their problem, with weights d:

    min over d ≥ 0, Σd = 1, f, b    ½ Σ_m ‖f_m‖²/d_m + C Σ_i ξ_i,        y_i (Σ_m f_m(x_i) + b) ≥ 1 − ξ_i, ξ ≥ 0

Conversion: `l1` with the same C, the same weights, the same value. Proof: for given norms a_m, Cauchy–Schwarz gives
(Σ a_m)² = (Σ (a_m/√d_m) √d_m)² ≤ (Σ a_m²/d_m)(Σ d_m) with equality at d ∝ a, so minimising over d leaves ½ (Σ a_m)².

The code (`mklsvm`) returns Sigma = d; Alpsup = α∘y, for the support vectors pos alone, counted from 1; w0 = b, to be
added; obj, the SVM's dual value at d, a maximum. Its `lambdareg` (1e-8 in the toolbox's examples) is added to the
diagonal of Σ d_m K_m, so its optimum is that of a slightly larger kernel.
An answer here: weights = d, alpha = α∘y (for all samples, or with multiplier `pos`), bias = w0, objective = obj.

Reference: Rakotomamonjy et al. 2008, Eq. (6); its toolbox, mklsvm.m.
"""

from __future__ import annotations

from ...problem.instance import Instance
from ._convention import AnswerMap, Convention, ConvertedProblem, Parameters, sample_side


def problem(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    return ConvertedProblem("l1", sample_side(parameters), instance, AnswerMap(alpha=instance.y))


SIMPLEMKL = Convention(
    name="simplemkl",
    title="SimpleMKL: weights on the simplex, α with the label's sign",
    reference="Rakotomamonjy et al. 2008",
    problem=problem,
    serves=("l1",),
    support=("pos", 1),
)
