"""What contestants of a benchmark share: their setting, what one attempt gave, and the process that ours run in."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InternalError
from ..verification.answers import Answer

ONE_THREAD = {
    f"{library}_THREADS": "1"
    for library in ("OPENBLAS_NUM", "OMP_NUM", "MKL_NUM", "BLIS_NUM", "VECLIB_MAXIMUM", "NUMEXPR_NUM", "RAYON_NUM")
}
EXPECTED = 1e-6  # the relative gap asked of contestants that name none themselves


@dataclass(frozen=True)
class Setting:
    """What is to be solved, how accurately, in how many seconds at most, and where files may go."""

    formulation: str
    instance: Path
    folder: Path
    tol: float | None
    time_limit: float


@dataclass(frozen=True)
class Attempt:
    """One run of a contestant. `seconds` are the CPU's, but for a command those that `elapsed`, as for the time limit.
    `cut`: it was ended, or ended itself, at the time limit; `peak`: bytes of memory; `skipped`: why it was not run."""

    seconds: float | None = None
    elapsed: float = 0.0
    answer: Answer | None = None
    iterations: int | None = None
    peak: int | None = None
    message: str = ""
    fault: str = ""
    cut: bool = False
    skipped: str = ""


class Worker(contextlib.AbstractContextManager["Worker"]):
    """The process of `bench_worker`: asked for one thing at a time, ended and started anew where it takes too long.
    It may be asked about one instance after the other: `instance` is the file of the next request."""

    def __init__(self, instance: Path) -> None:
        self.instance = instance
        self.process: subprocess.Popen[str] | None = None

    def __exit__(self, *_: object) -> None:
        self.end()

    def ask(self, request: dict[str, Any], patience: float | None = None) -> dict[str, Any] | None:
        """The reply; None if there was none in time. A process that died says so as a fault."""
        process = self._running()
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # there will be no reply either
            plain = json.dumps({"instance": str(self.instance), **request}, default=lambda number: number.item())
            process.stdin.write(plain + "\n")
            process.stdin.flush()
        reply = self._reply(process, patience)
        if reply is None or reply.get("died"):
            self.end()
        return reply

    def end(self) -> None:
        if self.process is not None:
            with contextlib.suppress(BrokenPipeError), self.process:  # which closes its pipes and waits
                self.process.kill()
            self.process = None

    def _running(self) -> subprocess.Popen[str]:
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "mklcvx.bench.worker"], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
                env={**os.environ, **ONE_THREAD}, start_new_session=True,
            )  # fmt: skip
            if not (self._reply(self.process, None) or {}).get("ready"):
                raise InternalError("the process for benchmarks does not start")
        return self.process

    @staticmethod
    def _reply(process: subprocess.Popen[str], patience: float | None) -> dict[str, Any] | None:
        """A line of JSON: replies are short and written at once, so that what can be read is a whole one."""
        assert process.stdout is not None
        if not select.select([process.stdout], [], [], patience)[0]:
            return None
        line = process.stdout.readline()
        return dict(json.loads(line)) if line else {"fault": "its process died", "died": True}
