"""Solves in many threads: every answer is that of one thread to the last bit, and the process is left as it was.

    python validation/robustness/threads.py
    python validation/robustness/threads.py --count 500 --threads 4 --seed 3 -o validation/robustness/threads.md

Every solver, a few formulations and the classifier's fit, on kernels in every storage, are drawn at random and run by
all threads at once. A problem is posed anew, or an instance is shared by the threads, or one that remembers is. Before
that each is solved alone. Compared are all fields but the times, and what a process has only once: warning filters,
signal handlers, streams, environment, random numbers, threads of libraries and more (`seam_conditions.state`). Threads
change every 10 microseconds. The exit status is 1 if anything differs.
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent))

import numpy as np

import mklcvx
from mklcvx.io.writing import write_text
from seam_conditions import changed, state
from seam_works import HINGE, SIZES, STACKS, TIMES, Posed, Problem, fitted, instance, tree_of

COUNT, THREADS, SWITCH = 5000, 8, 1e-5
SHARING = ("posed anew", "shared", "remembered")
PROBLEMS = (
    *HINGE,
    *(Problem("l1", {"C": 1.0}, solver) for solver in ("interior", "scs", "silp", "silp_exact", "level")),
    *(
        Problem(f, {"C": 10.0, **own}, solver)
        for f, own in (("lp", {"p": 2.0}), ("sm1", {"theta": 0.5}), ("average", {}))
        for solver in ("interior", "clarabel", "scs")
    ),
)


class Task(NamedTuple):
    """Something to be done again and again; its answer is a text without times."""

    words: tuple[str, str, str]  # solver or fit, storage, sharing
    answer: Callable[[], str]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=COUNT, help="solves in threads")
    parser.add_argument("--threads", type=int, default=THREADS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sizes", type=int, default=len(SIZES), help="use so many sizes, the smallest first")
    parser.add_argument("-o", "--output", type=Path, help="write a page")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        known = tasks(Path(folder), asked.sizes)
        drawn = np.random.default_rng(asked.seed).integers(len(known), size=asked.count).tolist()
        text, faults = ran(known, drawn, asked.threads)
    print(text)
    if asked.output is not None:
        write_text(asked.output, text)
    return int(faults)


def tasks(folder: Path, sizes: int) -> list[Task]:
    found = []
    for size in range(sizes):
        Posed(HINGE[0], "npz", size, folder).write()
    for size, storage in itertools.product(range(sizes), STACKS):
        posed = [Posed(problem, storage, size, folder) for problem in PROBLEMS]
        for one in posed:
            one.store()
        shared = instance(posed[0])
        held = {"posed anew": None, "shared": shared, "remembered": shared.remembering()}
        for one, sharing in itertools.product(posed, SHARING):
            found.append(Task((one.problem.solver, storage, sharing), answering(one, held[sharing])))
        if storage not in ("low-rank", "read-only"):
            found.append(Task(("fit", storage, "posed anew"), fitting(posed[0])))
    return found


def answering(posed: Posed, given: mklcvx.Instance | None) -> Callable[[], str]:
    f, parameters, solver = posed.problem

    def answer() -> str:
        found = mklcvx.solve(instance(posed) if given is None else given, f, solver=solver, **parameters)
        return json.dumps(timeless(tree_of(found, posed)))

    return answer


def fitting(posed: Posed) -> Callable[[], str]:
    def answer() -> str:
        one = posed.beside()
        return json.dumps(tree_of(fitted(one), one))

    return answer


def timeless(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {name: timeless(value) for name, value in tree.items() if name not in TIMES}
    return [timeless(value) for value in tree] if isinstance(tree, list) else tree


def ran(known: Sequence[Task], drawn: Sequence[int], threads: int) -> tuple[str, bool]:
    """The page, and whether anything is wrong."""
    right = {k: known[k].answer() for k in sorted(set(drawn))}
    differing, lock, work = list[str](), threading.Lock(), iter(drawn)

    def worker() -> None:
        while True:
            with lock:
                k = next(work, None)
            if k is None:
                return
            if (fault := difference(known[k], right[k])) is not None:
                with lock:
                    differing.append(f"{', '.join(known[k].words)}: {fault}")

    interval, before, started = sys.getswitchinterval(), whole_state(), time.perf_counter()
    sys.setswitchinterval(SWITCH)
    running = [threading.Thread(target=worker) for _ in range(threads)]
    for one in running:
        one.start()
    for one in running:
        one.join()
    sys.setswitchinterval(interval)
    left = changed(before, whole_state())
    return page(Counter(known[k].words for k in drawn), differing, left, threads, time.perf_counter() - started)


def whole_state() -> dict[str, Any]:
    """With what the system does at an interrupt: SCS takes that for itself, without Python's knowledge."""
    action = ctypes.create_string_buffer(512)
    ctypes.CDLL(None).sigaction(signal.SIGINT, None, action)
    return {**state(), "action of SIGINT": action.raw[:8]}  # the address of the handler


def difference(task: Task, right: str) -> str | None:
    try:
        return None if task.answer() == right else "another answer"
    except BaseException as fault:
        return f"{type(fault).__name__}: {fault}"


def page(
    counts: Counter[tuple[str, str, str]], differing: Sequence[str], left: Sequence[str], threads: int, seconds: float
) -> tuple[str, bool]:
    summary, kept = (__doc__ or "").split("\n\n")[2], ", ".join(left) or "nothing"
    first = f"**{sum(counts.values())} solves in {threads} threads: {len(differing)} differ from those of one thread."
    lines = ["# Threads", "", first, f"Of the process changed: {kept}.** `make threads` repeats them.", "", summary, ""]
    for k, heading in enumerate(("solver", "kernels", "instance")):
        rows: Counter[str] = Counter()
        for words, count in counts.items():
            rows[words[k]] += count
        lines += [f"| {heading} | solves |", "|---|--:|", *(f"| {name} | {rows[name]} |" for name in sorted(rows)), ""]
    lines += [f"{seconds:.0f} s.", "", *(f"- {one}" for one in differing[:50])]
    return "\n".join(lines).rstrip() + "\n", bool(differing or left)


if __name__ == "__main__":
    sys.exit(main())
