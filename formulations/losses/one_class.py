"""one_class — the one-class SVM: a region that holds most of the samples; there are no targets.

    risk(f) = min over ρ of Σ_i c_i max(0, ρ − f(x_i)) − ρ          g(α) = 0,   0 ≤ α ≤ c,   1'α = 1

with c_i = 1/(νn) times the weight of sample i.

From one to the other. It is `nu` with the same label for every sample and without a bias, which would be ρ once more.

    subgradient    α = 0 where f > ρ, α = c where f < ρ; between the bounds only at f = ρ
    bounds         α = c: an outlier; at most νn samples are, and at least νn have α > 0
    threshold      ρ: a weighted quantile of f, of level ν; a new sample belongs to the others where f ≥ ρ

Targets: none.
Parameters: 0 < nu ≤ 1, default ½. No bias.
Degenerate cases: ν = 1 leaves α = c alone, the mean of the samples in the kernels' space. Where 0 is in the hull of
the samples (of α ≤ c), f = 0 and ρ = 0: with kernels of positive entries it never is. With k(x, x) constant and fixed
weights it is the least ball around the samples (Tax & Duin 2004).

Reference: Schölkopf et al. 2001.
"""

from __future__ import annotations

from ...problem.stack import Array
from .._formulation import Parameter
from ._loss import NONE
from .nu import Nu


class OneClass(Nu):
    name = "one_class"
    targets = NONE
    takes_bias = False
    parameter = Parameter(
        "nu", "bounds the share of outliers from above, of support vectors from below", "0 < ν ≤ 1",
        lambda v, _: 0 < v <= 1, lambda _: 0.5, "1/2",
    )  # fmt: skip

    def _limiting(self, y: Array) -> str:
        return "these sample weights"


ONE_CLASS = OneClass()
