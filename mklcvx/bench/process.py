"""What the contestants of a benchmark share: the setting, the result of one run, and the worker process."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InternalError
from ..verification.answers import Answer

ONE_THREAD = {
    f"{library}_THREADS": "1"
    for library in ("OPENBLAS_NUM", "OMP_NUM", "MKL_NUM", "BLIS_NUM", "VECLIB_MAXIMUM", "NUMEXPR_NUM", "RAYON_NUM")
}
READY = "ready"  # the ticket of the first line, for which nobody has asked
LONGEST = 1_000_000  # bytes of a reply
EXPECTED = 1e-6  # the relative gap asked of contestants that do not state one themselves


@dataclass(frozen=True)
class Setting:
    """The formulation, the instance file, a folder for other files, the tolerance and the time limit in seconds."""

    formulation: str
    instance: Path
    folder: Path
    tol: float | None
    time_limit: float


@dataclass(frozen=True)
class Attempt:
    """One run of a contestant. `seconds` is CPU time, or wall time for a command; `elapsed` is wall time, as the limit.
    `cut`: the run stopped at the time limit; `peak`: memory in bytes; `skipped`: why there was no run."""

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
    """The process that runs `mklcvx.bench.worker`. It answers one request at a time. If it takes too long, it is
    killed, and the next request starts a new one. `instance` is the file that the next request is about."""

    def __init__(self, instance: Path) -> None:
        self.instance = instance
        self.process: subprocess.Popen[bytes] | None = None

    def __exit__(self, *_: object) -> None:
        self.end()

    def ask(self, request: dict[str, Any], patience: float | None = None) -> dict[str, Any] | None:
        """Return the reply, or None if there was none in time. If the process died, the reply has a fault."""
        process, ticket = self._running(), secrets.token_hex(8)
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the process has died, and there will be no reply
            asked = {"instance": str(self.instance), **request, "ticket": ticket}
            process.stdin.write(json.dumps(asked, default=lambda number: number.item()).encode() + b"\n")
            process.stdin.flush()
        reply = self._reply(process, ticket, patience)
        if reply is None or reply.get("died"):
            self.end()
        return reply

    def end(self) -> None:
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # with what it has started
                os.killpg(self.process.pid, signal.SIGKILL)
            with contextlib.suppress(BrokenPipeError), self.process:  # closes its pipes and waits
                self.process = None

    def _running(self) -> subprocess.Popen[bytes]:
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "mklcvx.bench.worker"], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, **ONE_THREAD},
                start_new_session=True,
            )  # fmt: skip
            if not (self._reply(self.process, READY, None) or {}).get("ready"):
                raise InternalError("the process for benchmarks does not start")
        return self.process

    @staticmethod
    def _reply(process: subprocess.Popen[bytes], ticket: str, patience: float | None) -> dict[str, Any] | None:
        """Read one line of JSON with the ticket of the request. A contestant may have found the pipe, and written to
        it: half a line is not waited for, and a line without the ticket is no reply."""
        assert process.stdout is not None
        until, line = None if patience is None else time.monotonic() + patience, b""
        while not line.endswith(b"\n"):
            left = None if until is None else max(until - time.monotonic(), 0.0)
            if not select.select([process.stdout], [], [], left)[0]:
                return None
            part = os.read(process.stdout.fileno(), LONGEST)
            line += part
            if not part or len(line) > LONGEST:
                break
        if not line:
            return {"fault": "its process died", "died": True}
        with contextlib.suppress(ValueError):
            reply = json.loads(line)
            if isinstance(reply, dict) and reply.pop("ticket", None) == ticket:
                return reply
        return {"fault": "its process wrote into the pipe that replies come through", "died": True}
