"""A soak: random problems, extremes included, for as long as is asked; nothing may be raised, nothing may contradict.

    python validation/robustness/soak.py [--minutes 60] [--seed 0] [--trials N] [-o validation/robustness]

Every trial draws a kind of kernels, a formulation, a loss and parameters, and solves the problem with the engine; now
and then also with a conic solver, by `prove`, or with a published algorithm. Every solver encloses the same optimal
value, so all intervals of a trial must meet. A refusal in one line is an answer. Trial number i depends on the seed and
on i alone, so that it can be drawn again: `--only I`. The page is `soak.md`; counts and faults are in `soak.json`. The
exit status is 1 if anything was raised or contradicted.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from extremes import LIMIT, Problem, drawn
from mklcvx import InputError, prove, solve

FOLDER = Path(__file__).parent
SAMPLED = 30.0  # seconds between looks at the memory
PUBLISHED = 10  # one trial in so many is also solved by a published algorithm
SOLVERS = ("interior", "clarabel", "scs", "prove")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--trials", type=int, default=10**9, help="stop after so many, too")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, help="draw this trial, show it, write nothing")
    parser.add_argument("-o", "--output", type=Path, default=FOLDER)
    asked = parser.parse_args(arguments)
    if asked.only is not None:
        print(json.dumps(trial(asked.seed, asked.only), indent=1))
        return 0
    state = soaked(asked.seed, 60 * asked.minutes, asked.trials)
    asked.output.mkdir(parents=True, exist_ok=True)
    (asked.output / "soak.json").write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")
    (asked.output / "soak.md").write_text(page(state), encoding="utf-8")
    print(headline(state))
    return int(bool(state["raised"] or state["contradictions"]))


def soaked(seed: int, seconds: float, trials: int) -> dict[str, Any]:
    """Counts by kind and by solver, what was raised, what contradicts, and the memory along the way."""
    counts: dict[str, Counter[str]] = {}
    raised: list[Any] = []
    contradictions: list[Any] = []
    refusals: Counter[str] = Counter()
    memory: list[tuple[float, float]] = []
    started, number = time.monotonic(), 0
    while (spent := time.monotonic() - started) < seconds and number < trials:
        if not memory or spent - memory[-1][0] >= SAMPLED:
            memory.append((round(spent, 1), round(resident() / 2**20, 1)))
        found = trial(seed, number)
        for solver, how in found["outcomes"].items():
            for row in (f"kind: {found['kind']}", f"solver: {solver}", f"formulation: {found['formulation']}"):
                counts.setdefault(row, Counter())[how] += 1
            if how == "refused":
                refusals[found["refusals"][solver]] += 1
        raised += [{"trial": number, **fault} for fault in found["raised"]]
        contradictions += [{"trial": number, **pair} for pair in found["contradictions"]]
        for fault in (*found["raised"], *found["contradictions"]):
            print(f"trial {number}: {fault}", flush=True)
        number += 1
        if number % 500 == 0:
            print(f"{number} trials, {len(raised)} raised, {len(contradictions)} contradictions", flush=True)
    memory.append((round(time.monotonic() - started, 1), round(resident() / 2**20, 1)))
    return {
        "seed": seed, "trials": number, "minutes": round((time.monotonic() - started) / 60, 1),
        "cpu_minutes": round(time.process_time() / 60, 1), "raised": raised, "contradictions": contradictions,
        "counts": counts, "refusals": dict(refusals.most_common(40)), "memory": memory,
    }  # fmt: skip


def trial(seed: int, number: int) -> dict[str, Any]:
    """What every solver makes of one problem."""
    rng = np.random.default_rng([seed, number])
    outcomes: dict[str, str] = {}
    refused: dict[str, str] = {}
    intervals: dict[str, tuple[float, float]] = {}
    raised, problem = [], None
    try:
        problem = drawn(rng)
    except InputError as fault:
        outcomes["instance"], refused["instance"] = "refused", _kind(fault)
    except Exception as fault:
        outcomes["instance"] = "raised"
        raised.append({"solver": "instance", "fault": repr(fault), "where": _places(fault)})
    for solver in _solvers(rng, problem) if problem is not None else ():
        try:
            outcomes[solver], intervals[solver] = _enclosed(problem, solver)
        except InputError as fault:
            outcomes[solver], refused[solver] = "refused", _kind(fault)
        except Exception as fault:
            outcomes[solver] = "raised"
            raised.append({"solver": solver, "fault": repr(fault), "where": _places(fault)})
    return {
        "kind": "refused" if problem is None else problem.kind,
        "formulation": "none" if problem is None else problem.formulation,
        "problem": {} if problem is None else problem.described,
        "outcomes": outcomes, "refusals": refused, "raised": raised,
        "intervals": intervals, "contradictions": _apart(intervals),
    }  # fmt: skip


def _solvers(rng: np.random.Generator, problem: Problem) -> list[str]:
    """The engine; on two trials of five another one, and now and then a published algorithm."""
    chosen = ["auto" if rng.random() < 0.5 else "interior"]
    chosen += [str(rng.choice(SOLVERS[1:]))] if rng.random() < 0.4 else []
    if rng.integers(PUBLISHED) == 0:
        from mklcvx import available_solvers

        others = sorted({*available_solvers(problem.formulation)} - {*SOLVERS, "auto"})
        chosen += [str(rng.choice(others))] if others else []
    return chosen


def _enclosed(problem: Problem, solver: str) -> tuple[str, tuple[float, float]]:
    """Whether the optimal value was enclosed tightly, and between which numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)  # our own, such as kernels of unlike sizes
        if solver == "prove":
            proof = prove(problem.instance, problem.formulation, time_limit=LIMIT, **problem.parameters)
            return ("certified" if proof.sharp else "not_certified"), (proof.lower, proof.upper)
        given: dict[str, Any] = {"solver": solver, **problem.limits, **problem.parameters}
        solution = solve(problem.instance, problem.formulation, **given)
    if not solution.certified and not solution.message:
        raise RuntimeError("not certified, and nothing says why")
    return solution.status, (solution.certificate.lower, solution.certificate.upper)


def _places(fault: Exception) -> list[str]:
    """Where it arose: files and lines, the innermost last."""
    return [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(fault.__traceback__)]


def _apart(intervals: dict[str, tuple[float, float]]) -> list[dict[str, Any]]:
    """The pairs of intervals that do not meet, and intervals that are none."""
    names = list(intervals)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i:]]
    return [
        {"pair": (a, b), "intervals": (intervals[a], intervals[b])}
        for a, b in pairs
        if not (intervals[a][0] <= intervals[b][1] and intervals[b][0] <= intervals[a][1])
    ]


def _kind(fault: InputError) -> str:
    """A refusal without its numbers."""
    return " ".join("#" if any(c.isdigit() for c in word) else word for word in str(fault).split())[:110]


def resident() -> int:
    """The memory of this process in bytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmRSS"))


# --------------------------------------------------------------------------------------------------------- the page
def headline(state: dict[str, Any]) -> str:
    return (
        f"{state['trials']} problems in {state['minutes']:g} minutes ({state['cpu_minutes']:g} of a "
        f"processor): {len(state['raised'])} exceptions, "
        f"{len(state['contradictions'])} contradictions."
    )


def page(state: dict[str, Any]) -> str:
    lines = ["# Soak", "", f"**{headline(state)}** `make soak MINUTES={state['minutes']:g}` repeats it.", ""]
    lines += [
        remembered(state["memory"]),
        "",
        "Every interval of a problem met every other one of it, unless said below.",
        "",
    ]
    for title in ("solver", "kind", "formulation"):
        lines += [f"| {title} | solved | certified | not certified, with the reason | refused in one line | raised |"]
        lines += ["|---|---|---|---|---|---|"]
        rows = {row.split(": ", 1)[1]: c for row, c in state["counts"].items() if row.startswith(title)}
        for name, count in sorted(rows.items()):
            done = count.get("certified", 0) + count.get("not_certified", 0)
            share = f"{count.get('certified', 0) / done:.1%}" if done else "–"
            others = (count.get(how, 0) for how in ("not_certified", "refused", "raised"))
            lines.append(f"| {name} | {done} | {share} | {' | '.join(map(str, others))} |")
        lines.append("")
    lines += [
        f"- trial {fault['trial']}, {fault['solver']}: `{fault['fault'][:150]}`" for fault in state["raised"][:20]
    ]
    lines += [f"- trial {one['trial']}: {one['pair']} {one['intervals']}" for one in state["contradictions"][:20]]
    return "\n".join(lines).rstrip() + "\n"


def remembered(memory: list[tuple[float, float]]) -> str:
    """How the memory grew after the first quarter, in which everything is imported and every cache fills."""
    late = memory[len(memory) // 4 :]
    if len(late) < 3:
        return f"Memory: {memory[-1][1]:g} MiB at the end."
    times, sizes = np.array(late).T
    slope = float(np.polyfit(times / 60, sizes, 1)[0])
    return (
        f"Memory: {sizes[0]:g} MiB after the first quarter, {sizes[-1]:g} MiB at the end, at most {sizes.max():g} MiB; "
        f"a line through it rises by {slope:.2f} MiB a minute."
    )


if __name__ == "__main__":
    sys.exit(main())
