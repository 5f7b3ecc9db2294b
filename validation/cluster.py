"""Kernels on a cluster: what a pass costs on separate processes, and on paper what W workers give at n = 1e5, M = 1e3.

    python validation/cluster.py [-o validation/cluster.md] [--quick]

Measures on this machine, with one BLAS thread, what a pass is made of: entries read by products and by weighted sums,
the factorisation, a task's way through the scheduler, and bytes between processes. Serial solutions and those of a
local cluster of two processes take turns; one of its workers is killed in the middle of a solution. Times of single
operations are CPU times, those of the cluster are the wall's: the medians of several.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from scipy.linalg.lapack import dpotrf

from mklcvx import Instance, Solution, solve
from mklcvx.problem.stack import KernelStack
from shared.running import put
from shared.tables import table

FORMULATIONS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("l1", {}), ("lp", {"p": 1.5}), ("sum", {}), ("sm1", {}), ("elastic", {}),
)  # fmt: skip
SOLUTIONS = 2  # of each kind, in turns: the shorter time of the two is told
PASSES = 15  # steps of an interior-point method, each a product with and a weighted sum of all kernels
PAPER = (100_000, 1000)  # samples, kernels
SCHEDULER = 2e-4  # seconds of the scheduler for a task, as Dask's documentation has it
WORKERS = (1, 4, 16, 64, 80, 256, 1024)
NETWORK = 1.25e9  # bytes a second, ten gigabits: where workers are other machines
CORES = 32  # of the node that factors, if it has as many, at the speed of one each


@dataclass(frozen=True)
class Constants:
    """Seconds for an entry of a kernel, flops a second, seconds for a task, bytes a second between processes."""

    product: float
    sum: float
    flops: float
    task: float
    bandwidth: float


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--quick", action="store_true", help="a smoke run: tiny, one round, no evidence")
    asked = parser.parse_args(arguments)
    samples, count, rounds = (60, 4, 1) if asked.quick else (1000, 16, 5)
    workers: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(**workers, silence_logs=50) as cluster,
        Client(cluster) as client,
    ):
        page = study(client, Path(folder), samples, count, rounds, asked.quick)
    put(page, asked.output)
    return 0


def study(client: Client, folder: Path, samples: int, count: int, rounds: int, quick: bool) -> str:
    kernels, y = problem(samples, count)
    here, there = Instance(kernels, y), Instance(from_files(folder, kernels, count // 2), y)
    found = constants(client, here, rounds)
    lines = ["# Kernels on a cluster", "", preamble(quick), ""]
    lines += [*of_constants(found), "", *passes(here, there, rounds), "", *solutions(client, here, there, rounds), ""]
    return "\n".join([*lines, *on_paper(found)]) + "\n"


def problem(samples: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussians on single features, two widths each; two of the features tell the classes apart."""
    random = np.random.default_rng(0)
    features = random.normal(size=(count // 2, samples))
    y = np.where(features[0] + features[1] ** 2 + 0.3 * random.normal(size=samples) > 0.7, 1, -1)
    apart = (features[:, :, None] - features[:, None]) ** 2
    return np.concatenate([np.exp(-0.3 * apart), np.exp(-2.0 * apart)]), y


def from_files(folder: Path, kernels: np.ndarray, chunk: int) -> Any:
    """A Dask array whose graph reads a file for each chunk: what is lost is read again."""
    each = []
    for start in range(0, len(kernels), chunk):
        path, part = folder / f"{start}.npy", kernels[start : start + chunk]
        np.save(path, part)
        each.append(da.from_delayed(dask.delayed(np.load)(str(path), pure=False), part.shape, part.dtype))
    return da.concatenate(each)


# ------------------------------------------------------------------------------------------------- what is measured
def timed(call: Callable[[], object], rounds: int, clock: Callable[[], float] = time.process_time) -> float:
    """The median time of a call; the first is not counted."""
    call()
    seconds = []
    for _ in range(rounds):
        started = clock()
        call()
        seconds.append(clock() - started)
    return statistics.median(seconds)


def constants(client: Client, here: Instance, rounds: int) -> Constants:
    n, entries = here.samples, here.count * here.samples**2
    vector, weights = np.linspace(-1, 1, n), np.full(here.count, 1 / here.count)
    matrix = np.eye(n) + np.asarray(here.kernels[0])
    product = timed(lambda: KernelStack(here.kernels).matvecs(vector), rounds) / entries
    total = timed(lambda: KernelStack(here.kernels).combined(weights), rounds) / entries
    flops = n**3 / 3 / timed(lambda: dpotrf(matrix, lower=1), rounds)
    task = timed(lambda: client.submit(int, 1, pure=False).result(), 5 * rounds, time.perf_counter)
    return Constants(product, total, flops, task, bandwidth(client, max(n * n, 1 << 16), rounds))


def bandwidth(client: Client, entries: int, rounds: int) -> float:
    """Bytes a second from one worker to another; what an empty task takes is not counted."""
    client.wait_for_workers(2)  # one that was killed comes back after a while
    first, second = list(client.scheduler_info(n_workers=-1)["workers"])[:2]

    def sent(size: int) -> float:
        made = client.submit(np.ones, size, workers=[first], pure=False)
        made.result() if size == 1 else client.submit(len, made, workers=[first], pure=False).result()
        started = time.perf_counter()
        client.submit(len, made, workers=[second], pure=False).result()
        return time.perf_counter() - started

    seconds = [sent(entries) - sent(1) for _ in range(rounds + 2)]
    return 8 * entries / max(statistics.median(seconds), 1e-6)


def passes(here: Instance, there: Instance, rounds: int) -> list[str]:
    """A product with all kernels and their sum, as the engine asks for both."""
    n, weights, vector = here.samples, np.full(here.count, 1 / here.count), np.linspace(-1, 1, here.samples)

    def one(instance: Instance) -> None:
        KernelStack(instance.kernels).update_and_matvec(np.zeros((n, n)), weights, vector)

    serial, spread = (timed(lambda i=i: one(i), rounds, time.perf_counter) for i in (here, there))
    travel = 8 * (here.count * n + n * n / 2 * 2)
    return [
        f"A pass over {here.count} kernels of {n} samples ({here.kernels.nbytes / 1e6:.0f} MB): "
        f"{1e3 * serial:.0f} ms in "
        f"one process, {1e3 * spread:.0f} ms on two workers, which send {travel / 1e6:.0f} MB: images, and the lower "
        "triangle of the sum from one to the other and to the client.",
    ]  # fmt: skip


def solutions(client: Client, here: Instance, there: Instance, rounds: int) -> list[str]:
    rows = []
    for name, own in FORMULATIONS if rounds > 1 else FORMULATIONS[:1]:
        given = {"C": 1.0, "tol": 1e-9, **own}
        both: list[list[float]] = [[], []]
        for _ in range(SOLUTIONS if rounds > 1 else 1):
            found = []
            for instance, seconds in zip((here, there), both, strict=True):
                started = time.perf_counter()
                found.append(solve(instance, name, **given))
                seconds.append(time.perf_counter() - started)
        times = [f"{min(seconds):.2f} s" for seconds in both]
        rows.append([f"`{name}`", str(found[0].iterations), *times, f"{apart(*found):.0e}"])
    header = ("formulation", "steps", "one process", "two workers", "largest relative difference")
    return [*table(header, rows), "", *with_a_loss(client, here, there)]


def with_a_loss(client: Client, here: Instance, there: Instance) -> list[str]:
    """A worker is killed after the first step."""
    killed: list[int] = []

    def kill(_: object) -> None:
        if not killed:
            chunk = there.kernels.chunks[0]
            (holder,) = client.who_has([chunk])[chunk.key]
            killed.append(client.run(os.getpid, workers=[holder])[holder])
            os.kill(killed[0], signal.SIGKILL)

    whole = solve(here, "lp", C=1.0, p=1.5)
    started = time.perf_counter()
    survived = solve(there, "lp", C=1.0, p=1.5, callback=kill)
    seconds = time.perf_counter() - started
    return [
        f"With a worker killed after the first step of `lp`: {survived.status} after {seconds:.1f} s, largest relative "
        f"difference {apart(whole, survived):.0e}.",
    ]  # fmt: skip


def apart(one: Solution, other: Solution) -> float:
    """The largest difference of value, weights, α and bounds, each as a share of its size."""
    parts = [(getattr(one, name), getattr(other, name)) for name in ("objective", "weights", "alpha")]
    parts += [(getattr(one.certificate, name), getattr(other.certificate, name)) for name in ("lower", "upper")]
    return max(float(np.abs(np.subtract(a, b)).max() / np.abs(a).max()) for a, b in parts)


# ------------------------------------------------------------------------------------------------- what is written
def preamble(quick: bool) -> str:
    smoke = "**A smoke run: too small to be evidence.** " if quick else ""
    return (
        f"{smoke}Written by `python validation/cluster.py` on {time.strftime('%Y-%m-%d')}: Python "
        f"{platform.python_version()}, NumPy {np.__version__}, Dask {dask.__version__}, {os.cpu_count()} cores, one "
        f"BLAS thread in each process, load average {os.getloadavg()[0]:.0f}: above 2, times of tasks, passes and "
        "solutions, which are the wall's, say more about the load. "
        "[How it works, and what is on paper](../docs/distributed.md)."
    )


def of_constants(found: Constants) -> list[str]:
    rows = {
        "product: an entry of a kernel, of which the lower half is read": f"{1e9 * found.product:.2f} ns",
        "weighted sum: an entry of a kernel": f"{1e9 * found.sum:.2f} ns",
        "factorisation, n³/3": f"{found.flops / 1e9:.1f} Gflop/s",
        "a task there and back": f"{1e3 * found.task:.1f} ms",
        "from one process to another": f"{found.bandwidth / 1e9:.2f} GB/s",
    }
    return table(("what", "measured"), rows.items())


def step(found: Constants, workers: int, samples: int, count: int, link: float, cores: int) -> dict[str, float]:
    """Seconds of one step: kernels read where they lie; the triangle of the sum through a chain of workers in strips,
    four for each, and to the client; tasks; the factorisation on one node."""
    strips = 4 * workers
    filling = 1 + (workers - 1) / strips
    read = count / workers * samples**2
    triangle = 8 * samples**2 / 2 / link
    return {
        "products": found.product * read,
        "sum": found.sum * read * filling,
        "network": triangle * (filling if workers > 1 else 0) + triangle + 8 * count * samples / link,
        "tasks": found.task * 2 + SCHEDULER * workers * (strips + 1),
        "factorisation": samples**3 / 3 / (found.flops * cores),
    }


def on_paper(found: Constants) -> list[str]:
    n, M = PAPER
    about = (
        f"{M:,} kernels of {n:,} samples are {8 * M * n**2 / 1e12:.0f} TB of doubles, one of them "
        f"{8 * n**2 / 1e9:.0f} GB. "
        f"A step reads them once for the products and once for the sum; its parts in hours, with the constants above, "
        f"{1e3 * SCHEDULER:.1f} ms of the scheduler for a task, a network of "
        f"{NETWORK / 1e9:.2f} GB/s, and a factorisation on one core or on {CORES}:"
    )
    parts, rows = ("products", "sum", "network", "tasks", "factorisation"), []
    for workers in WORKERS:
        slow, fast = (step(found, workers, n, M, NETWORK, cores) for cores in (1, CORES))
        cells = [*(slow[key] for key in parts), sum(slow.values()), sum(fast.values()), PASSES * sum(fast.values())]
        size = f"{8 * n**2 * -(-M // workers) / 1e12:.2g} TB"
        rows.append([str(workers), size, *(f"{seconds / 3600:.2g}" for seconds in cells)])
    factored = f"{CORES} cores factor"
    header = ["workers", "memory of each", *parts[:-1], "factorisation, one core", "a step", f"a step, {factored}"]
    lines = table([*header, f"{PASSES} steps, {CORES} cores"], rows)
    return [f"## On paper: n = {n:,}, M = {M:,}", "", about, "", *lines, "", *where_it_ends(found)]


def where_it_ends(found: Constants) -> list[str]:
    """The number of workers at which what they share takes as long as what they do not."""
    n, M = PAPER
    shared = (found.product + 1.25 * found.sum) * M * n**2
    ends = []
    for cores in (1, CORES):
        alone = step(found, 2, n, M, NETWORK, cores)
        ends.append(shared / (alone["factorisation"] + alone["network"]))
    return [
        f"What workers share takes as long as what they do not with {ends[0]:.1f} workers, if one core factors, and "
        f"with {ends[1]:.0f}, if {CORES} do. Twice as many save a quarter of a step at most; more than that are worth "
        "their memory alone.",
    ]  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
