"""Tables and the picture of the regression experiment."""

from __future__ import annotations

from typing import Any

import numpy as np

from _findings import probability, spread
from _reporting import Table
from _significance import mean_and_deviation
from regression_machines import LOSSES, RANDOM, ROUGH, SEARCHES, TOLERANCE
from regression_results import (
    SHARE,
    SINGLE,
    Results,
    compared,
    group_shares,
    kernels_used,
    largest_change,
    spread_between_folds,
    views,
    weighing,
)


def errors_table(found: Results) -> Table:
    lines = []
    for method in found.methods():
        line: list[Any] = [method]
        for data in found.sets:
            if found.has(method, data):
                explained = found.explained(data, method).mean(axis=0)
                told = f"{explained.mean():.3f}"
                if len(explained) > 1:
                    told += " (" + ", ".join(f"{share:.2f}" for share in explained) + ")"
                line += [spread(*mean_and_deviation(list(found.errors(data, method)))), told]
            else:
                line += [None, None]
        lines.append(line)
    header = ["", *(f"{data}: {what}" for data in found.sets for what in ("error", "explained"))]
    note = (
        "Error: mean squared error on the test fold in variances of the training targets, mean ± standard deviation "
        "over the outer folds, averaged over the targets. Explained: 1 − error / error of the training mean, pooled "
        "over the folds of a repeat; in parentheses for each target (weight, waist, pulse)."
    )
    return Table("errors", "Errors on the outer folds", header, lines, note)


def tests_table(found: Results) -> Table:
    lines = []
    for data in found.sets:
        for pair in compared(found, data).values():
            interval = f"{pair.low:+.3f} … {pair.high:+.3f}"
            told = [f"{pair.difference:+.4f}", interval, probability(pair.p), probability(pair.adjusted)]
            lines.append([data, pair.ours, pair.theirs, *told])
    header = ["data", "ours", "theirs", "difference", "95 % interval", "test", "Holm"]
    note = (
        "Differences of the errors, ours − theirs, on the same folds: below 0 ours is better. Intervals and p-values "
        "of the corrected resampled t-test; the last column corrects for all pairs of the data set."
    )
    return Table("tests", "Paired differences", header, lines, note)


def weights_table(found: Results, data: str) -> Table:
    methods = weighing(found, data)
    shares = {method: group_shares(found, data, method) for method in methods}
    names = [name for name, _, _ in views(data).views]
    lines = []
    for j, name in enumerate(names):
        lines.append([name, *(spread(*mean_and_deviation(list(shares[m][:, j])), digits=2) for m in methods)])
    used = [np.mean([kernels_used(fold) for fold in found.of(data, m, "weights")]) for m in methods]
    lines.append(["spread, mean over groups", *(f"{spread_between_folds(shares[m]):.3f}" for m in methods)])
    lines.append(["kernels in use", *(f"{count:.1f}" for count in used)])
    note = (
        f"Shares of the groups in the sum of the weights, mean ± standard deviation over the {len(found.folds[data])} "
        f"outer folds. Of {len(views(data).groups)} kernels those are in use that have more than {SHARE:g} of the "
        "largest weight."
    )
    return Table(f"weights_{data}", f"What is learned on {data}", ["", *methods], lines, note)


def cost_table(found: Results) -> Table:
    lines = []
    for method in (m for m in found.methods() if m != "mean"):
        line: list[Any] = [method]
        for data in found.sets:
            if not found.has(method, data):
                line += [None, None, None]
                continue
            fits = found.of(data, method, "fits")[0] if method not in SEARCHES else None
            one = ratio(found, data, method, "fit_seconds") if method not in SEARCHES else None
            line += [one, ratio(found, data, method, "fit_seconds", "choice_seconds"), fits]
        lines.append(line)
    header = ["", *(f"{data}: {what}" for data in found.sets for what in ("one fit", "choice and fit", "fits"))]
    note = (
        "CPU time in multiples of KernelRidge's, medians over the outer folds. One fit at the chosen parameters, with "
        "its predictions, and for ours its certificate; and the whole of choice and fit, of as many fits. himalaya "
        "chooses by a search of its own."
    )
    return Table("cost", "Time, in multiples of KernelRidge's", header, lines, note)


def ratio(found: Results, data: str, method: str, *parts: str) -> str:
    """Of medians over the folds: one machine's seconds say less."""
    ours, theirs = (
        np.median(np.sum([found.of(data, name, part) for part in parts], axis=0)) for name in (method, "KernelRidge")
    )
    return f"{ours / theirs:.1f}"


def rough_table(found: Results) -> Table:
    lines = []
    for data in found.sets:
        for asked in (*ROUGH, TOLERANCE):
            own = found.rough(data, asked)
            told = [f"{np.median([line[what] for line in own]):.1e}" for what in ("gap", "predictions_moved")]
            weights = [line["weights_moved"] for line in own]
            kernels = np.median([line["kernels"] for line in own])
            lines.append([
                data, f"{asked:.0e}", told[0], f"{kernels:.0f}", f"{np.median(weights):.1%}", f"{max(weights):.1%}",
                told[1], f"{largest_change(found, data, asked):.4f}",
            ])  # fmt: skip
    header = ["data", "gap asked for", "gap proved", "kernels in use", "weights moved", "at most", "predictions moved"]
    note = (
        "`l1` with its three losses at the chosen parameters, all outer folds: medians, and the largest. Weights "
        "moved: the ℓ1 distance from the weights at the narrow gap, over their sum; predictions moved: root mean "
        "square, in standard deviations of the targets; error changed: the largest change of a fold's error."
    )
    return Table("rough", "What a wider gap would do", [*header, "error changed, at most"], lines, note)


def certificates_table(found: Results) -> Table:
    lines: list[list[Any]] = []
    for data in found.sets:
        for loss in LOSSES:
            own = found.tallied(data, loss)
            solved, certain = (sum(line[what] for line in own) for what in ("solved", "certified"))
            apart = [line["apart"] for line in own if line["apart"] is not None]
            told = [solved, f"{certain / solved:.0%}", f"{max(line['worst_gap'] for line in own):.1e}"]
            lines.append([data, loss, *told, SINGLE.get(loss), f"{max(apart):.1e}" if apart else None])
    header = ["data", "loss", "problems", "certified", "largest gap", "witness", "largest difference"]
    told = ""
    if found.has(RANDOM):
        worst = {m: max(a for d in found.sets if found.has(m, d) for a in found.of(d, m, "apart")) for m in SEARCHES}
        told = (
            " The other way round, at himalaya's weights our certified predictions differ from its own by at most "
            + (" and ".join(f"{worst[m]:.0e} ({m})" for m in SEARCHES) + ".")
        )
    note = (
        f"All formulations, inner folds included, each asked for a relative gap of {TOLERANCE:g}. The witness is "
        "scikit-learn's machine with the learned kernel Σ μ_m K_m, fitted to the same samples; its predictions on the "
        f"test fold are compared, in standard deviations of the targets. Huber's loss has no witness there.{told}"
    )
    return Table("certificates", "Certificates and witnesses", header, lines, note)
