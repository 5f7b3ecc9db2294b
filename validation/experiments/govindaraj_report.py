"""The page of the experiments after Govindaraj 2009, section 6."""

from __future__ import annotations

from typing import Any

from _findings import LEVEL, Finding, sentence
from _harness import Row, Setting
from _reporting import Page, Picture, Table, words
from govindaraj_digits_report import (
    kernels_table,
    of_kernels,
    of_prices,
    of_sizes,
    prices_table,
    sizes_table,
    tests_table,
)
from govindaraj_redundancy import TOLERANCE
from govindaraj_synthetic_report import FLOOR, of_redundancy, redundancy_table, trend_table
from shared.pictures import label, panels, style


def report(setting: Setting, rows: list[Row]) -> Page:
    synthetic = [row for row in rows if row.cell["part"] == "redundancy"]
    kernels = [row for row in rows if row.cell["part"] == "kernels"]
    sizes = [row for row in rows if row.cell["part"] == "sizes"]
    findings: list[Finding] = []
    parts: list[Table | Picture | str] = []
    if synthetic:
        findings += of_redundancy(synthetic)
        parts += [redundancy_table(synthetic), trend_table(synthetic)]
    if kernels:
        findings += [of_kernels(kernels), *of_prices(setting, kernels)]
        parts += [kernels_table(kernels), prices_table(setting, kernels)]
    if sizes:
        findings += of_sizes(sizes)
        parts += [sizes_table(sizes), tests_table(sizes)]
    parts.append(draw(setting, parts))
    gaps = [one["gap"] for row in rows for one in row["rows"]]
    above = sum(gap > TOLERANCE for gap in gaps)
    parts.append(
        f"Machines are certified to a relative gap of {TOLERANCE:g}; {above} of {len(gaps)} results have one above it, "
        f"{max(gaps):.0e} at most."
    )
    splits = setting.choose("4, 1 and 1", "15, 10 and 10", "50, 20 and 20")
    rule, differs = words("govindaraj", setting, level=LEVEL, floor=FLOOR, splits=splits)
    return Page(sentence(findings), differs, parts, rule)


def draw(setting: Setting, parts: list[Table | Picture | str]) -> Picture:
    """The ratio against ρ, against the number of kernels, accuracy against C and against the training size."""
    from govindaraj import EXPERIMENT

    tables = {part.name: part for part in parts if isinstance(part, Table)}
    name = "govindaraj.png"
    with panels(EXPERIMENT.folder(setting) / name, 4) as axes:
        if "redundancy" in tables:
            _draw_redundancy(axes[0], tables["redundancy"])
        if "kernels" in tables:
            rows = tables["kernels"].rows
            axes[1].errorbar([r[0] for r in rows], [r[3] for r in rows], [r[4] for r in rows], **style(0))
            label(axes[1], "Digits: ratio of accuracies, Li/L1", "kernels", "mean ratio, standard deviation")
            for i, method in enumerate(("L1", "Li")):
                points = [(r[0], r[1 + i]) for r in tables["prices"].rows]
                axes[2].plot(*zip(*points, strict=True), label=method, **style(i))
            axes[2].set_xscale("log")
            label(axes[2], "Digits: accuracy at every C, most kernels", "C", "mean test accuracy")
        if "sizes" in tables:
            table = tables["sizes"]
            for i, method in enumerate(table.columns[1:5]):
                axes[3].plot([r[0] for r in table.rows], [r[1 + i] for r in table.rows], label=method, **style(i))
            label(axes[3], "Digits: regions × widths", "training samples of each class", "mean test accuracy")
    return Picture(name, "After Figs 1, 3 and 11, the figure on C, and Fig. 16 of the thesis.")


def _draw_redundancy(axis: Any, table: Table) -> None:
    spreads = list(dict.fromkeys(row[0] for row in table.rows))
    for i, spread in enumerate(spreads):
        rows = [row for row in table.rows if row[0] == spread]
        line = style(i)
        axis.errorbar([r[2] for r in rows], [r[6] for r in rows], [r[7] for r in rows], label=spread, **line)
        axis.plot([r[2] for r in rows], [r[10] for r in rows], **(line | {"linestyle": "--", "marker": ""}))
    label(axis, f"Synthetic: Li/L1 (dashed: C from {FLOOR:g} up)", "ρ = p/l", "mean ratio, standard deviation")
