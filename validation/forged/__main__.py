"""Forged solution files, tens of thousands, and honest ones of all families, before the checker.

    python validation/forged [--forged 25000] [--honest 300] [--first 0] [-o validation/forged/forged.md]

Every honest file must be confirmed. A forged file that is confirmed must be true all the same, in every field, within
the field's own interval: `true_fields.py` finds out without the checker. The exit status is 1 if an honest file is
refused or a false one confirmed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent
sys.path += [str(FOLDER), str(FOLDER.parents[1] / "tests" / "helpers")]

from forging import forgeries, place_of, vouched  # noqa: E402
from honest_files import Honest, Record, honest_files  # noqa: E402
from true_fields import false_fields  # noqa: E402

from mklcvx import Instance  # noqa: E402
from mklcvx.checker import audit, families, joint  # noqa: E402
from mklcvx.checker.claims import judged  # noqa: E402
from mklcvx.checker.files import arrays_of, parsed  # noqa: E402
from mklcvx.checker.machines import problems  # noqa: E402
from mklcvx.io.files import save_instance  # noqa: E402
from mklcvx.io.writing import write_text  # noqa: E402

CONFIRMED, REFUSED, UNREADABLE = range(3)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--forged", type=int, default=25_000, help="number of forged files, at least")
    parser.add_argument("--honest", type=int, default=300, help="number of honest files that they are made from")
    parser.add_argument("--first", type=int, default=0, help="number of the first honest file, from which it is drawn")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER / "forged.md")
    asked = parser.parse_args(arguments)
    counts, wrong = campaign(asked.honest, asked.forged, asked.first)
    write_text(asked.output, page(counts, wrong))
    print(*wrong, "; ".join(f"{key}: {counts[key]:,}" for key in sorted(counts)), sep="\n")
    return 1 if wrong else 0


def campaign(honest: int, forged: int, first: int) -> tuple[Counter[str], list[str]]:
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for number, file in enumerate(honest_files(honest, first), first):
        data = data_of(file.instance)
        status, words = verdict(data, file.record)
        counts["honest"] += 1
        counts[f"honest, {file.record['status']}"] += 1
        if status != CONFIRMED:
            wrong.append(f"honest file {number} is not confirmed: {file.title}: {words}")
        rng = np.random.default_rng(number)
        wrong += [f"confirmed, and false: {false}: file {number}, {file.title}" for false in misplaced(file, data)]
        for what, record in forgeries(file, -(-forged // honest), rng):
            status, _ = verdict(data, record)
            counts["forged"] += 1
            counts[f"forged, {('confirmed', 'refused', 'unreadable')[status]}"] += 1
            for false in untrue(file, data, record) if status == CONFIRMED else []:
                wrong.append(f"confirmed, and false: {false}: file {number}, {file.title}: {what}")
    return counts, wrong


def data_of(instance: Instance) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        save_instance(Path(folder) / "problem.npz", instance)
        return arrays_of(str(Path(folder) / "problem.npz"))


def verdict(data: dict[str, Any], record: Record) -> tuple[int, str]:
    """The checker's exit status for a file with this record, and its last line."""
    try:
        read = parsed(json.dumps(record))
        module = joint if read["formulation"] in audit.OWN else families
        used = audit.point_multipliers if module is joint else families.point_multipliers
        status, lines = judged(data, read, module.evaluated_file, used)
    except Exception as fault:  # a damaged file can fail anywhere
        return UNREADABLE, f"{type(fault).__name__}: {fault}"
    return status, lines[-1]


def untrue(file: Honest, data: dict[str, Any], record: Record) -> list[str]:
    """The fields that are false of a file that is confirmed. What it has in common with the honest one is true."""
    if not file.posed.machines:
        changed = [path for path in vouched(file.record) if not same(file.record, record, path)]
        return false_fields(file.instance, record) if changed else []
    names = list(file.instance.targets.names)
    found = []
    for _, posed, solution in problems(data, record, (names, names)):
        found += false_fields(
            Instance(posed["kernels"], posed["y"], sample_weight=posed.get("sample_weight")), solution
        )
    return found


def misplaced(file: Honest, data: dict[str, Any]) -> list[str]:
    """Of a file for kernels that were centred or normalised: what is false where it is confirmed for others."""
    if file.before is None:
        return []
    found = ["preprocessing"] if verdict(data, file.preprocessed)[0] == CONFIRMED else []
    if verdict(data_of(file.before), file.record)[0] == CONFIRMED:
        found += false_fields(file.before, file.record)
    return found


def same(honest: Record, forged: Record, path: str) -> bool:
    (one, key), (other, _) = place_of(honest, path), place_of(forged, path)
    return bool(one.get(key) == other.get(key))


# --------------------------------------------------------------------------------------------------------- the page
def page(counts: Counter[str], wrong: list[str]) -> str:
    rows = "\n".join(f"| {key} | {counts[key]:,} |" for key in sorted(counts))
    false = sum(line.startswith("confirmed") for line in wrong)
    refused = len(wrong) - false
    return f"""# Forged files before the checker

Made by `python validation/forged`. Honest files are those of `mklcvx solve` for all formulations and losses, with one
output and several, labels, hypergraphs, two stages, second stages of hypergraphs and machines of classes, on kernels of
random features, of years, of features with an offset of 10,000 and in half precision, some of them centred or
normalised, with C from 0.7 to a million. From each a number of files is forged: by rule (as in
`tests/helpers/forgeries.py`), one to four fields at once, single parameters, single fields of a second stage, and
bounds, gaps, scales, norms and gains that are changed so that they fit each other. What is confirmed all the same is
true, or it is counted below: `true_fields.py` solves the problem that the file states and evaluates its fields without
the checker.

| files | number |
|---|---|
{rows}
| **honest, not confirmed** | **{refused}** |
| **forged, confirmed and false** | **{false}** |

Forged files that are confirmed are those that changed nothing that matters: a field within its own interval (a norm in
its ninth digit, a wider interval of slopes), another tolerance with the status that follows, a larger C where no α is
at its bound, a bias within its interval.
"""


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.exit(main())
