"""Change one coefficient, sign, exponent, comparison or function of a formulation at a time: a test has to fail.

    python validation/mutate.py [FILES...] [--every K] [--only N:M] [--tests TEST...] [--jobs 1] [--timeout S]
                                [--trust] [--journal FILE [--again | --known]] [-o report.md]

Every mutant is written into a copy of the package and meets the tests there until one fails: a theorem's mutants meet
the tests that name it, a shared file's those of its topic. Tests run in children of a process that has imported the
heavy packages once. With `--every K` the mutants 0, K, 2K, … of each file are judged, in the order of its text. A
journal keeps the verdicts, so that an interrupted run goes on where it ended; a mutant of a file that has changed is
judged again, and with `--again` every survivor is. With `--known` nothing is judged: the report is the journal's.
What is changed, and what is left alone, says `mutants.py`.
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
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple, NoReturn

from rich.console import Console
from rich.progress import track

from mutants import Mutant, mutants_of

ROOT = Path(__file__).resolve().parents[1]
# Which tests a file's mutants meet, by topic; every other file is a single task's theorem.
THEOREM = (
    "roots", "bounds", "regulariser_sides", "declarations", "identities", "task", "parameters", "zoo", "group_lasso",
    "interior",
)  # fmt: skip
TOPICS = {
    "_cvxpy": ("demonstrations",),
    "_dual": ("losses", "declarations", "losses_declared"), "_primal": ("losses", "declarations", "losses_declared"),
    "_formulation": ("parameters", "demonstrations"), "_groups": ("bounds", "declarations"),
    "_roots": ("roots", "bounds"), "_regulariser": ("regulariser_sides", "bounds", "interior"),
    "_silp": ("silp", "hypergraph"),
    **dict.fromkeys(("ml_sum", "ml_minimax", "families/multi_label"), ("multi_label", "parameters")),
    **dict.fromkeys(("ts", "ts_l1", "alignment", "families/two_stage"), ("two_stage", "parameters")),
    **dict.fromkeys(("hypergraph", "hypergraph_smooth", "families/hypergraph"), ("hypergraph", "parameters")),
    "__init__": ("parameters", "demonstrations"),
    "families/single_task": ("bounds", "task", "parameters", "losses_parameters", "declarations", "joint"),
    "families/task": ("task", "bounds", "declarations", "losses_parameters"),
    "families/pairs": ("interior_pairs", "two_stage"),
    "losses/_exact": ("exact", "task", "losses"), "losses/_loss": ("losses", "task", "parameters", "losses_parameters"),
    "losses/hinge": ("losses", "exact", "task", "parameters"),
    "losses/nu": ("losses", "exact", "task", "parameters", "losses_declared", "declarations"),
    **{f"losses/{name}": ("losses", "exact", "losses_declared", "losses_parameters", "sample_terms") for name in (
        "_quadratic", "squared_hinge", "smoothed_hinge", "logistic", "squared", "epsilon_insensitive",
        "squared_epsilon_insensitive", "huber", "quantile", "one_class",
    )},
    "losses/poisson": ("losses", "poisson", "losses_declared", "sample_terms"),
    "losses/nu_svr": ("nu_svr", "losses", "losses_declared", "losses_parameters"),
    "losses/__init__": ("losses", "losses_parameters"),
    **dict.fromkeys(
        ("families/joint", "losses/_joint", "losses/crammer_singer", "losses/softmax"),
        ("joint", "joint_rounding", "joint_identities", "joint_certificate", "interior_joint"),
    ),
}  # fmt: skip
PACKAGE = Path("mklcvx/formulations")
PASSED, NO_TESTS, TIMEOUT = 0, 5, 99  # exit codes: of pytest, of pytest for an empty selection, of an alarm
OUTCOMES = ("killed", "timeout", "equivalent", "survived")

Seconds = dict[str, float]  # by test
Controls = dict[str, Seconds]  # by test file


def refuse(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    raise SystemExit(2)


def copy_project(root: Path, tree: Path) -> None:
    """The package as it is installed, with its tests beside it."""
    for source, target in (("mklcvx", "mklcvx"), ("formulations", str(PACKAGE)), ("tests", "tests")):
        shutil.copytree(root / source, tree / target, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "pyproject.toml", tree)
    (tree / "formulations").symlink_to(PACKAGE)
    # Bytecode that knows its source by a hash is never taken for that of the next mutant.
    compileall.compile_dir(tree / "mklcvx", quiet=1, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH)


def environment_of(tree: Path) -> dict[str, str]:
    """One thread, the tree in front, and tests that are compiled once."""
    environment = os.environ | {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "RAYON")}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(tree), os.environ.get("PYTHONPATH")]))
    return environment | {"PYTEST_ADDOPTS": "", "PYTHONDONTWRITEBYTECODE": ""}


HEAVY = ("cvxpy", "scipy.optimize", "sklearn.svm")  # packages that are in memory before the tests are
NURSERY = '''
import importlib, json, math, os, signal, sys, time
import hypothesis, pytest

for package in sys.argv[1:]:
    importlib.import_module(package)
phases = hypothesis.Phase.explicit, hypothesis.Phase.generate  # a failing example need not be the smallest
hypothesis.settings.register_profile("mutants", phases=phases, database=None)
hypothesis.settings.load_profile("mutants")

class Watch:
    """Runs quick tests first; notes the first failure, and the seconds of every test."""

    def __init__(self, usual):
        self.usual, self.failed, self.seconds = usual, "", {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items.sort(key=lambda item: self.usual.get(item.nodeid, 0.0))

    def pytest_runtest_setup(self, item):
        signal.alarm(20 + 10 * math.ceil(self.usual.get(item.nodeid, 100.0)))

    def pytest_runtest_logreport(self, report):
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration
        self.pytest_collectreport(report)

    def pytest_collectreport(self, report):
        if report.failed and not self.failed:
            self.failed = report.nodeid

for line in sys.stdin:
    arguments, limit, usual = json.loads(line)
    child = os.fork()
    if child == 0:
        os.setsid()
        void = os.open(os.devnull, os.O_WRONLY)
        os.dup2(void, 1), os.dup2(void, 2)
        watch = Watch(usual)
        signal.signal(signal.SIGALRM, lambda *_: os._exit(99))
        code = pytest.main(arguments, plugins=[watch])
        with open("watched.json", "w") as file:
            json.dump([watch.failed, watch.seconds], file)
        os._exit(code)
    end, code = time.monotonic() + limit, None
    while time.monotonic() < end and code is None:
        done, status = os.waitpid(child, os.WNOHANG)
        code = os.waitstatus_to_exitcode(status) if done else time.sleep(0.01)
    if code is None:
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
    print(json.dumps(code), flush=True)
'''


class Outcome(NamedTuple):
    """The exit code of pytest, None if time ran out; the first test that failed; the seconds of every test."""

    code: int | None
    failed: str
    seconds: Seconds


class Nursery:
    """A process in a tree that has the heavy packages in memory and runs tests in children of its own."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self.process = subprocess.Popen(
            [sys.executable, "-c", NURSERY, *HEAVY],
            cwd=tree,
            env=environment_of(tree),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run_tests(self, tests: Sequence[str], timeout: float, usual: Seconds, naming: str = "") -> Outcome:
        """Run test files, or those of their tests that name a formulation, until one fails; usually quick tests come
        first."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist", "-k", naming, *tests]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is in memory before pytest
        options += ["--assert=plain"]  # nobody reads what a failing assertion compared
        self.process.stdin.write(json.dumps([options, timeout, usual]) + "\n")
        self.process.stdin.flush()
        code, watched = json.loads(self.process.stdout.readline()), self.tree / "watched.json"
        failed, seconds = json.loads(watched.read_text(encoding="utf-8")) if watched.exists() else ("", {})
        watched.unlink(missing_ok=True)
        return Outcome(code, failed, seconds)

    def close(self) -> None:
        self.process.communicate()


def selection_of(file: str, tests: Sequence[str] | None) -> tuple[list[str], str]:
    """The test files that a mutant of this file meets, in their order, and the name that selects from them."""
    name = file.removesuffix(".py")
    if tests:
        return list(tests), ""
    return [_test_file(topic) for topic in TOPICS.get(name, THEOREM)], "" if name in TOPICS else name


def _test_file(topic: str) -> str:
    (found,) = (ROOT / "tests").glob(f"*/test_{topic}.py")
    return str(found.relative_to(ROOT))


def check_import(tree: Path) -> None:
    """An installed package must not stand in front of the copy."""
    code = "import mklcvx, mklcvx.formulations as f; print(mklcvx.__file__, f.__file__)"
    command = partial(subprocess.run, cwd=tree, env=environment_of(tree), capture_output=True, text=True)
    output = command([sys.executable, "-c", code]).stdout.strip()
    if output != f"{tree / PACKAGE.parent / '__init__.py'} {tree / PACKAGE / '__init__.py'}":
        refuse(f"the copy in {tree} is not what Python imports: {output}")


def control(nursery: Nursery, tests: Sequence[str], timeout: float | None, journal: Journal) -> Controls:
    """Test files without a mutation: each has to pass."""
    found: Controls = {}
    everything = b"".join(path.read_bytes() for path in sorted((nursery.tree / PACKAGE).rglob("*.py")))
    for test in tests:
        digest = _digest(everything + (nursery.tree / test.partition("::")[0]).read_bytes())
        if (test, digest) not in journal.controls:
            outcome = nursery.run_tests([test], timeout or 1800.0, {})
            if outcome.code != PASSED:
                refuse(f"{test} fails without any mutation")
            seconds = {name: round(value, 3) for name, value in outcome.seconds.items()}
            journal.note({"control": test, "source": digest, "seconds": seconds})
        found[test] = journal.controls[test, digest]
    return found


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
        self.path: Path | None = None
        self.digests = {file: _digest(source) for file, source in sources.items()}
        self.entries: dict[tuple[Any, ...], dict[str, Any]] = {}
        self.first: dict[tuple[Any, ...], str] = {}  # the first outcome, before tests were added
        self.controls: dict[tuple[str, str], Seconds] = {}  # by test file and digest
        for line in path.read_text(encoding="utf-8").splitlines() if path is not None and path.exists() else ():
            self.note(json.loads(line))
        self.path = path

    def verdict(self, mutant: Mutant) -> Verdict | None:
        entry = self.entries.get((mutant.file, self.digests[mutant.file], *mutant.edit))
        if entry is None:
            return None
        again = self.first[mutant.file, self.digests[mutant.file], *mutant.edit] == "survived"
        return Verdict(mutant, entry["outcome"], entry["test"], entry["seconds"], again)

    def add(self, verdict: Verdict) -> None:
        mutant, outcome, test, seconds, _ = verdict
        entry = {"file": mutant.file, "source": self.digests[mutant.file], "edit": mutant.edit}
        self.note(entry | {"outcome": outcome, "test": test, "seconds": round(seconds, 1)})

    def note(self, entry: dict[str, Any]) -> None:
        if "control" in entry:
            self.controls[entry["control"], entry["source"]] = entry["seconds"]
        else:
            place = entry["file"], entry["source"], *entry["edit"]
            self.first.setdefault(place, entry["outcome"])
            self.entries[place] = entry
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")


def _digest(source: bytes) -> str:
    return hashlib.sha256(source).hexdigest()[:16]


def judge(
    mutant: Mutant, free: SimpleQueue[Nursery], controls: Controls, tests: Sequence[str] | None, timeout: float | None
) -> Verdict:
    """Run the tests until one fails, in a free tree that is put back as it was."""
    nursery = free.get()
    path = nursery.tree / PACKAGE / mutant.file
    source, started = path.read_bytes(), time.monotonic()
    try:
        path.write_bytes(mutant.apply(source))
        chosen, naming = selection_of(mutant.file, tests)
        usual = {name: seconds for test in chosen for name, seconds in controls[test].items()}
        limit = timeout or 60 + 5 * sum(usual.values())
        code, failed, _ = nursery.run_tests(chosen, limit, usual, naming)
    finally:
        path.write_bytes(source)
        free.put(nursery)
    outcome = "timeout" if code in (None, TIMEOUT) else "survived" if code in (PASSED, NO_TESTS) else "killed"
    return Verdict(mutant, outcome, failed, time.monotonic() - started)


def judge_all(
    mutants: list[Mutant], nurseries: list[Nursery], journal: Journal, again: bool, tests: Sequence[str] | None,
    timeout: float | None,
) -> None:  # fmt: skip
    """Complete the journal, one worker per tree. Survivors are shown as they are found."""
    if not nurseries:
        return
    free: SimpleQueue[Nursery] = SimpleQueue()
    for nursery in nurseries:
        free.put(nursery)
    known = {mutant: journal.verdict(mutant) for mutant in mutants}
    left = [mutant for mutant, found in known.items() if found is None or (again and found.outcome == "survived")]
    needed = dict.fromkeys(test for mutant in left for test in selection_of(mutant.file, tests)[0])
    controls, console = control(nurseries[0], list(needed), timeout, journal), Console(stderr=True)
    with ThreadPoolExecutor(len(nurseries)) as pool:
        judged = pool.map(partial(judge, free=free, controls=controls, tests=tests, timeout=timeout), left)
        for verdict in track(judged, "mutants", total=len(left), console=console):
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
    verdicts = [
        verdict._replace(outcome="equivalent")
        if verdict.outcome == "survived" and verdict.mutant.key in reasons
        else verdict
        for verdict in verdicts
    ]
    seconds = sum(verdict.seconds for verdict in verdicts) / max(1, len(verdicts))
    rule = "Mutants at equal distances in the text of each file, from the first; listed ones may be left out"
    lines = ["# Mutants of the formulations", ""]
    lines += [f"{rule}: {len(verdicts)} of {sum(totals.values())}, {seconds:.1f} s each.", ""]
    late = [verdict for verdict in verdicts if verdict.again and verdict.test]
    told = [verdict for verdict in verdicts if verdict.outcome != "equivalent"]
    share = 1 - sum(verdict.again or verdict.outcome == "survived" for verdict in told) / max(1, len(told))
    if late:
        lines += [
            f"{len(late)} survived when they were first judged and are killed by tests written for them since. Before,"
        ]
        lines += [
            f"the score was {share:.1%}; the score below says nothing about mutants that have not been judged.",
            "",
        ]
    lines += [f"| file | mutants | judged | {' | '.join(OUTCOMES)} | score | survived at first |"]
    lines += ["|---" + "|--:" * (len(OUTCOMES) + 4) + "|"]
    for file in [*sorted({verdict.mutant.file for verdict in verdicts}), "all"]:
        outcomes = Counter(verdict.outcome for verdict in verdicts if file in (verdict.mutant.file, "all"))
        noticed = outcomes["killed"] + outcomes["timeout"]
        score = f"{noticed / max(1, noticed + outcomes['survived']):.1%}"
        count = sum(totals.values()) if file == "all" else totals[file]
        first = sum(file in (verdict.mutant.file, "all") for verdict in late)
        cells = [file, count, outcomes.total(), *(outcomes[outcome] for outcome in OUTCOMES), score, first]
        lines.append(f"| {' | '.join(map(str, cells))} |")
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


# ------------------------------------------------------------------------------------------ command line
def files_of(package: Path) -> list[str]:
    """Every source file, by its path within the package."""
    return sorted(path.relative_to(package).as_posix() for path in package.rglob("*.py"))


def _name_of(file: str) -> str:
    return Path(file.removeprefix("formulations/")).with_suffix(".py").as_posix()


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", help="files of formulations/, such as l1 or losses/nu; all unless given")
    parser.add_argument("--tests", nargs="+", help="test files or single tests, in their order")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time")
    parser.add_argument("--timeout", type=float, help="seconds; 60 + 5 times the unmutated run unless given")
    parser.add_argument("--every", type=int, metavar="K", default=1, help="the mutants 0, K, 2K, … of each file")
    parser.add_argument("--only", metavar="N:M", default=":", help="the mutants N to M − 1 of the list")
    parser.add_argument("--trust", action="store_true", help="do not judge mutants that are listed as equivalent")
    parser.add_argument("--journal", type=Path, help="file of verdicts, to go on with an interrupted run")
    parser.add_argument("--again", action="store_true", help="judge the journal's survivors again")
    parser.add_argument("--known", action="store_true", help="report what the journal holds, and judge nothing")
    parser.add_argument("-o", "--output", type=Path, help="where the report goes; standard output unless given")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    options = parse(arguments)
    reasons = read_equivalents(root / "validation/equivalent_mutants.txt")
    with tempfile.TemporaryDirectory() as folder:
        first, *others = trees = [Path(folder).resolve() / f"tree{job}" for job in range(options.jobs)]
        copy_project(root, first)
        for tree in others:
            shutil.copytree(first, tree, symlinks=True)
        for tree in trees:
            check_import(tree)
        names = [_name_of(file) for file in options.files] or files_of(first / PACKAGE)
        sources = {name: (first / PACKAGE / name).read_bytes() for name in names}
        journal = Journal(options.journal, sources)
        each = {name: mutants_of(name, source) for name, source in sources.items()}
        mutants = [mutant for found in each.values() for mutant in found[:: options.every]]
        mutants = mutants[slice(*(int(end) if end else None for end in options.only.split(":")))]
        nurseries = [] if options.known else [Nursery(tree) for tree in trees]
        trusted = [mutant for mutant in mutants if options.trust and mutant.key in reasons]
        try:
            judged = [mutant for mutant in mutants if mutant not in trusted]
            judge_all(judged, nurseries, journal, options.again, options.tests, options.timeout)
        finally:
            for nursery in nurseries:
                nursery.close()
        found = [*(journal.verdict(mutant) for mutant in judged), *(Verdict(mutant, "survived") for mutant in trusted)]
    text = report([verdict for verdict in found if verdict is not None], reasons, {n: len(m) for n, m in each.items()})
    options.output.write_text(text, encoding="utf-8") if options.output else print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
