"""The page of a campaign: what was asked, and how often the truth was outside of what was answered."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from grid import Cell

Row = dict[str, Any]
Pair = tuple[Cell, Row]
COMPARED = ("exact", "enclosed")
NOTABLE = 1e-9
HEAD = """# Certified intervals against exact optima

`make truth` writes this page; `validation/truth` has the code. For `svm` and `sum` the optimum is a fraction, proved by
its conditions of optimality in rational numbers; for `l1`, `sm1` and `l2` it is enclosed to a relative width of 1e-25
(1e-13 where that cannot be had), proved in rational numbers too. An interval *excludes* the optimum if it lies beside
it by any amount; intervals of answers that are not certified must hold as well. Kernels that rounding has made
indefinite where the feasible set has directions are counted apart: there the optimum is not computed.
"""


def faulty(row: Row) -> bool:
    return row["status"] == "raised" or "excluded" in row


def page(pairs: Sequence[Pair], asked: int) -> str:
    solved = [pair for pair in pairs if pair[0].task == "solve"]
    proofs = [pair for pair in pairs if pair[0].task == "prove"]
    parts = [HEAD, summary(pairs, asked)]
    for title, key in {
        "By data": lambda cell: (cell.data,),
        "By storage": lambda cell: (cell.storage,),
        "By formulation": lambda cell: (cell.formulation,),
        "By price": lambda cell: (cell.price_range,),
        "By weights": lambda cell: (f"{cell.weights} weights, {'bias' if cell.bias == 'bias' else 'no bias'}",),
    }.items():
        parts.append(f"## {title}\n\n" + table(solved, key, (title[3:],)))
    parts.append("## Proofs\n\n" + table(proofs, lambda c: (c.data, c.storage), ("data", "storage"), "proved"))
    parts.append("## Every kind\n\n" + table(solved, kind, ("storage", "data", "formulation", "price")))
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def kind(cell: Cell) -> tuple[str, ...]:
    return cell.storage, cell.data, cell.formulation, cell.price_range


def summary(pairs: Sequence[Pair], asked: int) -> str:
    rows = [row for _, row in pairs]
    solved = [row for cell, row in pairs if cell.task == "solve"]
    certified = [row for row in solved if row["status"] == "certified"]
    judged = [row for row in certified if row["truth"] in COMPARED]
    excluded = [row["excluded"] for row in rows if "excluded" in row]
    unknown = [row for row in rows if row["truth"] not in (*COMPARED, "indefinite")]
    lines = [
        f"- cells: {len(pairs)} of {asked}; solves {len(solved)}, proofs {len(pairs) - len(solved)}",
        f"- certified answers: {len(certified)}; compared with the truth {len(judged)}, "
        f"excluding it **{sum('excluded' in row for row in judged)}**",
        f"- intervals that exclude the optimum, certified or not, and proofs: **{len(excluded)}**, "
        f"{sum(size > NOTABLE for size in excluded)} of them by more than {NOTABLE:g} of it, "
        f"by {max(excluded, default=0.0):.1e} at most",
        f"- exceptions: **{sum(row['status'] == 'raised' for row in rows)}**",
        f"- indefinite by rounding, not compared: {sum(row['truth'] == 'indefinite' for row in rows)}, "
        f"{sum(row['status'] == 'refused' for row in rows)} of them refused",
        f"- optimum not enclosed to 1e-13, not compared: {len(unknown)}",
    ]
    return "\n".join(lines)


def table(
    pairs: Iterable[Pair], key: Callable[[Cell], tuple[str, ...]], names: tuple[str, ...], good: str = "certified"
) -> str:
    groups: dict[tuple[str, ...], list[Row]] = {}
    for cell, row in pairs:
        groups.setdefault(key(cell), []).append(row)
    heads = [*names, "cells", good, "compared", "excluded", "of them certified", "exceptions", "not certified", "why"]
    if good == "proved":
        heads[-3:] = ["exceptions", "not proved", "why"]
        heads.remove("of them certified")
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for name, rows in groups.items():
        lines.append(f"| {' | '.join([*name, *counted(rows, good)])} |")
    return "\n".join(lines)


def counted(rows: Sequence[Row], good: str) -> list[str]:
    beside = [row for row in rows if "excluded" in row]
    without = [row for row in rows if row["status"] != good]
    return [
        str(len(rows)),
        str(len(rows) - len(without)),
        str(sum(row["truth"] in COMPARED for row in rows)),
        str(len(beside)),
        *([str(sum(row["status"] == good for row in beside))] if good == "certified" else []),
        str(sum(row["status"] == "raised" for row in rows)),
        f"{100 * len(without) / len(rows):.1f} %",
        reasons(without),
    ]


def reasons(rows: Sequence[Row], most: int = 2) -> str:
    """The most frequent ones, numbers left out."""
    found = Counter(reduced(row.get("reason", "no reason")) for row in rows)
    return "; ".join(f"{count} × {reason}" for reason, count in found.most_common(most))


def reduced(reason: str) -> str:
    text = re.sub(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", "…", reason)
    text = text.removeprefix("not certified: relative gap …, asked for …").lstrip("; ")
    return (text or "the gap is wider than asked for").replace("|", "/")[:110]
