"""Every step of writing fails once: what is left is the old file or the new one, whole, and one line says so.

python validation/robustness/failing_writes.py                    all commands
python validation/robustness/failing_writes.py --only solve cv
python validation/robustness/failing_writes.py -o validation/robustness/failing_writes.md

A command is run again and again, each time in a process of its own in which one more step succeeds before one fails:
the n-th file opened for writing, name changed, mode changed, or flush to the disk; the n-th byte written (by the limit
of the size of files); and allocations (by the limit of addresses). In a last round the process is killed at the n-th
step. Afterwards the output is what it was, or what an undisturbed run writes; a run that failed has said one line and
has status 2; and nothing but the output is in the folder, unless the process was killed.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / place) for place in ("", "golden", "experiments")]

import mklcvx  # noqa: E402
from _harness import Cache, Row  # noqa: E402
from mklcvx.cli.main import main as command_line  # noqa: E402
from mklcvx.errors import InputError  # noqa: E402
from mklcvx.io.files import load_instance, load_solution, save_instance  # noqa: E402
from mklcvx.io.writing import write_text  # noqa: E402
from of_losses import write as write_golden  # noqa: E402
from shared.tables import table  # noqa: E402

STEPS = ("open", "os.rename", "os.mkdir", "os.fsync", "os.fchmod")
OLD = b"what was there before\n"
BYTES = (0, 1, 7, 64, 500)  # written before no more can be
MOST = 60  # steps that a command may have
ROOM = (0, 1, 2, 4, 8, 16, 32)  # megabytes that can still be taken


class Case(NamedTuple):
    """A command that writes `output` in the folder that it is given; `whole` reads what it wrote, or raises."""

    name: str
    output: str
    run: Callable[[Path], object]
    whole: Callable[[Path], object]
    is_journal: bool = False


class Ended(NamedTuple):
    status: int  # negative: by this signal
    said: str
    reached: bool  # whether there was a step to fail


# -------------------------------------------------------------------------------------------------- the commands
def cli(*words: str) -> Callable[[Path], object]:
    return lambda folder: command_line([word.replace("@", str(folder)) for word in words])


def lines(path: Path) -> object:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def of_experiments(folder: Path) -> None:
    Cache(folder / "cells.jsonl", "x").append(Row({"cell": 1}, {"value": 2.0}, 0.1))


def cases() -> list[Case]:
    problem, quick = "@/problem/problem.npz", ("-f", "l1", "--set", "C=1")
    return [
        Case("solve -o .json", "a.json", cli("solve", problem, *quick, "-q", "-o", "@/a.json"), load_solution),
        Case("solve -o .npz", "a.npz", cli("solve", problem, *quick, "-q", "-o", "@/a.npz"), load_solution),
        Case("solve --trace", "t.json", cli("solve", problem, *quick, "-q", "--solver", "simplemkl",
             "--trace", "@/t.json"), json_of),
        Case("path -o", "p.jsonl", cli("path", problem, "-f", "l1", "--grid", "C=1,2", "-q", "-o", "@/p.jsonl"), lines),
        Case("cv -o", "c.jsonl", cli("cv", problem, "-f", "l1", "--grid", "C=1,2", "--folds", "2", "-o", "@/c.jsonl"),
             lines),
        Case("report", "r.html", cli("report", problem, "-f", "l1", "-o", "@/r.html"), whole_page),
        Case("zoo export .mat", "z.mat", cli("zoo", "export", "by-hand", "-o", "@/z.mat"), load_instance),
        Case("save_instance", "i.npz", lambda folder: save_instance(folder / "i.npz", mklcvx.zoo.by_hand()),
             load_instance),
        Case("golden", "golden.json", lambda folder: write_golden(folder / "golden.json", {}), json_of),
        Case("experiments", "cells.jsonl", of_experiments, lines, True),
    ]  # fmt: skip


def json_of(path: Path) -> object:
    return json.loads(path.read_text(encoding="utf-8"))


def whole_page(path: Path) -> None:
    if not path.read_text(encoding="utf-8").rstrip().endswith("</html>"):
        raise ValueError("a page that does not end")


# ----------------------------------------------------------------------------------------------------- the faults
class Failing:
    """Lets steps of writing pass, and at the n-th does what it is told: fail, or kill the process."""

    def __init__(self, folder: Path, step: str, n: int, act: Callable[[], None]) -> None:
        self.folder, self.step, self.left, self.act, self.reached = str(folder), step, n, act, False

    def install(self) -> None:
        sys.addaudithook(self.hear)
        for name in ("fsync", "fchmod"):
            setattr(os, name, self.counted(f"os.{name}", getattr(os, name)))

    def counted(self, step: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def through(*given: Any) -> Any:
            self.count(step)
            return call(*given)

        return through

    def hear(self, event: str, given: tuple[Any, ...]) -> None:
        if event == "open":
            flags = given[2] if isinstance(given[2], int) else 0
            if not (flags & (os.O_WRONLY | os.O_RDWR)) or not str(given[0]).startswith(self.folder):
                return
        self.count(event)

    def count(self, step: str) -> None:
        if step != self.step and not (self.step == "any" and step in STEPS):
            return
        self.left -= 1
        if self.left == 0:
            self.reached = True
            self.act()


def fail() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def in_a_process(case: Case, folder: Path, prepare: Callable[[], Callable[[], bool]]) -> Ended:
    """Run the command in a child of this process; `prepare` sets the trap there, and says whether it was reached."""
    said_file, mark = folder.parent / "said", folder.parent / "mark"
    mark.unlink(missing_ok=True)
    said_file.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        status = 99
        err = io.StringIO()
        try:
            reached = prepare()
            with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.StringIO()):
                try:
                    case.run(folder)
                    status = 0
                except InputError as fault:
                    err.write(f"{fault}\n")
                    status = 2
                except SystemExit as ended:
                    status = int(ended.code or 0)
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            if reached():
                mark.touch()
        except BaseException as fault:
            err.write(f"{type(fault).__name__}: {fault}\n" * 2)
        finally:
            with contextlib.suppress(BaseException):
                resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                said_file.write_text(err.getvalue(), encoding="utf-8")
            os._exit(status)
    _, code = os.waitpid(child, 0)
    status = -os.WTERMSIG(code) if os.WIFSIGNALED(code) else os.WEXITSTATUS(code)
    said = said_file.read_text(encoding="utf-8") if said_file.exists() and status >= 0 else ""
    return Ended(status, said, mark.exists() or status < 0)


def traps(case: Case, folder: Path) -> Iterator[tuple[str, int, Callable[[], Callable[[], bool]]]]:
    """Kind, number and trap, one after the other; a kind ends when its step is no longer reached."""
    for kind, act in (*((step, fail) for step in STEPS), ("any", die)):
        for n in range(1, MOST):
            yield ("killed" if act is die else kind), n, lambda kind=kind, n=n, act=act: _step(folder, kind, n, act)
    for n in BYTES:
        yield "bytes", n, lambda n=n: _size(n)
    for n in ROOM:
        yield "memory", n, lambda n=n: _addresses(n)


def _step(folder: Path, kind: str, n: int, act: Callable[[], None]) -> Callable[[], bool]:
    trap = Failing(folder, kind, n, act)
    trap.install()
    return lambda: trap.reached


def _size(n: int) -> Callable[[], bool]:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n, resource.RLIM_INFINITY))
    return lambda: True


def _addresses(megabytes: int) -> Callable[[], bool]:
    used = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + megabytes * 2**20, resource.RLIM_INFINITY))
    return lambda: True


# ------------------------------------------------------------------------------------------------------ the verdict
def fault_of(case: Case, folder: Path, ended: Ended, kind: str) -> str:
    """What is wrong after a run; empty if nothing is."""
    path, old = folder / case.output, kept_before(case)
    content = path.read_bytes() if path.exists() else b""
    if case.is_journal:
        if not content.startswith(old):
            return "lines that were there are gone"
        added = content[len(old) :]
        if ended.status != -signal.SIGKILL and added and not added.endswith(b"\n"):
            return "half a line was left"
    elif content != old:
        try:
            case.whole(path)
        except Exception as fault:
            return f"the output is neither old nor whole: {type(fault).__name__}"
    left = sorted(one.name for one in folder.iterdir() if one.name not in (case.output, "problem"))
    if left and ended.status != -signal.SIGKILL:
        return f"left behind: {left[0]}"
    if ended.status in (0, -signal.SIGKILL):
        return ""
    if ended.status not in (1, 2):
        return f"status {ended.status}: {ended.said[:100]}"
    return "" if ended.said.count("\n") == 1 else f"said {ended.said.count(chr(10))} lines: {ended.said[:160]!r}"


def kept_before(case: Case) -> bytes:
    return b'{"cell": 0}\n' if case.is_journal else OLD


@contextlib.contextmanager
def prepared() -> Iterator[Path]:
    """A folder with a problem, in a folder of its own."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "folder"
        (folder / "problem").mkdir(parents=True)
        save_instance(folder / "problem" / "problem.npz", mklcvx.zoo.by_hand())
        yield folder


def tried(case: Case, most: int = MOST) -> tuple[Counter[str], list[str]]:
    """Runs of a command by kind of fault, and what was wrong after them."""
    counts: Counter[str] = Counter()
    wrong = []
    over: set[str] = set()
    with prepared() as folder:
        for kind, n, prepare in traps(case, folder):
            if kind in over or (n > most and kind not in ("bytes", "memory")):
                continue
            for one in folder.iterdir():
                if one.name != "problem":
                    shutil.rmtree(one) if one.is_dir() else one.unlink()
            (folder / case.output).write_bytes(kept_before(case))
            ended = in_a_process(case, folder, prepare)
            if not ended.reached:
                over.add(kind)
                continue
            counts[kind] += 1
            counts["refused"] += ended.status in (1, 2)
            if fault := fault_of(case, folder, ended, kind):
                wrong.append(f"{case.name}, {kind} {n}: {fault}")
    return counts, wrong


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="WORD", help="commands whose names have one of these words")
    parser.add_argument("-o", "--output", type=Path, help="write a page")
    asked = parser.parse_args(arguments)
    rows, wrong = [], []
    for case in cases():
        if asked.only and not any(word in case.name for word in asked.only):
            continue
        said = io.StringIO()
        silent = contextlib.redirect_stderr(said), contextlib.redirect_stdout(said)
        with prepared() as folder, silent[0], silent[1], contextlib.suppress(SystemExit):
            case.run(folder)  # what is imported late is imported now
        counts, faults = tried(case)
        rows.append((case.name, counts, len(faults)))
        wrong += faults
        print(f"{case.name}: {dict(counts)}, wrong: {len(faults)}", flush=True)
    print("\n".join(wrong))
    if asked.output is not None:
        write_text(asked.output, page(rows))
    return 1 if wrong else 0


def page(rows: list[tuple[str, Counter[str], int]]) -> str:
    kinds = (*STEPS, "bytes", "memory", "killed")
    text = ["# Every step of writing fails once", "", (__doc__ or "").split("\n\n")[2].strip(), ""]
    cells = [[name, *(str(counts[kind]) for kind in (*kinds, "refused")), str(wrong)] for name, counts, wrong in rows]
    return "\n".join([*text, *table(("command", *kinds, "refused", "damaged"), cells)]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
