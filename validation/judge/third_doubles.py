"""Two mistakes at once, over all families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import third_families as f
import third_hinge as h
import third_pairs as t
import third_regression as r
import third_regularisers as g
from blind_tools import (
    Answer,
    Data,
    Problem,
    Wrong,
    all_kernels,
    centred,
    cosine,
    each_kernel,
    target,
    trace_n,
    unit_trace,
    using,
    without,
)
from second_tools import some, spread
from third_tools import after, both, by, minus, standard, times_y, to_largest_one, to_length_one, to_sum_one

import mklcvx


def twice(p: Problem, name: str, category: str, /, *accepted: tuple[str, str], **how: Any) -> Wrong:
    return p.other(name, category, *accepted, double=True, **how)


def shares(found: mklcvx.Solution, answer: Answer) -> Answer:
    return answer | {"weights": np.array(found.multipliers["lambda"])}


def dropped(m: int) -> Callable[[Data], Data]:
    return all_kernels(lambda k: without(k, m))


def two_forms(p: Problem, name: str, /, *accepted: tuple[str, str], hand: str = "wab", **changes: Any) -> Wrong:
    return twice(p, name, "two forms", *accepted, hand=hand, after=after(**changes))


def other_problem(p: Problem, name: str, /, *accepted: tuple[str, str], **how: Any) -> Wrong:
    return twice(p, name, "two problems", *accepted, **how)


def other_form(p: Problem, name: str, /, *accepted: tuple[str, str], **how: Any) -> Wrong:
    forms = {k: how.pop(k) for k in ("weights", "alpha", "bias_part", "objective") if k in how}
    if "bias_part" in forms:
        forms["bias"] = forms.pop("bias_part")
    return twice(p, name, "a problem and a form", *accepted, after=after(**forms), **how)


def without_prices(data: Data) -> Data:
    return data | {"sample_weight": None}


LATE = np.arange(42) >= 5
WRONG: list[Wrong] = [
    # labels: another problem, in another form
    other_form(h.L1, "C/n and α∘y", ("parameter:C", "alpha:sign"), C=1.7 / 48, alpha=times_y),
    other_form(h.L1, "no bias, weights of unit length", ("bias_term:omitted", "weights:scale"), bias=False,
               weights=to_length_one),
    other_form(h.L1_SMALL, "a kernel forgotten, −b", ("kernels:dropped", "bias:sign"),
               ("kernels:dropped", "labels:swapped"), change=dropped(3), bias_part=minus),
    other_form(g.L2, "the simplex, α in units of C", ("formulation:l1", "alpha:scale"), formulation="l1",
               alpha=by(1 / 1.9)),
    other_form(g.SM1, "θ = 0.4, −b", ("parameter:theta", "bias:sign"), ("parameter:theta", "labels:swapped"),
               theta=0.4, bias_part=minus),
    other_form(g.SMP, "p/(p−1) for p, α∘y", ("parameter:p", "alpha:sign"), p=1.5, alpha=times_y),
    other_form(g.LASSO, "λ², α∘y", ("parameter:lam", "alpha:sign"), lam=1.7**2, alpha=times_y),
    twice(g.LI, "shares for weights, C/2", "a problem and a form", ("weights:reciprocal", "parameter:C"), C=0.7,
          after=shares),
    twice(g.VSKL, "the default s, shares in groups", "a problem and a form", ("parameter:s", "weights:groups"), s=2.0,
          after=shares),
    other_form(h.NU, "ν/2, α sums to νn", ("parameter:nu", "alpha:scale"), nu=0.225, alpha=by(0.225 * 44)),
    other_form(h.SMOOTH, "the default width, b forgotten", ("parameter:width", "bias:missing"), width=1.0,
               bias_part=by(0.0)),
    other_form(g.LP, "p conjugate, the largest weight one", ("parameter:p", "weights:scale"), p=1.3 / 0.3,
               weights=to_largest_one),
    # labels: two changes of the problem
    other_problem(h.L1, "unit diagonals and C/3", ("kernels:cosine", "parameter:C"), change=each_kernel(cosine),
                  C=1.7 / 3),
    other_problem(g.LP, "p conjugate and C/n", ("parameter:p", "parameter:C"), p=1.3 / 0.3, C=1.2 / 52),
    other_problem(g.SM2, "θ/2 and traces n", ("parameter:theta", "kernels:trace"), theta=0.3,
                  change=each_kernel(trace_n)),
    other_problem(g.NET, "1 − r and C/2", ("parameter:l1_ratio", "parameter:C"), l1_ratio=0.7, C=1.1),
    other_problem(g.BLOCK, "a net on the weights, and 2C", ("formulation:elastic", "parameter:C"),
                  formulation="elastic", C=3.0),
    other_problem(g.CKL, "other groups and C/3", ("groups:other", "parameter:C"), change=using(groups=[0, 1, 1, 0, 1]),
                  C=0.7),
    other_problem(h.SQUARED, "plain hinge and 2C", ("loss:hinge", "parameter:C"), loss="hinge", C=1.8),
    other_problem(h.LOGIT, "squared hinge, a kernel forgotten", ("loss:squared_hinge", "kernels:dropped"),
                  loss="squared_hinge", change=dropped(0)),
    other_problem(h.PRICED, "no prices and no bias", ("sample_weight:ignored", "bias_term:omitted"),
                  change=without_prices, bias=False),
    other_problem(h.PRICED, "prices squared, the simplex", ("sample_weight:squared", "formulation:l1"),
                  change=lambda d: d | {"sample_weight": d["sample_weight"] ** 2}, formulation="l1"),
    twice(h.PLAIN, "the first samples left out, and C/4", "two problems", ("samples:dropped", "parameter:C"), hand="ab",
          change=some(LATE), after=spread(LATE), C=0.2),
    other_problem(h.NO_BIAS, "entries squared and 3C", ("kernels:power", "parameter:C"), hand="ao",
                  change=each_kernel(np.square), C=3.6),
    other_problem(h.MEAN, "the sum, and C/n", ("formulation:sum", "parameter:C"), ("kernels:scale", "parameter:C"),
                  hand="abo", formulation="sum", C=2.5 / 40),
    # labels: the right problem, in another form twice
    two_forms(g.L2, "weights squared, α∘y", ("weights:power", "alpha:sign"), weights=lambda w, _: w**2, alpha=times_y),
    two_forms(g.SQUARE, "θ missing from the weights, −b", ("weights:scale", "bias:sign"),
              ("weights:scale", "labels:swapped"), weights=by(1 / 0.4), bias=minus),
    two_forms(g.NET, "weights sum to one, twice the value", ("weights:scale", "objective:factor"), hand="wabo",
              weights=to_sum_one, objective=by(2)),
    # a response, counts, none
    other_problem(r.RIDGE, "standardised, and the loss without its ½", ("labels:scaled", "parameter:C"), C=1.4,
                  change=target(standard)),
    other_form(r.RIDGE, "no bias, residuals for α", ("bias_term:omitted", "alpha:scale"), bias=False,
               alpha=by(1 / 0.7)),
    other_problem(r.LEAST, "centred, unit diagonals", ("labels:scaled", "kernels:cosine"), hand="a",
                  change=both(target(lambda y: y - y.mean()), each_kernel(cosine))),
    other_problem(r.SQUARES, "1/θ for θ and C/n", ("parameter:theta", "parameter:C"), theta=1 / 0.3, C=1.2 / 33),
    other_problem(r.LASSO, "a kernel forgotten and λ/2", ("kernels:dropped", "parameter:lam"), change=dropped(3),
                  lam=0.6),
    other_form(r.TUBE, "ε in units of the deviation, −α", ("parameter:epsilon", "alpha:sign"), alpha=minus,
               epsilon=0.25 * float(np.std(r.TUBE.data["response"]))),
    other_problem(r.TUBE_SM1, "squares beyond, θ = 1/2", ("loss:squared_epsilon_insensitive", "parameter:theta"),
                  loss="squared_epsilon_insensitive", theta=0.5),
    other_problem(r.TUBE2, "the default ε, the loss without its ½", ("parameter:epsilon", "parameter:C"), epsilon=0.1,
                  C=2.2),
    other_problem(r.HUBER, "2δ and p conjugate", ("parameter:delta", "parameter:p"), delta=0.7, p=3.5),
    other_form(r.HUBER_NET, "no corner, −b", ("loss:squared", "bias:sign"), ("parameter:delta", "bias:sign"),
               loss="squared", drop=("delta",), bias_part=minus),
    other_problem(r.LEVEL, "1 − π and C/n", ("parameter:quantile", "parameter:C"), quantile=0.8, C=1.8 / 44),
    other_problem(r.COUNTS, "one added to the counts, p conjugate", ("labels:scaled", "parameter:p"), p=1.8 / 0.8,
                  change=target(lambda y: y + 1)),
    other_form(r.ONE, "1 − ν, weights sum to one", ("parameter:nu", "weights:scale"), hand="wa", nu=0.7,
               weights=to_sum_one),
    other_form(r.NU_SVR, "Schölkopf's C, −b", ("parameter:C", "bias:sign"), C=1.4 / 40, bias_part=minus),
    other_problem(r.PAID, "no prices, p = 3", ("sample_weight:ignored", "parameter:p"), change=without_prices, p=3.0),
    # several outputs, label sets
    other_form(f.CRAMMER, "C/3, classes in another order", ("parameter:C", "classes:order"), C=0.5,
               alpha=lambda a, _: a[[1, 2, 0]], bias_part=lambda b, _: b[[1, 2, 0]]),
    other_form(f.SOFTMAX, "p conjugate, weights of unit length", ("parameter:p", "weights:scale"), p=3.0,
               weights=to_length_one),
    other_problem(f.MANY, "standardised, no biases", ("labels:scaled", "bias_term:omitted"), bias=False,
                  change=target(standard)),
    other_problem(f.MANY_SM2, "θ/2 and 2C", ("parameter:theta", "parameter:C"), theta=0.25, C=3.0),
    other_problem(f.TOGETHER, "a kernel forgotten and C/3", ("kernels:dropped", "parameter:C"), hand="wa",
                  change=dropped(2), C=0.5),
    other_form(f.TOGETHER, "the worst class, α∘y", ("formulation:ml_minimax", "alpha:sign"), hand="wa",
               formulation="ml_minimax", alpha=times_y),
    other_problem(f.WORST, "unit diagonals and 2C", ("kernels:cosine", "parameter:C"), hand="wao", C=1.4,
                  change=each_kernel(cosine)),
    # two stages, hypergraphs
    other_problem(t.TS, "λ without its ½, balanced pairs", ("parameter:lam", "parameter:balanced"), hand="wo",
                  lam=0.04, balanced=True),
    other_problem(t.TS_L1, "centred kernels and 3λ", ("kernels:centred", "parameter:lam"), hand="wo", lam=0.015,
                  change=each_kernel(centred)),
    other_form(t.ALIGN, "centred kernels, divided by n", ("kernels:centred", "objective:units"), hand="wo",
               change=each_kernel(centred), objective=by(1 / 36)),
    other_problem(t.GRAPH, "kcca, unit traces", ("parameter:expansion", "kernels:trace"), hand="wo", expansion="kcca",
                  change=each_kernel(unit_trace)),
    other_problem(t.SMOOTH, "3σ and λ/2", ("parameter:smoothing", "parameter:lam"),
                  ("parameter:smoothing", "kernels:scale"), hand="wo", smoothing=0.12, lam=0.35),
    other_form(t.GRAPH, "a label left out, minus the value", ("labels:dropped", "objective:sign"), hand="wo",
               change=lambda d: d | {"labels": d["labels"][:, :2]}, objective=minus),
]  # fmt: skip
