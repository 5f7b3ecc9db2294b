"""sklearn_svc, libsvm, pegasos — the SVM with one kernel, or with a fixed combination, in other people's words.

    min over f, b    ½ ‖f‖² + C Σ_i ξ_i          max over α ∈ S of 1'α − ½ q(α)

is our `svm` with one kernel. With several, `combination` says what the code was given: their sum (our `sum`) or their
mean (`average`). C Σ_i weight_i ξ_i is what scikit-learn makes of sample and class weights, and what we do.

sklearn_svc: dual_coef_ = α∘y, of the samples support_ alone, counted from 0; intercept_ = b, to be added; classes_ are
sorted, so +1 is the positive class. Proof: scikit-learn flips the signs that LIBSVM gives to two classes.
An answer here: alpha = dual_coef_ (for all samples, or with multiplier `support`), bias = intercept_; an objective is
read as the primal's.

libsvm: the dual is minimised, ½ α'Qα − 1'α, and obj is minus our value; sv_coef is α for the class `first_label` (the
first one in the model's line "label") and −α for the other; the decision function Σ_i sv_coef_i k(x_i, ·) − rho is
positive for `first_label`. So with σ = first_label, f = σ (Σ − rho): α_i = σ y_i sv_coef_i, b = −σ rho. LIBSVM takes
+1 first from version 3.17 on, before that the label of the first sample.
An answer here: alpha = sv_coef (for all samples, or with multiplier `sv_indices`, counted from 1), bias = rho,
objective = obj.

pegasos:

    min over f    (λ/2) ‖f‖² + (1/n) Σ_i max(0, 1 − y_i f(x_i)),

without bias unless asked for. Dividing by λ, C = 1/(λn), and their objective is λ times ours. Their dual
variables are in [0, 1], f = (1/(λn)) Σ_i α_i y_i k(x_i, ·): ours are theirs × 1/(λn).
An answer here: alpha in [0, 1], bias = b, objective = the primal's.

References: Chang & Lin 2011 and LIBSVM's FAQ; scikit-learn's SVC, with its issue 4262; Shalev-Shwartz et al. 2007.
"""

from __future__ import annotations

from functools import partial

from ...problem.instance import Instance
from ._convention import AnswerMap, C, Convention, ConvertedProblem, Parameters, number, positive, sample_side

COMBINATION = {"combination": ("sum", "average")}
FIRST_LABEL = number(
    "first_label", "the class that the code takes as positive", "first_label = 1 or −1", lambda v: v in (-1, 1), 1.0
)
fixed_combination = partial(Convention, choices=COMBINATION, serves=("svm", "sum", "average"))
of_sklearn = partial(fixed_combination, reference="scikit-learn")


def class_order(instance: Instance, first_label: float) -> Parameters:
    """LIBSVM's signs: α of the first class is positive, and rho is taken away."""
    return {"alpha": first_label * instance.y, "coefficients": first_label, "bias": -first_label}


def combined(instance: Instance, parameters: Parameters) -> str:
    return "svm" if instance.count == 1 else str(parameters["combination"])


def sklearn(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    return ConvertedProblem(
        combined(instance, parameters), sample_side(parameters), instance, AnswerMap(alpha=instance.y)
    )


def libsvm(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    answers = AnswerMap(objective=-1.0, **class_order(instance, parameters["first_label"]))
    return ConvertedProblem(combined(instance, parameters), sample_side(parameters), instance, answers)


def pegasos(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    price = 1 / (parameters["lam"] * instance.samples)
    answers = AnswerMap(alpha=price, objective=1 / parameters["lam"])
    return ConvertedProblem(combined(instance, parameters), {"C": price, "bias": parameters["bias"]}, instance, answers)


SKLEARN_SVC = of_sklearn(
    name="sklearn_svc",
    title="scikit-learn's SVC: dual_coef_ = α∘y, the intercept is added",
    problem=sklearn,
)

LIBSVM = fixed_combination(
    name="libsvm",
    title="LIBSVM: a minimised dual, rho is taken away, signs by class order",
    reference="Chang & Lin 2011",
    parameters=(C, FIRST_LABEL),
    problem=libsvm,
    support=("sv_indices", 1),
)

PEGASOS = fixed_combination(
    name="pegasos",
    title="λ/2 times the squared norm plus the mean hinge loss",
    reference="Shalev-Shwartz et al. 2007",
    parameters=(positive("lam", "λ", "price of ½‖f‖²"),),
    problem=pegasos,
    bias=False,
)
