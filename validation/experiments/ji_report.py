"""The page of Ji et al. 2008, Tables 2 and 3, on emotions."""

from __future__ import annotations

import numpy as np

from _findings import LEVEL, probability, sentence, spread
from _harness import Row, Setting
from _reporting import Page, Picture, Table, words
from _significance import average_ranks, friedman, mean_and_deviation
from ji_contest import METHODS, ORACLE
from ji_findings import (
    ALMOST_ALL,
    PROPOSED,
    SCORES,
    Scores,
    above_canonical,
    above_single,
    alike,
    approximate,
    cells,
    columns,
    distances,
    highest,
    lead,
    scores,
)
from shared.pictures import label, panels, style
from shared.printed import printed_rows

MACRO, MICRO = printed_rows("ji_macro"), printed_rows("ji_micro")


def report(setting: Setting, rows: list[Row]) -> Page:
    found = scores(rows)
    findings = [highest(found), above_single(found), above_canonical(found), approximate(found), alike(rows)]
    parts: list[Table | Picture | str] = [score_table(found, score) for score in SCORES]
    parts += [tests_table(found), weights_table(rows), draw(setting, rows, found)]
    parts.append(f"The largest certified relative gap of all learned weights is {max(row['gap'] for row in rows):.0e}.")
    rule, differs = words("ji", setting, level=LEVEL, almost_all=ALMOST_ALL)
    return Page(sentence(findings), differs, parts, rule)


# -------------------------------------------------------------------------------------------------------------- tables
def score_table(found: Scores, score: str) -> Table:
    printed = MACRO if score == "macro" else MICRO
    table = np.concatenate([np.stack([found[c, score, m] for m in METHODS], axis=1) for c in columns(found)])
    ranked = dict(zip(METHODS, average_ranks(table), strict=True))
    there = dict(zip(METHODS, average_ranks(np.array([printed[m] for m in METHODS]).T), strict=True))
    made = []
    for method in (*METHODS, ORACLE):
        told = [spread(*mean_and_deviation(list(found[column, score, method]))) for column in columns(found)]
        values = printed.get(method)
        line = [f"{min(values):.4f} to {max(values):.4f}", float(there[method])] if values else [None, None]
        made.append([method, *told, float(ranked[method]) if method in ranked else None, *line])
    header = ["", *(f"{bank}, {n}" for bank, n in columns(found)), "average rank", "printed scores", "printed rank"]
    note = (
        f"Friedman {probability(friedman(table))} over all columns and splits, as if these were independent. Printed: "
        "the range over nine data sets of gene expression images, and our average of its ranks over them. "
        f"`{ORACLE}` is the individual kernel that is best on the test half, which nobody may know."
    )
    number = 2 if score == "macro" else 3
    return Table(f"{score}_f1", f"Table {number}: {score} F1, mean and deviation over splits", header, made, note)


def tests_table(found: Scores) -> Table:
    rivals = {"BIK": PROPOSED, "SILP KCCA": PROPOSED[:2], "APP KCCA": PROPOSED[2:]}
    rivals |= dict.fromkeys(("Uniform", "SVM1"), PROPOSED)
    made = []
    for rival, methods in rivals.items():
        for method in methods:
            leads = [lead(found, column, score, method, rival) for column, score in cells(found)]
            made.append([f"{method} − {rival}", *(f"{d:+.4f} ({probability(p)})" for d, p in leads)])
    header = ["", *(f"{bank}, {n}, {score}" for (bank, n), score in cells(found))]
    return Table("tests", "Leads, and the corrected resampled t-test", header, made)


def weights_table(rows: list[Row]) -> Table:
    made = [[mu, float(np.median(d)), float(np.max(d))] for mu, d in sorted(distances(rows).items())]
    header = ["smoothing μ", "median", "largest"]
    title = "Fig. 1, right: how far the smoothed form's weights lie from SILP's, ½ Σ|θ − θ'| at the same λ"
    return Table("weights", title, header, made)


def draw(setting: Setting, rows: list[Row], found: Scores) -> Picture:
    from ji import EXPERIMENT

    name, shown = "ji.png", columns(found)
    with panels(EXPERIMENT.folder(setting) / name, 3, width=5.2) as axes:
        for axis, score in zip(axes, SCORES, strict=False):
            for i, method in enumerate(METHODS):
                line = style(i) | {"linestyle": "-" if method in PROPOSED else "--"}
                axis.plot(range(len(shown)), [found[c, score, method].mean() for c in shown], label=method, **line)
            axis.set_xticks(range(len(shown)), [f"{bank},\n{n}" for bank, n in shown])
            label(axis, f"{score} F1", "", "mean over splits")
        last = [row for row in rows if (row.cell["bank"], row.cell["size"]) == shown[0]]
        for i, method in enumerate(("SILP star", "APP star")):
            mean = np.mean([one["weights"] for row in last for one in row["rows"] if one["method"] == method], axis=0)
            axes[2].bar(np.arange(len(mean)) + 0.4 * i - 0.2, mean, 0.4, label=method, color=style(i)["color"])
        label(axes[2], f"Mean weights, {shown[0][0]}, {shown[0][1]}", "kernel", "weight")
    return Picture(name, "Scores in every column, and the weights of SILP and the smoothed form (Fig. 1, right).")
