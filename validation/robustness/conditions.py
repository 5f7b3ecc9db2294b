"""The quick tests under other conditions: in other orders, optimised, in the C locale, read-only, without root.

    python validation/robustness/conditions.py [--only NAME]... [FILES OR FOLDERS OF TESTS]...
    python validation/robustness/conditions.py --processors [--only NAME]... [FILES OR FOLDERS OF TESTS]...

Each condition is one run of pytest in a process of its own; warnings are errors in all of them. The last condition
needs to be started by root, which it then gives up. The exit status is 1 if a condition fails.

With --processors it is the whole suite, as OpenBLAS rounds on other processors, and with two of its threads. Kernels
that this processor cannot run are left out, and named.
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


QUICK = ("-m", "not slow")
IN_TWO = ("-n", "2", "--dist", "loadfile")
CORE = "OPENBLAS_CORETYPE"
KERNELS = """
import numpy, scipy.linalg, threadpoolctl
print(*sorted({library["architecture"] for library in threadpoolctl.threadpool_info() if "architecture" in library}))
"""


class Condition(NamedTuple):
    """Environment variables, pytest's options, and whether the working directory is read-only and the user nobody."""

    name: str
    environment: dict[str, str]
    options: tuple[str, ...] = QUICK
    nobody: bool = False


CONDITIONS = (
    *(Condition(f"order-{seed}", {"MKLCVX_TEST_ORDER": str(seed)}) for seed in (1, 2, 3)),
    Condition("optimised", {"PYTHONOPTIMIZE": "1"}),
    Condition("c-locale", {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
    Condition("read-only-not-root", {}, nobody=True),
)
PROCESSORS = (
    Condition("this-processor", {}, IN_TWO),
    *(Condition(core.lower(), {CORE: core}, IN_TWO) for core in ("Haswell", "Nehalem", "Sandybridge")),
    Condition("two-threads", {"OPENBLAS_NUM_THREADS": "2"}, ()),
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--processors", action="store_true", help="the whole suite on other processors' kernels")
    parser.add_argument("--only", action="append", choices=[one.name for one in (*CONDITIONS, *PROCESSORS)])
    parser.add_argument("tests", nargs="*", default=["tests"])
    asked = parser.parse_args(arguments)
    chosen = PROCESSORS if asked.processors else CONDITIONS
    if asked.only:
        chosen = tuple(one for one in chosen if one.name in asked.only)
    failed = not chosen
    for condition in chosen:
        kernels = taken_kernels(condition)
        if condition.environment.get(CORE, kernels) != kernels:
            print(f"{condition.name}: left out: OpenBLAS takes the kernels of {kernels} here", flush=True)
            continue
        started = time.monotonic()
        try:
            done = run(condition, [str((ROOT / one).resolve()) for one in asked.tests])
        except PermissionError:
            print(f"{condition.name}: nobody may not run {sys.executable}: use a Python outside of a home", flush=True)
            failed = True
            continue
        failed = failed or done.returncode != 0
        seconds = time.monotonic() - started
        print(f"{condition.name}: {last_line(done.stdout)} ({seconds:.0f} s, kernels of {kernels})", flush=True)
        if done.returncode:
            print(done.stdout[-6000:], done.stderr[-2000:], flush=True)
    return int(failed)


def taken_kernels(condition: Condition) -> str:
    """The processors whose kernels NumPy's and SciPy's OpenBLAS take."""
    command, environment = [sys.executable, "-c", KERNELS], {**os.environ, **condition.environment}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def run(condition: Condition, tests: list[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", *condition.options, "-p", "no:cacheprovider", "-c"]
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
