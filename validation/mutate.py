"""Change one coefficient, sign, exponent, comparison or function at a time: a test has to fail.

    python validation/mutate.py [FILES...] [--every K] [--tests TEST...] [--jobs 1] [--trust]
                                [--journal FILE [--again | --known]] [-o report.md]

Files are those of formulations/, such as `l1` or `losses/nu`, and all of them unless given; of `certificate`, `checker`
and `solvers/interior` there are files, such as `checker/audit`, and whole rooms. Every mutant is written into a copy of
the package and meets its tests (`mutant_tests.py`) there until one fails. They run in children of a process that has
imported the heavy packages once (`forked_tests.py`). With `--every K` one mutant in K is judged, at equal distances in
the text of all files; those of a third of K are among them and between them. A journal keeps the verdicts, so that an
interrupted run goes on where it ended; a mutant of a file that has changed is judged again, and with `--again` every
survivor is. With `--known` nothing is judged: the report is the journal's. What is changed, and what is left alone,
says `mutants.py`.
Survivors that change nothing are named, with the reason, in `equivalent_mutants.txt`:

    file.py: original line => mutated line  # reason
"""

from __future__ import annotations

import argparse
import compileall
import hashlib
import json
import os
import py_compile
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple, NoReturn

from rich.console import Console
from rich.progress import track

from forked_tests import TIMEOUT
from mutant_tests import ROOMS, ROOT, selection_of
from mutants import Mutant, mutants_of
from shared.journals import add_line, records
from shared.running import put

PACKAGE = Path("mklcvx")
HEAVY = ("cvxpy", "scipy.optimize", "sklearn.svm")  # packages that are in memory before the tests are
# Nobody reads what a failing assertion compared; hypothesis is in memory before pytest.
PYTEST = "-x -q -p no:cacheprovider -p no:randomly -p no:xdist --assert=plain"
UNHEARD = "ignore::pytest.PytestAssertRewriteWarning"
PASSED, NO_TESTS = 0, 5  # exit codes of pytest: the second is for an empty selection
OUTCOMES = ("killed", "timeout", "equivalent", "survived")

Seconds = dict[str, float]  # by test


def refuse(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    raise SystemExit(2)


# ------------------------------------------------------------------------------------------------ copies with tests
def copy_project(root: Path, tree: Path) -> None:
    """The package as it is installed, with its tests beside it."""
    for source, target in (("mklcvx", "mklcvx"), ("formulations", "mklcvx/formulations"), ("tests", "tests")):
        shutil.copytree(root / source, tree / target, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "pyproject.toml", tree)
    (tree / "formulations").symlink_to("mklcvx/formulations")
    (tree / "validation").symlink_to(root / "validation")
    # Bytecode that knows its source by a hash is never taken for that of the next mutant.
    compileall.compile_dir(tree / "mklcvx", quiet=1, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)


def environment_of(tree: Path) -> dict[str, str]:
    """One thread, the tree in front, and tests that are compiled once."""
    environment = os.environ | {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "RAYON")}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(tree), os.environ.get("PYTHONPATH")]))
    return environment | {"PYTEST_ADDOPTS": "", "PYTHONDONTWRITEBYTECODE": ""}


def check_import(tree: Path) -> None:
    """An installed package must not stand in front of the copy."""
    code = "import mklcvx, mklcvx.formulations as f; print(mklcvx.__file__, f.__file__)"
    command = [sys.executable, "-c", code]
    output = subprocess.run(command, cwd=tree, env=environment_of(tree), capture_output=True, text=True).stdout.strip()
    if output != f"{tree / PACKAGE / '__init__.py'} {tree / PACKAGE / 'formulations/__init__.py'}":
        refuse(f"the copy in {tree} is not what Python imports: {output}")


class Outcome(NamedTuple):
    """The exit code of pytest, None if time ran out; the first test that failed; the seconds of every test."""

    code: int | None
    failed: str
    seconds: Seconds


class Tree:
    """A copy of the project, and the process that runs its tests."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.process = subprocess.Popen(
            [sys.executable, "-P", Path(__file__).with_name("forked_tests.py"), *HEAVY],
            cwd=path,
            env=environment_of(path),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run_tests(self, tests: Sequence[str], timeout: float, usual: Seconds, naming: str = "") -> Outcome:
        """Run test files, or those of their tests that name a formulation, until one fails."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(
            json.dumps([[*PYTEST.split(), "-W", UNHEARD, "-k", naming, *tests], timeout, usual]),
            file=self.process.stdin,
            flush=True,
        )
        return Outcome(*json.loads(self.process.stdout.readline()))

    def close(self) -> None:
        self.process.communicate()


# --------------------------------------------------------------------------------------------------------- judging
class Verdict(NamedTuple):
    """`outcome` is one of OUTCOMES; `test` is the one that noticed; `again`: the mutant survived when first judged."""

    mutant: Mutant
    outcome: str
    test: str = ""
    seconds: float = 0.0
    again: bool = False


class Journal:
    """Verdicts, in memory and, if there is a path, in a file of JSON lines. A mutant is known by its edit and the
    digest of its file's source; tests that passed without a mutation by the digest of all sources and theirs."""

    def __init__(self, path: Path | None, sources: dict[str, bytes]) -> None:
        self.path = path
        self.digests = {file: _digest(source) for file, source in sources.items()}
        self.verdicts: dict[tuple[Any, ...], list[dict[str, Any]]] = {}  # the first one from before tests were added
        self.controls: dict[tuple[str, str], Seconds] = {}  # by test file and digest
        for entry in records(path) if path is not None else ():
            self._keep(entry)

    def verdict(self, mutant: Mutant) -> Verdict | None:
        if not (entries := self.verdicts.get((mutant.file, self.digests[mutant.file], *mutant.edit))):
            return None
        first, last = entries[0], entries[-1]
        return Verdict(mutant, last["outcome"], last["test"], last["seconds"], first["outcome"] == "survived")

    def add(self, verdict: Verdict) -> None:
        mutant, outcome, test, seconds, _ = verdict
        entry = {"file": mutant.file, "source": self.digests[mutant.file], "edit": mutant.edit}
        self.note(entry | {"outcome": outcome, "test": test, "seconds": round(seconds, 1)})

    def note(self, entry: dict[str, Any]) -> None:
        self._keep(entry)
        if self.path is not None:
            add_line(self.path, entry)

    def _keep(self, entry: dict[str, Any]) -> None:
        if "control" in entry:
            self.controls[entry["control"], entry["source"]] = entry["seconds"]
        else:
            self.verdicts.setdefault((entry["file"], entry["source"], *entry["edit"]), []).append(entry)


def _digest(source: bytes) -> str:
    return hashlib.sha256(source).hexdigest()[:16]


def usual_seconds(tree: Tree, tests: Sequence[str], journal: Journal) -> dict[str, Seconds]:
    """What tests take without a mutation, by test file: each has to pass."""
    everything = b"".join(path.read_bytes() for path in sorted((tree.path / PACKAGE).rglob("*.py")))
    usual = {}
    for test in tests:
        digest = _digest(everything + (tree.path / test.partition("::")[0]).read_bytes())
        if (test, digest) not in journal.controls:
            outcome = tree.run_tests([test], 1800.0, {})
            if outcome.code != PASSED:
                refuse(f"{test} fails without any mutation: {outcome.failed}")
            seconds = {name: round(value, 3) for name, value in outcome.seconds.items()}
            journal.note({"control": test, "source": digest, "seconds": seconds})
        usual[test] = journal.controls[test, digest]
    return usual


def judge(mutant: Mutant, tree: Tree, selected: tuple[Sequence[str], str], usual: dict[str, Seconds]) -> Verdict:
    """Run the tests until one fails, in a tree that is put back as it was."""
    path = tree.path / place_of(mutant.file)
    source, started = path.read_bytes(), time.monotonic()
    tests, naming = selected
    seconds = {name: value for test in tests for name, value in usual[test].items()}
    try:
        path.write_bytes(mutant.apply(source))
        code, failed, _ = tree.run_tests(tests, 60 + 5 * sum(seconds.values()), seconds, naming)
    finally:
        path.write_bytes(source)
    outcome = "timeout" if code in (None, TIMEOUT) else "survived" if code in (PASSED, NO_TESTS) else "killed"
    return Verdict(mutant, outcome, failed, time.monotonic() - started)


def judge_all(mutants: Sequence[Mutant], trees: Sequence[Tree], journal: Journal, tests: Sequence[str] | None) -> None:
    """Complete the journal, one worker per tree. Survivors are shown as they are found."""
    selected = {file: (tests, "") if tests else selection_of(file) for file in {mutant.file for mutant in mutants}}
    needed = dict.fromkeys(test for chosen, _ in selected.values() for test in chosen)
    usual, console = usual_seconds(trees[0], list(needed), journal), Console(stderr=True)
    free: SimpleQueue[Tree] = SimpleQueue()
    for tree in trees:
        free.put(tree)

    def judged(mutant: Mutant) -> Verdict:
        tree = free.get()
        try:
            return judge(mutant, tree, selected[mutant.file], usual)
        finally:
            free.put(tree)

    with ThreadPoolExecutor(len(trees)) as pool:
        for verdict in track(pool.map(judged, mutants), "mutants", total=len(mutants), console=console):
            journal.add(verdict)
            if verdict.outcome == "survived":
                console.print("survived:", verdict.mutant.key, markup=False, highlight=False, soft_wrap=True)


# --------------------------------------------------------------------------------------------- reporting
def read_equivalents(path: Path) -> dict[str, str]:
    """Reasons by key; an entry without a reason is refused."""
    reasons = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        if line.strip() and not line.startswith("#"):
            key, _, reason = line.rpartition("  # ")
            if " => " not in key or not reason.strip():
                refuse(f"{path.name}: not 'file.py: original line => mutated line  # reason': {line}")
            reasons[" ".join(key.split())] = reason.strip()
    return reasons


def report(verdicts: Sequence[Verdict], reasons: dict[str, str], totals: dict[str, int]) -> str:
    """Counts per file, of so many mutants that it has, then every mutant that no test noticed."""
    verdicts = [v._replace(outcome="equivalent") if is_equivalent(v, reasons) else v for v in verdicts]
    seconds = sum(verdict.seconds for verdict in verdicts) / max(1, len(verdicts))
    rule = "Mutants at equal distances in the text of all files; listed ones may be left out"
    lines = ["# Mutants", "", f"{rule}: {len(verdicts)} of {sum(totals.values())}, {seconds:.1f} s each.", ""]
    late = [verdict for verdict in verdicts if verdict.again and verdict.test]
    if late:
        told = [verdict for verdict in verdicts if verdict.outcome != "equivalent"]
        share = 1 - sum(verdict.again or verdict.outcome == "survived" for verdict in told) / len(told)
        lines += [f"{len(late)} survived when they were first judged and are killed by tests written for them since."]
        lines += [f"Before, the score was {share:.1%}; the score below says nothing about mutants that have not been"]
        lines += ["judged.", ""]
    lines += [f"| file | mutants | judged | {' | '.join(OUTCOMES)} | score | survived at first |"]
    lines += ["|---" + "|--:" * (len(OUTCOMES) + 4) + "|"]
    for file in sorted({verdict.mutant.file for verdict in verdicts}):
        lines.append(row(file, [v for v in verdicts if v.mutant.file == file], totals[file]))
    lines.append(row("all", verdicts, sum(totals.values())))
    stages = Counter(verdict.test.partition("::")[0] for verdict in verdicts if verdict.test).most_common()
    lines += ["", "Noticed by: " + (", ".join(f"{test} ({count})" for test, count in stages) or "no test")]
    for title, chosen in {
        "Survivors": [v for v in verdicts if v.outcome == "survived"],
        "Equivalent": [v for v in verdicts if v.outcome == "equivalent"],
        "Listed as equivalent, yet noticed": [v for v in verdicts if v.test and v.mutant.key in reasons],
    }.items():
        lines += ["", f"## {title}: {len(chosen)}"]
        for mutant in (verdict.mutant for verdict in chosen):
            lines += ["", f"`{mutant.file}:{mutant.line}` {reasons.get(mutant.key, '')}".strip(), ""]
            lines += ["```diff", f"- {mutant.before}", f"+ {mutant.after}", "```"]
    return "\n".join(lines) + "\n"


def is_equivalent(verdict: Verdict, reasons: dict[str, str]) -> bool:
    return verdict.outcome == "survived" and verdict.mutant.key in reasons


def row(name: str, verdicts: Sequence[Verdict], total: int) -> str:
    outcomes = Counter(verdict.outcome for verdict in verdicts)
    noticed = outcomes["killed"] + outcomes["timeout"]
    score = f"{noticed / max(1, noticed + outcomes['survived']):.1%}"
    late = sum(verdict.again and bool(verdict.test) for verdict in verdicts)
    cells = [name, total, len(verdicts), *(outcomes[outcome] for outcome in OUTCOMES), score, late]
    return f"| {' | '.join(map(str, cells))} |"


# ------------------------------------------------------------------------------------------ command line
def place_of(file: str) -> Path:
    """Where a file lies in a tree: in its room, or in that of the formulations."""
    return PACKAGE / file if file.startswith(tuple(ROOMS)) else PACKAGE / "formulations" / file.lstrip("/")


def files_of(tree: Path, asked: Sequence[str]) -> list[str]:
    """The files that are meant, each by its path within formulations/ or, in other rooms, mklcvx/."""
    names: list[str] = []
    for word in asked or ["formulations"]:
        name = word.removeprefix("mklcvx/").removeprefix("formulations").strip("/")
        folder = tree / place_of(f"{name}/")
        if folder.is_dir():
            names += (f"{name}/{path.relative_to(folder).as_posix()}".strip("/") for path in folder.rglob("*.py"))
        else:
            names.append(Path(name).with_suffix(".py").as_posix())
    return sorted(names)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", help="files or rooms, such as l1 or checker; formulations unless given")
    parser.add_argument("--tests", nargs="+", help="test files or single tests, in their order")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time")
    parser.add_argument(
        "--every", type=int, metavar="K", default=1, help="one mutant in K, at equal distances in all files"
    )
    parser.add_argument("--trust", action="store_true", help="do not judge mutants that are listed as equivalent")
    parser.add_argument("--journal", type=Path, help="file of verdicts, to go on with an interrupted run")
    parser.add_argument("--again", action="store_true", help="judge the journal's survivors again")
    parser.add_argument("--known", action="store_true", help="report what the journal holds, and judge nothing")
    parser.add_argument("-o", "--output", type=Path, help="where the report goes; standard output unless given")
    return parser.parse_args(arguments)


def judge_in_copies(folder: Path, left: Sequence[Mutant], journal: Journal, options: argparse.Namespace) -> None:
    first, *others = paths = [folder / f"tree{job}" for job in range(options.jobs)]
    for other in others:
        shutil.copytree(first, other, symlinks=True)
    for path in paths:
        check_import(path)
    trees = [Tree(path) for path in paths]
    try:
        judge_all(left, trees, journal, options.tests)
    finally:
        for tree in trees:
            tree.close()


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    options = parse(arguments)
    reasons = read_equivalents(root / "validation/equivalent_mutants.txt")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        copy_project(root, folder / "tree0")
        files = files_of(folder / "tree0", options.files)
        sources = {file: (folder / "tree0" / place_of(file)).read_bytes() for file in files}
        journal = Journal(options.journal, sources)
        each = {file: mutants_of(file, source) for file, source in sources.items()}
        mutants = [mutant for every in each.values() for mutant in every][options.every // 2 :: options.every]
        trusted = {mutant for mutant in mutants if options.trust and mutant.key in reasons}
        known = {mutant: journal.verdict(mutant) for mutant in mutants if mutant not in trusted}
        left = [m for m, verdict in known.items() if not verdict or (options.again and verdict.outcome == "survived")]
        if left and not options.known:
            judge_in_copies(folder, left, journal, options)
    verdicts = [Verdict(mutant, "survived") if mutant in trusted else journal.verdict(mutant) for mutant in mutants]
    text = report(
        [verdict for verdict in verdicts if verdict], reasons, {file: len(every) for file, every in each.items()}
    )
    put(text, options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
