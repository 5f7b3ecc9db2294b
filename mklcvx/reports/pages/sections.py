"""The sections of a page: problem, optimum, certificate, weights, optimality conditions, convergence, derivation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import formulations
from ...certificate import Certificate
from ...certificate.residuals import gap_parts, sample_side
from ...certificate.solution import SUPPORT, Solution
from ...errors import InputError
from ...problem.instance import Instance
from ...problem.targets import LABELLED, errors_of_response
from ...verification.case import enclosure_of
from ...verification.uniqueness import ranges_of
from .. import plot
from ..plot._style import words
from .html import Markup, element, facts, figure, joined, paragraph, power, section, settings, short, table, value
from .page import inline
from .theorems import derivation, typeset

Array = NDArray[np.float64]
MOST = 40  # number of labels that are named, and of kernels that are drawn and listed
SAMPLES = 200  # largest number of samples for which the value over the weights is drawn: it takes hundreds of SVMs
MULTIPLIERS = {
    "gamma": "γ of the classes", "class_values": "their values", "eigenvalues": "eigenvalues", "rho": "ρ", "tau": "τ",
}  # fmt: skip
CONDITIONS = (  # of samples, functions and weights, as in `GapParts`
    "α = 0 beyond the margin, α = C short of it, between them only on it",
    "every f_m is a multiple of K_m(α∘y)",
    "the weights fit the norms ‖f_m‖ and the roots √q_m(α)",
)
OF_LOSS = "α is minus the slope of the loss at every sample, where there is one"  # of any loss but the hinge
GAP_PARTS = (
    "The gap is the sum of three numbers, none negative, each of which is zero exactly where a condition of Karush, "
    "Kuhn and Tucker holds. Relative to the scale:"
)


def problem(instance: Instance, formulation: str, parameters: Mapping[str, Any], source: str = "") -> Markup:
    chosen, targets = formulations.get(formulation), instance.targets
    if targets.kind == "y":
        shown = f"y: {int((targets.values > 0).sum())} positive, {int((targets.values < 0).sum())} negative"
    elif targets.kind not in LABELLED:
        values = targets.values
        shown = targets.present + (f" from {short(values.min())} to {short(values.max())}" if values.size else "")
    else:
        counts = targets.indicators().sum(axis=0).astype(int)
        pairs = [f"{words(name)} ({count})" for name, count in zip(targets.names[:MOST], counts, strict=False)]
        shown = f"{len(targets.names)} {targets.kind}: " + ", ".join(pairs) + ("" if len(counts) <= MOST else ", …")
    groups = "" if instance.groups is None else f" in {len(np.unique(instance.groups))} groups"
    rows = [
        ("instance", source or "in memory"),
        ("formulation", joined([element("code", chosen.name), ": ", typeset(chosen.title)])),
        ("parameters", settings(parameters)),
        ("samples", f"{instance.samples}"),
        ("kernels", f"{instance.count}" + groups),
        ("targets", shown),
    ]
    if np.ptp(instance.sample_weight) > 0:
        low, high = instance.sample_weight.min(), instance.sample_weight.max()
        rows.append(("sample weights", f"from {short(low)} to {short(high)}"))
    rows += [("repaired", change) for change in instance.repairs]
    rows.append(("reference", chosen.reference))
    return section("problem", "Problem", facts(rows))


def optimum(solution: Solution) -> Markup:
    rows: list[tuple[str, Any]] = [("objective", value(solution.objective))]
    if solution.bias_interval is not None:
        low, high = solution.bias_interval
        wide = high - low > 1e-6 * max(1.0, abs(low))
        rows.append(("bias", short(float(solution.bias)) + (f", any in [{short(low)}, {short(high)}]" if wide else "")))
    rows.append(("kernels used", f"{len(solution.used())} of {len(solution.weights)}"))
    if solution.alpha is not None:
        alpha = np.atleast_2d(solution.alpha)
        supporting = int((np.abs(alpha).max(axis=0) > SUPPORT * np.abs(alpha).max()).sum())
        rows.append(("support vectors", f"{supporting} of {alpha.shape[1]}"))
    for name, shown in MULTIPLIERS.items():
        if solution.multipliers.get(name) is not None:
            values = np.ravel(solution.multipliers[name])
            rows.append((shown, ", ".join(short(v) for v in values[:8]) + ", …" * (len(values) > 8)))
    solves = f"{solution.svm_solves} SVMs, " if solution.svm_solves else ""
    rows.append(("found by", f"{solution.solver}: {solution.iterations} iterations, {solves}{solution.seconds:.2g} s"))
    rows += [("note", note) for note in solution.notes]
    return section("optimum", "Optimum", facts(rows))


def certificate(certificate: Certificate, tolerance: float, asked: str = "asked for") -> Markup:
    """Return the section with the two bounds and what they prove."""
    explained = paragraph(
        "Two numbers that anyone can recompute without a solver: the dual point proves that the optimal value is not "
        "below the lower bound, the primal point that it is not above the upper one. Whoever found the points, the "
        "optimum lies between, known up to the gap: ",
        power(certificate.relative_gap), " of its scale. What rounding and the entries may have moved is in the gap.",
    )  # fmt: skip
    rows: list[tuple[str, Any]] = [
        ("lower bound", value(certificate.lower)),
        ("upper bound", value(certificate.upper)),
        ("gap", power(certificate.gap)),
        ("relative gap", joined([power(certificate.relative_gap), f", {asked} ", power(tolerance)])),
        ("scale", f"{short(certificate.scale)}, what the penalties of both objectives add up to, without constants"),
        ("paid for rounding", power(certificate.rounding)),
        ("paid for δ", joined([power(certificate.ridge_share), ", δ = ", power(certificate.ridge)])),
    ]
    return section("certificate", "Certificate", explained, facts(rows))


# -------------------------------------------------------------------------------------------------------- weights
def weights(solution: Solution, candidate: Array | None = None) -> Markup:
    """Return a table and a chart of the weights; of more than MOST kernels, those with the largest weights."""
    sizes = np.nan_to_num(solution.weights, nan=np.inf)
    both = sizes if candidate is None else np.maximum(sizes, np.abs(np.nan_to_num(candidate, nan=np.inf)))
    chosen = np.sort(np.argsort(-both, kind="stable")[:MOST])
    names, exact = [solution.names[m] for m in chosen], solution.weights[chosen]
    columns = {"weight": _weights(exact, solution.used(), chosen)}
    given, height, caption = None, 0.3, "Weights at the optimum."
    interval, ranges = solution.weights_interval(), ranges_of(solution)
    if candidate is not None:
        given, height = candidate[chosen], 0.42
        caption = "The candidate is hatched. Weights are judged by what they are worth."
        columns = {"exact": columns["weight"], "candidate": [_weight(number) for number in given]}
    elif solution.norms is not None:
        columns["‖f‖"] = _weights(solution.norms[chosen], solution.used(), chosen)
    if ranges is not None and interval is not None:
        columns["in every answer as good"] = [ranges[m].words for m in chosen]
        caption += " Lines are proved: they contain the weights of every answer as good."
        interval = interval[chosen]
    listed = table(["kernel", *columns], zip(names, *columns.values(), strict=True), numbers=(1, 2))
    size = 0.75 + height * len(chosen)
    drawing = inline(lambda ax: plot.weights(exact, names, ax, given, interval), size, "Kernel weights", "weights")
    left_out = len(solution.weights) - len(chosen)
    more = paragraph(f"{left_out} more kernels have no larger weights.") if left_out else None
    beside_it = element("div", figure(drawing, caption), listed, class_="figures")
    return section("weights", "Kernel weights", beside_it, more)


def _weights(values: Array, used: NDArray[np.intp], chosen: NDArray[np.intp]) -> list[str]:
    """Format values; what an interior-point method leaves for an unused kernel is shown as 0."""
    seen = np.isin(chosen, used)
    return [_weight(value) if known or np.isnan(value) else "0" for value, known in zip(values, seen, strict=True)]


def _weight(number: float) -> str:
    return "undefined" if np.isnan(number) else short(float(number))


# --------------------------------------------------------------------------------------------------- predictions
def fit(instance: Instance, solution: Solution) -> Markup | None:
    """Return errors and charts of the predicted response: of the test samples if their targets are known, else of the
    training samples. None for other targets."""
    if instance.targets.kind != "response":
        return None
    observed, whose = instance.targets.values, "training"
    if instance.test_kernels is not None and instance.test_targets is not None:
        observed, whose = instance.test_targets, "test"
        predicted = solution.predict(instance.test_kernels, instance.test_diagonals)
    else:
        predicted = observed - sample_side(instance, solution).margins.T
    rows = [("samples", f"{len(observed)} {whose} samples")]
    rows += [(name, short(error)) for name, error in errors_of_response(observed, predicted).items()]
    drawings = [
        inline(lambda ax: plot.predictions(observed, predicted, ax), 3.4, "Predicted against observed", "predictions"),
        inline(lambda ax: plot.residuals(observed, predicted, ax), 3.4, "Residuals against predicted", "residuals"),
    ]
    captions = "Predicted against observed: equal on the line.", "What is left: observed less predicted."
    figures = [figure(drawing, caption) for drawing, caption in zip(drawings, captions, strict=True)]
    return section("fit", "Predictions", facts(rows), element("div", *figures, class_="figures"))


# ----------------------------------------------------------------------------------------------------- conditions
def conditions(instance: Instance, solution: Solution, candidate: Solution | None = None) -> Markup:
    """Return the residuals of the Karush–Kuhn–Tucker conditions and a chart of α, and one of a candidate's α."""
    made: list[Any] = []
    parts = gap_parts(instance, solution)
    if parts is not None:
        scale = enclosure_of(solution.certificate).scale
        words = (OF_LOSS, *CONDITIONS[1:]) if "loss" in solution.parameters else CONDITIONS
        shares = [joined([power(part / scale), ": ", typeset(said)]) for part, said in zip(parts, words, strict=True)]
        made += [paragraph(GAP_PARTS), facts(zip(parts._fields, shares, strict=True))]
    if solution.alpha is None:
        made.append(paragraph("This formulation has no α: the certificate is what its conditions come down to."))
        return section("conditions", "Optimality conditions", *made)
    samples = sample_side(instance, solution)
    worst = power(float(samples.slackness.max()))
    made.append(paragraph("Largest violation of complementary slackness by a sample: ", worst))
    if samples.loss is None:
        return section("conditions", "Optimality conditions", *made)
    against = "residual" if instance.targets.kind == "response" else "margin"
    drawing = inline(
        lambda ax: plot.kkt(instance, solution, ax), 3.0, f"α against the {against} of every sample", "kkt"
    )
    staged = "second_stage_gap" in solution.multipliers
    caption = f"α against the {against}: at the optimum every sample lies on the grey staircase."
    figures = [figure(drawing, caption + (" Here of the second stage's SVM." if staged else ""))]
    if candidate is not None:
        other = inline(lambda ax: plot.kkt(instance, candidate, ax), 3.0, "The same of the candidate", "candidate")
        figures.append(figure(other, "The candidate's α, against the margins of its own classifier."))
    made.append(element("div", *figures, class_="figures"))
    return section("conditions", "Optimality conditions", *made)


# ---------------------------------------------------------------------------------------------------- convergence
def convergence(runs: Mapping[str, Solution]) -> Markup:
    """Return charts of the certified gap of several solvers over iterations and, if any solves SVMs, over SVM fits."""
    drawing = inline(lambda ax: plot.gaps(runs, ax), 3.1, "Certified gap over iterations", "gaps")
    drawings = [figure(drawing, "Certified relative gap, the best so far, over iterations.")]
    if any(run.trace and run.trace[-1].svm_solves > 0 for run in runs.values()):
        title = "Certified gap over SVM fits"
        drawing = inline(lambda ax: plot.gaps(runs, ax, "svm_solves"), 3.1, title, "fits")
        drawings.append(figure(drawing, "The same over the SVMs that were solved inside."))
    rows = [
        [
            name, run.iterations, run.svm_solves or "–", f"{run.seconds:.2g}", power(run.certificate.relative_gap),
            "certified" if run.certified else run.message.removeprefix("not certified: "),
        ]
        for name, run in runs.items()
    ]  # fmt: skip
    head = ["solver", "iterations", "SVMs", "seconds", "gap", "ended"]
    made = element("div", *drawings, class_="figures"), table(head, rows, numbers=(1, 2, 3, 4))
    note = "A solver stops when its own tolerance is certified."
    if "interior" in runs:
        note += " The line of interior is flat until it expects to be done: only then does it ask for a certificate."
    return section("convergence", "Convergence", *made, paragraph(note))


# ------------------------------------------------------------------------------------------------- few kernels
def few_kernels(
    instance: Instance, formulation: str, given: Mapping[str, Any], runs: Mapping[str, Solution]
) -> Markup | None:
    """For two kernels, draw the cutting planes; for three, the value over the simplex and two solvers' iterates."""
    if instance.samples > SAMPLES or "loss" in given:  # losses without an SVM take a conic program at every point
        return None
    if instance.count == 2 and formulation in ("l1", "sm1"):
        title, caption = "Cutting planes", "two kernels, and four planes of column generation below it."
        drawing = inline(lambda ax: plot.cutting_planes(instance, formulation, 4, ax, **given), 3.2, title, "planes")
    elif instance.count == 3:
        title, caption = "Value over the simplex", "three kernels, and the ways that algorithms took."
        ways = [(name, run) for name, run in runs.items() if run.trace and name != "interior"][:2]
        draw = partial(plot.landscape, instance, formulation, dict(ways) or None, **given)
        try:
            drawing = inline(lambda ax: draw(ax=ax), 3.5, title, "simplex")
        except InputError:  # the domain of the weights is neither a simplex nor a ball
            return None
    else:
        return None
    shown = figure(drawing, f"The value over the weights of the {caption}")
    return section("landscape", "The value over the weights", shown)


# ------------------------------------------------------------------------------------------------- where it comes from
def derived(formulation: str) -> Markup:
    return section("derivation", "Derivation", derivation(formulations.get(formulation)))
