"""The three pages: a solved problem, a verdict, and the demonstration.

The demonstration lists every formulation in two tables, reports one in full, and shows the verdict on a wrong answer.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import formulations
from ...certificate.solution import Solution
from ...errors import InputError
from ...formulations._formulation import Posed
from ...problem.instance import Instance
from ...solvers.solving import solve, solver_named, tracing
from ...verification.answers import Answer
from ...verification.case import ACCEPTED, REJECTED
from ...verification.judge import TOGETHER, Report
from ...verification.uniqueness import in_every_answer
from ..importance import KernelImportance
from . import kernels, sections
from .html import Markup, element, facts, joined, paragraph, power, section, settings, table, value
from .page import badge, page

Array = NDArray[np.float64]
SLOW = ("silp_exact",)  # compiles a CVXPY problem at every step: used only if it is named
USUAL = 4
CHECKERS = {"single task": "checker"}  # for the other families, checker.families
COLOURED = {ACCEPTED: "good", REJECTED: "bad"}  # any other verdict is open
POINTS = 100  # of a trace that are listed
TIME_LIMIT = 2.0  # seconds for each solver that is compared
FULL = "l1"


# ---------------------------------------------------------------------------------------------------- a solved problem
def chosen_solvers(formulation: str, names: Sequence[str] | None, task: Posed | None = None) -> list[str]:
    """Return the named solvers without repetitions; by default `interior` and the first published ones that fit, and
    that take the loss of the task."""
    chosen = formulations.get(formulation)
    if names is None:
        fitting = [name for name in tracing(chosen) if name not in SLOW]
        fitting = [name for name in fitting if task is None or solver_named(name, chosen).takes(task)]
        return sorted(fitting, key=lambda name: name != "interior")[:USUAL]
    if not names:
        raise InputError("--solvers names none: give some by commas, for example interior,clarabel")
    return list(dict.fromkeys(solver_named(name, chosen).name for name in names))


def runs_of(
    instance: Instance, formulation: str, given: Mapping[str, Any], names: Sequence[str], time_limit: float,
    say: Callable[[str], None] = lambda _: None,
) -> dict[str, Solution]:  # fmt: skip
    """Run every solver once, each with its own default tolerance."""
    return {
        name: solve(instance, formulation, solver=name, time_limit=time_limit, report=say, **given) for name in names
    }


def report_page(
    instance: Instance,
    solution: Solution,
    runs: Mapping[str, Solution],
    tolerance: float,
    source: str = "",
    options: str = "",
    importance: KernelImportance | None = None,
) -> str:
    """Return the page of a solution, with a section about single kernels if they were cross-validated.

    `instance` is the instance that was solved; the command line made it from the file `source` with `options`.
    """
    name = solution.formulation
    made = about(instance, solution, runs, tolerance, f"{source} {options}".strip())
    made += [kernels.importance_section(importance)] if importance is not None else []
    made += [sections.derived(name), _again(solution, source or "problem.npz", options)]
    subtitle = f"{settings(solution.parameters)}; {instance.count} kernels, {instance.samples} samples"
    state = badge("certified", "good") if solution.certified else badge("not certified", "bad")
    return page(f"{name}: {formulations.get(name).title}", subtitle, state, made)


def about(
    instance: Instance, solution: Solution, runs: Mapping[str, Solution], tolerance: float, source: str
) -> list[Markup]:
    """Return the sections that describe a solution."""
    name, given = solution.formulation, solution.parameters
    few, fitted = sections.few_kernels(instance, name, given, runs), sections.fit(instance, solution)
    return [
        sections.problem(instance, name, given, source),
        sections.optimum(solution),
        sections.certificate(solution.certificate, tolerance),
        sections.weights(solution),
        *([few] if few is not None else []),
        *([fitted] if fitted is not None else []),
        sections.conditions(instance, solution),
        *([sections.convergence(runs)] if runs else []),
    ]


def _again(solution: Solution, source: str, options: str) -> Markup:
    """Return the commands that reproduce and check the solution."""
    file, name = shlex.quote(source), solution.formulation
    given = "".join(f" --set {key}={str(value).lower()}" for key, value in solution.parameters.items())
    checker = CHECKERS.get(formulations.get(name).family, "checker.families")
    commands = [f"mklcvx solve {file} {options} -f {name}{given} -o answer.json".replace("  ", " ")]
    if not options:  # the checker takes kernels as they are
        commands.append(f"python -m mklcvx.{checker} {file} answer.json")
    commands.append(f"mklcvx verify {file} answer.json")
    return section("again", "Do it yourself", element("pre", "\n".join(commands)))


# ---------------------------------------------------------------------------------------------------- a judged answer
def verdict_page(instance: Instance, report: Report, given: Answer, source: str = "", answer: str = "") -> str:
    """Return the page of a verdict, with the exact weights and α beside the given ones."""
    exact = solve(instance, report.formulation, **report.parameters)
    made = [
        verdict(report, answer),
        sections.problem(instance, report.formulation, report.parameters, source),
        sections.certificate(report.optimum, report.tolerance, "to judge at"),
        sections.weights(exact, _candidate(given.weights, exact)),
        sections.conditions(instance, exact, _as_solution(given, exact)),
        sections.derived(report.formulation),
    ]
    title = f"{answer or 'An answer'}: {report.verdict}"
    subtitle = f"{report.formulation}, {formulations.get(report.formulation).title}; {settings(report.parameters)}"
    return page(title, subtitle, badge(report.verdict, COLOURED.get(report.verdict, "open")), made)


def _candidate(given: Any, exact: Solution) -> Array | None:
    """Return the answer's weights if there is one per kernel and none is infinite."""
    if given is None:
        return None
    weights = np.ravel(np.asarray(given, dtype=float))
    return weights if weights.shape == exact.weights.shape and not np.isinf(weights).any() else None


def _as_solution(given: Answer, exact: Solution) -> Solution | None:
    """Return the classifier of an answer with α and weights or coefficients; the exact bias replaces a missing one."""
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
    """Return the section of a verdict: the diagnosis, and what each part violates, proves and is off by."""
    asked = joined([f"{answer or 'The answer'} is {report.verdict} at a tolerance of ", power(report.tolerance), "."])
    diagnosis = report.diagnosis
    explained = None if diagnosis is None else paragraph(element("strong", "Diagnosis: "), diagnosis.words, ".")
    rows = [_part(part, report.tolerance) for part in report.parts]
    listed = table(["part", "verdict", "violates", "proves", "off by", "how it was judged"], rows, numbers=(4,))
    others: list[tuple[Any, Any]] = [
        ("parts", joined([TOGETHER.get(name, name), " ", power(by)])) for name, by in report.together.items()
    ]
    others += [
        ("not unique", f"weight of {weight.kernel}: anything from {weight.low:.4g} to {weight.high:.4g}")
        for weight in report.loose or ()
    ]
    others += in_every_answer(report.weights_interval or ())
    others += [("note", note) for note in report.notes]
    said = element("div", paragraph(asked), explained, class_="said")
    return section("verdict", title, said, listed, facts(others) if others else None, _trace(report))


def _part(part: Any, tolerance: float) -> list[Any]:
    broken = [joined([constraint, " by ", power(by)]) for constraint, by in part.violations if by > tolerance]
    judged = part.verdict(tolerance)
    shown = element("span", judged, class_=COLOURED.get(judged, "open"))
    proves = "–" if part.value is None else f"{part.proves} {value(part.value)}"
    off = "–" if part.excess is None else power(part.excess)
    return [part.name, shown, joined(broken, "; ") or "–", proves, off, part.note]


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


# -------------------------------------------------------------------------------------------------- the demonstration
class Gallery(NamedTuple):
    """Solutions of many formulations on one data set; `scores` are their formatted scores on held-out samples."""

    identifier: str
    title: str
    score: str
    solutions: Sequence[Solution]
    scores: Sequence[str]
    about: str


def demo_page(galleries: Sequence[Gallery], instance: Instance, caught: Report) -> str:
    """Return the page of the demonstration; `instance` is that of the first gallery, whose `l1` is reported in full."""
    everything = [solution for gallery in galleries for solution in gallery.solutions]
    full = next(solution for solution in everything if solution.formulation == FULL)
    runs = runs_of(instance, FULL, full.parameters, chosen_solvers(FULL, None), TIME_LIMIT)
    made = [
        *(_gallery(gallery) for gallery in galleries),
        *about(instance, full, runs, 1e-8, "breast cancer, as in the first table"),
        verdict(caught, "The answer with its weights scaled to length one", "A wrong answer, caught"),
        sections.derived(FULL),
    ]
    done = sum(solution.certified for solution in everything)
    kind = badge(f"{done} of {len(everything)} certified", "good" if done == len(everything) else "bad")
    subtitle = f"Every formulation on two real data sets; then {FULL} in full, and an answer that is wrong."
    return page("mklcvx: the demonstration", subtitle, kind, made)


def _gallery(gallery: Gallery) -> Markup:
    head = ["formulation", "what it is", "optimum", "certified gap", "kernels", "weights", gallery.score]
    rows = []
    for solution, score in zip(gallery.solutions, gallery.scores, strict=True):
        name, title = element("code", solution.formulation), formulations.get(solution.formulation).title
        gap, used = power(solution.certificate.relative_gap), f"{len(solution.used())}/{len(solution.weights)}"
        rows.append([name, title, value(solution.objective), gap, used, _bars(solution.weights), score])
    listed = table(head, rows, numbers=(2, 3, 4, 6))
    return section(gallery.identifier, gallery.title, paragraph(gallery.about), listed)


def _bars(weights: np.ndarray) -> Markup:
    """Draw one thin bar per kernel; its height is the weight."""
    heights = np.nan_to_num(weights) / max(float(np.nanmax(weights, initial=0.0)), np.finfo(float).tiny)
    bars = [
        Markup(f'<rect x="{4 * m}" y="{20 - 20 * h:.2f}" width="3" height="{20 * h:.2f}"/>')
        for m, h in enumerate(np.clip(heights, 0.0, 1.0))
    ]
    return element("svg", *bars, viewBox=f"0 0 {4 * len(bars)} 20", class_="spark", role="img", aria_label="weights")
