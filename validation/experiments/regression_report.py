"""The page of the regression experiment, and the rules behind its sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from _findings import LEVEL, Finding, probability, spread
from _harness import Row, Setting
from _reporting import Page, Table, words
from _significance import mean_and_deviation
from regression_machines import LOSSES, RANDOM, ROUGH, SEARCHES, TOLERANCE, named
from regression_results import (
    LEARNED,
    SINGLE,
    Pair,
    Results,
    compared,
    largest_change,
)

# Predictions differ by about the root of the gap, in standard deviations of the targets.
WITNESSED = 1e-4
HARM = 0.1  # of the standard deviation of the errors between folds


def report(setting: Setting, rows: list[Row]) -> Page:
    found = Results(rows)
    if not found.sets:
        return Page("Too little is finished for a page.", [], [])
    findings = [certified(found), witnessed(found)]
    if "diabetes" in found.sets:
        findings += [against_single(found), against_average(found)]
        findings += [against_himalaya(found)] if found.has(RANDOM, "diabetes") else []
    if "linnerud" in found.sets:
        findings += [against_mean(found), sharing(found)]
    findings.append(rough_matters(found))
    parts: list[Table | str] = [findings_table(findings), errors_table(found)]
    if not found.has(RANDOM):
        parts.append(
            "himalaya is not installed: its multiple-kernel ridge is left out (`pip install 'mklcvx[experiments]'`)."
        )
    parts.append(tests_table(found))
    rule, how = made(setting, found)
    return Page(in_short(findings), how, parts, rule, heading="How it was measured")


def in_short(findings: Sequence[Finding]) -> str:
    """What holds and what does not; the numbers are in a table."""
    found = [f.conclusion if f.holds is True else f"{f.conclusion} ({f.holds})" for f in findings if f.holds]
    others = [f.conclusion for f in findings if not f.holds]
    told = [f"{word}: {'; '.join(those)}." for word, those in (("Found", found), ("Not found", others)) if those]
    return " ".join(told)


def findings_table(findings: Sequence[Finding]) -> Table:
    lines = [[f.conclusion, {True: "yes", False: "no"}.get(f.holds, f.holds), f.evidence] for f in findings]
    return Table("findings", "What is found", ["", "found", "numbers"], lines)


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


# ------------------------------------------------------------------------------------------------------------ findings
def certified(found: Results) -> Finding:
    lines = [line for data in found.sets for loss in LOSSES for line in found.tallied(data, loss)]
    solved, certain = (sum(line[what] for line in lines) for what in ("solved", "certified"))
    told = f"{certain} of {solved}, relative gap at most {max(line['worst_gap'] for line in lines):.1e}"
    return Finding("every MKL answer is certified", solved == certain, told)


def witnessed(found: Results) -> Finding:
    lines = [line for data in found.sets for loss in SINGLE for line in found.tallied(data, loss)]
    worst = max(line["apart"] for line in lines)
    return Finding(
        "KernelRidge and SVR with the learned kernel predict the same",
        worst <= WITNESSED,
        f"largest difference {worst:.0e} of a standard deviation in {len(lines)} fits",
    )


def judged(conclusion: str, pairs: Sequence[Pair]) -> Finding:
    """Ours are better: for all pairs, some or none."""
    better = [pair for pair in pairs if pair.found and pair.difference < 0]
    worse = [pair for pair in pairs if pair.found and pair.difference > 0]
    best = min(pairs, key=lambda pair: pair.difference)
    told = (
        f"{len(better)} of {len(pairs)} pairs, the opposite in {len(worse)}; differences {best.difference:+.3f} to "
        f"{max(pair.difference for pair in pairs):+.3f}, smallest {probability(min(pair.p for pair in pairs))}, "
        f"after Holm {probability(min(pair.adjusted for pair in pairs))}"
    )
    holds: bool | str = len(better) == len(pairs) or (f"in {len(better)} of {len(pairs)} pairs" if better else False)
    return Finding(conclusion, holds, told)


def of_pairs(found: Results, data: str, wanted: Callable[[Pair], bool]) -> list[Pair]:
    return [pair for pair in compared(found, data).values() if wanted(pair)]


def learned(pair: Pair) -> bool:
    return pair.ours.split(",")[0] in LEARNED


def against_single(found: Results) -> Finding:
    pairs = of_pairs(found, "diabetes", lambda pair: pair.theirs in SINGLE.values() and learned(pair))
    return judged(
        "on diabetes learned weights predict significantly better than KernelRidge and SVR with one chosen kernel",
        pairs,
    )


def against_average(found: Results) -> Finding:
    pairs = of_pairs(found, "diabetes", lambda pair: pair.theirs.startswith("average"))
    return judged("on diabetes learned weights predict significantly better than the average of the kernels", pairs)


def against_himalaya(found: Results) -> Finding:
    pairs = of_pairs(found, "diabetes", lambda pair: pair.theirs in SEARCHES)
    return judged("on diabetes learned weights predict significantly better than himalaya's", pairs)


def against_mean(found: Results) -> Finding:
    pairs = of_pairs(found, "linnerud", lambda pair: pair.theirs == "mean")
    return judged("on linnerud learned weights predict significantly better than the mean", pairs)


def sharing(found: Results) -> Finding:
    pairs = of_pairs(found, "linnerud", lambda pair: pair.theirs.endswith("per target"))
    return judged(
        "on linnerud weights that the targets share predict significantly better than weights of each target", pairs
    )


def rough_matters(found: Results) -> Finding:
    """Against the spread of the errors over the folds: what a fold's error can tell apart."""
    told, harmed = [], False
    for data in found.sets:
        own, exact = (
            np.median([line["kernels"] for line in found.rough(data, asked)]) for asked in (ROUGH[0], TOLERANCE)
        )
        changed = largest_change(found, data, ROUGH[0])
        deviation = mean_and_deviation(list(found.errors(data, named("l1", "squared"))))[1]
        harmed |= changed > HARM * deviation
        told.append(
            f"{data}: a gap of {ROUGH[0]:g} changes no fold's error by more than {changed:.3f}, beside a spread of "
            f"{deviation:.2f} between folds, but shows {own:.0f} kernels in use instead of {exact:.0f} (medians)"
        )
    return Finding("a wide gap harms the predictions", harmed, "; ".join(told))


# -------------------------------------------------------------------------------------------------------- how measured
def made(setting: Setting, found: Results) -> tuple[str, list[str]]:
    from regression import LOSS_GRIDS, OUTER, WHOLE_WIDTHS, WIDTHS, inner, prices, repeats

    grids = {"widths": WIDTHS, "whole_widths": WHOLE_WIDTHS, "prices": prices(setting)}
    grids |= {"more_prices": prices(setting, "scikit-learn")}
    grids |= {name: values for grid in LOSS_GRIDS.values() for name, values in grid.items()}
    told = {name: ", ".join(f"{value:g}" for value in values) for name, values in grids.items()}
    told["repeated"] = " and ".join(f"{count} times ({data})" for data, count in repeats(setting).items())
    limits = {"level": LEVEL, "witnessed": WITNESSED, "harm": HARM}
    rule, how = words("regression", setting, outer=OUTER, inner=inner(setting), **limits, **told)
    versions = {row["version"] for row in found.rows if row["who"] == "himalaya"}
    return rule, [*how, *([f"himalaya {', '.join(sorted(versions))}, on NumPy."] if versions else [])]
