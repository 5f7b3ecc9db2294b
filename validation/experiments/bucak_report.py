"""The page of Bucak et al. 2010, Table 1, in kind."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from _findings import LEVEL, Finding, probability, sentence, spread
from _harness import Row, Setting
from _reporting import Page, Picture, Table, words
from _significance import average_ranks, corrected_t_test, friedman, mean_and_deviation
from bucak_contest import CONTESTANTS
from bucak_learning import GAP, MOVED
from shared.pictures import label, panels, style
from shared.printed import printed

Array = NDArray[np.float64]
NAMES = [contestant.name for contestant in CONTESTANTS]
PRINTED = {contestant.name: contestant.printed for contestant in CONTESTANTS if contestant.printed}
SINGLE = ("SimpleMKL", "VSKL")  # weights for each class apart, by an algorithm that solves SVMs
PRECISION, SECONDS = printed("bucak_precision"), printed("bucak_seconds")
PRECISIONS = np.array([list(line.values()) for line in PRECISION.values()]).T  # a row for each data set
THERE = list(PRECISION["SA"])  # data sets
TEST_SHARE = 1.0  # as many samples test as train


def report(setting: Setting, rows: list[Row]) -> Page:
    found = [best(rows), average_worse(rows), shared_cheaper(rows), sampling_cheaper(rows)]
    parts: list[Table | Picture | str] = [
        precision_table(rows), tests_table(rows), cost_table(rows), objective_table(rows), draw(setting, rows)
    ]  # fmt: skip
    rule, differs = words("bucak", setting, level=LEVEL)
    return Page(sentence(found), differs, parts, rule)


def data_sets(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(row.cell["data"] for row in rows))


def values(rows: list[Row], data: str, method: str, what: str) -> list[Any]:
    """Of every split of a data set."""
    own = [row for row in rows if row.cell["data"] == data]
    return [one.get(what) for row in own for one in row["rows"] if one["method"] == method]


def precisions(rows: list[Row], data: str, method: str) -> Array:
    return np.array(values(rows, data, method, "precision"), dtype=float)


def solves(rows: list[Row], data: str, method: str) -> float:
    return float(np.median(values(rows, data, method, "solves")))


# -------------------------------------------------------------------------------------------------------------- tables
def precision_table(rows: list[Row]) -> Table:
    sets = data_sets(rows)
    table = np.concatenate([np.stack([precisions(rows, data, m) for m in NAMES], axis=1) for data in sets])
    few = [NAMES.index(m) for m in PRINTED]
    ranked, among = average_ranks(table), dict(zip(PRINTED, average_ranks(table[:, few]), strict=True))
    there = dict(zip(PRECISION, average_ranks(PRECISIONS), strict=True))
    made = []
    for i, method in enumerate(NAMES):
        told = [spread(*mean_and_deviation(list(precisions(rows, data, method)))) for data in sets]
        short = PRINTED.get(method)
        printed = [PRECISION[short][name] if short else None for name in THERE]
        places = [float(among[method]), float(there[short])] if short else [None, None]
        made.append([method, *told, float(ranked[i]), *places, *printed])
    header = ["", *sets, "rank of all", "rank in the table", "printed rank", *(f"{name}, printed" for name in THERE)]
    note = (
        f"Friedman among the table's contestants over all splits, as if these were independent: "
        f"{probability(friedman(table[:, few]))}."
    )
    return Table("precision", "Area under the precision-recall curve, averaged over classes", header, made, note)


def tests_table(rows: list[Row]) -> Table:
    sets = data_sets(rows)
    made = []
    for method in (name for name in NAMES if name != "SA"):
        leads = [lead(rows, data, method) for data in sets]
        made.append([f"SA − {method}", *(f"{d:+.4f} ({probability(p)})" for d, p in leads)])
    return Table("tests", "SA's lead, and the corrected resampled t-test", ["", *sets], made)


def lead(rows: list[Row], data: str, method: str) -> tuple[float, float]:
    ours, theirs = precisions(rows, data, "SA"), precisions(rows, data, method)
    return float((ours - theirs).mean()), corrected_t_test(ours, theirs, TEST_SHARE)


def cost_table(rows: list[Row]) -> Table:
    sets, made = data_sets(rows), []
    for contestant in CONTESTANTS:
        if contestant.formulation is not None:
            line: list[Any] = [contestant.name, contestant.formulation, contestant.solver]
            for data in sets:
                counted = values(rows, data, contestant.name, "solves")
                line.append(None if counted[0] is None else float(np.median(counted)))
                line.append(float(np.median(values(rows, data, contestant.name, "seconds"))))
            short = PRINTED.get(contestant.name)
            line += [SECONDS[short][name] if short else None for name in THERE]
            made.append(line)
    header = ["", "formulation", "solver", *(f"{d}: {unit}" for d in sets for unit in ("SVMs", "seconds"))]
    note = (
        f"Medians over splits. Iterative algorithms run to a certified gap of {GAP:g}, taken beside the clock; SA "
        f"until no average weight moves by {MOVED:.0%} in a step, as in the paper; `interior` to 1e-8. Seconds "
        "are those of one machine and prove little: LIBSVM is behind SimpleMKL and VSKL, our own code behind SVMs "
        "without bias."
    )
    title = "Training cost at the chosen parameters"
    return Table("cost", title, [*header, *(f"{name}, printed seconds" for name in THERE)], made, note)


def objective_table(rows: list[Row]) -> Table:
    """How far shared weights are from the best ones, in the objective that their algorithm has."""
    sets, made = data_sets(rows), []
    for method, exact in (("SA", "minimax, exact"), ("mirror-prox", "minimax, exact"), ("Sum", "Sum, exact")):
        line: list[Any] = [method, "largest H_k" if "minimax" in exact else "sum of H_k"]
        for data in sets:
            ours, least = (np.array(values(rows, data, m, "objective"), dtype=float) for m in (method, exact))
            line.append(f"{np.median(ours / least - 1):.2%}")
        made.append(line)
    title = "Objective of the shared weights above the certified optimum, medians over splits"
    return Table("objective", title, ["", "objective", *sets], made)


def draw(setting: Setting, rows: list[Row]) -> Picture:
    from bucak import EXPERIMENT

    name, sets = "bucak.png", data_sets(rows)
    with panels(EXPERIMENT.folder(setting) / name, len(sets), width=4.8) as axes:
        for axis, data in zip(axes, sets, strict=True):
            for i, method in enumerate(m for m in NAMES if values(rows, data, m, "solves")[0] is not None):
                x, y = values(rows, data, method, "solves"), precisions(rows, data, method)
                axis.plot(x, y, label=method, **(style(i) | {"linestyle": "none"}))
            axis.axhline(precisions(rows, data, "average").mean(), color="0.6", linewidth=1, label="average, mean")
            axis.set_xscale("log")
            label(axis, data, "SVMs solved", "mean area under precision-recall")
    return Picture(name, "Precision against cost, one mark for each split.")


# ------------------------------------------------------------------------------------------------------------ findings
def best(rows: list[Row]) -> Finding:
    won, told = 0, []
    for data in data_sets(rows):
        means = {method: precisions(rows, data, method).mean() for method in PRINTED}
        first = max(means, key=lambda m, means=means: means[m])
        won += first == "SA"
        told.append(f"{data}: {first} {means[first]:.3f}, SA {means['SA']:.3f}")
    return Finding("ML-MKL-SA has the best precision", won == len(told), "; ".join(told))


def average_worse(rows: list[Row]) -> Finding:
    leads = {data: lead(rows, data, "average") for data in data_sets(rows)}
    proved = [data for data, (d, p) in leads.items() if d > 0 and p < LEVEL]
    told = "; ".join(f"{data}: SA ahead by {d:+.3f}, {probability(p)}" for data, (d, p) in leads.items())
    holds: bool | str = len(proved) == len(leads) or (f"holds only on {' and '.join(proved)}" if proved else False)
    return Finding("the average kernel is significantly worse", holds, told)


def shared_cheaper(rows: list[Row]) -> Finding:
    told, kept = [], []
    for data in data_sets(rows):
        ours = {m: solves(rows, data, m) for m in ("SA", "Sum")}
        theirs = {m: solves(rows, data, m) for m in SINGLE}
        if max(ours.values()) < min(theirs.values()):
            kept.append(data)
        told.append(f"{data}: " + ", ".join(f"{m} {count:.0f}" for m, count in (ours | theirs).items()))
    holds: bool | str = len(kept) == len(told) or (f"holds only on {' and '.join(kept)}" if kept else False)
    conclusion = "shared weights, SA's and Sum's, cost much less than weights for each class"
    return Finding(conclusion, holds, f"SVMs solved: {'; '.join(told)}")


def sampling_cheaper(rows: list[Row]) -> Finding:
    ratios = {data: solves(rows, data, "Sum") / solves(rows, data, "SA") for data in data_sets(rows)}
    classes = {row.cell["data"]: row["classes"] for row in rows}
    kept = [data for data, ratio in ratios.items() if ratio > 1]
    grows = max(ratios, key=lambda data: ratios[data]) == max(classes, key=lambda data: classes[data])
    holds: bool | str = len(kept) == len(ratios) and grows
    if kept and not holds:
        where = "cheaper everywhere" if len(kept) == len(ratios) else f"cheaper only on {' and '.join(kept)}"
        holds = f"holds in part, {where}, {'most' if grows else 'but not most'} where classes are most"
    told = ", ".join(f"{ratio:.1f} on {data}" for data, ratio in ratios.items())
    evidence = f"Sum's SVMs over SA's: {told}; SA ends by its own rule, not at Sum's accuracy"
    return Finding("SA is cheaper than Sum, the more so the more classes", holds, evidence)
