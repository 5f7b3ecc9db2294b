"""Kernels that are never stored: certified gap, time and memory against the number of landmarks.

    python validation/streamed.py [-o validation/streamed.md] [--samples 20000] [--only moons:0,noisy:50] [--limit 1800]

Ten Gaussians, γ = 2⁻³ … 2⁶ over the mean squared distance, `l1`, C = 1, tolerance 1e-2. A cell is a data set with a
number of landmarks of the Nyström start (0: none), in a process of its own, which tells its peak memory. Cells are kept
in a journal beside the page; those that are there are not computed again. Those of other numbers of samples
(`--samples 50000 --only ringnorm:0`) join the table, and not the figure.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from shared.journals import records
from shared.running import completed
from shared.tables import table

SAMPLES, TOLERANCE, LIMIT, WORKING_SET = 20_000, 1e-2, 1800.0, 3000
LANDMARKS = (0, 25, 50, 100, 200)
CELLS = [(data, 0) for data in ("moons", "ringnorm", "noisy")] + [("moons", count) for count in LANDMARKS[1:]]
ABOUT = {
    "moons": "two half moons with noise 0.2, two features",
    "ringnorm": "Breiman's two normal distributions, one within the other, twenty features",
    "noisy": "two half moons with noise 0.3, and one label in ten turned",
}
FACTORS = 2.0 ** np.arange(-3, 7)
HEADER = (
    "data", "n", "landmarks", "gap at the start", "start (CPU s)", "gap certified", "status", "rounds", "all (CPU s)",
    "peak memory (GB)", "α > 0", "α = C",
)  # fmt: skip


def data_of(name: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    if name == "ringnorm":
        y = np.where(rng.permutation(n) % 2 == 0, 1, -1)
        inner = rng.normal(size=(n, 20)) + 2 / np.sqrt(20)
        return np.where(y[:, None] > 0, 2 * rng.normal(size=(n, 20)), inner), y
    from sklearn.datasets import make_moons

    X, classes = make_moons(n, noise=0.3 if name == "noisy" else 0.2, random_state=0)
    turned = rng.uniform(size=n) < (0.1 if name == "noisy" else 0.0)
    return X, np.where(turned, -1, 1) * (2 * classes - 1)


def measure(name: str, landmarks: int, n: int, limit: float) -> dict[str, object]:
    """One cell, in this process."""
    from mklcvx import solve_streamed
    from mklcvx.problem.kernels import Gaussian, MeanDistance

    X, y = data_of(name, n)
    kernels = [Gaussian(MeanDistance(float(factor))) for factor in FACTORS]
    trace: list[tuple[int, float, float, float]] = []
    started, cpu = time.perf_counter(), time.process_time()

    def note(row: object) -> None:
        trace.append((row.iteration, row.gap, time.process_time() - cpu, time.perf_counter() - started))
        print(f"{name}:{landmarks} round {row.iteration}: gap {row.gap:.1e}, {trace[-1][2]:.0f} s", flush=True)

    found = solve_streamed(
        X, y, kernels, "l1", C=1.0, tol=TOLERANCE, landmarks=landmarks, working_set=WORKING_SET, time_limit=limit,
        callback=note,
    )  # fmt: skip
    certificate = found.certificate
    return {
        "data": name, "landmarks": landmarks, "samples": n, "status": found.status, "gap": certificate.relative_gap,
        "lower": certificate.lower, "upper": certificate.upper, "rounding": certificate.rounding,
        "cpu": time.process_time() - cpu, "seconds": time.perf_counter() - started, "rounds": found.iterations,
        "supports": int(np.count_nonzero(found.alpha)), "bounded": int(np.sum(found.alpha == 1.0)),
        "weights": np.round(found.weights, 4).tolist(), "trace": trace,
        "gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
    }  # fmt: skip


def in_a_process(name: str, landmarks: int, n: int, limit: float) -> dict[str, object]:
    command = [sys.executable, __file__, "--cell", f"{name}:{landmarks}", "--samples", str(n), "--limit", str(limit)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    last = ""
    for line in process.stdout or ():
        print(line if not line.startswith("{") else "", end="", flush=True)
        last = line
    if process.wait():
        raise SystemExit(f"the cell {name}:{landmarks} failed")
    return json.loads(last)


def page(cells: list[dict], n: int, picture: str) -> str:
    lines = [
        "# Kernels that are never stored", "",
        f"Ten Gaussians, `l1`, C = 1. Stored, the kernels of {n:,} samples take {10 * n * n * 8 / 1e9:.2g} GB. Gaps",
        "are certified for the exact Gaussians of the features, relative to the scale; time is that of one processor.",
        f"Working sets of {WORKING_SET}, tolerance {TOLERANCE:g}.",
        f"Python {platform.python_version()}, NumPy {np.__version__}.", "",
    ]  # fmt: skip
    rows = []
    for cell in cells:
        first = cell["trace"][0]
        start = [f"{first[1]:.1e}", f"{first[2]:.0f}", f"{cell['gap']:.1e}", cell["status"], str(cell["rounds"])]
        cost = [f"{cell['cpu']:.0f}", f"{cell['gigabytes']:.2f}", str(cell["supports"]), str(cell["bounded"])]
        rows.append([cell["data"], f"{cell['samples']:,}", str(cell["landmarks"]), *start, *cost])
    lines += table(HEADER, rows)
    lines += ["", *(f"- `{name}`: {words}" for name, words in ABOUT.items()), "", f"![]({picture})", ""]
    good = [cell for cell in cells if cell["gap"] <= TOLERANCE and cell["cpu"] <= LIMIT and cell["gigabytes"] < 6]
    lines += [f"A gap of at most {TOLERANCE:g} within 30 minutes and 6 GB: {len(good)} of {len(cells)} cells.", ""]
    known = {(cell["data"], cell["landmarks"]) for cell in cells if cell["samples"] == n}
    missing = ", ".join(f"{data}:{count}" for data, count in CELLS if (data, count) not in known)
    lines += [f"Not measured yet: {missing}.", ""] if missing else []
    starts = [cell for cell in cells if cell["landmarks"]]
    if starts:
        best = min(starts, key=lambda cell: cell["trace"][0][1])
        told = (
            f"No start reaches the tolerance by itself: with {best['landmarks']} landmarks the gap of Nyström's "
            f"solution, certified for the exact kernels, is {best['trace'][0][1]:.1e}."
        )
        lines += [told, ""] if best["trace"][0][1] > TOLERANCE else []
    return "\n".join(lines)


def draw(cells: list[dict], path: Path) -> None:
    """The gap after every round against time; of the starts, gap and time against landmarks."""
    from shared.pictures import label, panels

    with panels(path, 3, height=4.0) as (left, middle, right):
        for cell in cells:
            rows = np.array(cell["trace"])
            left.semilogy(rows[:, 2], rows[:, 1], ".-", label=f"{cell['data']}, {cell['landmarks']} landmarks")
        left.axhline(TOLERANCE, color="black", linewidth=0.5)
        label(left, "refinement", "processor time (s)", "relative gap, exact kernels")
        moons = sorted((cell for cell in cells if cell["data"] == "moons"), key=lambda cell: cell["landmarks"])
        counts = [cell["landmarks"] for cell in moons]
        middle.semilogy(counts, [cell["trace"][0][1] for cell in moons], "o-", label="at the start")
        middle.semilogy(counts, [cell["gap"] for cell in moons], "s-", label="after refinement")
        label(middle, "moons: gap", "landmarks", "relative gap, exact kernels")
        right.plot(counts, [cell["trace"][0][2] for cell in moons], "o-", label="start")
        right.plot(counts, [cell["cpu"] for cell in moons], "s-", label="all")
        label(right, "moons: time", "landmarks", "processor time (s)")
        right.set_ylim(0, None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for a cell")
    parser.add_argument("--only", default=",".join(f"{data}:{count}" for data, count in CELLS))
    parser.add_argument("--cell", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.cell:
        name, count = asked.cell.split(":")
        print(json.dumps(measure(name, int(count), asked.samples, asked.limit)))
        return
    wanted = [(name, int(count), asked.samples) for name, count in (one.split(":") for one in asked.only.split(","))]
    kept = asked.output.with_suffix(".jsonl") if asked.output else None
    cells = [found for _, found in completed(wanted, lambda cell: in_a_process(*cell, asked.limit), kept)]
    if kept is None:
        print(page(cells, asked.samples, ""))
        return
    cells, order = [row["result"] for row in records(kept)], {which: k for k, which in enumerate(CELLS)}
    cells.sort(key=lambda one: (one["samples"], order.get((one["data"], one["landmarks"]), len(order))))
    draw([one for one in cells if one["samples"] == asked.samples], asked.output.with_suffix(".png"))
    asked.output.write_text(page(cells, asked.samples, asked.output.with_suffix(".png").name), encoding="utf-8")


if __name__ == "__main__":
    main()
