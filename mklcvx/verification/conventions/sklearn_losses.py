"""sklearn_svr, sklearn_nu_svr, sklearn_kernel_ridge, sklearn_logistic, sklearn_poisson, sklearn_one_class — one kernel,
or a fixed combination, with losses other than the hinge, in scikit-learn's words.

As for `sklearn_svc`, one kernel is our `svm`; with several, `combination` says what the code was given: their sum or
their mean. Price c_i is C times the weight of sample i in all of them.

sklearn_svr:

    min over f, b    ½ ‖f‖² + C Σ_i max(0, |y_i − f(x_i) − b| − ε)

is our loss `epsilon_insensitive`, word for word. dual_coef_ = α, of the samples support_ alone, counted from 0;
intercept_ = b. LinearSVR penalises the bias, unless its features are centred.
An answer here: alpha = dual_coef_ (for all samples, or with multiplier `support`), bias = intercept_; an objective is
read as the primal's.

sklearn_nu_svr:

    min over f, b, ε ≥ 0    ½ ‖f‖² + C (νnε + Σ_i max(0, |y_i − f(x_i) − b| − ε))

is our loss `nu_svr`, word for word; with sample weights n is their sum. (Schölkopf et al. write C/n for C.) dual_coef_
and intercept_ are those of SVR, which has the same answer with the ε that it found: |y − f − b| of every sample with
0 < |α| < C.
An answer here: alpha = dual_coef_ (for all samples, or with multiplier `support`), bias = intercept_; an objective is
read as the primal's, multiplier epsilon as the tube.

sklearn_kernel_ridge:

    min over f    Σ_i (y_i − f(x_i))² + λ ‖f‖²,          (K + λI) dual_coef_ = y,

λ being the code's argument alpha; no bias. Our loss `squared` with C = 1/λ. Proof: divided by 2λ it is
½‖f‖² + (1/λ) Σ ½(y − f)². f = K dual_coef_, so α = dual_coef_; our value is theirs/(2λ). himalaya's KernelRidge and
MultipleKernelRidgeCV solve the same with K = Σ_m e^{δ_m} K_m at their δ: multiply each kernel by e^{δ_m}, and sum.
An answer here: alpha = dual_coef_, objective = the minimum above.

sklearn_logistic, for LogisticRegression on features whose inner products are the kernel:

    min over w, b    ½ ‖w‖² + C Σ_i log(1 + exp(−y_i (w'x_i + b)))

is our loss `logistic`, with a bias that is not penalised (solver liblinear penalises it). Proof: w'x = f with
‖f‖ = ‖w‖ in the space of the kernel; the loss's gradient gives α_i = c_i (1 − p_i), p_i the probability of the sample's
own class. It has no α: `predict_proba` tells it.
An answer here: alpha = 1 − p_i, between 0 and 1; bias = intercept_; objective = the minimum above.

sklearn_poisson, for PoissonRegressor on features whose inner products are the kernel:

    min over w, b    Σ_i w_i (e^(z_i) − y_i z_i + y_i log y_i − y_i) / Σ_i w_i + (λ/2) ‖w‖²,        z_i = w'x_i + b

w_i before the brackets being the weights of the samples, λ the code's argument alpha. Our loss `poisson` with
C = 1/(λ Σ_i w_i). Proof: divided by λ it is ours. It has no α: α_i = c_i (y_i − e^(z_i)), and `predict` is e^z.
An answer here: alpha = y − predict, bias = intercept_, objective = the minimum above.

sklearn_one_class:

    min over f, ρ    ½ ‖f‖² − νn ρ + Σ_i max(0, ρ − f(x_i))          0 ≤ α ≤ 1,   1'α = νn

is our loss `one_class` with everything times νn. Proof: with f = νn f', ρ = νn ρ' it is (νn)² times
½‖f'‖² − ρ' + (1/(νn)) Σ max(0, ρ' − f'). dual_coef_ = νn α of the samples support_; offset_ = νn ρ. LIBSVM's objective
is the minimised dual ½ α'Kα: ours is minus that, divided by (νn)². With sample weights w it has 1'α = νΣw, which is
our ν times the mean of w.
An answer here: alpha = dual_coef_ (for all samples, or with multiplier `support`), objective = LIBSVM's.

References: scikit-learn's SVR, NuSVR, KernelRidge, LogisticRegression, PoissonRegressor, OneClassSVM; Chang & Lin 2011;
Dupré la Tour et al. 2022 (himalaya).
"""

from __future__ import annotations

from ...formulations.losses import EPSILON_INSENSITIVE, LOGISTIC, NU_SVR, ONE_CLASS, POISSON, SQUARED, Loss
from ...problem.instance import Instance
from ._convention import AnswerMap, C, ConvertedProblem, Parameters, positive
from .svc import combined, of_sklearn

LAM = positive("lam", "λ", "price of ‖f‖²; the code's argument alpha")


def stated(
    instance: Instance, parameters: Parameters, loss: Loss, answers: AnswerMap | None = None, **side: float
) -> ConvertedProblem:
    """One kernel, or the combination, with a loss; `side` are its parameters, bias apart."""
    given = {"loss": loss.name, **side, "bias": parameters["bias"]}
    return ConvertedProblem(
        combined(instance, parameters), given, instance, AnswerMap() if answers is None else answers
    )


def svr(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    return stated(instance, parameters, EPSILON_INSENSITIVE, C=parameters["C"], epsilon=parameters["epsilon"])


def nu_svr(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    return stated(instance, parameters, NU_SVR, C=parameters["C"], nu=parameters["nu"])


def kernel_ridge(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    price = 1 / parameters["lam"]
    return stated(instance, parameters, SQUARED, AnswerMap(objective=price / 2), C=price)


def logistic(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    answers = AnswerMap(alpha=parameters["C"] * instance.sample_weight)
    return stated(instance, parameters, LOGISTIC, answers, C=parameters["C"])


def poisson(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    price = 1 / (parameters["lam"] * float(instance.sample_weight.sum()))
    answers = AnswerMap(alpha=price * instance.sample_weight, objective=1 / parameters["lam"])
    return stated(instance, parameters, POISSON, answers, C=price)


def one_class(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    total = parameters["nu"] * float(instance.sample_weight.sum())
    answers = AnswerMap(alpha=1 / total, coefficients=1 / total, objective=-(total**-2))
    return stated(instance, parameters, ONE_CLASS, answers, nu=total / instance.samples)


SKLEARN_SVR = of_sklearn(
    name="sklearn_svr",
    title="scikit-learn's SVR: dual_coef_ = α, the intercept is added",
    parameters=(C, *EPSILON_INSENSITIVE.own),
    problem=svr,
    loss=EPSILON_INSENSITIVE,
)

SKLEARN_NU_SVR = of_sklearn(
    name="sklearn_nu_svr",
    title="scikit-learn's NuSVR: C and ν are ours, dual_coef_ = α, the intercept is added",
    parameters=(C, *NU_SVR.own),
    problem=nu_svr,
    loss=NU_SVR,
    kept=("epsilon",),
)

SKLEARN_KERNEL_RIDGE = of_sklearn(
    name="sklearn_kernel_ridge",
    title="scikit-learn's KernelRidge: λ = 1/C, the squares without ½, no bias",
    parameters=(LAM,),
    problem=kernel_ridge,
    bias=False,
    loss=SQUARED,
)

SKLEARN_LOGISTIC = of_sklearn(
    name="sklearn_logistic",
    title="scikit-learn's LogisticRegression on features: α from the probabilities",
    problem=logistic,
    loss=LOGISTIC,
)

SKLEARN_POISSON = of_sklearn(
    name="sklearn_poisson",
    title="scikit-learn's PoissonRegressor on features: λ = 1/(Cn), α from the means",
    parameters=(LAM,),
    problem=poisson,
    loss=POISSON,
)

SKLEARN_ONE_CLASS = of_sklearn(
    name="sklearn_one_class",
    title="scikit-learn's OneClassSVM: α sums to νn",
    parameters=(ONE_CLASS.parameter,),
    problem=one_class,
    bias=False,
    loss=ONE_CLASS,
)
