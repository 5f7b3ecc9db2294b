"""svm1 — L1-MKL for every label separately, with a combination of the kernels of its own (Ji et al. 2008).

    primal   min over f_c1..f_cM, b_c    Σ_c [½ (Σ_m ‖f_cm‖)² + risk_c(Σ_m f_cm + b_c)]
    dual     max over α^c ∈ S_c          Σ_c [1'α^c − max over m of ½ q_m^c(α^c)]

The labels share nothing: every term is `l1` for label c against the rest, with its own certificate, and the sums of
the bounds bound the sum. Classes are decided by the largest value.

    recovery      f_cm = μ_cm K_m(α^c∘y^c)
    multipliers   weights (k, M) = μ, one row per label on the simplex; alpha (k, n); values (k,), the labels' optima;
                  for y, where k = 1, without the first axis

Parameters: C > 0.
Degenerate cases: one label is `l1`; the same weights for all labels would be `ml_sum`, up to its missing bias.

Reference: Ji et al. 2008, Tables 2 and 3; Lanckriet et al. 2004.
"""

from __future__ import annotations

import numpy as np

from mklcvx.solvers.solving import solve

from ._model import PRICE, Baseline, Instance, Label, per_label


def svm1(instance: Instance, C: float = 1.0, tol: float = 1e-8) -> Baseline:
    """One certified `l1` per label; the certificate is that of the sum."""
    price = PRICE.resolve(C, "svm1", instance.count)

    def learn(single: Instance) -> Label:
        found = solve(single, "l1", C=price, tol=tol)
        proof = found.certificate, {"alpha": np.asarray(found.alpha)}
        return Label(found.all_coefficients, float(found.bias), found.weights, *proof, found.message)

    return per_label("svm1", instance, {"C": price}, learn)
