"""Conventions: how other codes state the same problems, and the conversion to ours and back.

    convention = conventions.get("spicymkl")
    problem = convention.to_ours(instance, {"lam": 0.3})       # our formulation, parameters and kernels
    answer = convention.answer_to_ours(theirs, problem)        # weights, α, bias and objective as ours
    theirs = convention.answer_from_ours(problem.solve(), problem)

One file per source; its docstring states the other code's problem and proves the conversion. Where the conversion
depends on the optimum (a penalty on the weights against a ball), the problem is solved for it. `convert` converts an
answer in one step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...problem.checks import check_name
from ...problem.instance import Instance
from ..answers import Answer
from ._convention import AnswerMap, Convention, ConvertedProblem, as_answer
from .govindaraj import GOVINDARAJ_CKL, GOVINDARAJ_LI
from .group_lassos import CELER, DALMKL
from .lanckriet import LANCKRIET
from .lp_norm import KLOFT_LP, SHOGUN_LP
from .simplemkl import SIMPLEMKL
from .sklearn_losses import (
    SKLEARN_KERNEL_RIDGE,
    SKLEARN_LOGISTIC,
    SKLEARN_NU_SVR,
    SKLEARN_ONE_CLASS,
    SKLEARN_POISSON,
    SKLEARN_SVR,
)
from .smo_mkl import SMO_MKL, SPG_GMKL
from .spicymkl import SPICYMKL
from .svc import LIBSVM, PEGASOS, SKLEARN_SVC

CONVENTIONS: tuple[Convention, ...] = (
    SIMPLEMKL, LANCKRIET, SPICYMKL, KLOFT_LP, SHOGUN_LP, SMO_MKL, SPG_GMKL, GOVINDARAJ_LI, GOVINDARAJ_CKL,
    SKLEARN_SVC, LIBSVM, PEGASOS, SKLEARN_SVR, SKLEARN_NU_SVR, SKLEARN_KERNEL_RIDGE, SKLEARN_LOGISTIC,
    SKLEARN_POISSON, SKLEARN_ONE_CLASS, CELER, DALMKL,
)  # fmt: skip

_BY_NAME = {convention.name: convention for convention in CONVENTIONS}


class Converted(NamedTuple):
    """Their problem and their answer, as ours."""

    problem: ConvertedProblem
    answer: Answer


def get(name: str) -> Convention:
    """The convention of that name; the error for an unknown name suggests the nearest one."""
    check_name("convention", name, _BY_NAME)
    return _BY_NAME[name]


def convert(answer: Answer, name: str, instance: Instance, parameters: Mapping[str, object] | None = None) -> Converted:
    """An answer in another convention, and the problem that it answers, as ours."""
    convention = get(name)
    problem = convention.to_ours(instance, parameters)
    return Converted(problem, convention.answer_to_ours(answer, problem))


def table() -> str:
    """One line for every convention: its name, our formulations, its title."""
    return "\n".join(f"{c.name:<20} {', '.join(c.serves):<27} {c.title}" for c in CONVENTIONS)


def as_text(convention: Convention) -> str:
    """The statement, the proof of the conversion, and the parameters."""
    lines = [f"    {name:<12} {meaning}" for name, meaning in convention.described_parameters]
    return "\n".join([convention.theorem.strip(), "", f"Parameters of {convention.name}", *lines])


def as_dict(convention: Convention) -> dict[str, object]:
    return {
        "name": convention.name,
        "title": convention.title,
        "formulations": list(convention.serves),
        "parameters": dict(convention.described_parameters),
        "reference": convention.reference,
    }


__all__ = [
    "CONVENTIONS", "AnswerMap", "Convention", "Converted", "ConvertedProblem", "as_answer", "as_dict", "as_text",
    "convert", "get", "table",
]  # fmt: skip
