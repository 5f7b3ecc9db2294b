"""Put every checkable statement of the five papers to the test, and write what came out.

    python validation/claims [PAPER...] [--folder validation/claims]

Writes claims.md and claims.json. The exit status is 1 if a measurement cannot tell a statement from its mutant.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import track

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where `shared` is

import bucak
import govindaraj
import ji
import kumar
import xu
from claim import FAILS, HOLDS, PASSED, PASSED_REPAIRED, REPAIRED, VERDICTS, Claim, Judgement, Measured, judge
from mklcvx.io.writing import write_whole

PAPERS = {"bucak": bucak, "govindaraj": govindaraj, "ji": ji, "kumar": kumar, "xu": xu}
SCHEMA = "mklcvx.claims/1"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", nargs="*", choices=[[], *PAPERS], help="by first author; all if none is given")
    parser.add_argument("--folder", type=Path, help="where the two files go; this folder, if all papers are judged")
    asked = parser.parse_args(arguments)
    if asked.papers and asked.folder is None:
        parser.error("some papers only: give --folder, so that the table of all is kept")
    folder = asked.folder or Path(__file__).parent
    claims = [claim for name in asked.papers or PAPERS for claim in PAPERS[name].CLAIMS]
    console = Console(stderr=True)
    judgements = [_timed(claim) for claim in track(claims, "claims", console=console)]
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("claims.md", as_markdown(judgements)), ("claims.json", as_json(judgements))):
        write_whole(folder / name, lambda file, text=text: file.write(text.encode("utf-8")))
    unsound = [judgement for judgement in judgements if not judgement.sound]
    for judgement in unsound:
        console.print(f"cannot tell: {judgement.claim.paper}, {judgement.claim.where}", style="red")
    console.print(counted(judgements))
    return 1 if unsound else 0


def _timed(claim: Claim) -> Judgement:
    started = time.perf_counter()
    found = judge(claim)
    return replace(found, seconds=time.perf_counter() - started)


def counted(judgements: list[Judgement]) -> str:
    counts = Counter(judgement.verdict for judgement in judgements)
    words = {HOLDS: "hold as printed", REPAIRED: "hold after repair", FAILS: "fail"}
    words |= {PASSED: "are not contradicted", PASSED_REPAIRED: "are not contradicted after repair"}
    return ", ".join(f"{counts[verdict]} {words[verdict]}" for verdict in VERDICTS)


def as_markdown(judgements: list[Judgement]) -> str:
    lines = [
        "# Printed statements, put to the test",
        "",
        f"{len(judgements)} statements: {counted(judgements)}.",
        "Each row is one measurement, applied to the statement as printed, to its repair where it fails, and to a",
        "mutated version that the same measurement has to reject. `error` is compared with the tolerance.",
        "A bound for all problems, or that an algorithm arrives on all, is *not contradicted* where it passes on a",
        "few, and *holds* where the row has a proof (for Bucak's Theorem 1 it ends [this page](../../docs/claims.md)).",
        '"Printed" means in the texts at hand, which are conversions: a single sign or factor may be their noise; the',
        "verdict on the mathematics stands either way. Written by `make claims`.",
    ]
    for paper in dict.fromkeys(judgement.claim.paper for judgement in judgements):
        lines += ["", f"## {paper}", "", "| where | statement | tested | tolerance | verdict | numbers | mutant |"]
        lines += ["|---|---|---|---|---|---|---|"]
        lines += [_row(judgement) for judgement in judgements if judgement.claim.paper == paper]
    return "\n".join(lines) + "\n"


def _row(judgement: Judgement) -> str:
    claim = judgement.claim
    verdict = judgement.verdict if judgement.verdict in (HOLDS, PASSED) else f"**{judgement.verdict}**"
    verdict += f" ({claim.repair})" if judgement.repaired is not None else ""
    numbers = f"{_shown(judgement.printed)}"
    numbers += f"; repaired: {_shown(judgement.repaired)}" if judgement.repaired is not None else ""
    numbers += f". {claim.remark}" if claim.remark else ""
    numbers += f". Proof: {claim.proof}" if claim.proof else ""
    mutant = f"{claim.mutation}: error {judgement.mutated.error:.2g}"
    cells = (claim.where, claim.statement, claim.quantity, f"{claim.tolerance:g}", verdict, numbers, mutant)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _shown(measured: Measured) -> str:
    return ", ".join([f"error {measured.error:.2g}", *(f"{k} {v:.6g}" for k, v in measured.numbers.items())])


def as_json(judgements: list[Judgement]) -> str:
    rows = [_as_record(judgement) for judgement in judgements]
    return json.dumps({"schema": SCHEMA, "claims": rows}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _as_record(judgement: Judgement) -> dict[str, object]:
    claim, repaired = judgement.claim, judgement.repaired
    return {
        **{name: getattr(claim, name) for name in ("paper", "where", "statement", "quantity", "tolerance")},
        "verdict": judgement.verdict, "printed": _record(judgement.printed), "repair": claim.repair or None,
        "repaired": None if repaired is None else _record(repaired), "mutation": claim.mutation,
        "mutated": _record(judgement.mutated), "sound": judgement.sound, "remark": claim.remark or None,
        "proof": claim.proof or None, "seconds": round(judgement.seconds, 2),
    }  # fmt: skip


def _record(measured: Measured) -> dict[str, object]:
    return {"error": _number(measured.error), "numbers": {name: _number(v) for name, v in measured.numbers.items()}}


def _number(value: float) -> float | None:
    """JSON knows no infinity."""
    return float(value) if math.isfinite(value) else None


if __name__ == "__main__":
    sys.exit(main())
