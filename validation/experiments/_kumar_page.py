"""The page of the experiment on two-stage MKL: our numbers beside the printed ones, and what holds of it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from _harness import Row, Setting
from _kumar_tables import ACCURACY, BANKS, BASELINES, METHODS, SECONDS, SETS
from _reporting import Page, Table, certificates, words
from _significance import average_ranks, corrected_t_test, friedman, mean_and_deviation, verdict_of_cell

TEST_OVER_TRAIN = 1 / 4
LEVEL, CHANCE = 0.05, 0.1
Column = tuple[str, str]
Results = dict[tuple[str, str, str], list[Row]]


def page(setting: Setting, rows: list[Row]) -> Page:
    found = grouped(rows)
    columns = [c for c in dict.fromkeys((row["data"], row["bank"]) for row in rows) if (*c, "l1") in found]
    if not columns:
        return Page("Nothing can be said yet: no split is finished.", [], [])
    parts = [
        accuracy_table(found, columns), ranks_table(found, columns), tests_table(found, columns),
        seconds_table(found), kernels_table(found, columns),
        certificates(rows, exact=lambda method: method != "ufo"),
    ]  # fmt: skip
    rule, differs = made(setting, found)
    return Page(verdict(found, columns), differs, parts, rule)


def grouped(rows: Iterable[Row]) -> Results:
    found: Results = {}
    for row in sorted(rows, key=lambda row: row["split"]):
        for method, result in row["methods"].items():
            cell = {**row.cell, "method": method}
            found.setdefault((row["data"], row["bank"], method), []).append(Row(cell, {**result, "of": row["of"]}, 0.0))
    return found


def values(found: Results, column: Column, method: str, what: str = "accuracy") -> list[float]:
    return [float(row[what]) for row in found[(*column, method)]]


def present(found: Results, columns: list[Column]) -> list[str]:
    """The methods that all columns have."""
    return [method for method in METHODS if all((*column, method) in found for column in columns)]


def named(column: Column) -> str:
    return f"{SETS.get(column[0], column[0])}, {BANKS[column[1]]}"


# -------------------------------------------------------------------------------------------------------------- tables
def accuracy_table(found: Results, columns: list[Column]) -> Table:
    rows = []
    for column in columns:
        for method in (method for method in METHODS if (*column, method) in found):
            mean, deviation = mean_and_deviation(values(found, column, method))
            printed = ACCURACY.get((*column, method))
            rows.append([
                SETS.get(column[0], column[0]), BANKS[column[1]], METHODS[method], round(mean, 2), round(deviation, 2),
                *(printed or (None, None)), verdict_of_cell(mean, printed),
            ])  # fmt: skip
    heading = [
        "data set",
        "kernels",
        "method",
        "accuracy %",
        "sd",
        "printed %",
        "printed sd",
        "within three printed sd",
    ]
    return Table("table2", "Table 2: accuracy", heading, rows)


def accuracies(found: Results, columns: list[Column]) -> np.ndarray:
    return np.array([[np.mean(values(found, c, m)) for m in present(found, columns)] for c in columns]).round(2)


def ranks_table(found: Results, columns: list[Column]) -> Table:
    methods, table = present(found, columns), accuracies(found, columns)
    printed = [[ACCURACY.get((*c, m), (np.nan,))[0] for m in methods] for c in columns]
    rows = [["ours", *average_ranks(table).round(2).tolist()]]
    if np.isfinite(printed).all():
        rows.append(["printed", *average_ranks(printed).round(2).tolist()])
    note = f"Friedman's test that all methods are alike, over the columns of Table 2: p = {friedman(table):.3g}."
    return Table("ranks", "Average ranks by accuracy", ["", *(METHODS[m] for m in methods)], rows, note)


def comparisons(found: Results, columns: list[Column]) -> list[tuple[Column, str, str, float, float]]:
    """Every method that learns kernels against the better baseline of its column: difference and p."""
    made = []
    for column in columns:
        baseline = max(BASELINES, key=lambda method: np.mean(values(found, column, method)))
        reference = np.array(values(found, column, baseline))
        for method in (m for m in METHODS if m not in BASELINES and (*column, m) in found):
            ours = np.array(values(found, column, method))
            common = min(len(ours), len(reference))
            if common < 2:
                continue  # one split tells nothing
            p = corrected_t_test(ours[:common], reference[:common], TEST_OVER_TRAIN)
            made.append((column, method, baseline, float((ours[:common] - reference[:common]).mean()), p))
    return made


def tests_table(found: Results, columns: list[Column]) -> Table:
    rows = [
        [named(column), METHODS[method], METHODS[baseline], round(difference, 2), p]
        for column, method, baseline, difference, p in comparisons(found, columns)
    ]
    heading = ["data set", "method", "against the better baseline", "mean difference %", "p"]
    return Table("tests", "Paired tests (corrected resampled t-test)", heading, rows)


def seconds_table(found: Results) -> Table:
    rows = []
    for (data, bank, method), results in found.items():
        if bank == "all+each" and method in ("alignment", "ufo", "ts"):
            mean = float(np.mean([row["cpu_seconds"] for row in results]))
            of = results[0]["of"]
            rows.append([SETS.get(data, data), of, METHODS[method], float(f"{mean:.3g}"), SECONDS.get((data, method))])
    heading = ["data set", "p", "method", "seconds", "printed seconds"]
    return Table("table3", "Table 3: running time, with p = 13d + 13", heading, rows)


def kernels_table(found: Results, columns: list[Column]) -> Table:
    methods = present(found, columns)
    rows = [
        [
            named(c),
            found[(*c, "l1")][0]["of"],
            *(round(float(np.mean(values(found, c, m, "kernels"))), 1) for m in methods),
        ]
        for c in columns
    ]
    return Table("kernels", "Mean number of kernels in use", ["data set", "of", *(METHODS[m] for m in methods)], rows)


# ------------------------------------------------------------------------------------------------------------- verdict
def verdict(found: Results, columns: list[Column]) -> str:
    made = comparisons(found, columns)
    if not np.isfinite([p for *_, p in made]).all():
        return "Nothing can be said yet: a paired test needs two splits of every data set." + speed(found)
    better = [(column, method) for column, method, _, difference, p in made if difference > 0 and p < LEVEL]
    higher = sum(difference > 0 for *_, difference, _ in made)
    holds = len(better) <= CHANCE * len(made)
    which = "; ".join(f"{METHODS[method]} on {named(column)}" for column, method in better) or "none"
    words = (
        f"Kumar et al.'s conclusion {'holds' if holds else 'does not hold'} here: of {len(made)} comparisons of a "
        f"method that learns kernels with the better of best single and average kernel, {higher} have the higher mean "
        f"and {len(better)} improve on it with p < 0.05 ({which})."
    )
    return words + speed(found)


def speed(found: Results) -> str:
    """Table 3: how many times as long as TS-MKL target alignment takes."""
    ratios = {}
    for data in SETS:
        if (data, "all+each", "alignment") in found and (data, "ts") in SECONDS:
            mean = [np.mean(values(found, (data, "all+each"), m, "cpu_seconds")) for m in ("alignment", "ts")]
            ratios[data] = float(mean[0] / mean[1])
    if not ratios:
        return ""
    shown = ", ".join(
        f"{ratio:.1f} on {SETS[data]} (printed: {SECONDS[data, 'alignment'] / SECONDS[data, 'ts']:.0f})"
        for data, ratio in ratios.items()
    )
    holds = all(ratio > 1 for ratio in ratios.values())
    return (
        f" That TS-MKL is faster than target alignment {'holds' if holds else 'does not hold'} with our solver of the "
        f"latter, which takes this many times as long: {shown}."
    )


def made(setting: Setting, found: Results) -> tuple[str, list[str]]:
    from kumar import UFO_SPLITS, prices, splits

    grid = ", ".join(f"{price:g}" for price in prices(setting))
    ufo = "" if any(method == "ufo" for *_, method in found) else " It has not been run here."
    return words("kumar", setting, splits=f"{splits(setting)} splits", prices=grid, ufo_splits=UFO_SPLITS, ufo=ufo)
