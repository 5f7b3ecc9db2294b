"""The tested statements of the papers, as tables, from the records that `make claims` writes."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import equations

RECORDS = Path(__file__).resolve().parents[2] / "validation" / "claims" / "claims.json"
VERDICTS = ("holds", "not contradicted", "holds after repair", "not contradicted after repair", "fails")
AS_PRINTED = VERDICTS[:2]
THEOREM = "Theorem 1, the place of m²/δ²"
SPECIAL = re.compile(r"([\\|*_<>$`\[\]^])")


def claims() -> list[dict[str, Any]]:
    return list(json.loads(RECORDS.read_text(encoding="utf-8"))["claims"])


def plain(text: str) -> str:
    """Text that Markdown leaves alone, in a cell of a table."""
    return SPECIAL.sub(r"\\\1", " ".join(text.split()))


def counts() -> str:
    papers = Counter((claim["paper"], claim["verdict"]) for claim in claims())
    names = sorted({paper for paper, _ in papers})
    lines = ["| paper | statements | " + " | ".join(VERDICTS) + " |", "|---" * (2 + len(VERDICTS)) + "|"]
    for name in names:
        each = [papers[name, verdict] for verdict in VERDICTS]
        lines.append(f"| {name} | {sum(each)} | {' | '.join(map(str, each))} |")
    total = [sum(papers[name, verdict] for name in names) for verdict in VERDICTS]
    return "\n".join([*lines, f"| all | {sum(total)} | {' | '.join(map(str, total))} |"])


def tables() -> str:
    """Paper by paper: its equations, what needs a repair or fails, what passes as printed."""
    parts = []
    for paper in sorted({claim["paper"] for claim in claims()}):
        some = [claim for claim in claims() if claim["paper"] == paper]
        wrong = [claim for claim in some if claim["verdict"] not in AS_PRINTED]
        right = [claim for claim in some if claim["verdict"] in AS_PRINTED]
        parts += [f"## {paper}", "### Its equations", _stacked(equations.table(paper))]
        parts += ["### What does not hold as printed", _table(wrong), "### What passes as printed", _table(right)]
    return "\n\n".join(parts)


def theorem() -> str:
    """Games on which the printed bound of Theorem 1 of Bucak et al. fails, and the one that is proved."""
    row = next(claim for claim in claims() if claim["where"] == THEOREM)
    old, new = row["printed"]["numbers"], row["repaired"]["numbers"]
    bounds = "printed | ratio | proved | ratio | exchanged: ratio"
    lines = [f"| $\\lambda_0C$ | $T$ | $\\Delta$, 16 runs | {bounds} | $d$ needed |", "|---" * 9 + "|"]
    for name in (key.removeprefix("T, ") for key in old if key.startswith("T, ")):
        gap = f"{old[f'Δ, {name}']:.4f} ± {old[f'standard error, {name}']:.4f}"
        each = [f"{some[f'bound, {name}']:.4f} | {some[f'Δ/bound, {name}']:.2f}" for some in (old, new)]
        other = f"{old[f'Δ/bound with the terms exchanged, {name}']:.3f}"
        cells = (name.rpartition(" ")[2], f"{old[f'T, {name}']:.0f}", gap, *each, other)
        lines.append(f"| {' | '.join(cells)} | {old[f'd that would be needed, {name}']:.1f} |")
    return "\n".join(lines)


def _table(some: list[dict[str, Any]]) -> str:
    rows = [" | ".join((_said(c, "where"), _said(c, "statement"), _verdict(c), _measured(c))) for c in some]
    head = ["| where | statement, in our words | verdict | measured |", "|---|---|---|---|"]
    return _stacked("\n".join([*head, *(f"| {row} |" for row in rows)]))


def _stacked(table: str) -> str:
    return f":::{{container}} stacked\n{table}\n:::"


def _said(claim: dict[str, Any], part: str) -> str:
    return equations.linked(plain(claim[part]), claim["paper"])


def _verdict(claim: dict[str, Any]) -> str:
    if claim["verdict"] in AS_PRINTED:
        return str(claim["verdict"])
    repair = f": {_said(claim, 'repair')}" if claim["repair"] else ""
    return f"**{claim['verdict']}**{repair}"


def _measured(claim: dict[str, Any]) -> str:
    """Errors of the printed, the repaired and the mutated version, against the tolerance."""
    errors = [f"as printed {claim['printed']['error']:.2g}"]
    if claim["repaired"]:
        errors.append(f"repaired {claim['repaired']['error']:.2g}")
    errors.append(f"mutant ({plain(claim['mutation'])}) {claim['mutated']['error']:.2g}")
    remark = f". {plain(claim['remark'])}" if claim["remark"] else ""
    proof = f". *Proof*: {plain(claim['proof'])}" if claim["proof"] else ""
    return f"{plain(claim['quantity'])}; tolerance {claim['tolerance']:g}: {', '.join(errors)}{remark}{proof}"
