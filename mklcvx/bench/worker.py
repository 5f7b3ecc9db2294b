"""The process in which contestants run: BLAS uses one thread, and imports are done before the clock starts.

    python -m mklcvx.bench.worker

It reads requests from standard input, one line of JSON each, and answers each with one line. It keeps the last
instance. The output of a contestant goes to standard error. Only the call itself is timed: `solve` on an instance that
has been validated before, a third party's function, the validation alone, or LIBSVM alone. Times are CPU times. With
one thread they equal wall times on an idle machine; on a busy one, wall times of long runs grow, while a short LIBSVM
fit is hardly affected. Memory is the largest resident set during the call minus the one before it.
"""

from __future__ import annotations

import contextlib
import json
import os
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
from ..problem.low_rank import dense
from ..problem.stack import Array
from .functions import arguments, found_by, imported
from .process import READY

Record = dict[str, Any]

_WARM: set[tuple[str, str]] = set()  # solvers and formulations that have run in this process
REFERENCE_SECONDS = 0.05  # LIBSVM is fitted repeatedly for this long: a single fit is too short to be timed


def main() -> None:
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    requests = os.fdopen(os.dup(0), encoding="utf-8")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)  # a contestant that reads gets nothing
    warnings.simplefilter("ignore")
    print(json.dumps({"ready": True, "ticket": READY}), file=channel, flush=True)
    for line in requests:
        request = json.loads(line)
        print(json.dumps({**_reply(request), "ticket": request["ticket"]}), file=channel, flush=True)


@lru_cache(maxsize=1)
def _part(instance: Instance) -> Instance:
    """A few samples of every class, for a first run that is not timed: it imports what a solver needs."""
    signs = sides(instance)
    few = np.unique([i for row in signs for side in (row > 0, row < 0) for i in np.flatnonzero(side)[:3]])
    targets = {instance.targets.kind: instance.targets.values[few]}
    return Instance(dense(instance.kernels)[:, few][:, :, few], groups=instance.groups, **targets)


def sides(instance: Instance) -> Array:
    """Labels ±1, a row for each; of a response, which half it is in."""
    if instance.targets.kind == "response":
        columns = instance.response.reshape(instance.samples, -1).T
        return np.where(columns > np.median(columns, axis=1, keepdims=True), 1.0, -1.0)
    return instance.targets.signs("bench")


_loaded = lru_cache(maxsize=1)(load_instance)


def _reply(request: Record) -> Record:
    """Answer every request; an error becomes a fault of one line."""
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

    if who not in _WARM:  # importing and compiling is not timed
        with contextlib.suppress(Exception):
            call(_part(instance), 1.0)
        _WARM.add(who)
    solution, measured = _measured(lambda: call(instance, request["time_limit"]))
    save_solution(request["answer"], solution)
    return {**measured, "iterations": solution.iterations, "message": solution.message}


def _find(request: Record) -> Record:
    """Check that the function can be imported; no instance is needed."""
    imported(request["name"], request["path"])
    return {}


def _call(instance: Instance, request: Record) -> Record:
    """Call a third party's function. It is imported before the clock starts, and gets copies that it may change."""
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
    """The median time of a LIBSVM fit on the average kernel, of all labels in turn. The first fit is not counted."""
    average = np.zeros(instance.kernels.shape[1:])
    for kernel in instance.kernels:
        average += np.asarray(kernel, dtype=np.float64) / instance.count
    rows = [row for row in sides(instance) if np.ptp(row) > 0]
    weight, seconds = instance.sample_weight, list[float]()
    while len(seconds) < 2 or sum(seconds[1:]) < REFERENCE_SECONDS:
        started = time.process_time()
        for row in rows:
            _libsvm(request["parameters"], row, weight).fit(average, row, sample_weight=weight)
        seconds.append(time.process_time() - started)
    return {"seconds": float(np.median(seconds[1:]))}


def _libsvm(parameters: Record, labels: Array, weight: Array) -> Any:
    """LIBSVM always has a bias. If ν is too large for that, take the largest feasible value."""
    from sklearn.svm import SVC, NuSVC

    if "nu" in parameters and "C" not in parameters:
        largest = 2 * min(weight[labels > 0].sum(), weight[labels < 0].sum()) / weight.sum()
        return NuSVC(nu=min(parameters["nu"], largest * (1 - 1e-9)), kernel="precomputed")
    return SVC(C=parameters.get("C", 1.0), kernel="precomputed")


SERVICES: dict[str, Callable[[Instance, Record], Record]] = {
    "solve": _solve, "call": _call, "validate": _validate, "reference": _reference,
}  # fmt: skip


# ------------------------------------------------------------------------------------------------- measuring
def _measured(call: Callable[[], Any]) -> tuple[Any, Record]:
    before = _resident("VmRSS") if _forget_peak() else None
    started, worked = time.perf_counter(), time.process_time()
    result = call()
    seconds, elapsed = time.process_time() - worked, time.perf_counter() - started
    peak = None if before is None else max(_resident("VmHWM") - before, 0)
    return result, {"seconds": seconds, "elapsed": elapsed, "peak": peak}


def _forget_peak() -> bool:
    """Reset the peak of the resident set; return whether the system supports this."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def _resident(kind: str) -> int:
    """The resident set in bytes: current (VmRSS) or peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(kind))


if __name__ == "__main__":
    main()
