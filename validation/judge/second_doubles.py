"""Wrong answers with two mistakes at once, over all families."""

from __future__ import annotations

from typing import Any

import numpy as np
import second_families as families
import second_hinge as hinge
import second_pairs as pairs
import second_regression as regression
import second_regularisers as regularisers
from blind_tools import (
    Problem,
    Wrong,
    all_kernels,
    centred,
    cosine,
    each_kernel,
    parts,
    target,
    trace_n,
    using,
    without,
)
from second_tools import edit, some, spread


def both(problem: Problem, name: str, *accepted: tuple[str, ...], **how: Any) -> Wrong:
    """Two mistakes: another problem, and possibly another form after it."""
    return problem.other(name, "two mistakes", *accepted, double=True, **how)


def signed(problem: Problem) -> Any:
    return edit(alpha=lambda a: a * problem.data["y"])


def with_signs(table: np.ndarray) -> Any:
    return edit(alpha=lambda a: a * np.where(table.T > 0, 1.0, -1.0))


def unit_sum(w: np.ndarray) -> np.ndarray:
    return w / w.sum()


def minus(x: Any) -> Any:
    return -x


WRONG: list[Wrong] = [
    # One task, labels.
    both(hinge.A, "C of 0.4, and α∘y", ("parameter:C", "alpha:sign"), C=0.4, after=signed(hinge.A)),
    both(hinge.B, "kernels of trace n, and no bias", ("kernels:trace", "bias_term:omitted"), hand="wa",
         change=each_kernel(trace_n), bias=False),
    both(hinge.A, "C times 2.5, and −b", ("parameter:C", "bias:sign"), ("parameter:C", "labels:swapped"), C=3.75,
         after=edit(bias=minus)),
    both(hinge.B, "unit diagonals, and squared slacks", ("kernels:cosine", "loss:squared_hinge"), hand="wab",
         change=each_kernel(cosine), loss="squared_hinge"),
    hinge.A.handed("α∘y, and minus the value", "two mistakes", ("alpha:sign", "objective:sign"), double=True,
                   of=lambda s, d: parts(s, "w") | {"alpha": s.alpha * s.y, "objective": -s.objective}),
    hinge.B.handed("α∘y, and −b", "two mistakes", ("alpha:sign", "bias:sign"), ("alpha:sign", "labels:swapped"),
                   double=True, of=lambda s, d: parts(s, "w") | {"alpha": s.alpha * s.y, "bias": -s.bias}),
    both(hinge.B, "samples left out, and α in units of C", ("samples:dropped", "alpha:scale"),
         change=some(hinge.KEEP40), after=lambda s, a: edit(alpha=lambda x: x / 4)(s, spread(hinge.KEEP40)(s, a))),
    both(hinge.B, "balanced classes, and C of 0.7", ("sample_weight:balanced", "parameter:C"),
         change=using(class_weight="balanced"), C=0.7),
    both(hinge.FREE, "a bias in addition, and C of 0.5", ("bias_term:added", "parameter:C"), hand="wa", bias=True,
         C=0.5),
    both(hinge.PRICED, "weights of samples ignored, and C of 2.5", ("sample_weight:ignored", "parameter:C"),
         change=using(sample_weight=None), C=2.5),
    both(hinge.ROUND, "the simplex, and C of 0.8", ("formulation:l1", "parameter:C"), formulation="l1", C=0.8),
    both(hinge.FEW, "p of 2.5, and minus the value", ("parameter:p", "objective:sign"), hand="wao", p=2.5,
         after=edit(objective=minus)),
    both(hinge.SQUARED, "plain slacks, and no bias", ("loss:hinge", "bias_term:omitted"), hand="wa", loss="hinge",
         bias=False),
    both(hinge.LOGIT, "C of 0.5, and probabilities for α", ("parameter:C", "alpha:scale"),
         ("kernels:scale", "alpha:scale"), C=0.5, after=edit(alpha=lambda a: a / 0.5)),
    both(hinge.NU, "ν of 0.6, and α that sums to νn", ("parameter:nu", "alpha:scale"), hand="wa", nu=0.6,
         after=edit(alpha=lambda a: a * 0.6 * 38)),
    both(hinge.NU2, "the simplex, and ν of 0.3", ("formulation:l1", "parameter:nu"), hand="wa", formulation="l1",
         nu=0.3),
    both(hinge.SMOOTH, "the width as it is by default, and C of 0.6", ("parameter:width", "parameter:C"), width=1.0,
         C=0.6),
    both(hinge.NU, "C = 1/(νn) with margin 1, and no bias", ("loss:hinge", "bias_term:omitted"), hand="wa",
         drop=("nu",), C=1 / (0.35 * 38), bias=False),
    both(hinge.PRICED, "reciprocal weights of samples, and no bias", ("sample_weight:inverted", "bias_term:omitted"),
         hand="wa", change=lambda d: d | {"sample_weight": 1 / d["sample_weight"]}, bias=False),
    both(hinge.B, "the 2-norm ball, and α∘y", ("formulation:l2", "alpha:sign"), formulation="l2",
         after=signed(hinge.B)),
    both(hinge.ROUND, "the simplex, and kernels of trace n", ("formulation:l1", "kernels:trace"), formulation="l1",
         change=each_kernel(trace_n)),
    both(hinge.FEW, "p of 2, and C of 0.5", ("parameter:p", "parameter:C"), ("formulation:l2", "parameter:C"), p=2.0,
         C=0.5),
    both(hinge.LOGIT, "hinge loss, and C of 0.4", ("loss:hinge", "parameter:C"), loss="hinge", C=0.4),
    hinge.A.handed("least squares on the labels, and no bias", "two mistakes", ("loss:squared", "bias_term:omitted"),
                   double=True, of=lambda s, d: hinge.only("wa", hinge.squares(hinge.A._replace(
                       parameters={"C": 1.5, "bias": False})))),
    # One task, penalties.
    both(regularisers.SMP, "p of 1.4, and θ of 2", ("parameter:p", "parameter:theta"), p=1.4, theta=2.0),
    both(regularisers.BLOCK, "the net on the weights, and no bias", ("formulation:elastic", "bias_term:omitted"),
         hand="wa", formulation="elastic", bias=False),
    both(regularisers.SUM, "the third kernel left out, and α∘y", ("kernels:dropped", "alpha:sign"), hand="ab",
         change=all_kernels(lambda k: without(k, 2)), after=signed(regularisers.SUM)),
    both(regularisers.AVERAGE, "the sum, and C of 0.4", ("formulation:sum", "parameter:C"),
         ("kernels:scale", "parameter:C"), ("parameter:C", "alpha:scale"), ("kernels:scale", "alpha:scale"),
         hand="ab", formulation="sum", C=0.4),
    both(regularisers.LP, "p of 1.3, and the fourth kernel left out", ("parameter:p", "kernels:dropped"), p=1.3,
         change=all_kernels(lambda k: without(k, 3))),
    both(regularisers.SM1, "θ as it is by default, and C of 0.7", ("parameter:theta", "parameter:C"), theta=0.5,
         C=0.7),
    both(regularisers.SM2, "θ inverted, and no bias", ("parameter:theta", "bias_term:omitted"), hand="wa",
         theta=1 / 0.3, bias=False),
    both(regularisers.SQUARE, "θ of 0.25, and squared slacks", ("parameter:theta", "loss:squared_hinge"), theta=0.25,
         loss="squared_hinge"),
    both(regularisers.ELASTIC, "r of 0.8, and no bias handed over", ("parameter:l1_ratio", "bias:missing"),
         l1_ratio=0.8, after=edit(bias=lambda b: 0.0)),
    both(regularisers.LASSO, "λ of 0.9, and weights that sum to one", ("parameter:lam", "weights:scale"), lam=0.9,
         after=edit(weights=unit_sum)),
    both(regularisers.LI, "C of 4, and shares in place of weights", ("parameter:C", "weights:reciprocal"), C=4.0,
         after=lambda s, a: a | {"weights": s.multipliers["lambda"]}),
    both(regularisers.CKL, "other groups, and C of 0.6", ("groups:other", "parameter:C"),
         change=using(groups=[0, 1, 1, 0, 1]), C=0.6),
    both(regularisers.VSKL, "s of 6, and no bias", ("parameter:s", "bias_term:omitted"), hand="wa", s=6.0, bias=False),
    # One task, real targets.
    both(regression.RIDGE, "response scaled down, and no bias", ("labels:scaled", "bias_term:omitted"),
         ("alpha:scale", "bias_term:omitted"), hand="wa", bias=False, change=target(lambda r: r / np.abs(r).max())),
    both(regression.TUBE, "ε of 0.1, and C of 0.5", ("parameter:epsilon", "parameter:C"), epsilon=0.1, C=0.5),
    both(regression.SOFT, "no tube, and no ½ before squares", ("parameter:epsilon", "parameter:C"),
         ("loss:squared", "parameter:C"), epsilon=0.0, C=2.4),
    both(regression.HUBER, "δ of 1.35, and no bias", ("parameter:delta", "bias_term:omitted"),
         hand="wa", delta=1.35, bias=False),
    both(regression.QUANTILE, "the other tail, and kernels of trace n", ("parameter:quantile", "kernels:trace"),
         quantile=0.2, change=each_kernel(trace_n)),
    both(regression.POISSON, "mean deviance, and the other sign of α", ("parameter:C", "alpha:sign"), C=0.6 / 34,
         after=edit(alpha=minus)),
    both(regression.ALONE, "ν of 0.6, and unit diagonals", ("parameter:nu", "kernels:cosine"), hand="wa", nu=0.6,
         change=each_kernel(cosine)),
    both(regression.RIDGE2, "weights of samples ignored, and the response standardised",
         ("sample_weight:ignored", "labels:scaled"), hand="wa",
         change=lambda d: target(families.standard)(d | {"sample_weight": None})),
    both(regression.NU_SVR, "ν of 0.7, and C of 0.5", ("parameter:nu", "parameter:C"), nu=0.7, C=0.5),
    # Other families.
    both(families.TUBES, "ε of 0.05, and no bias", ("parameter:epsilon", "bias_term:omitted"), hand="wa",
         epsilon=0.05, bias=False),
    both(families.SOFTMAX2, "p of 3, and the third kernel left out", ("parameter:p", "kernels:dropped"), p=3.0,
         change=all_kernels(lambda k: without(k, 2))),
    both(families.WORST, "C of 3, and β in place of α", ("parameter:C", "alpha:beta"), hand="wa", C=3.0,
         after=lambda s, a: a | {"alpha": s.alpha * s.multipliers["gamma"][:, None]}),
    both(families.WORST4, "the second kernel left out, and C of 0.8", ("kernels:dropped", "parameter:C"),
         ("kernels:dropped", "kernels:scale"), hand="w", C=0.8, change=all_kernels(lambda k: without(k, 1))),
    both(pairs.TS1, "λ of 0.02, and weights of unit length", ("parameter:lam", "weights:scale"), hand="w", lam=0.02,
         after=edit(weights=lambda w: w / np.linalg.norm(w))),
    pairs.ALIGN2.handed("pairs i ≤ j, and weights that sum to one", "two mistakes", ("pairs:other", "weights:scale"),
                        double=True, of=lambda s, d: {
                            "weights": unit_sum(pairs.aligned(d, pairs.upper(d), pairs.together(d)))}),
    both(pairs.HYPER_S, "the third label left out, and kernels of trace n", ("labels:dropped", "kernels:trace"),
         hand="w", change=lambda d: families.without_label(2)(each_kernel(trace_n)(d))),
    both(families.CRAMMER, "softmax, and no bias", ("loss:softmax", "bias_term:omitted"), hand="wa", loss="softmax",
         bias=False),
    both(families.CRAMMER4, "the simplex, and C of 0.5", ("formulation:l1", "parameter:C"), formulation="l1", C=0.5),
    both(families.SOFTMAX, "C of 0.6, and classes in reverse", ("parameter:C", "classes:order"), C=0.6,
         after=edit(alpha=lambda a: a[::-1].copy(), bias=lambda b: b[::-1].copy())),
    both(families.RESPONSES, "responses standardised, and C of 6", ("labels:scaled", "parameter:C"), hand="wa",
         change=target(families.standard), C=6.0),
    both(families.ML, "C of 2.4, and α∘y", ("parameter:C", "alpha:sign"), hand="wa", C=2.4,
         after=with_signs(families.ML.data["labels"])),
    both(families.ML4, "the first label left out, and kernels of trace n", ("labels:dropped", "kernels:trace"),
         hand="w", change=lambda d: families.without_label(0)(each_kernel(trace_n)(d))),
    both(families.WORST, "the sum of the classes, and C of 0.5", ("formulation:ml_sum", "parameter:C"), hand="wa",
         formulation="ml_sum", C=0.5),
    pairs.TS.handed("pairs i < j, and λ of 0.2", "two mistakes", ("pairs:other", "parameter:lam"), double=True,
                    of=lambda s, d: {"weights": pairs.stage(d, 0.2, pairs.upper(d, False), pairs.together(d))}),
    both(pairs.TS, "balanced pairs, and weights that sum to one", ("parameter:balanced", "weights:scale"), hand="w",
         balanced=True, after=edit(weights=unit_sum)),
    both(pairs.ALIGN, "centred kernels, and weights that sum to one", ("kernels:centred", "weights:scale"), hand="w",
         change=each_kernel(centred), after=edit(weights=unit_sum)),
    both(pairs.HYPER, "the star expansion, and λ of 2", ("parameter:expansion", "parameter:lam"),
         ("parameter:expansion", "kernels:scale"), hand="wo", expansion="star", lam=2.0),
    both(pairs.SOFT, "σ of 0.3, and λ of 1.5", ("parameter:smoothing", "parameter:lam"),
         ("parameter:smoothing", "kernels:scale"), hand="wo", smoothing=0.3, lam=1.5),
]  # fmt: skip
