"""How many wrong answers the judge rejects, and how many mistakes it names: the blind list, and random answers.

    python validation/judge/score.py [--list third] [--journal FILE] [-o validation/judge/third.md]
    python validation/judge/score.py --random 18000      300 other answers at random alone, from this seed on

A mistake is *named* if one of the explanations is one of the accepted ones, to the last kind. It is *misleading* if
the answer is rejected and not named, and something else than `unknown` is given as the reason. Of random answers none
may be explained. A journal keeps what is done, so that an interrupted run goes on where it ended. A raised error is
printed, and counts as neither rejected nor named.
"""

from __future__ import annotations

import argparse
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.progress import track
from wrong_answers import Problem, WrongAnswer, wrong_answers

import mklcvx
from shared.journals import add_line, records
from shared.running import put

HERE = Path(__file__).parent
NOTHING = {"unknown", "unknown:converged"}
RANDOM = 300
SEEDS = {"blind": 9000, "second": 12000, "third": 15000}  # first seeds of random answers, by list
Row = dict[str, Any]
Make = Callable[[], WrongAnswer]


def judged(make: Make) -> Row:
    """Verdict, explanations and seconds of the judge."""
    try:
        answer = make()
        began = time.process_time()
        report = answer.report()
        seconds = time.process_time() - began
        diagnosis = report.diagnosis
        found = () if diagnosis is None else diagnosis.explanations
        kinds = [sorted((e.kinds,) if isinstance(e.kinds, str) else e.kinds) for e in found]
    except Exception as error:
        traceback.print_exc()
        return {"verdict": "error", "explanations": [], "seconds": 0.0, "error": f"{type(error).__name__}: {error}"}
    return {"verdict": report.verdict, "explanations": kinds, "seconds": round(seconds, 3)}


def scored(row: Row, accepted: Iterable[frozenset[str]]) -> Row:
    sets = [frozenset(kinds) for kinds in row["explanations"][:3]]
    rejected = row["verdict"] == "rejected"
    named = rejected and any(s in set(accepted) for s in sets)
    misleading = rejected and not named and any(s - NOTHING for s in sets)
    first = named and sets[0] in set(accepted)
    return row | {"rejected": rejected, "named": named, "first": first, "misleading": misleading}


def randoms(first: int) -> list[tuple[str, Make]]:
    """Random parts of plausible sizes, for problems of all families, seeds fixed."""
    problems = wrong_answers("blind").problems
    return [
        (f"random {i}: {problems[i % len(problems)].title}", _random(problems[i % len(problems)], first + i))
        for i in range(RANDOM)
    ]


def _random(problem: Problem, seed: int) -> Make:
    def make() -> WrongAnswer:
        rng = np.random.default_rng(seed)
        right = mklcvx.solve(problem.instance, problem.formulation, **problem.parameters)
        weights = rng.dirichlet(np.ones(len(right.weights))) * rng.choice([1.0, np.nansum(np.abs(right.weights))])
        answer: dict[str, Any] = {"weights": weights}
        if right.alpha is not None:
            largest = float(np.abs(right.alpha).max())
            alpha = rng.uniform(min(float(right.alpha.min()), 0.0), largest, size=right.alpha.shape)
            kept = rng.random(right.alpha.shape) < rng.choice([0.4, 0.7, 1.0])
            answer["alpha"] = np.where(kept, alpha, rng.choice([0.0, largest], size=right.alpha.shape))
            answer["bias"] = rng.normal(size=np.shape(right.bias)) if np.ndim(right.bias) else float(rng.normal())
        answer["objective"] = float(right.objective * rng.uniform(0.3, 3.0))
        names = [n for n in answer if n != "objective" and rng.random() < 0.75] or ["weights"]
        handed = {n: answer[n] for n in answer if n in names or (n == "objective" and rng.random() < 0.4)}
        if set(handed) == {"bias"}:
            handed["weights"] = weights
        return WrongAnswer(problem.title, problem.instance, problem.formulation, problem.parameters, handed)

    return make


def share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "none"


def explained(rows: list[Row]) -> list[Row]:
    return [r for r in rows if any(set(kinds) - NOTHING for kinds in r["explanations"])]


def errors(rows: list[Row]) -> list[Row]:
    return [r for r in rows if r["verdict"] == "error"]


def line(title: str, rows: list[Row]) -> str:
    counts = [sum(bool(r[k]) for r in rows) for k in ("rejected", "named", "first", "misleading")]
    return f"| {title} | {len(rows)} | " + " | ".join(str(c) for c in counts) + " |"


def page(rows: list[Row], chance: list[Row], which: str) -> str:
    doubles = [r for r in rows if r["double"]]
    seconds = [r["seconds"] for r in rows]
    head = "| | answers | rejected | named | named first | misleading |\n|---|---|---|---|---|---|"
    summary = [
        "# A blind list of wrong answers",
        "",
        f"Made by `python validation/judge/score.py --list {which}`. The list and the accepted diagnoses",
        f"(`lists/{which}.json`) were written without knowledge of the judge's code, and before its first run on them.",
        "",
        f"- rejected: {share(sum(r['rejected'] for r in rows), len(rows))}",
        f"- named: {share(sum(r['named'] for r in rows), len(rows))}",
        f"- misleading: {share(sum(r['misleading'] for r in rows), len(rows))}",
        f"- double mistakes named: {share(sum(r['named'] for r in doubles), len(doubles))}",
        f"- random answers explained: {share(len(explained(chance)), len(chance))}; "
        f"not rejected: {sum(r['verdict'] != 'rejected' for r in chance)}",
        f"- seconds of CPU: median {median(seconds):.2f}, at most {max(seconds):.2f}",
        f"- errors: {len(errors(rows + chance))}",
    ]
    tables = []
    for key in ("family", "category"):
        for double in (False, True):
            chosen = [r for r in rows if r["double"] == double]
            names = sorted({r[key] for r in chosen})
            lines = [line(name, [r for r in chosen if r[key] == name]) for name in names]
            tables += ["", f"## {'Double' if double else 'Single'} mistakes by {key}", "", head, *lines]
    missed = ["", "## Not named", "", "| answer | verdict | accepted | explanations |", "|---|---|---|---|"]
    for r in rows:
        if not r["named"]:
            expected, found = (
                ", ".join(" + ".join(kinds) for kinds in r[k]) or "none" for k in ("accepted", "explanations")
            )
            missed.append(f"| {r['name']} | {r['verdict']} | {expected} | {found}{' (misleading)' * r['misleading']} |")
    told = ["", "## Random answers that were explained", ""]
    told += [f"- {r['name']}: {r['explanations']}" for r in explained(chance)] or ["None."]
    return "\n".join([*summary, *tables, *missed, *told, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", choices=SEEDS, default="third", help="whose wrong answers are judged")
    parser.add_argument("--random", type=int, metavar="SEED", help="judge answers at random alone, from this seed on")
    parser.add_argument("--journal", type=Path, help="NAME.jsonl beside this file unless given")
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.random is not None:
        chance = [judged(make) for _, make in track(randoms(given.random), "answers at random")]
        print(f"explained: {share(len(explained(chance)), len(chance))}, errors: {len(errors(chance))}")
        return
    given.journal = given.journal or HERE / f"{given.list}.jsonl"
    done = {row["name"]: row for row in records(given.journal)}

    def once(name: str, make: Make) -> Row:
        if name not in done:
            done[name] = {"name": name} | judged(make)
            add_line(given.journal, done[name])
            print(name, done[name]["verdict"], done[name]["explanations"], flush=True)
        return done[name]

    rows = []
    for wrong in wrong_answers(given.list).answers:
        about = {"family": wrong.family, "category": wrong.category, "double": wrong.double}
        expected = {"accepted": [sorted(kinds) for kinds in wrong.accepted]}
        rows.append(scored(once(wrong.name, lambda wrong=wrong: wrong), wrong.accepted) | about | expected)
    text = page(rows, [once(name, make) for name, make in randoms(SEEDS[given.list])], given.list)
    put(text, given.output)


if __name__ == "__main__":
    main()
