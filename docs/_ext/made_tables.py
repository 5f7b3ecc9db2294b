"""Tables that pages ask for by a comment, `% table: NAME`, and that are made from records and declarations."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import claims_tables
import family_tree
import formulation_pages
import loss_pages
import regularisers
from mklcvx.exercises import EXERCISES

ASKED = re.compile(r"^% table: (\w+)$", re.MULTILINE)
HERE = Path(__file__).resolve().parent


def exercises() -> str:
    rows = [f"| `{one.name}` | {one.formulation} | {one.question} |" for one in EXERCISES]
    return "\n".join(["| name | formulation | task |", "|---|---|---|", *rows])


TABLES: dict[str, Callable[[], str]] = {
    "blocks": regularisers.block_table,
    "claims": claims_tables.tables,
    "edges": family_tree.edge_table,
    "exercises": exercises,
    "formulations": formulation_pages.index,
    "gains": loss_pages.gains,
    "losses": loss_pages.table,
    "regularisers": regularisers.table,
    "theorem": claims_tables.theorem,
    "verdicts": claims_tables.counts,
}


def insert(app: Any, name: str, source: list[str]) -> None:
    if ASKED.search(source[0]):
        source[0] = ASKED.sub(lambda match: TABLES[match[1]](), source[0])
        for path in (*HERE.glob("*.py"), claims_tables.RECORDS):
            app.env.note_dependency(str(path), docname=name)


def setup(app: Any) -> dict[str, Any]:
    app.connect("source-read", insert)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
