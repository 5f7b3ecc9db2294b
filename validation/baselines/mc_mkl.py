"""mc_mkl — joint multi-class MKL: one combination of the kernels, every sample's own class ahead of all others.

    primal   min over f_1..f_M, b    ½ (Σ_m ‖f_m‖)² + risk(Σ_m f_m + b)
    dual     max over β ∈ B, τ       gain(β) − τ,         ½ q_m(β) ≤ τ for every m

with the risk of the joint margin, Σ_i C_i max over u ≠ y_i of max(0, 1 − f_{y_i}(x_i) + f_u(x_i)), and ‖f_m‖ = (Σ_c
‖f_mc‖²)^½; β, B, gain and q_m as `_joint` states them.

From one to the other. ½ (Σ a_m)² = min over μ on the simplex of ½ Σ a_m²/μ_m: a multi-class SVM with the kernel Σ μ_m
K_m, minimised over the weights. Its dual value is max over β of gain(β) − ½ Σ μ_m q_m(β); exchanging min and max
leaves the largest q_m.

    recovery      f_m = μ_m K_mδ,   μ_m = ‖f_m‖/Σ ‖f‖
    multipliers   weights = μ, the multipliers of ½ q_m(β) ≤ τ; tau, the largest ½ q_m; beta (n, k − 1), over the other
                  classes in the order of their names

Parameters: C > 0. There are biases b_c; only their differences matter.
Degenerate cases: M = 1 is the multi-class SVM of Crammer & Singer (with biases). For y, one function, it is `l1`. For
two classes f_1 − f_2 = f takes the place of f and ‖f_m‖² that of 2 ‖(f_m1, f_m2)‖²: the value is ½ l1(2C), the
decision f_1 − f_2 that of l1(2C). Duplicated kernels change nothing.

Reference: Zien & Ong 2007, the convex problem with the hinge loss, and its dual.
"""

from __future__ import annotations

from mklcvx.formulations.l1 import L1

from ._joint import Joint
from ._model import PRICE, Array, Baseline, Instance, check_tolerance, cp, shortfall, solve_declared


class MulticlassMKL(Joint):
    def penalty(self, a: Array) -> float:
        return L1.penalty(a)

    def conjugate(self, d: Array) -> float:
        return L1.conjugate(d)

    def convex(self, norms: list[object]) -> object:
        return cp.square(cp.sum(cp.hstack(norms))) / 2

    def dual_cost(self, seen: list[object]) -> tuple[object, list[object]]:
        tau = cp.Variable()
        return tau, [cp.sum_squares(z) / 2 <= tau for z in seen]


MC_MKL = MulticlassMKL(
    name="mc_mkl",
    title="joint multi-class MKL, weights on the simplex",
    reference="Zien & Ong 2007",
    theorem=__doc__ or "",
    parameters=(PRICE,),
)


def mc_mkl(instance: Instance, C: float = 1.0, tol: float = 1e-8) -> Baseline:
    """The certified optimum, from the declared primal and, if necessary, the declared dual."""
    check_tolerance(tol)
    task, parameters = MC_MKL.task(instance, {"C": C})
    point, _ = solve_declared(MC_MKL, task, tol)
    (coefficients, bias), roots = point.upper.point, point.lower.norms
    answer = coefficients, bias, L1.weights(point.upper.norms, roots)
    multipliers = {"beta": point.lower.point, "tau": L1.conjugate(roots)}
    about = ("mc_mkl", instance.targets, instance.names, parameters)
    return Baseline(*about, *answer, point.certificate, multipliers, message=shortfall(point, tol))
