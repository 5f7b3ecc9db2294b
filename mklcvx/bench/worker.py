"""The process in which contestants run: BLAS on one thread from its start, imports before the clock starts.

    python -m mklcvx.bench.worker

It reads requests from standard input, a line of JSON each, and answers each with a line; the last instance is kept.
What a contestant prints goes to standard error. Only the call itself is on the clock: `solve` with an instance that was
validated before, a function by somebody else, the validation alone, or LIBSVM alone. The clock is the CPU's: with one
thread it shows what the wall's shows on a quiet machine, while a busy one stretches long runs on the wall, and a short
LIBSVM fit hardly ever. Memory is the largest resident set during the call minus the one before it.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..io.files import load_instance, save_answer, save_solution
from ..problem.instance import Instance
from ..problem.stack import Array
from .peers import PEERS

Record = dict[str, Any]

_WARM: set[tuple[str, str]] = set()  # solvers and formulations that have run in this process
REFERENCE_SECONDS = 0.05  # LIBSVM is fitted again until this has passed: a single fit is too short for a clock


def main() -> None:
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    print(json.dumps({"ready": True}), file=channel, flush=True)
    for line in sys.stdin:
        print(json.dumps(_reply(json.loads(line))), file=channel, flush=True)


@lru_cache(maxsize=1)
def _part(instance: Instance) -> Instance:
    """Some samples of every class, for a first run that is not on the clock: it imports what a solver needs."""
    signs = instance.targets.signs("the benchmark")
    few = np.unique([i for row in signs for side in (row > 0, row < 0) for i in np.flatnonzero(side)[:3]])
    targets = {instance.targets.kind: instance.targets.values[few]}
    return Instance(instance.kernels[:, few][:, :, few], groups=instance.groups, **targets)


def _warm_up(call: Callable[[Instance, float], Any], instance: Instance) -> None:
    """Whatever comes of it; the run on the clock will tell."""
    with contextlib.suppress(Exception):
        call(_part(instance), 1.0)


_loaded = lru_cache(maxsize=1)(load_instance)


def _reply(request: Record) -> Record:
    """Whatever a contestant does, there is an answer: a fault is one line."""
    try:
        if request["service"] == "find":
            return _find(request)
        return SERVICES[request["service"]](_loaded(request["instance"]), request)
    except InputError as fault:
        return {"fault": str(fault)}
    except MemoryError:
        return {"fault": "not enough memory"}
    except Exception as fault:
        return {"fault": " ".join(f"{type(fault).__name__}: {fault}".split())[:200]}


# ------------------------------------------------------------------------------------------------- services
def _solve(instance: Instance, request: Record) -> Record:
    from ..solvers.solving import solve

    who = request["name"], request["formulation"]

    def call(problem: Instance, limit: float) -> Any:
        return solve(problem, who[1], solver=who[0], tol=request["tol"], time_limit=limit, **request["parameters"])

    if who not in _WARM:
        _warm_up(call, instance)
        _WARM.add(who)
    solution, measured = _measured(lambda: call(instance, request["time_limit"]))
    save_solution(request["answer"], solution)
    return {**measured, "iterations": solution.iterations, "message": solution.message}


def _peer(instance: Instance, request: Record) -> Record:
    peer = PEERS[request["name"]]
    if not peer.available():
        raise InputError(f"{peer.name} needs MKLpy, which cannot be imported")
    _warm_up(lambda problem, _: peer.run(problem, request["parameters"]), instance)
    answer, measured = _measured(lambda: peer.run(instance, request["parameters"]))
    np.savez(request["answer"], **answer)
    return measured


def _find(request: Record) -> Record:
    """Whether there is a function of that name; no instance is needed."""
    from .conformance.functions import imported

    imported(request["name"], request["path"])
    return {}


def _call(instance: Instance, request: Record) -> Record:
    """A function by anybody, imported before the clock starts; it gets copies, which it may change."""
    from .conformance.functions import arguments, found_by, imported

    function = imported(request["name"], request["path"])
    given, missing = arguments(function, instance, request["formulation"], request["parameters"])
    if missing:
        return {"skipped": f"it takes no {', '.join(missing)}"}
    kernels, y = np.array(instance.kernels, dtype=np.float64), np.array(instance.targets.values)
    answer, measured = _measured(lambda: function(kernels, y, **given))
    save_answer(request["answer"], **found_by(answer))
    return measured


def _validate(instance: Instance, _: Record) -> Record:
    return _measured(lambda: instance.with_kernels(instance.kernels))[1]


def _reference(instance: Instance, request: Record) -> Record:
    """One LIBSVM fit on the average kernel, one after the other where there are several labels; the median of some.
    The first is not counted."""
    average = np.zeros(instance.kernels.shape[1:])
    for kernel in instance.kernels:
        average += np.asarray(kernel, dtype=np.float64) / instance.count
    rows = [row for row in instance.targets.signs("the reference") if np.ptp(row) > 0]
    weight, seconds = instance.sample_weight, list[float]()
    while len(seconds) < 2 or sum(seconds[1:]) < REFERENCE_SECONDS:
        started = time.process_time()
        for row in rows:
            _libsvm(request["parameters"], row, weight).fit(average, row, sample_weight=weight)
        seconds.append(time.process_time() - started)
    return {"seconds": float(np.median(seconds[1:]))}


def _libsvm(parameters: Record, labels: Array, weight: Array) -> Any:
    """LIBSVM always has a bias: where ν is too large for that, the largest that is not."""
    from sklearn.svm import SVC, NuSVC

    if "nu" in parameters:
        largest = 2 * min(weight[labels > 0].sum(), weight[labels < 0].sum()) / weight.sum()
        return NuSVC(nu=min(parameters["nu"], largest * (1 - 1e-9)), kernel="precomputed")
    return SVC(C=parameters.get("C", 1.0), kernel="precomputed")


SERVICES: dict[str, Callable[[Instance, Record], Record]] = {
    "solve": _solve, "peer": _peer, "call": _call, "validate": _validate, "reference": _reference,
}  # fmt: skip


# ------------------------------------------------------------------------------------------------- measuring
def _measured(call: Callable[[], Any]) -> tuple[Any, Record]:
    before = _resident("VmRSS") if _forget_peak() else None
    started, worked = time.perf_counter(), time.process_time()
    found = call()
    seconds, elapsed = time.process_time() - worked, time.perf_counter() - started
    peak = None if before is None else max(_resident("VmHWM") - before, 0)
    return found, {"seconds": seconds, "elapsed": elapsed, "peak": peak}


def _forget_peak() -> bool:
    """Let the largest resident set be counted from now on, where the system can."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def _resident(kind: str) -> int:
    """Bytes, now (VmRSS) or at most so far (VmHWM)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(kind))


if __name__ == "__main__":
    main()
