"""spicymkl — SpicyMKL: the plain block norm, λ before the penalty.

Their problem:

    loss = total   min over f, b    Σ_i max(0, 1 − y_i f(x_i)) + λ Σ_m ‖f_m‖
    loss = mean    min over f, b    (1/n) Σ_i max(0, 1 − y_i f(x_i)) + λ Σ_m ‖f_m‖

Conversion: `l1` with C = Σ_m ‖f_m‖/λ at their optimum, which is solved for. Proof: λa = min over t > 0 of
a²/(2t) + λ²t/2, least at t = a/λ. With a = Σ ‖f_m‖ and ½ a² = min over the simplex of ½ Σ ‖f_m‖²/u_m their problem
is that of `_scaled_ball` for the ball of `l1`, with price 1, κ = λ²/2 and k = 1. The mean is a factor n: λ is nλ and
the objective n times as large. From λ ≥ λ_max on, f = 0 is optimal and there is no such C.

The code returns d with Σd = 1, alpha = tα∘y and b with f = Σ_m d_m K_m alpha + b: weights and α of ours, but for the
sign of the label. Its argument C is λ (large is strong), its loss the total.
An answer here: weights = d, alpha, bias = b, objective = the primal's.

Reference: Suzuki & Tomioka 2011; their code, SpicyMKL.m, with loss 'svm' and regname 'l1'.
"""

from __future__ import annotations

import math

from ...problem.instance import Instance
from ._convention import Convention, ConvertedProblem, Parameters, positive
from ._scaled_ball import Penalty, Tikhonov


def problem(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    samples = instance.samples if parameters["loss"] == "mean" else 1
    penalty = Penalty((samples * parameters["lam"]) ** 2 / 2, 1, lambda k: f"lam = {math.sqrt(2 * k) / samples:.6g}")
    tikhonov = Tikhonov(instance, "l1", {}, 1.0, parameters["bias"], penalty)
    return tikhonov.as_ours(alpha=instance.y, normalised=True, factor=samples)


SPICYMKL = Convention(
    name="spicymkl",
    title="SpicyMKL: the plain block norm, λ instead of C",
    reference="Suzuki & Tomioka 2011",
    parameters=(positive("lam", "λ", "price of Σ‖f_m‖; the code's argument C"),),
    choices={"loss": ("total", "mean")},
    problem=problem,
    serves=("l1",),
    support=("supind", 1),
)
