"""Change one coefficient, sign, exponent, comparison or function of a formulation at a time: a test has to fail.

    python validation/mutate.py [FILES...] [--tests TEST...] [--jobs 2] [--timeout S]
                                [--only N:M | --sample K --seed S] [-o report.md]

Every mutant is written into a copy of the package and meets the tests there, stage by stage, quickest first: a
theorem's mutants those that name it, a shared file's those of its topic. Tests run in children of a process that has
imported the heavy packages once.
Texts, annotations, decorators, imports, refusals (`raise`) and `strict=` are left alone: they claim no mathematics.
Survivors that change nothing are named, with the reason, in `equivalent_mutants.txt`:

    file.py: original line => mutated line  # reason
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple, NoReturn

from rich.console import Console
from rich.progress import track

ROOT = Path(__file__).resolve().parents[1]
# Which tests a file's mutants meet, by topic; every other file is a single task's theorem.
THEOREM = ("bounds", "declarations", "identities", "regulariser_sides", "zoo", "task", "parameters", "interior")
TOPICS = {
    "_cvxpy": ("package",), "_demonstrate": ("demonstrations",), "_dual": ("declarations", "losses"),
    "_primal": ("declarations", "losses"), "_formulation": ("parameters",),
    "_groups": ("bounds", "declarations"), "_roots": ("bounds",), "_stack": ("task", "declarations"),
    "_regulariser": ("regulariser_sides", "interior"), "_pairs": ("interior_pairs", "two_stage"),
    "_single": ("bounds", "task", "parameters", "declarations"), "_task": ("task", "bounds", "declarations"),
    "_silp": ("silp", "hypergraph"), "_multi_label": ("multi_label",), "ml_sum": ("multi_label",),
    "ml_minimax": ("multi_label",), "_two_stage": ("two_stage",), "ts": ("two_stage",), "ts_l1": ("two_stage",),
    "alignment": ("two_stage",), "_hypergraph": ("hypergraph",), "hypergraph": ("hypergraph",),
    "hypergraph_smooth": ("hypergraph",), "__init__": ("package", "parameters"),
}  # fmt: skip
PACKAGE = Path("mklcvx/formulations")
NO_TESTS = 5  # the exit code of pytest where a selection is empty
OUTCOMES = ("killed", "timeout", "equivalent", "survived")

# fmt: off
OPERATORS: dict[type[ast.AST], tuple[str, ...]] = {  # the token, then what it may become
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.Pow: ("**", "*"),
    ast.FloorDiv: ("//", "/"), ast.And: ("and", "or"), ast.Or: ("or", "and"), ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="), ast.LtE: ("<=", ">=", "<"), ast.GtE: (">=", "<=", ">"), ast.Lt: ("<", ">", "<="),
    ast.Gt: (">", "<", ">="), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"), ast.USub: ("-", ""), ast.Invert: ("~", ""), ast.Not: ("not", ""),
}
BUILTINS = {"max": "min", "min": "max", "abs": "float"}
MEMBERS = {
    "max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum", "argmax": "argmin", "argmin": "argmax",
    "sum": "max", "mean": "max", "fsum": "prod", "cumsum": "cumprod", "any": "all", "all": "any", "norm": "norm1",
    "sum_squares": "norm", "square": "abs", "abs": "square", "sqrt": "cbrt", "exp": "expm1", "log": "log1p",
    "floor": "ceil", "ceil": "floor", "zeros": "ones", "ones": "zeros", "zeros_like": "ones_like",
    "ones_like": "zeros_like", "isinf": "isfinite", "isfinite": "isinf", "Maximize": "Minimize", "Minimize": "Maximize",
}
# fmt: on
Edit = tuple[int, int, str]  # bytes from, to, and the text in their place
Limits = dict[str, float]  # seconds by stage


@dataclass(frozen=True, order=True)
class Mutant:
    """One edit of a file; `before` and `after` are the line (or lines, joined) that it changes."""

    file: str
    edit: Edit
    line: int
    before: str
    after: str

    def apply(self, source: bytes) -> bytes:
        start, end, text = self.edit
        return source[:start] + text.encode() + source[end:]

    @property
    def key(self) -> str:
        return f"{self.file}: {self.before} => {self.after}"


def mutants_of(file: str, source: bytes) -> list[Mutant]:
    """Every mutant of a source, in the order of its text."""
    text = Text(source)
    edits = {edit for node in claims(ast.parse(source)) for edit in text.edits(node)}
    return [text.mutant(file, edit) for edit in sorted(edits)]


def claims(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it that can change a value."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.JoinedStr() | ast.Raise() | ast.keyword(arg="strict"):
            children: list[ast.AST] = []
        case ast.Assign(targets=[ast.Name("__all__")]):
            children = []
        case ast.If(test=ast.Name("TYPE_CHECKING")):
            children = [*node.orelse]
        case _:
            yield node
            unread = [getattr(node, name, None) for name in ("annotation", "returns", "decorator_list")]
            skipped = {id(child) for field in unread for child in (field if isinstance(field, list) else [field])}
            children = [child for child in ast.iter_child_nodes(node) if id(child) not in skipped]
    for child in children:
        yield from claims(child)


class Text:
    """A source in bytes, as `ast` counts columns, and the edits of its nodes."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.line_starts = [0, *accumulate(map(len, source.splitlines(keepends=True)))]

    def span(self, node: ast.expr) -> tuple[int, int]:
        last, column = node.end_lineno or 0, node.end_col_offset or 0
        return self.line_starts[node.lineno - 1] + node.col_offset, self.line_starts[last - 1] + column

    def of(self, node: ast.expr) -> str:
        return self.source[slice(*self.span(node))].decode()

    def edits(self, node: ast.AST) -> Iterator[Edit]:
        match node:
            case ast.Constant(value=bool(flag)):
                yield *self.span(node), repr(not flag)
            case ast.Constant(value=int(number) | float(number)):
                yield from ((*self.span(node), repr(other)) for other in {number + 1, 2 * number} - {number})
            case ast.BinOp(left, op, right) | ast.AugAssign(left, op, right):
                yield from self.operator(op, self.span(left)[1], self.span(right)[0])
            case ast.BoolOp(op, values):
                for left, right in pairwise(values):
                    yield from self.operator(op, self.span(left)[1], self.span(right)[0])
            case ast.Compare(left, ops, others):
                for comparison, (one, two) in zip(ops, pairwise([left, *others]), strict=True):
                    yield from self.operator(comparison, self.span(one)[1], self.span(two)[0])
            case ast.UnaryOp(op, operand):
                yield from self.operator(op, self.span(node)[0], self.span(operand)[0])
            case ast.Attribute(_, name) if name in MEMBERS:
                yield self.span(node)[1] - len(name), self.span(node)[1], MEMBERS[name]
            case ast.Call(ast.Name(name) as function) if name in BUILTINS:
                yield *self.span(function), BUILTINS[name]
            case ast.Call(ast.Attribute(_, "argsort"), [first, *_]) if not isinstance(first, ast.UnaryOp):
                yield *self.span(first), f"-({self.of(first)})"
            case ast.IfExp(_, body, other):
                (start, stop), (resume, end) = self.span(body), self.span(other)
                yield start, end, f"({self.of(other)}){self.source[stop:resume].decode()}({self.of(body)})"
            case ast.If(ast.Name() | ast.Attribute() | ast.Call() as test):
                yield *self.span(test), f"not {self.of(test)}"

    def operator(self, op: ast.AST, start: int, end: int) -> Iterator[Edit]:
        """An operator stands between its operands among brackets, white space and comments."""
        gap = re.sub(rb"#[^\n]*", lambda comment: b" " * len(comment[0]), self.source[start:end])
        token, *others = OPERATORS.get(type(op), ("",))
        start += gap.index(token.encode())
        yield from ((start, start + len(token), other) for other in others)

    def mutant(self, file: str, edit: Edit) -> Mutant:
        start, end, text = edit
        head = self.source[:start].rpartition(b"\n")[2].decode()
        tail = self.source[end:].partition(b"\n")[0].decode()
        before, after = (" ".join((head + part + tail).split()) for part in (self.source[start:end].decode(), text))
        return Mutant(file, edit, self.source.count(b"\n", 0, start) + 1, before, after)


# ---------------------------------------------------------------------------------------------- running
def refuse(message: str) -> NoReturn:
    print(message, file=sys.stderr)
    raise SystemExit(2)


def copy_project(root: Path, tree: Path) -> None:
    """The package as it is installed, with its tests beside it."""
    for source, target in (("mklcvx", "mklcvx"), ("formulations", str(PACKAGE)), ("tests", "tests")):
        shutil.copytree(root / source, tree / target, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "pyproject.toml", tree)
    (tree / "formulations").symlink_to(PACKAGE)


def environment_of(tree: Path) -> dict[str, str]:
    """One thread, the tree in front, and no bytecode: it would be taken for that of the next mutant."""
    environment = os.environ | {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "RAYON")}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(tree), os.environ.get("PYTHONPATH")]))
    return environment | {"PYTHONDONTWRITEBYTECODE": "1", "PYTEST_ADDOPTS": ""}


NURSERY = """
import json, os, signal, sys, time
import cvxpy, hypothesis, pytest, scipy.optimize, sklearn.svm
for line in sys.stdin:
    arguments, limit = json.loads(line)
    child = os.fork()
    if child == 0:
        os.setsid()
        void = os.open(os.devnull, os.O_WRONLY)
        os.dup2(void, 1), os.dup2(void, 2)
        os._exit(pytest.main(arguments))
    end, code = time.monotonic() + limit, None
    while time.monotonic() < end and code is None:
        done, status = os.waitpid(child, os.WNOHANG)
        code = os.waitstatus_to_exitcode(status) if done else time.sleep(0.01)
    if code is None:
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
    print(json.dumps(code), flush=True)
"""


class Nursery:
    """A process in a tree that has the heavy packages in memory and runs tests in children of its own."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self.process = subprocess.Popen(
            [sys.executable, "-c", NURSERY],
            cwd=tree,
            env=environment_of(tree),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run_tests(self, test: str, timeout: float, naming: str = "") -> int | None:
        """The exit code of one stage, or of those of its tests that name a formulation; None: time ran out."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist", "-k", naming, test]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is in memory before pytest
        self.process.stdin.write(json.dumps([options, timeout]) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return None if answer is None else int(answer)

    def close(self) -> None:
        self.process.communicate()


def stages_of(file: str, tests: Sequence[str] | None) -> list[tuple[str, str]]:
    """Test files and the name that selects from them, in the order in which a mutant of this file meets them."""
    stem = Path(file).stem
    if tests:
        return [(test, "") for test in tests]
    if stem in TOPICS:
        return [(_test_file(topic), "") for topic in TOPICS[stem]]
    return [(_test_file(topic), stem) for topic in THEOREM]


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


def control(nursery: Nursery, tests: Sequence[str], timeout: float | None) -> Limits:
    """The seconds that each stage is given; unmutated, each has to pass."""
    limits: Limits = {}
    for test in tests:
        started = time.monotonic()
        if nursery.run_tests(test, timeout or 600.0) != 0:
            refuse(f"{test} fails without any mutation")
        limits[test] = timeout or 30 + 5 * (time.monotonic() - started)
    return limits


class Verdict(NamedTuple):
    """`outcome` is one of OUTCOMES; `test` is the stage that noticed."""

    mutant: Mutant
    outcome: str
    test: str = ""


def judge(
    mutant: Mutant, free: SimpleQueue[Nursery], limits: Limits, known: Container[str], tests: Sequence[str] | None
) -> Verdict:
    """Stage by stage until one fails, in a free tree that is put back as it was."""
    nursery = free.get()
    path = nursery.tree / PACKAGE / mutant.file
    source = path.read_bytes()
    try:
        path.write_bytes(mutant.apply(source))
        for test, naming in stages_of(mutant.file, tests):
            code = nursery.run_tests(test, limits[test], naming)
            if code not in ((0, NO_TESTS) if naming else (0,)):
                return Verdict(mutant, "timeout" if code is None else "killed", test)
        return Verdict(mutant, "equivalent" if mutant.key in known else "survived")
    finally:
        path.write_bytes(source)
        free.put(nursery)


def judge_all(
    mutants: list[Mutant],
    nurseries: list[Nursery],
    limits: Limits,
    known: Container[str],
    tests: Sequence[str] | None,
) -> list[Verdict]:
    """One worker per tree; survivors are shown as they are found, unless known to be equivalent."""
    free: SimpleQueue[Nursery] = SimpleQueue()
    for nursery in nurseries:
        free.put(nursery)
    verdicts, console = [], Console(stderr=True)
    with ThreadPoolExecutor(len(nurseries)) as pool:
        judged = pool.map(partial(judge, free=free, limits=limits, known=known, tests=tests), mutants)
        for verdict in track(judged, "mutants", total=len(mutants), console=console):
            verdicts.append(verdict)
            if verdict.outcome == "survived":
                console.print("survived:", verdict.mutant.key, markup=False, highlight=False, soft_wrap=True)
    return verdicts


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


def report(verdicts: Sequence[Verdict], reasons: dict[str, str]) -> str:
    """Counts per file, then every mutant that no test noticed."""
    lines = ["# Mutants of the formulations", ""]
    lines += [f"| file | mutants | {' | '.join(OUTCOMES)} | score |", "|---" + "|--:" * (len(OUTCOMES) + 2) + "|"]
    for file in [*sorted({verdict.mutant.file for verdict in verdicts}), "all"]:
        outcomes = Counter(verdict.outcome for verdict in verdicts if file in (verdict.mutant.file, "all"))
        noticed = outcomes["killed"] + outcomes["timeout"]
        score = f"{noticed / max(1, noticed + outcomes['survived']):.1%}"
        cells = [file, outcomes.total(), *(outcomes[outcome] for outcome in OUTCOMES), score]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    stages = Counter(verdict.test for verdict in verdicts if verdict.test).most_common()
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
def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", help="names of files in formulations/; all unless given")
    parser.add_argument("--tests", nargs="+", help="the stages in their order: test files or single tests")
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time")
    parser.add_argument("--timeout", type=float, help="seconds per stage; 30 + 5 times the unmutated run unless given")
    parser.add_argument("--only", metavar="N:M", default=":", help="the mutants N to M − 1 of the list")
    parser.add_argument("--sample", type=int, metavar="K", help="K of the mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
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
        names = [f"{Path(file).stem}.py" for file in options.files] or (p.name for p in (first / PACKAGE).glob("*.py"))
        mutants = [m for name in sorted(names) for m in mutants_of(name, (first / PACKAGE / name).read_bytes())]
        mutants = mutants[slice(*(int(end) if end else None for end in options.only.split(":")))]
        if options.sample is not None:
            mutants = sorted(random.Random(options.seed).sample(mutants, min(options.sample, len(mutants))))
        needed = [test for mutant in mutants for test, _ in stages_of(mutant.file, options.tests)]
        nurseries = [Nursery(tree) for tree in trees]
        try:
            limits = control(nurseries[0], list(dict.fromkeys(needed)), options.timeout)
            verdicts = judge_all(mutants, nurseries, limits, reasons, options.tests)
        finally:
            for nursery in nurseries:
                nursery.close()
    text = report(verdicts, reasons)
    options.output.write_text(text, encoding="utf-8") if options.output else print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
