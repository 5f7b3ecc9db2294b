"""Seams: work that is interrupted, starved and crowded at random must end in its answer, an exception or a status.

    python validation/robustness/seams.py                     10,000 sequences
    python validation/robustness/seams.py --count 200 --seed 3
    python validation/robustness/seams.py --only 1234         one sequence, in full
    python validation/robustness/seams.py -o validation/robustness/seams.md

A sequence draws a piece of work (a solve, a path, folds, a fit, a search, importance, a command), a storage of its
kernels, an interrupt (after so many calls of functions, at a moment, two of them, from another thread), a number of
threads that do the same work, and up to two conditions (streams that are closed, full or short, locale, limits,
folder). It runs in a process that is forked from this one, and one command in fifty in a process of its own. It must
end in the answer of an undisturbed run, in an exception (an interrupt in KeyboardInterrupt) or in a status that is not
zero: never in another answer, in a traceback at the command line, in silence, in a damaged file, in a changed state of
the process, or not at all; and the same work done again afterwards must have its answer. Sequence number K depends on
the seed and on K alone: `--seed S --only K` runs it again. Where an interrupt comes at a moment, the clock has a say in
it, too: `--times 20` tries it so often. The exit status is 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import codecs
import contextlib
import functools
import gc
import io
import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

from mklcvx.io.writing import write_text
from seam_children import Ended, Seam, run
from seam_conditions import CONDITIONS
from seam_verdicts import verdict
from seam_works import HINGE, SIZES, WORKS, Posed, Work

COUNT, PROBLEMS = 10_000, 800
ALONE = 0.02  # share of the commands that have a process of their own
ALONE_SECONDS = 1.2  # what such a process takes
LINE = 10.0  # seconds between lines of progress
IN_PYTHON = {"none": 0.35, "after calls": 0.35, "twice": 0.1, "at a moment": 0.1, "from a thread": 0.1}
BY_COMMAND = {"none": 0.4, "after calls": 0.35, "twice": 0.1, "at a moment": 0.1, "twice at moments": 0.05}
ITSELF = {"none": 0.5, "at a moment": 0.35, "twice at moments": 0.15}
THREADS = {1: 0.76, 2: 0.12, 4: 0.08, 8: 0.04}
SEVERAL = {0: 0.35, 1: 0.45, 2: 0.2}  # conditions
ENDS = ("reference", "exception", "status", "fault")


class Outcome(NamedTuple):
    number: int
    drawn: dict[str, list[str]]  # as in `dimensions`
    end: str
    fault: str


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=COUNT, help="sequences, the first of them number 0")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many, too")
    parser.add_argument("--seed", type=int, default=0, help="other sequences")
    parser.add_argument("--problems", type=int, default=PROBLEMS, help="work on so many: each is done undisturbed once")
    parser.add_argument("--only", type=int, metavar="K", help="run this sequence alone and say all about it")
    parser.add_argument("--times", type=int, default=1, help="run that sequence so often")
    parser.add_argument("--jobs", type=int, default=1, help="sequences at once")
    parser.add_argument("-o", "--output", type=Path, help="write a page")
    asked = parser.parse_args(arguments)
    with prepared() as inputs:
        if asked.only is not None:
            return shown(drawn(asked.seed, asked.only, asked.problems), asked.times, inputs)
        outcomes = ran(asked, inputs)
    text = page(outcomes, repeated(asked))
    print(text)
    if asked.output is not None:
        write_text(asked.output, text)
    return int(any(one.fault for one in outcomes))


# ------------------------------------------------------------------------------------------------------- the sequences
def drawn(seed: int, number: int, problems: int) -> Seam:
    """Sequence number so-and-so of a seed, on one of so many problems."""
    rng = np.random.default_rng([seed, 1, number % problems])
    work = WORKS[rng.choice(len(WORKS), p=_shares([work.share for work in WORKS]))]
    problem, stored = int(rng.integers(len(work.problems))), int(rng.integers(len(work.storages)))
    rng = np.random.default_rng([seed, 0, number])
    place = "python" if work.run is not None else ("process" if rng.random() < ALONE else "command")
    kinds = {"python": IN_PYTHON, "command": BY_COMMAND, "process": ITSELF}[place]
    # A cluster in this process that has no room cannot begin threads of its own, and waits for them.
    roomless = "little room (RLIMIT_AS)" if "dask" in work.storages else ""
    possible = [one for one in CONDITIONS if place in one.places and one.name != roomless]
    chosen = rng.choice(len(possible), size=_of(rng, SEVERAL), replace=False)
    return Seam(
        number, place, work, problem, work.storages[stored], (problem + stored) % len(SIZES),
        interrupt=_of(rng, kinds), share=float(rng.random()), pause=float(rng.random()),
        threads=_of(rng, THREADS) if place == "python" else 1,
        conditions=tuple(possible[k] for k in sorted(chosen)), amounts=tuple(rng.random(len(chosen)).tolist()),
        old=bool(rng.random() < 0.5),
    )  # fmt: skip


def _of(rng: np.random.Generator, shares: dict[Any, float]) -> Any:
    return list(shares)[rng.choice(len(shares), p=_shares(list(shares.values())))]


def _shares(weights: Sequence[float]) -> Any:
    return np.asarray(weights) / np.sum(weights)


def dimensions(seam: Seam) -> dict[str, list[str]]:
    """The sequence in words, by what was drawn."""
    return {
        "work": [seam.work.name],
        "place": [{"python": "Python", "command": "a command", "process": "a command in a process"}[seam.place]],
        "problem": ["{0} by {2}".format(*seam.work.problems[seam.problem])],
        "storage": [seam.storage],
        "interrupt": [seam.interrupt],
        "threads": [str(seam.threads)],
        "condition": [one.name for one in seam.conditions] or ["none"],
    }


# ------------------------------------------------------------------------------------------------------------- running
@contextlib.contextmanager
def prepared() -> Iterator[Path]:
    """A folder with the files of all problems; everything is imported, and nothing of it is collected again."""
    shared = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        os.chmod(folder, 0o755)
        for size in range(len(SIZES)):
            Posed(HINGE[0], "npz", size, Path(folder)).write()
        for work in WORKS:
            kinds = max(len(work.problems), len(work.storages)) if work.name in ("solve", "solve --json") else 1
            for k in range(kinds):
                warmed(work, k % len(work.problems), work.storages[k % len(work.storages)], Path(folder))
        for encoding in ("ascii", "latin-1", "utf-8-sig"):
            codecs.lookup(encoding)
        gc.collect()
        gc.freeze()
        yield Path(folder)


def warmed(work: Work, problem: int, storage: str, folder: Path) -> None:
    """Do the work once in this process, for what it imports: nobody may not read every interpreter's folder."""
    posed = Posed(work.problems[problem], storage, 0, folder)
    if posed.storage == "dask":  # rare and large: the forked process imports it
        return
    if work.run is not None:
        posed.store()
        work.run(posed)
    else:
        from mklcvx.cli.main import main as command

        with contextlib.ExitStack() as stack:
            for context in (contextlib.chdir(folder), contextlib.suppress(SystemExit)):
                stack.enter_context(context)
            for redirected in (contextlib.redirect_stdout, contextlib.redirect_stderr):
                stack.enter_context(redirected(io.TextIOWrapper(io.BytesIO(), "utf-8")))
            command(work.command(posed))


@functools.cache
def reference(name: str, problem: int, storage: str, size: int, inputs: Path) -> Ended:
    """An undisturbed run, with its calls counted."""
    work = next(one for one in WORKS if one.name == name)
    place = "python" if work.run is not None else "command"
    return run(Seam(-1, place, work, problem, storage, size, interrupt="count"), inputs)


def one(seed: int, problems: int, inputs: Path, number: int) -> Outcome:
    seam = drawn(seed, number, problems)
    _, end, fault = judged(seam, inputs)
    return Outcome(number, dimensions(seam), end, fault)


def judged(seam: Seam, inputs: Path) -> tuple[Ended, str, str]:
    """How a sequence ended: what it left, in one of ENDS, and what is wrong with that."""
    known = reference(seam.work.name, seam.problem, seam.storage, seam.size, inputs)
    first = reference(seam.work.name, seam.problem, seam.work.storages[0], seam.size, inputs)
    # Counting calls doubles the time of the undisturbed run.
    ended = run(seam, inputs, known.calls, ALONE_SECONDS if seam.place == "process" else known.seconds / 2)
    return ended, *verdict(seam, ended, known, first)


def ran(asked: argparse.Namespace, inputs: Path) -> list[Outcome]:
    started, told, outcomes = time.monotonic(), time.monotonic(), list[Outcome]()
    with contextlib.ExitStack() as stack:
        work = functools.partial(one, asked.seed, asked.problems, inputs)
        if asked.jobs == 1:
            made: Iterator[Outcome] = map(work, range(asked.count))
        else:
            pool = stack.enter_context(multiprocessing.get_context("fork").Pool(asked.jobs))
            made = pool.imap_unordered(work, range(asked.count), chunksize=4)
        for outcome in made:
            outcomes.append(outcome)
            if outcome.fault:
                print(said(outcome, repeated(asked)), flush=True)
            spent = time.monotonic() - started
            if time.monotonic() - told > LINE:
                told, faults = time.monotonic(), sum(bool(each.fault) for each in outcomes)
                print(f"{spent:6.0f} s  {len(outcomes)} of {asked.count} sequences, {faults} faults", flush=True)
            if spent > asked.seconds:
                break
    return outcomes


def repeated(asked: argparse.Namespace) -> str:
    """The command that repeats one of these sequences, but for its number."""
    problems = "" if asked.problems == PROBLEMS else f" --problems {asked.problems}"
    return f"python validation/robustness/seams.py --seed {asked.seed}{problems} --only"


def said(outcome: Outcome, command: str) -> str:
    """A fault in one line, with the command that repeats it."""
    words = ", ".join(f"{name} {' and '.join(values)}" for name, values in outcome.drawn.items())
    return f"{command} {outcome.number}: {outcome.fault} ({words})"


def shown(seam: Seam, times: int, inputs: Path) -> int:
    """Run one sequence and say all that is known of it."""
    faults = 0
    for _ in range(times):
        ended, end, fault = judged(seam, inputs)
        faults += bool(fault)
        told = {name: value for name, value in vars(ended).items() if name not in ("answers", "again", "carried")}
        told |= {"share": seam.share, "amounts": seam.amounts, **dimensions(seam)}
        print(json.dumps(told, indent=1, default=repr))
        print(f"{end}{': ' if fault else ''}{fault}")
    return int(faults > 0)


# ------------------------------------------------------------------------------------------------------------ the page
def page(outcomes: Sequence[Outcome], command: str) -> str:
    faults = [one for one in outcomes if one.fault]
    again = f"`{command.removesuffix('only')}count {len(outcomes)}` repeats them; `make seams` does more."
    lines = ["# Seams", "", f"**{len(outcomes)} sequences: {len(faults)} faults.** {again}", ""]
    lines += ["\n".join((__doc__ or "").split("\n\n")[2].splitlines()), ""]
    counts: dict[str, dict[str, Counter[str]]] = {}
    for outcome in outcomes:
        for name, values in outcome.drawn.items():
            for value in values:
                counts.setdefault(name, {}).setdefault(value, Counter())[outcome.end] += 1
    for name, rows in counts.items():
        lines += [f"| {name} | sequences | {' | '.join(ENDS)} |", "|---|" + "--:|" * (1 + len(ENDS))]
        for value, count in sorted(rows.items(), key=lambda row: (len(row[0]) if row[0].isdigit() else 0, row[0])):
            lines.append(f"| {value} | {sum(count.values())} | {' | '.join(str(count[end]) for end in ENDS)} |")
        lines.append("")
    lines += [f"- {said(one, command)}" for one in faults[:50]]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    sys.exit(main())
