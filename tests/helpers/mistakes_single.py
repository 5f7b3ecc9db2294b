"""Mistakes with one label per sample in what is solved: a parameter misread, another problem, a broken solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from sklearn.svm import SVC

from mistakes import centred, mistake, of_unit_trace
from mklcvx import Instance
from wrong_answers import Case, Parts, parts


# --------------------------------------------------------------------------------------- solvers of a parameter misread
@mistake("clouds", "average", "C was divided by the number of samples", C=1.0, named="C_over_n")
def c_over_n(case: Case) -> Parts:
    return parts(case.other(C=1.0 / case.instance.samples))


@mistake("clouds", "l1", "C was multiplied by the number of samples", C=0.05, named="C_times_n")
def c_times_n(case: Case) -> Parts:
    return parts(case.other(C=0.05 * case.instance.samples))


@mistake("noise-60", "vskl", "C was halved or doubled", C=1.0, s=3.0, named="half: C times 0.5")
def half_the_price(case: Case) -> Parts:
    return parts(case.other(C=0.5))


@mistake("clouds", "l1", "λ = 1/C was given to a solver that wants C", C=5.0, named="C_inverted")
def c_upside_down(case: Case) -> Parts:
    return parts(case.other(C=0.2))


@mistake("clouds", "l1", "ν was taken for C", nu=0.3, named="parameter: ν was taken for C")
def nu_for_c(case: Case) -> Parts:
    return parts(case.other(nu=None, C=0.3))


@mistake("planted-sm2", "sm2", "1/θ was taken for θ", C=1.0, theta=8.0, named="parameter: 1/theta")
def theta_upside_down(case: Case) -> Parts:
    return parts(case.other(theta=1 / 8.0))


@mistake(
    "clouds", "sm2", "θ is off by two: ‖μ‖²/θ where ‖μ‖²/(2θ) is meant", C=1.0, theta=0.1, named="parameter: theta/2"
)
def penalty_without_half(case: Case) -> Parts:
    return parts(case.other(theta=0.05))


@mistake("redundancy-1", "square", "1/θ was taken for θ", C=0.1, theta=20.0, named="parameter: 1/theta")
def square_theta_upside_down(case: Case) -> Parts:
    return parts(case.other(theta=0.05))


@mistake(
    "clouds", "smp", "the conjugate exponent was taken for p", C=1.0, theta=0.3, p=4.0, named="parameter: p/(p − 1)"
)
def smp_conjugate_exponent(case: Case) -> Parts:
    return parts(case.other(p=4 / 3))


@mistake("clouds", "lp", "the conjugate exponent was taken for p", C=1.0, p=4.0, named="parameter: p/(p − 1)")
def conjugate_exponent(case: Case) -> Parts:
    return parts(case.other(p=4 / 3))


@mistake(
    "noise-0",
    "lp",
    "p was taken for the block norm's exponent: p/(2 − p) is solved",
    C=1.0,
    p=1.25,
    named="parameter: p/(2 − p)",
)
def block_norm_exponent(case: Case) -> Parts:
    return parts(case.other(p=1.25 / (2 - 1.25)))


@mistake(
    "clouds",
    "elastic",
    "the ratio is that of the ridge: 1 − l1_ratio",
    C=1.0,
    l1_ratio=0.2,
    named="parameter: 1 − l1_ratio",
)
def ratio_of_the_ridge(case: Case) -> Parts:
    return parts(case.other(l1_ratio=0.8))


@mistake(
    "clouds",
    "block_elastic",
    "the ratio is that of the ridge on the norms",
    C=1.0,
    l1_ratio=0.2,
    named="parameter: 1 − l1_ratio",
)
def ratio_of_the_ridge_on_the_norms(case: Case) -> Parts:
    return parts(case.other(l1_ratio=0.8))


@mistake("clouds", "group_lasso", "the kernels were centred", C=1.0, lam=1.0, bias=False, named="kernels_centred")
def kernels_centred_for_the_group_lasso(case: Case) -> Parts:
    return parts(case.other(instance=centred(case.instance)))


@mistake(
    "clouds", "vskl", "s = 2 was solved, not the s that was asked", C=1.0, s=6.0, named="parameter: s = 2, the default"
)
def s_ignored(case: Case) -> Parts:
    return parts(case.other(s=2.0))


# ------------------------------------------------------------------------------------------ solvers of another problem
@mistake(
    "breast_cancer-kumar", "sm1", "the box θ was ignored: l1 was solved", C=1.0, theta=0.15, named="formulation l1"
)
def box_ignored(case: Case) -> Parts:
    return parts(case.other("l1", theta=None))


@mistake(
    "noise-60", "l2", "another formulation was solved: sum (L2-MKL of another paper)", C=1.0, named="formulation sum"
)
def l2_of_another_paper(case: Case) -> Parts:
    return parts(case.other("sum"))


@mistake("clouds", "sum", "the average was solved, not the sum", C=1.0, named="formulation average")
def average_for_sum(case: Case) -> Parts:
    return parts(case.other("average"))


@mistake("clouds", "l1", "the best single kernel was taken, not a combination", C=1.0, named="one_kernel: alone")
def best_single_kernel(case: Case) -> Parts:
    runs = [solve_alone(case, m) for m in range(case.instance.count)]
    return min(runs, key=lambda run: run["objective"])


def solve_alone(case: Case, m: int) -> Parts:
    said = parts(case.other("svm", case.instance.select([m])))
    return {**said, "weights": np.eye(case.instance.count)[m]}


@mistake("clouds", "ckl", "the groups were ignored, every kernel is one: li was solved", C=1.0, named="formulation li")
def groups_of_one(case: Case) -> Parts:
    return parts(case.other("li"))


@mistake("redundancy-4", "ckl", "the groups were ignored, all are one: l1 was solved", C=0.1, named="formulation l1")
def one_group(case: Case) -> Parts:
    return parts(case.other("l1"))


@mistake("clouds", "ckl", "a ½ stands in front of the penalty: C is doubled, the objective halved", C=1.0, named="half")
def ckl_with_half(case: Case) -> Parts:
    twice = case.other(C=2.0)
    return {"weights": twice.weights, "alpha": twice.alpha / 2, "objective": twice.objective / 2}


@mistake("clouds", "li", "a ½ stands in front of the penalty: C is doubled, the objective halved", C=1.0, named="half")
def li_with_half(case: Case) -> Parts:
    twice = case.other(C=2.0)
    return {"alpha": twice.alpha / 2, "objective": twice.objective / 2}


@mistake("noise-0", "l1", "it was solved without a bias", C=1.0, named="bias_omitted")
def no_bias(case: Case) -> Parts:
    return parts(case.other(bias=False), "weights", "alpha", "objective")


@mistake(
    "noise-0", "sm2", "it was solved with a bias, none was asked for", C=1.0, theta=1.0, bias=False, named="bias_added"
)
def bias_uninvited(case: Case) -> Parts:
    return parts(case.other(bias=True))


@mistake(
    "imbalanced-weighted",
    "l1",
    "the samples' weights were ignored",
    C=1.0,
    named="sample_weight: without their weights",
)
def sample_weights_ignored(case: Case) -> Parts:
    return parts(case.other(instance=Instance(case.instance.kernels, case.instance.y)))


@mistake(
    "imbalanced-weighted",
    "average",
    "the classes were swapped: the other class has the weight",
    C=1.0,
    named="sample_weight: without their weights",
    other_words=True,  # the heavy class is never at its bound: its weight does not matter
)
def weights_of_the_other_class(case: Case) -> Parts:
    weight = np.where(case.instance.y > 0, 1.0, case.instance.sample_weight.max())
    return parts(case.other(instance=Instance(case.instance.kernels, case.instance.y, sample_weight=weight)))


@mistake("redundancy-4", "l1", "the kernels were scaled to unit trace", C=0.1, named="kernels_trace")
def kernels_of_unit_trace(case: Case) -> Parts:
    return parts(case.other(instance=of_unit_trace(case.instance)))


@mistake(
    "redundancy-4",
    "elastic",
    "the kernels were normalised to unit diagonals",
    C=1.0,
    l1_ratio=0.5,
    named="kernels_cosine",
)
def kernels_of_unit_diagonal(case: Case) -> Parts:
    lengths = np.sqrt(np.diagonal(case.instance.kernels, axis1=1, axis2=2))
    scaled = case.instance.kernels / (lengths[:, :, None] * lengths[:, None, :])
    return parts(case.other(instance=Instance(scaled, case.instance.y)))


@mistake("clouds", "average", "the kernels were centred", C=1.0, bias=False, named="kernels_centred")
def kernels_centred(case: Case) -> Parts:
    return parts(case.other(instance=centred(case.instance)))


@mistake("clouds", "sum", "a ridge was added to the kernels", C=1.0, named="ridge")
def ridge_on_the_kernels(case: Case) -> Parts:
    kernels = case.instance.kernels + 1e-3 * np.eye(case.instance.samples)
    return parts(case.other(instance=Instance(kernels, case.instance.y)))


@mistake("clouds", "average", "the squared hinge loss was used", C=1.0, named="loss squared_hinge")
def squared_hinge(case: Case) -> Parts:
    """min ½‖f‖² + CΣξ² is a machine without a bound on α and with the ridge 1/(2C)."""
    kernel = case.instance.kernels.mean(axis=0) + np.eye(case.instance.samples) / 2
    found = case.other("svm", Instance(kernel[None], case.instance.y), C=1e6)
    return {**parts(found), "weights": np.full(case.instance.count, 1 / case.instance.count)}


@mistake(
    "clouds",
    "elastic",
    "‖μ‖ stands in the constraint for ‖μ‖²: no elastic net of ours",
    C=1.0,
    l1_ratio=0.3,
    named="elastic_net: squared",
)
def plain_norm_in_the_net(case: Case) -> Parts:
    """The dual of rΣμ + (1 − r)‖μ‖ ≤ 1: q/2 ≤ t(r + (1 − r)u) with ‖u‖ ≤ 1, t the price."""
    instance, n = case.instance, case.instance.samples
    alpha, t, v = cp.Variable(n, nonneg=True), cp.Variable(nonneg=True), cp.Variable(instance.count)
    roots = [np.linalg.cholesky(kernel + 1e-10 * np.eye(n)).T for kernel in instance.kernels]
    signed = cp.multiply(instance.y, alpha)
    cuts = [cp.sum_squares(root @ signed) / 2 <= 0.3 * t + v[m] for m, root in enumerate(roots)]
    limits = [alpha <= 1.0, instance.y @ alpha == 0, cp.norm(v) <= 0.7 * t]
    problem = cp.Problem(cp.Maximize(cp.sum(alpha) - t), [*cuts, *limits])
    problem.solve(solver="CLARABEL")
    weights = np.array([float(np.ravel(cut.dual_value)[0]) for cut in cuts])
    return {"weights": weights, "alpha": np.clip(alpha.value, 0.0, 1.0), "objective": problem.value}


# ------------------------------------------------------------------------------------------------------ broken solvers
def machine(kernel: np.ndarray, y: np.ndarray, c: float, tol: float = 1e-8) -> tuple[np.ndarray, float]:
    """scikit-learn's SVC: α and the bias."""
    found = SVC(C=c, kernel="precomputed", tol=tol).fit(kernel, y)
    alpha = np.zeros(len(y))
    alpha[found.support_] = np.abs(found.dual_coef_[0])
    return alpha, float(found.intercept_[0])


def correlations(case: Case, alpha: np.ndarray) -> np.ndarray:
    signed = alpha * case.instance.y
    return np.array([signed @ kernel @ signed for kernel in case.instance.kernels])


@mistake("one-kernel", "svm", "stopped early: LIBSVM's default tolerance", C=100.0, named="stopped_early")
def default_tolerance(case: Case) -> Parts:
    alpha, bias = machine(case.instance.kernels[0], case.instance.y, 100.0, tol=0.1)
    return {"alpha": alpha, "bias": bias}


@mistake("noise-0", "l1", "stopped early: a handful of reduced-gradient steps", C=1.0, named="stopped_early")
def few_steps(case: Case) -> Parts:
    weights = np.full(case.instance.count, 1 / case.instance.count)
    for _ in range(5):
        alpha, bias = machine(np.tensordot(weights, case.instance.kernels, 1), case.instance.y, 1.0)
        weights = weights * np.sqrt(correlations(case, alpha))
        weights /= weights.sum()
    return {"weights": weights, "alpha": alpha, "bias": bias}


@mistake("clouds", "l1", "the gradient has the wrong sign: the worst kernel was chosen", C=1.0)
def uphill(case: Case) -> Parts:
    weights = np.full(case.instance.count, 1 / case.instance.count)
    for _ in range(60):
        alpha, bias = machine(np.tensordot(weights, case.instance.kernels, 1), case.instance.y, 1.0)
        weights = weights * np.exp(-correlations(case, alpha) / 4)
        weights /= weights.sum()
    return {"weights": weights, "alpha": alpha, "bias": bias}


@mistake("clouds", "lp", "the exponent of the weights' update is wrong", C=1.0, p=2.0, named="weights_rule")
def update_with_wrong_exponent(case: Case) -> Parts:
    weights = np.full(case.instance.count, case.instance.count**-0.5)
    for _ in range(200):
        alpha, bias = machine(np.tensordot(weights, case.instance.kernels, 1), case.instance.y, 1.0)
        weights = (weights * np.sqrt(correlations(case, alpha))) ** (1 / 3)
        weights /= np.linalg.norm(weights)
    return {"weights": weights, "alpha": alpha, "bias": bias}


@mistake(
    "redundancy-4",
    "l1",
    "computed in single precision, which cannot claim that much",
    C=0.1,
    tol=1e-9,
    named="single_precision",
)
def single_precision(case: Case) -> Parts:
    rounded = Instance(case.instance.kernels.astype(np.float32).astype(float), case.instance.y)
    return {name: np.float32(value).astype(float) for name, value in parts(case.other(instance=rounded)).items()}
