"""The report of a judged answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import formulations
from ...certificate.solution import Solution
from ...problem.instance import Instance
from ...solvers.solving import solve
from ...verification.answers import Answer
from ...verification.judge import Report
from ...verification.parts import ACCEPTED, REJECTED
from . import drawn, sections
from .html import Markup, element, facts, joined, paragraph, section, table
from .numbers import power, settings, value
from .page import badge, page

Array = NDArray[np.float64]
POINTS = 100  # of a trace that are listed
APART = {
    "alpha_at_weights": "α from the SVM's at these weights",
    "weights_at_alpha": "weights from those that α implies",
    "coefficients": "coefficients from those that weights and α imply",
}


def verdict_page(instance: Instance, report: Report, given: Answer, source: str = "", answer: str = "") -> str:
    """Verdict, parts, diagnosis, and the exact weights and α beside those given; `instance` is what was judged on."""
    exact = solve(instance, report.formulation, **report.parameters)
    made = [
        verdict(report, answer),
        sections.problem(instance, report.formulation, report.parameters, source),
        sections.certificate(report.optimum, report.tolerance, "to judge at"),
        drawn.weights(exact, _candidate(given.weights, exact)),
        drawn.conditions(instance, exact, _as_solution(given, exact)),
        sections.derived(report.formulation),
    ]
    title = f"{answer or 'An answer'}: {report.verdict}"
    subtitle = f"{report.formulation}, {formulations.get(report.formulation).title}; {settings(report.parameters)}"
    return page(title, subtitle, state(report), made)


def state(report: Report) -> Markup:
    kind = {ACCEPTED: "good", REJECTED: "bad"}.get(report.verdict, "open")
    return badge(report.verdict, kind)


def _candidate(given: Any, exact: Solution) -> Array | None:
    """The answer's weights if they are as many as there are kernels and can be drawn."""
    if given is None:
        return None
    weights = np.ravel(np.asarray(given, dtype=float))
    return weights if weights.shape == exact.weights.shape and not np.isinf(weights).any() else None


def _as_solution(given: Answer, exact: Solution) -> Solution | None:
    """The classifier that the answer spells out, if it does: α, weights or coefficients; the exact bias if none."""
    told = given.weights if given.coefficients is None else given.coefficients
    if exact.alpha is None or given.alpha is None or told is None or not np.isfinite(told).all():
        return None
    weights = exact.weights if given.weights is None else np.ravel(given.weights)
    alpha, spelled = given.alpha.reshape(exact.alpha.shape), given.coefficients
    coefficients = None if spelled is None else spelled.reshape(exact.all_coefficients.shape)
    fits = given.bias is not None and np.size(given.bias) == np.size(exact.bias)
    bias = np.reshape(given.bias, np.shape(exact.bias)) if fits else exact.bias  # type: ignore[arg-type]
    return replace(exact, alpha=alpha, weights=weights, coefficients=coefficients, bias=bias)


def verdict(report: Report, answer: str = "", title: str = "Verdict") -> Markup:
    """The parts of an answer: what each violates, proves and is off by; and the diagnosis."""
    asked = joined([f"{answer or 'The answer'} is {report.verdict} at a tolerance of ", power(report.tolerance), "."])
    said = [paragraph(asked)]
    if report.diagnosis is not None:
        said.append(element("p", element("strong", "Diagnosis: "), report.diagnosis.words, "."))
    rows = [_part(part, report.tolerance) for part in report.parts]
    listed = table(["part", "verdict", "violates", "proves", "off by", "how it was judged"], rows, numbers=(4,))
    others: list[tuple[Any, Any]] = [
        (APART.get(name, name.replace("_", " ")), joined([power(by), " apart"])) for name, by in report.together.items()
    ]
    others += [
        ("not unique", f"weight of {one.kernel}: anything from {one.low:.4g} to {one.high:.4g}")
        for one in report.loose or ()
    ]
    others += [("note", note) for note in report.notes]
    said_of = facts(others) if others else None
    return section("verdict", title, element("div", *said, class_="said"), listed, said_of, _trace(report))


def _part(part: Any, tolerance: float) -> list[Any]:
    broken = [joined([constraint, " by ", power(by)]) for constraint, by in part.violations if by > tolerance]
    judged = part.verdict(tolerance)
    kind = {ACCEPTED: "good", REJECTED: "bad"}.get(judged, "open")
    proves = "–" if part.value is None else f"{part.proves} {value(part.value)}"
    off = "–" if part.excess is None else power(part.excess)
    return [part.name, element("span", judged, class_=kind), joined(broken, "; ") or "–", proves, off, part.note]


def _trace(report: Report) -> Markup | None:
    if not report.trace:
        return None
    step = -(-len(report.trace) // POINTS)
    rows = [
        [index, point.verdict, power(max(part.off for part in point.parts))]
        for index, point in enumerate(report.trace)
        if index % step == 0 or index == len(report.trace) - 1
    ]
    return joined([element("h3", "Trace"), table(["point", "verdict", "off by"], rows, numbers=(0, 2))])
