"""The quick tests under other conditions: in other orders, optimised, in the C locale, read-only, without root.

    python validation/robustness/conditions.py [--only NAME]... [FILES OR FOLDERS OF TESTS]...

Each condition is one run of pytest in a process of its own; warnings are errors in all of them. The last condition
needs to be started by root, which it then gives up. The exit status is 1 if a condition fails.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534


class Condition(NamedTuple):
    """Environment variables, and whether the working directory is read-only and the user nobody."""

    name: str
    environment: dict[str, str]
    nobody: bool = False


CONDITIONS = (
    *(Condition(f"order-{seed}", {"MKLCVX_TEST_ORDER": str(seed)}) for seed in (1, 2, 3)),
    Condition("optimised", {"PYTHONOPTIMIZE": "1"}),
    Condition("c-locale", {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    Condition("read-only-not-root", {}, nobody=True),
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=[one.name for one in CONDITIONS])
    parser.add_argument("tests", nargs="*", default=["tests"])
    asked = parser.parse_args(arguments)
    failed = False
    for condition in CONDITIONS:
        if asked.only and condition.name not in asked.only:
            continue
        started = time.monotonic()
        try:
            done = run(condition, [str((ROOT / one).resolve()) for one in asked.tests])
        except PermissionError:
            print(f"{condition.name}: nobody may not run {sys.executable}: use a Python outside of a home", flush=True)
            failed = True
            continue
        failed = failed or done.returncode != 0
        print(f"{condition.name}: {last_line(done.stdout)} ({time.monotonic() - started:.0f} s)", flush=True)
        if done.returncode:
            print(done.stdout[-6000:], done.stderr[-2000:], flush=True)
    return int(failed)


def run(condition: Condition, tests: list[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-c"]
    command += [str(ROOT / "pyproject.toml"), f"--rootdir={ROOT}", "-W", "ignore::pytest.PytestConfigWarning", *tests]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        own, here = Path(folder, "own"), Path(folder, "here")
        own.mkdir()
        here.mkdir(mode=0o555)
        home = {"HOME": str(own), "TMPDIR": str(own), "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
        more: dict[str, Any] = {}
        if condition.nobody and os.geteuid() == 0:
            os.chown(own, NOBODY, NOBODY)
            more = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        place = here if condition.nobody else ROOT
        environment = {**os.environ, **home, **condition.environment}
        return subprocess.run(
            command, cwd=place, env=environment, capture_output=True, text=True, check=False, errors="replace", **more
        )


def last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "nothing was said")


if __name__ == "__main__":
    sys.exit(main())
