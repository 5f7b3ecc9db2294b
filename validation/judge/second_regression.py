"""Wrong answers for one task with real targets, with counts, and without targets."""

from __future__ import annotations

import numpy as np
from blind_tools import (
    Data,
    Problem,
    Wrong,
    all_kernels,
    centred,
    copied,
    cosine,
    each_kernel,
    laplacian,
    machine,
    parts,
    spectral,
    target,
    unit_trace,
    using,
    without,
)
from second_tools import bare, counted, prices, real, some, spread

import mklcvx

ONE = "single task"
RIDGE = Problem(ONE, real(41, 34, "gwlp"), "l1", {"C": 2.0, "loss": "squared"})
RIDGE2 = Problem(ONE, real(42, 36, "gwls", sample_weight=prices(42, 36)), "l2", {"C": 0.7, "loss": "squared"})
RIDGE_FREE = Problem(ONE, real(43, 30, "gwsr"), "lp", {"C": 3.0, "p": 1.7, "loss": "squared", "bias": False})
TUBE = Problem(ONE, real(44, 36, "gwlp"), "l1", {"C": 1.5, "loss": "epsilon_insensitive", "epsilon": 0.3})
TUBE2 = Problem(ONE, real(45, 32, "gwps"), "l2", {"C": 0.8, "loss": "epsilon_insensitive", "epsilon": 0.2})
SOFT = Problem(ONE, real(46, 36, "gwlps"), "l1", {"C": 1.2, "loss": "squared_epsilon_insensitive", "epsilon": 0.35})
HUBER = Problem(ONE, real(47, 38, "gwlp"), "l1", {"C": 1.1, "loss": "huber", "delta": 0.5})
HUBER2 = Problem(ONE, real(48, 34, "gwsp"), "elastic", {"C": 2.0, "loss": "huber", "delta": 0.3, "l1_ratio": 0.4})
QUANTILE = Problem(ONE, real(49, 36, "gwls"), "l1", {"C": 2.5, "loss": "quantile", "quantile": 0.8})
QUANTILE2 = Problem(ONE, real(50, 32, "gwlp"), "sm2", {"C": 1.5, "loss": "quantile", "quantile": 0.3, "theta": 0.5})
NU_SVR = Problem(ONE, real(51, 34, "gwlp"), "l1", {"C": 1.6, "loss": "nu_svr", "nu": 0.4})
POISSON = Problem(ONE, counted(52, 34, "gwlp"), "l1", {"C": 0.6, "loss": "poisson"})
POISSON2 = Problem(ONE, counted(53, 30, "gwsl"), "l2", {"C": 0.3, "loss": "poisson"})
ALONE = Problem(ONE, bare(54, 36, "gwsg"), "l2", {"nu": 0.25, "loss": "one_class"})
ALONE1 = Problem(ONE, bare(55, 32, "gwsg"), "sm1", {"nu": 0.4, "loss": "one_class", "theta": 0.5})
KEEP38 = np.arange(38) < 31


def residual(s: mklcvx.Solution, d: Data) -> np.ndarray:
    f = np.einsum("m,mij,j->i", s.weights, d["kernels"], s.alpha)
    return d["response"] - f - s.bias


def poisson_without_constant(s: mklcvx.Solution, d: Data) -> float:
    y = d["response"]
    logs = np.where(y > 0, y * np.log(np.maximum(y, 1)), 0.0)
    return float(s.objective - 0.6 * np.sum(logs - y))


WRONG: list[Wrong] = [
    # Least squares.
    RIDGE.other("no ½ before squares", "parameter", "parameter:C", hand="wab", C=4.0),
    RIDGE.other("the ridge of C in place of 1/C", "parameter", "parameter:C", hand="wa", C=0.5),
    RIDGE.other("C of 0.4, weights alone", "parameter", "parameter:C", "kernels:scale", hand="w", C=0.4),
    RIDGE.other("no bias", "bias", "bias_term:omitted", hand="wa", bias=False),
    RIDGE.other("response standardised", "labels", "labels:scaled", ("alpha:scale", "bias:value"), hand="wab",
                change=target(lambda r: (r - r.mean()) / r.std())),
    RIDGE.other("response centred, bias not put back", "labels", "labels:scaled", "bias:value", hand="wab",
                change=target(lambda r: r - r.mean())),
    RIDGE.handed("residuals in place of α", "form", "alpha:scale",
                 of=lambda s, d: parts(s, "wb") | {"alpha": residual(s, d)}),
    RIDGE.handed("−α", "form", "alpha:sign", of=lambda s, d: parts(s, "wb") | {"alpha": -s.alpha}),
    RIDGE.handed("bias is the mean of the response", "bias", "bias:value",
                 of=lambda s, d: parts(s, "wa") | {"bias": float(d["response"].mean())}),
    RIDGE.other("hinge of regression", "loss", "loss:epsilon_insensitive", hand="wa", loss="epsilon_insensitive"),
    RIDGE.handed("squares not halved in the value", "objective", "objective:terms", "objective:value",
                 of=lambda s, d: parts(s, "wab") | {"objective": s.objective + np.sum(residual(s, d) ** 2)}),
    RIDGE.other("outliers of the response cut off", "labels", "labels:misread", "labels:scaled", hand="wab",
                change=target(lambda r: np.clip(r, *np.quantile(r, [0.1, 0.9])))),
    RIDGE2.other("weights of samples ignored", "samples", "sample_weight:ignored", hand="wa",
                 change=using(sample_weight=None)),
    RIDGE2.other("weights of samples whose mean is one", "samples", "sample_weight:normalised", "parameter:C",
                 hand="wab", change=lambda d: d | {"sample_weight": d["sample_weight"] / d["sample_weight"].mean()}),
    RIDGE2.other("weights before the residuals, then squared", "samples", "sample_weight:squared", hand="ab",
                 change=lambda d: d | {"sample_weight": d["sample_weight"] ** 2}),
    RIDGE2.other("kernels of unit trace", "kernels", "kernels:trace", hand="w", change=each_kernel(unit_trace)),
    RIDGE_FREE.other("a bias in addition", "bias", "bias_term:added", hand="wa", bias=True),
    RIDGE_FREE.other("centred kernels", "kernels", "kernels:centred", hand="wa", change=each_kernel(centred)),
    RIDGE_FREE.other("p of 1.2", "parameter", "parameter:p", hand="wao", p=1.2),
    RIDGE_FREE.other("the third kernel left out", "kernels", "kernels:dropped", hand="wa",
                     change=all_kernels(lambda k: without(k, 2))),
    # A tube.
    TUBE.other("ε as it is by default", "parameter", "parameter:epsilon", hand="wab", epsilon=0.1),
    TUBE.other("no tube", "loss", "parameter:epsilon", "loss:absolute", hand="wab", epsilon=0.0),
    TUBE.other("C for all samples together", "parameter", "parameter:C", hand="wa", C=1.5 / 36),
    TUBE.handed("|α|", "form", "alpha:sign", of=lambda s, d: parts(s, "wb") | {"alpha": np.abs(s.alpha)}),
    TUBE.handed("no bias handed over", "bias", "bias:missing", of=lambda s, d: parts(s, "wa") | {"bias": 0.0}),
    TUBE.handed("Σ ε|α| missing from the dual", "objective", "objective:terms", "objective:value",
                of=lambda s, d: parts(s, "wab") | {"objective": s.objective + 0.3 * np.abs(s.alpha).sum()}),
    TUBE2.other("squared slacks", "loss", "loss:squared_epsilon_insensitive", hand="wab",
                loss="squared_epsilon_insensitive"),
    TUBE2.other("the simplex", "formulation", "formulation:l1", hand="wab", formulation="l1"),
    TUBE2.handed("α of equal weights", "form", "alpha:stale", "alpha:second_stage", of=lambda s, d: parts(s, "w")
                 | parts(machine(d, np.full(4, 0.5), TUBE2.parameters), "ab")),
    TUBE2.other("Laplacians", "kernels", "kernels:distance", hand="wab", change=each_kernel(laplacian)),
    TUBE2.other("unit spectral norms", "kernels", "kernels:frobenius", hand="wab", change=each_kernel(spectral)),
    SOFT.other("ε of 0", "loss", "parameter:epsilon", "loss:squared", hand="wab", epsilon=0.0),
    SOFT.other("no ½ before squares, as LinearSVR has it", "parameter", "parameter:C", hand="wa", C=2.4),
    SOFT.other("plain slacks", "loss", "loss:epsilon_insensitive", hand="wa", loss="epsilon_insensitive"),
    # Huber, quantiles, ν.
    HUBER.other("δ of 1.35", "parameter", "parameter:delta", hand="wab", delta=1.35),
    HUBER.other("squares throughout", "loss", "loss:squared", "parameter:delta", hand="wab", loss="squared",
                drop=("delta",)),
    HUBER.other("divided by δ, as the smooth ℓ1 loss is", "parameter", "parameter:C", hand="wab", C=1.1 / 0.5),
    HUBER.other("the last samples left out", "samples", "samples:dropped", hand="wab", change=some(KEEP38),
                after=spread(KEEP38)),
    HUBER2.other("r of 0.75", "parameter", "parameter:l1_ratio", hand="wa", l1_ratio=0.75),
    HUBER2.other("an absolute loss", "loss", "loss:absolute", "loss:epsilon_insensitive", hand="wab",
                 loss="absolute", drop=("delta",)),
    QUANTILE.other("the other tail", "parameter", "parameter:quantile", hand="wab", quantile=0.2),
    QUANTILE.other("the median", "parameter", "parameter:quantile", hand="wa", quantile=0.5),
    QUANTILE2.other("θ of 3", "parameter", "parameter:theta", hand="wab", theta=3.0),
    QUANTILE2.handed("−b", "bias", "bias:sign", of=lambda s, d: parts(s, "wa") | {"bias": -s.bias}),
    NU_SVR.other("ν as it is by default", "parameter", "parameter:nu", hand="wab", nu=0.5),
    NU_SVR.other("C over n", "parameter", "parameter:C", hand="wa", C=1.6 / 34),
    NU_SVR.other("a tube of 0.1", "loss", "loss:epsilon_insensitive", hand="wab", loss="epsilon_insensitive",
                 drop=("nu",), epsilon=0.1),
    NU_SVR.handed("the tube's price missing from the value", "objective", "objective:terms", "objective:value",
                  of=lambda s, d: parts(s, "wab") | {
                      "objective": s.objective - 0.4 * 34 * 1.6 * float(s.multipliers["epsilon"])}),
    # Counts.
    POISSON.handed("without the constant", "objective", "objective:terms", "objective:value",
                   of=lambda s, d: parts(s, "wab") | {"objective": poisson_without_constant(s, d)}),
    POISSON.other("mean deviance", "parameter", "parameter:C", hand="wab", C=0.6 / 34),
    POISSON.other("twice the deviance, α alone", "parameter", "parameter:C", hand="a", C=1.2),
    POISSON.other("least squares on the counts", "loss", "loss:squared", hand="wab", loss="squared"),
    POISSON.handed("the mean in place of its logarithm", "bias", "bias:value",
                   of=lambda s, d: parts(s, "wa") | {"bias": float(np.exp(s.bias))}),
    POISSON2.other("no bias", "bias", "bias_term:omitted", hand="wa", bias=False),
    POISSON2.handed("α = mean − count", "form", "alpha:sign", of=lambda s, d: parts(s, "wb") | {"alpha": -s.alpha}),
    POISSON2.other("one added to the counts", "labels", "labels:scaled", hand="wab", change=target(lambda r: r + 1)),
    # No targets.
    ALONE.other("1 − ν for ν", "parameter", "parameter:nu", hand="wa", nu=0.75),
    ALONE.handed("α that sums to νn", "form", "alpha:scale", of=lambda s, d: parts(s, "w") | {"alpha": 9.0 * s.alpha}),
    ALONE.other("unit diagonals", "kernels", "kernels:cosine", hand="wa", change=each_kernel(cosine)),
    ALONE.other("kernels of unit trace", "kernels", "kernels:trace", hand="wa", change=each_kernel(unit_trace)),
    ALONE1.other("θ of 0.3", "parameter", "parameter:theta", hand="wao", theta=0.3),
    ALONE1.handed("ρ in place of the value", "objective", "objective:value", "objective:terms",
                  of=lambda s, d: parts(s, "wa") | {"objective": -float(s.multipliers["rho"])}),
    ALONE1.other("the second kernel in the place of the fourth", "kernels", "kernels:copied", hand="wa",
                 change=all_kernels(lambda k: copied(k, 1, 3))),
]  # fmt: skip
