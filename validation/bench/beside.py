"""Side by side with the programs that a user would pick instead, each at the accuracy that it reaches.

Where labels are to be told apart: `l1` and `average` beside MKLpy and scikit-learn's SVC with the average kernel. Where
a response is to be predicted: the same two with squared loss, beside himalaya's kernel ridge with given and with
searched weights. A program that is not installed is named as such.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import problems
from jobs import Job, Result, Study
from peers import PEERS
from shared.tables import shown, table

HEADER = ("program", "problem", "asked of ours", "fits (CPU)", "certified gap reached", "note")
LEARNING = ("mklpy-easymkl", "mklpy-gram")
SEARCHING = ("himalaya-gradient", "himalaya-random")
NAMED = {peer.function: (name, peer.note) for name, peer in PEERS.items()}


def jobs(quick: bool, externals: Sequence[str]) -> list[Job]:
    cancer = partial(problems.peers, 40 if quick else 300)
    digits = partial(problems.real, "digits", *((40, 6) if quick else (1000, 30)))
    diabetes = partial(problems.diabetes, 40 if quick else 442)
    squared = {"loss": "squared", "bias": False}
    rounds = 1 if quick else 5
    made = []
    for data, problem, given, learned, fixed in (
        ("breast_cancer", cancer, {}, LEARNING, ("mklpy-average", "svc-average")),
        ("digits", digits, {}, LEARNING[:1], ("mklpy-average", "svc-average")),
        ("diabetes", diabetes, squared, SEARCHING, ("himalaya-average",)),
    ):
        for formulation, peers in (("l1", learned), ("average", fixed)):
            installed = [PEERS[name].function for name in peers if PEERS[name].available()]
            for tol in (1e-9, 1e-3):
                solvers = ["interior", *(installed if tol == 1e-9 else ())]
                labels = {"data": data, "asked": f"{tol:.0e}"}
                made.append(Job(labels, problem, solvers, formulation, given, rounds=rounds, limit=30.0, tol=tol))
    return made


def study(results: list[Result], folder: Path) -> Study:
    lines: list[str] = []
    for data in dict.fromkeys(r.job.labels["data"] for r in results):
        of_data = [r for r in results if r.job.labels["data"] == data]
        found = of_data[0].benchmark
        lines += [f"### {data}, n = {found.samples}, M = {found.count}", "", *table(HEADER, cells(of_data)), ""]
    missing = [name for name, peer in PEERS.items() if not peer.available()]
    lines += [f"Not installed, and left out: {', '.join(missing)}.", ""] if missing else []
    lines += [
        "The unit is a fit of scikit-learn's `SVC` on the average kernel, which exists already; of a response, on "
        "which half of it a sample is in. `svc-average` has to make that kernel as well. Programs that learn weights "
        "by another criterion have the gap of what they return as an answer to our problem; himalaya's searches "
        "return weights, and the gap is that of the best machine with them, scaled to sum to one. A program that "
        "has used up half a minute runs no further round."
    ]  # fmt: skip
    return Study("Side by side: C = 1", lines, results)


def cells(results: list[Result]) -> list[list[str]]:
    made = []
    for result in results:
        found = result.benchmark
        problem = f"`{found.formulation}`" + (", squared loss" if "loss" in result.job.given else "")
        for row in found.rows:
            gap = row.fault or ("–" if row.gap is None else f"{row.gap:.1e}")
            asked = result.job.labels["asked"] if row.name == "interior" else ""
            name, note = NAMED.get(row.name, ("mklcvx", ""))
            made.append([name, problem, asked, shown(found.fits(row), missing="–"), gap, note])
    return made
