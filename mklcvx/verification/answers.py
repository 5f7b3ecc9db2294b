"""Anybody's answer, judged: a certificate recomputed from what the answer says, and from nothing else.

An answer has any of weights, α, coefficients and multipliers. From α comes the lower bound, from the coefficients the
upper one; where they are not given, f_m = weight_m K_m(α∘y). Weights alone are judged with the SVM that they make.
Bounds of single tasks are rigorous (`proved_answers`): kernels that are not semidefinite make them wide.
What an answer claims (an objective, a certificate, a status) plays no part in the bounds, nor does its bias: they
take the best. For the other families the dual point is among the multipliers: γ for many labels, β for pairs, Z for
hypergraphs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..certificate import Certificate
from ..errors import InputError
from ..formulations import Formulation
from .answer import FIELDS, Answer, answer_of, as_numbers, in_shape, largest_answer, of_shape, read_answer
from .families import family_of

SHARP = 1e-8  # a relative gap that most are content with

__all__ = ["Answer", "answer_of", "as_numbers", "in_shape", "judge", "largest_answer", "of_shape", "read_answer"]


def judge(formulation: Formulation, task: Any, answer: Answer, tolerance: float = SHARP) -> Certificate:
    """The bounds that the answer proves; points known without a solver stand in for a side that it leaves out. They are
    made no sharper than the tolerance needs."""
    if all(getattr(answer, name) is None for name in FIELDS):
        raise InputError(f"answer: has none of {', '.join(FIELDS)}: write at least weights or alpha")
    with np.errstate(all="ignore"):
        found = family_of(formulation).certificate(formulation, task, answer, tolerance)
    if not np.isfinite([found.lower, found.upper]).all():
        raise InputError("answer: its objective is not finite: give numbers of moderate size")
    return found
