"""The sections that are words and numbers: a problem, its optimum, what proves it, where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ... import formulations
from ...certificate import Certificate
from ...certificate.solution import SUPPORT, Solution
from ...problem.instance import Instance
from ..plot._style import words
from .html import Markup, element, facts, joined, paragraph, section
from .numbers import power, settings, short, value
from .theorems import derivation, typeset

MOST = 40  # labels that are named
MULTIPLIERS = {
    "gamma": "γ of the classes", "class_values": "their values", "eigenvalues": "eigenvalues", "rho": "ρ", "tau": "τ",
}  # fmt: skip


def problem(instance: Instance, formulation: str, parameters: Mapping[str, Any], source: str = "") -> Markup:
    chosen, targets = formulations.get(formulation), instance.targets
    if targets.kind == "y":
        shown = f"y: {int((targets.values > 0).sum())} positive, {int((targets.values < 0).sum())} negative"
    else:
        counts = targets.indicators().sum(axis=0).astype(int)
        pairs = [f"{words(name)} ({count})" for name, count in zip(targets.names[:MOST], counts, strict=False)]
        shown = f"{len(targets.names)} {targets.kind}: " + ", ".join(pairs) + ("" if len(counts) <= MOST else ", …")
    rows = [
        ("instance", source or "in memory"),
        ("formulation", joined([element("code", chosen.name), ": ", typeset(chosen.title)])),
        ("parameters", settings(parameters)),
        ("samples", f"{instance.samples}"),
        ("kernels", f"{instance.count}" + _groups(instance)),
        ("targets", shown),
    ]
    if np.ptp(instance.sample_weight) > 0:
        low, high = instance.sample_weight.min(), instance.sample_weight.max()
        rows.append(("sample weights", f"from {short(low)} to {short(high)}"))
    rows += [("repaired", change) for change in instance.repairs]
    rows.append(("reference", chosen.reference))
    return section("problem", "Problem", facts(rows))


def _groups(instance: Instance) -> str:
    return "" if instance.groups is None else f" in {len(np.unique(instance.groups))} groups"


def optimum(solution: Solution) -> Markup:
    rows: list[tuple[str, Any]] = [("objective", value(solution.objective))]
    if solution.bias_interval is not None:
        low, high = solution.bias_interval
        wide = high - low > 1e-6 * max(1.0, abs(low))
        rows.append(("bias", short(float(solution.bias)) + (f", any in [{short(low)}, {short(high)}]" if wide else "")))
    rows.append(("kernels used", f"{len(solution.used())} of {len(solution.weights)}"))
    if solution.alpha is not None:
        alpha = np.atleast_2d(solution.alpha)
        supporting = int((alpha.max(axis=0) > SUPPORT * alpha.max()).sum())
        rows.append(("support vectors", f"{supporting} of {alpha.shape[1]}"))
    for name, shown in MULTIPLIERS.items():
        if solution.multipliers.get(name) is not None:
            found = np.ravel(solution.multipliers[name])
            rows.append((shown, ", ".join(short(v) for v in found[:8]) + ", …" * (len(found) > 8)))
    solves = f"{solution.svm_solves} SVMs, " if solution.svm_solves else ""
    rows.append(("found by", f"{solution.solver}: {solution.iterations} iterations, {solves}{solution.seconds:.2g} s"))
    rows += [("note", note) for note in solution.notes]
    return section("optimum", "Optimum", facts(rows))


def certificate(found: Certificate, tolerance: float, asked: str = "asked for") -> Markup:
    """The two bounds, and in a sentence what they prove."""
    explained = paragraph(
        "Two numbers that anyone can recompute without a solver: the dual point proves that the optimal value is not "
        "below the lower bound, the primal point that it is not above the upper one. Whoever found the points, the "
        "optimum lies between, known up to the gap: ",
        power(found.relative_gap), " of its scale. What rounding and the entries may have moved is in the gap.",
    )  # fmt: skip
    rows: list[tuple[str, Any]] = [
        ("lower bound", value(found.lower)),
        ("upper bound", value(found.upper)),
        ("gap", power(found.gap)),
        ("relative gap", joined([power(found.relative_gap), f", {asked} ", power(tolerance)])),
        ("scale", f"{short(found.scale)}, what the penalties of both objectives add up to, without constants"),
        ("paid for rounding", power(found.rounding)),
        ("paid for δ", joined([power(found.ridge_share), ", δ = ", power(found.ridge)])),
    ]
    return section("certificate", "Certificate", explained, facts(rows))


def derived(formulation: str) -> Markup:
    return section("derivation", "Derivation", derivation(formulations.get(formulation)))


def again(commands: list[str]) -> Markup:
    """How to get the same from the command line."""
    return section("again", "Do it yourself", element("pre", "\n".join(commands)))
