"""A process that has heavy packages in memory and runs pytest in children of its own, one line of JSON for each.

    python -P validation/forked_tests.py PACKAGES...

A request is `[arguments of pytest, seconds, usual seconds by test]`. Usually quick tests come first, and a test that
takes far longer than usual ends the run with the exit code TIMEOUT. The answer is
`[exit code or null, first test that failed, seconds by test]`; null says that time ran out.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import hypothesis
import pytest

TIMEOUT = 99
WATCHED = Path("watched.json")


class Watch:
    """Runs quick tests first; notes the first failure, and the seconds of every test."""

    def __init__(self, usual: dict[str, float]) -> None:
        self.usual, self.failed, self.seconds = usual, "", dict[str, float]()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: self.usual.get(item.nodeid, 0.0))

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        signal.alarm(20 + 10 * math.ceil(self.usual.get(item.nodeid, 100.0)))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        self.pytest_collectreport(report)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid


def run(arguments: list[str], usual: dict[str, float]) -> None:
    """Run pytest in silence, in a child that ends here."""
    os.setsid()
    void = os.open(os.devnull, os.O_WRONLY)
    os.dup2(void, 1)
    os.dup2(void, 2)
    signal.signal(signal.SIGALRM, lambda *_: os._exit(TIMEOUT))
    watch = Watch(usual)
    code = pytest.main(arguments, plugins=[watch])
    WATCHED.write_text(json.dumps([watch.failed, watch.seconds]), encoding="utf-8")
    os._exit(code)


def awaited(child: int, seconds: float) -> int | None:
    """The exit code of a child; None if it had to be ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def main() -> None:
    for package in sys.argv[1:]:
        importlib.import_module(package)
    phases = hypothesis.Phase.explicit, hypothesis.Phase.generate  # a failing example need not be the smallest
    hypothesis.settings.register_profile("mutants", phases=phases, database=None)
    hypothesis.settings.load_profile("mutants")
    for line in sys.stdin:
        arguments, seconds, usual = json.loads(line)
        WATCHED.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            run(arguments, usual)
        code = awaited(child, seconds)
        watched = json.loads(WATCHED.read_text(encoding="utf-8")) if WATCHED.exists() else ["", {}]
        print(json.dumps([code, *watched]), flush=True)


if __name__ == "__main__":
    main()
