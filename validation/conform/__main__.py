"""Put solvers to the test: ours, a broken copy of it, and others' that solve the same problems, or say so.

    python validation/conform [REPORT...] [--specimens NAME,NAME...] [--folder validation/conform]

Writes one report for each. MKLpy's need MKLpy, and are left out, with a word, where it cannot be imported.
"""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from mklcvx import conform
from mklcvx.bench.conformance.summary import SHIFT, Conformance
from mklcvx.bench.conformance.trials import LEVELS, suitable
from mklcvx.cli.display import Progress
from mklcvx.io.writing import write_whole
from mklcvx.zoo import specimen

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "conform"
WORST = 12


class Asked(NamedTuple):
    solver: str
    formulation: str
    level: str
    what: str
    needs: str = ""


ASKED = {
    "simplemkl": Asked("solvers:simplemkl", "l1", "low", "Our own SimpleMKL, asked for a gap of 1e-4."),
    "broken": Asked("solvers:broken", "l1", "low", "The same with C divided by n before it starts."),
    "clarabel": Asked("third_party:clarabel_l1", "l1", "mid", "Clarabel on the dual cone program, without CVXPY."),
    "svc": Asked("third_party:svc_average", "average", "mid", "scikit-learn's SVC (LIBSVM) on the average kernel."),
    "mklpy-average": Asked("third_party:mklpy_average", "average", "mid", "MKLpy 0.6, AverageMKL.", "MKLpy"),
    "mklpy-alignment": Asked(
        "third_party:mklpy_alignment", "alignment", "mid",
        "MKLpy 0.6, CKA: it centres the kernels first, and lets weights be negative.", "MKLpy",
    ),
}  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="*", choices=[[], *ASKED], help="all if none is given")
    parser.add_argument("--specimens", help="of the zoo, by commas; else all that suit")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent, help="where the reports go")
    asked = parser.parse_args(arguments)
    asked.folder.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(EXAMPLES))
    for name in asked.reports or ASKED:
        one = ASKED[name]
        if one.needs and find_spec(one.needs) is None:
            sys.stderr.write(f"{name}: left out, {one.needs} is not installed\n")
            continue
        specimens = suitable(one.formulation, asked.specimens.split(",") if asked.specimens else None)
        specimens = [each for each in specimens if specimen(each).recorded["targets"] == "y"]  # what these take
        with Progress(False, total=len(specimens)) as progress:
            found = conform(
                one.solver, one.formulation, specimens=specimens, level=one.level,
                done=lambda trial, progress=progress: progress.count(trial.specimen),
            )  # fmt: skip
        text = report(name, one, found)
        write_whole(asked.folder / f"{name}.md", lambda file, text=text: file.write(text.encode()))
        sys.stderr.write(f"{name}: {verdict(found)}\n")
    return 0


def verdict(found: Conformance) -> str:
    rate, run = found.rate(found.level), len(found.trials) - len(found.skipped)
    words = "conforms" if found.passed else "does not conform"
    undecided = f", {rate.undecided} undecided" if rate.undecided else ""
    return (
        f"`{found.solver}` {words} to `{found.formulation}`: {rate.accepted} of {run} accepted at "
        f"{rate.tolerance:.0e}, {len(found.failures)} rejected{undecided}."
    )


def report(name: str, asked: Asked, found: Conformance) -> str:
    command = f"mklcvx conform {asked.solver} -f {asked.formulation} --level {asked.level}"
    head = [
        f"# {name}",
        f"{asked.what} In `examples/conform`: `{command}`; all reports: `make conform`.",
        f"**{verdict(found)}**",
    ]
    return "\n\n".join([*head, rates(found), *failed(found), *skipped(found)]) + "\n"


def rates(found: Conformance) -> str:
    rows = [f"| accuracy | success | accepted | undecided | mean time (shift {SHIFT:g} s) |", "|---|---|---|---|---|"]
    for level, tolerance in LEVELS.items():
        rate = found.rate(level)
        share = "–" if rate.share is None else f"{100 * rate.share:.0f} %"
        mean = "–" if rate.seconds is None else f"{rate.seconds:.2g} s"
        rows.append(
            f"| {level}, {tolerance:.0e} | {share} | {rate.accepted} of {rate.decided} | {rate.undecided} | {mean} |"
        )
    return "\n".join(rows)


def failed(found: Conformance) -> list[str]:
    if not found.failures:
        return []
    rows = ["| instance | off by | why |", "|---|---|---|"]
    for trial in found.failures[:WORST]:
        off = trial.outcome if trial.off is None else f"{trial.off:.1e}"
        rows.append(f"| {trial.specimen} | {off} | {trial.words.replace('|', '∣')} |")
    counted = ", ".join(f"{number} × {name or 'no diagnosis'}" for name, number in found.diagnoses.items())
    shown = f"The worst {WORST} of {len(found.failures)} rejected:" if len(found.failures) > WORST else "Rejected:"
    return [f"{shown}", "\n".join(rows), f"Diagnoses: {counted}."]


def skipped(found: Conformance) -> list[str]:
    return ["\n".join(f"- skipped {trial.specimen}: {trial.words}" for trial in found.skipped)] if found.skipped else []


if __name__ == "__main__":
    raise SystemExit(main())
