"""The command line as a process of its own: no heavy import before solving, any terminal, readers who leave; standard
output and error that are closed, full, or no longer read leave the exit status true."""

import os
import pickle
import signal
import subprocess
import sys
from functools import partial

import pytest

import mklcvx
from mklcvx.cli.main import main as command_line
from mklcvx.io.files import load_solution
from processes import imported
from refusals import strict

pytestmark = pytest.mark.slow


def process(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "mklcvx", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **environment},
    )


COMMANDS = [
    (("--help",), 0),
    (("--version",), 0),
    (("solve", "--help"), 0),
    (("list",), 0),
    (("explain", "l1"), 0),
    (("solve", "{folder}/missing.npz"), 2),
    (("solve", "{folder}/truncated.npz"), 2),
    (("solve", "{folder}/pickled.npz"), 2),
    (("solve", "{folder}/problem.npz", "--set", "C=0"), 2),
    (("explain", "hypergraph", "--latex"), 0),
    (("solve", "{folder}/problem.npz", "-f", "ts", "--set", "lam=0"), 2),
    (("solve", "{folder}/problem.npz", "-f", "hypergraph", "--set", "expansion=x"), 2),
    (("predict", "{folder}/missing.json", "{folder}/problem.npz"), 2),
    (("conform", "nowhere.at_all:f"), 2),
]


def test_nothing_heavy_is_imported_before_something_is_solved(problem, tmp_path):
    (tmp_path / "truncated.npz").write_bytes(problem.read_bytes()[:500])
    (tmp_path / "pickled.npz").write_bytes(pickle.dumps({"kernels": 1}))
    found = imported(*([argument.format(folder=tmp_path) for argument in command] for command, _ in COMMANDS))
    for (command, expected), (status, said, heavy) in zip(COMMANDS, found, strict=True):
        assert (status, heavy) == (expected, []), command
        assert len(said) == (1 if expected else 0), command


def test_the_engine_needs_no_modelling_language_and_the_probe_sees_one(problem):
    engine, declared = imported(("solve", problem, "-q"), ("solve", problem, "-q", "--solver", "clarabel"))
    assert (engine[0], declared[0]) == (0, 0)
    assert "cvxpy" not in engine[2]
    assert "cvxpy" in declared[2]


def test_version():
    done = process("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"mklcvx {mklcvx.__version__}\n", "")


def test_solving_in_a_process_of_its_own(problem, tmp_path):
    done = process("solve", problem, "--json", "-o", tmp_path / "answer.npz")
    assert (done.returncode, done.stderr) == (0, "")
    assert strict(done.stdout)["status"] == "certified"
    assert load_solution(tmp_path / "answer.npz").certified


def test_terminal_without_greek_letters_gets_an_answer_too():
    for arguments in (("list",), ("explain", "sm1")):
        done = process(*arguments, PYTHONIOENCODING="ascii")
        assert (done.returncode, done.stderr) == (0, "")
        assert "sm1" in done.stdout


def test_reader_who_leaves_early_gets_no_traceback():
    with subprocess.Popen(
        [sys.executable, "-m", "mklcvx", "explain", "l1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        child.stdout.close()
        assert child.stderr.read() == ""


INTERRUPTED_WHEN_IMPORTED = "import os, signal; os.kill(os.getpid(), signal.SIGINT); raise ImportError('went on')"


@pytest.mark.parametrize("handler", [signal.SIG_DFL, signal.SIG_IGN])
def test_an_interrupt_during_the_imports_is_one_line_unless_it_is_to_be_ignored(tmp_path, handler):
    (tmp_path / "typer.py").write_text(INTERRUPTED_WHEN_IMPORTED, encoding="utf-8")
    words = [sys.executable, "-c", "from mklcvx.__main__ import main; main()", "list"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run(
        words,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, handler),
    )
    if handler is signal.SIG_DFL:
        assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "mklcvx: interrupted\n")
    else:
        assert "went on" in ended.stderr


def test_an_interrupt_during_the_imports_has_its_status_where_nobody_listens(tmp_path):
    (tmp_path / "typer.py").write_text(INTERRUPTED_WHEN_IMPORTED, encoding="utf-8")
    words = f"{sys.executable} -c 'from mklcvx.__main__ import main; main()' list 2>&-"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    heeded = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # even if these tests run in the background
    ended = subprocess.run(["bash", "-c", words], check=False, env=environment, preexec_fn=heeded)
    assert ended.returncode == 130


def shell(words, ending, problem, before="", **environment):
    """Status of a command behind a shell's redirection, and what it says on standard error."""
    command = f"{sys.executable} -m mklcvx {words} {ending}; echo status ${{PIPESTATUS[0]}} >&3"
    done = subprocess.run(
        ["bash", "-c", f"exec 3>&1; {before}{command.replace('@', str(problem))}"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )
    return int(done.stdout.rsplit("status ", 1)[1]), done.stderr


LOST = "mklcvx: standard output could not be written ({}): choose another place\n"


@pytest.mark.parametrize(
    ("words", "ending", "status", "said"),
    [
        ("list", "> /dev/full", 2, LOST.format("No space left on device")),
        ("list", ">&-", 2, LOST.format("it is closed")),
        ("path @ --grid C=1,2,3 -q", "| true", 141, ""),
        ("solve @ -q -o @.json", ">&-", 0, ""),
        ("solve nowhere.npz", "2> /dev/full", 2, ""),
        ("solve nowhere.npz", ">&- 2>&- <&-", 2, ""),
    ],
)
def test_the_status_stays_true(problem, words, ending, status, said):
    assert shell(words, ending, problem) == (status, said)


@pytest.mark.parametrize("command", ["list", "list --json", "explain l1", "solve @ --json", "path @ --grid C=1"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_what_a_full_disk_does_not_take_is_noticed_without_a_buffer_too(problem, command, unbuffered):
    said = LOST.format("No space left on device")
    assert shell(command, "> /dev/full", problem, PYTHONUNBUFFERED=unbuffered) == (2, said)


@pytest.mark.parametrize(("ending", "status"), [("> /dev/full", 2), ("| true", 141)])
def test_lost_output_is_noticed_in_ascii_too(problem, ending, status):
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    said = LOST.format("No space left on device") if status == 2 else ""
    assert shell("explain l1", ending, problem, **ascii_only) == (status, said)


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_half_of_an_output_is_none(problem, tmp_path, unbuffered):
    """The limit lets a part of it through, of which the system says how much it was."""
    file = tmp_path / "list.json"
    done = shell("list --json", f"> {file}", problem, PYTHONUNBUFFERED=unbuffered)
    assert done == (0, "")
    half = file.stat().st_size // 2048
    assert half > 2
    done = shell("list --json", f"> {file}", problem, f"ulimit -f {half}; ", PYTHONUNBUFFERED=unbuffered)
    assert done == (2, LOST.format("File too large"))


def test_an_interrupt_that_became_another_exception_is_an_interrupt(monkeypatch, capsys):
    """Python's classes make a RuntimeError of what is raised while their fields are named."""

    class Named:
        def __set_name__(self, owner, name):
            raise KeyboardInterrupt

    def explained(name):
        type("Made", (), {"field": Named()})

    monkeypatch.setattr("mklcvx.reports.explain.named", explained)
    with pytest.raises(SystemExit) as left:
        command_line(["explain", "l1"])
    assert (left.value.code, capsys.readouterr().err) == (130, "mklcvx: interrupted\n")


def test_a_library_without_room_is_no_defect(monkeypatch, capsys):
    def explained(name):
        raise ImportError("some.so: failed to map segment from shared object")

    monkeypatch.setattr("mklcvx.reports.explain.named", explained)
    with pytest.raises(SystemExit) as left:
        command_line(["explain", "l1"])
    assert left.value.code == 2
    assert "not enough memory" in capsys.readouterr().err


def test_an_interrupt_after_the_work_does_not_undo_it():
    """The interpreter's own end, in which Python would make a signal of it, hears none."""
    late = "import atexit, os, signal; atexit.register(os.kill, os.getpid(), signal.SIGINT)"
    words = [sys.executable, "-c", f"{late}; from mklcvx.__main__ import main; main()", "zoo"]
    heeded = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    ended = subprocess.run(words, capture_output=True, text=True, check=False, preexec_fn=heeded)
    assert (ended.returncode, ended.stderr) == (0, "")
