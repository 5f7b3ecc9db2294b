"""Wrong answers for a response, for counts, and for no targets at all."""

from __future__ import annotations

import numpy as np
from blind_tools import Wrong, centred, coefficients, cosine, each_kernel, parts, target, using
from second_tools import some, spread, times
from third_tools import (
    alone,
    at_weights,
    by,
    charges,
    hand,
    measured,
    minus,
    problem,
    standard,
    tallies,
    updates,
)

RIDGE = problem(measured(114, 38, "bvdc"), "l1", loss="squared", C=0.7)
LEAST = problem(measured(41, 45, "dve"), "sum", loss="squared", C=4.0, bias=False)
SQUARES = problem(measured(42, 33, "vdca"), "square", loss="squared", C=1.2, theta=0.3)
LASSO = problem(measured(43, 40, "dvbc"), "group_lasso", loss="squared", C=0.9, lam=1.2)
TUBE = problem(measured(100, 36, "evda"), "l1", loss="epsilon_insensitive", C=2.0, epsilon=0.25)
TUBE_SM1 = problem(measured(44, 42, "bvdce"), "sm1", loss="epsilon_insensitive", C=1.5, epsilon=0.15, theta=0.3)
TUBE2 = problem(measured(45, 35, "dvc"), "l2", loss="squared_epsilon_insensitive", C=1.1, epsilon=0.3)
HUBER = problem(measured(46, 48, "dvce"), "lp", loss="huber", C=1.3, delta=0.35, p=1.4)
HUBER_NET = problem(measured(47, 30, "vdb"), "elastic", loss="huber", C=2.5, delta=0.25, l1_ratio=0.4)
LEVEL = problem(measured(48, 44, "dvea"), "l2", loss="quantile", C=1.8, quantile=0.2)
COUNTS = problem(tallies(49, 37, "vdc"), "lp", loss="poisson", C=0.5, p=1.8)
COUNTS_SUM = problem(tallies(50, 29, "da"), "average", loss="poisson", C=1.6)
ONE = problem(alone(104, 41, "bvdc"), "lp", loss="one_class", nu=0.3, p=1.5)
ONE_SUM = problem(alone(51, 36, "dqa"), "sum", loss="one_class", nu=0.2)
NU_SVR = problem(measured(52, 40, "dvcb"), "elastic", loss="nu_svr", C=1.4, nu=0.4, l1_ratio=0.5)
NU_LI = problem(measured(53, 32, "dve"), "li", loss="nu_svr", C=2.0, nu=0.3)
PAID = problem(measured(54, 39, "vdce", sample_weight=charges(54, 39)), "lp", loss="squared", C=1.0, p=1.5)

KEPT = np.arange(42) % 7 != 2
WRONG: list[Wrong] = [
    # least squares
    RIDGE.other("the loss without its ½", "parameter", "parameter:C", hand="wab", C=1.4),
    RIDGE.other("a standardised response", "labels", "labels:scaled", hand="wab", change=target(standard)),
    RIDGE.handed("residuals for α", "form", "alpha:scale", of=hand("wab", alpha=by(1 / 0.7))),
    RIDGE.handed("weights are missing from f", "form", "coefficients:weights",
                 of=lambda s, _: {"coefficients": np.tile(s.alpha, (len(s.weights), 1)), "bias": s.bias}),
    RIDGE.handed("five rounds of the update", "iterate", "accuracy:early",
                 of=lambda s, d: at_weights(RIDGE, updates(RIDGE, 5, 1, 1))),
    LEAST.other("a centred response", "labels", "labels:scaled", hand="a", change=target(lambda r: r - r.mean())),
    PAID.other("prices ignored", "samples", "sample_weight:ignored", hand="wab", change=using(sample_weight=None)),
    PAID.other("prices are deviations, so reciprocal", "samples", "sample_weight:inverted", hand="wab",
               change=lambda d: d | {"sample_weight": 1 / d["sample_weight"]}),
    # the tube
    TUBE.other("no tube", "loss", "loss:absolute", "parameter:epsilon", hand="wab", loss="absolute",
               drop=("epsilon",)),
    TUBE.handed("α* − α", "form", "alpha:sign", of=hand("wab", alpha=minus)),
    TUBE.handed("α without α*", "form", "alpha:clipped", of=hand("wab", alpha=lambda a, _: np.maximum(a, 0))),
    TUBE_SM1.other("squares beyond the tube", "loss", "loss:squared_epsilon_insensitive", hand="wab",
                   loss="squared_epsilon_insensitive"),
    TUBE_SM1.other("one fold of seven was kept back", "samples", "samples:dropped", hand="wab", change=some(KEPT),
                   after=spread(KEPT)),
    TUBE_SM1.other("θ = 1/M", "parameter", "parameter:theta", "formulation:average", "kernels:average", hand="wabo",
                   theta=0.2),
    # Huber's loss and quantiles
    HUBER.other("no corner", "loss", "loss:squared", "parameter:delta", hand="wab", loss="squared", drop=("delta",)),
    HUBER_NET.other("r² and 2δ|r| − δ²", "parameter", "parameter:C", hand="wab", C=5.0),
    HUBER_NET.other("the response reversed", "labels", "labels:permuted", hand="wab",
                    change=target(lambda r: r[::-1])),
    # Twice the loss at π = ½; ν-SVR finds no tube here.
    LEVEL.other("absolute residuals", "loss", "loss:absolute", "loss:nu_svr", ("parameter:quantile", "parameter:C"),
                hand="wab", loss="absolute", drop=("quantile",)),
    # counts
    COUNTS.other("least squares", "loss", "loss:squared", hand="wab", loss="squared"),
    COUNTS.handed("y log y − y is left out", "form", "objective:terms",
                  of=hand("wabo", objective=lambda o, _: o - 0.5 * deviance(COUNTS.data["response"]))),
    COUNTS_SUM.other("the mean of the losses", "parameter", "parameter:C", hand="ab", C=1.6 / 29),
    COUNTS_SUM.handed("e^b for b", "form", "bias:value", of=hand("ab", bias=lambda b, _: float(np.exp(b)))),
    # no targets
    ONE.handed("α sums to νn", "form", "alpha:scale", of=hand("wa", alpha=by(0.3 * 41))),
    ONE.other("centred kernels", "kernels", "kernels:centred", hand="wao", change=each_kernel(centred)),
    ONE_SUM.other("unit diagonals", "kernels", "kernels:cosine", hand="ao", change=each_kernel(cosine)),
    ONE_SUM.handed("½α'Kα for its negative", "form", "objective:sign", of=hand("ao", objective=minus)),
    # a tube that is chosen
    NU_SVR.other("a tube that is given", "loss", "loss:epsilon_insensitive", "parameter:nu", hand="wab",
                 loss="epsilon_insensitive", drop=("nu",)),
    NU_LI.other("½ in front of the penalty", "kernels", "kernels:scale", ("parameter:C", "alpha:scale"), hand="ab",
                change=times(2.0)),
    NU_LI.handed("f of α with weights twice", "form", "coefficients:weights",
                 of=lambda s, _: {"coefficients": s.weights[:, None] * coefficients(s), **parts(s, "b")}),
    NU_LI.other("a scaled response", "labels", "labels:scaled", hand="wabo",
                change=target(lambda r: r / np.abs(r).max())),
]  # fmt: skip


def deviance(y: np.ndarray) -> float:
    """Σ y log y − y."""
    return float(np.sum(np.where(y > 0, y * np.log(np.maximum(y, 1)), 0) - y))
