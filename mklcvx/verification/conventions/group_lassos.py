"""celer, dalmkl — group lassos: a norm of each kernel's function that is not squared, and a smooth loss.

celer, for the GroupLasso of celer and of skglm, with a linear kernel for each group of features:

    min over w, b    (1/2n) Σ_i (y_i − Σ_m w_m'x_im − b)² + λ Σ_m ‖w_m‖

is our `group_lasso` with the loss `squared` and C = 1/n, word for word: f_m = w_m'x_m has ‖f_m‖ = ‖w_m‖ in the space of
the linear kernel, and our loss has the ½. λ is the code's argument alpha. It has no α: the loss's slope is
α_i = (y_i − f(x_i) − b)/n. Our weights are ‖f_m‖/λ, since λa = a²/(2t) + λ²t/2 at t = a/λ.
An answer here: alpha = y − predict(X), weights = ‖w_m‖, bias = intercept_, objective = the minimum above.

dalmkl, for DALMKL with the logistic loss:

    min over f, b    Σ_i log(1 + exp(−y_i f(x_i))) + λ Σ_m ‖f_m‖

is our `group_lasso` with the loss `logistic` and C = 1; α_i is one minus the probability of the sample's own class.
An answer here: alpha = 1 − p_i, weights = ‖f_m‖, bias = b, objective = the minimum above.

References: Massias et al. 2018 (celer); Bertrand et al. 2022 (skglm); Suzuki & Tomioka 2011 (DALMKL).
"""

from __future__ import annotations

from ...formulations.losses import LOGISTIC, SQUARED
from ...problem.instance import Instance
from ._convention import AnswerMap, Convention, ConvertedProblem, Parameters, positive

FORMULATION = "group_lasso"
LAM = positive("lam", "λ", "price of Σ‖f_m‖; the code's argument alpha")


def celer(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    return stated(instance, parameters, SQUARED.name, 1 / instance.samples)


def dalmkl(instance: Instance, parameters: Parameters) -> ConvertedProblem:
    return stated(instance, parameters, LOGISTIC.name, 1.0)


def stated(instance: Instance, parameters: Parameters, loss: str, price: float) -> ConvertedProblem:
    side = {"loss": loss, "C": price, "lam": parameters["lam"], "bias": parameters["bias"]}
    answers = AnswerMap(weights=1 / parameters["lam"], alpha=price * instance.sample_weight)
    return ConvertedProblem(FORMULATION, side, instance, answers)


CELER = Convention(
    name="celer",
    title="GroupLasso of celer and skglm: the plain block norm, the mean of the squares with ½",
    reference="Massias et al. 2018",
    parameters=(LAM,),
    problem=celer,
    serves=(FORMULATION,),
    loss=SQUARED,
)

DALMKL = Convention(
    name="dalmkl",
    title="DALMKL with the logistic loss: the plain block norm, λ instead of C",
    reference="Suzuki & Tomioka 2011",
    parameters=(LAM,),
    problem=dalmkl,
    serves=(FORMULATION,),
    loss=LOGISTIC,
)
