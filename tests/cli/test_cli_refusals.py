"""The command line's refusals and interruptions: one line, exit status, nothing half written."""

import os
import shlex

import numpy as np
import pytest

import mklcvx
from mklcvx.cli import options
from mklcvx.problem import memory
from mklcvx.solvers import solving
from stacks import FOR_COMMANDS, LABELS

Y, K = FOR_COMMANDS.y, FOR_COMMANDS.kernels
REFUSALS = {
    "": {
        "--colour": ("--colour",),
        "explain": ("Missing argument",),
        "explain hubr": ("'hubr', nor is it a loss: did you mean 'huber'?",),
        "predict answer.json": ("Missing argument",),
        "predict nowhere.json nowhere.npz": ("nowhere.json: no such file",),
        "demo --samples 1": ("--samples",),
        "demo --html nowhere/page.html": ("no folder", "create it"),
        "report missing.npz": ("missing.npz",),
        "verify problem.npz answer.json --html page.pdf": ("page.pdf", ".html"),
    },
    "solve problem.npz": {
        "--set C": ("--set 'C' is not KEY=VALUE", "write for example --set C=10"),
        "--set =3": ("--set '=3' is not KEY=VALUE",),
        "--set C=": ("--set 'C=' is not KEY=VALUE",),
        "--set C=1 --set C=2": ("--set C is given twice", "keep one"),
        "--set C=1e999": ("parameter C = inf is not a number",),
        "--set C=1 --set nu=0.5": ("C and nu are both given", "keep one"),
        "-f sm1 --set theta=0.1": ("theta = 0.1", "θ ≥ 1/M"),
        "-f ckl --solver silp": ("silp does not fit ckl", "auto, clarabel, scs, interior, ckl_alternating, mirror"),
        "--tol 0": ("tol = 0.0 is not between 0 and 1",),
        "--tol small": ("--tol",),
        "--max-iter 1.5": ("--max-iter",),
        "--kernels ''": ("unknown kernel ''",),
        "-o nowhere/answer.json": ("no folder nowhere", "create it first"),
        "-o": ("-o",),
        "more.npz": ("more.npz", "see mklcvx solve --help"),
        "--solver clarabel --trace t.csv": ("clarabel keeps no trace", "silp_exact, silp, simplemkl, level, analytic"),
        "--solver silp --trace t.txt": ("t.txt", ".json"),
        "--solver silp --trace nowhere/t.csv": ("nowhere",),
        "--solver silp --trace same.json -o same.json": ("the solution goes there too",),
        "--solver level --option share": ("--option 'share' is not KEY=VALUE", "--option seed=1"),
        "--option seed=1": ("unknown option 'seed' of solver auto",),
        "--solver level --option share=.5 --option share=.6": ("--option share is given twice",),
    },
    "solve labels.npz": {
        "": ("l1 needs labels y in {−1, +1}, the instance has labels", "one of the 3 labels", "use ml_sum"),
        "-f ts --set balanced=perhaps": ("parameter balanced = 'perhaps' is neither true nor false",),
        "-f alignment --set approximate=3": ("parameter approximate = 3 is neither true nor false",),
    },
    "solve classes.npz -q": {
        "--multi-class pairs": ("--multi-class pairs is unknown: known: ovo, ovr",),
        "--multi-class ovr --set loss=softmax": ("l1 needs one machine: leave it out",),
        "--trace trace.json": ("--trace follows one machine",),
    },
    "cv problem.npz": {
        "--grid C=1 --set C=2": ("C is both fixed and varied",),
        "--grid C=1 --jobs 0": ("--jobs",),
        f"--grid C=1 --seed {2**32}": ("--seed",),
        "--grid lam=1 -f hypergraph": ("hypergraph embeds and has no score",),
        "--grid C=1 -o cv.csv": (".jsonl or .json",),
        "--folds 2 --set C=2": ("grid: l1 has no C here to vary: give --grid C=0.1,1,10 in place of --set C",),
        "--folds 2 --set nu=0.3": ("give --grid nu=0.1,0.3,0.5 in place of --set nu",),
    },
    "report problem.npz": {
        "-o page.txt": ("page.txt", ".html"),
        "-o nowhere/page.html": ("no folder", "create it"),
        "--solvers silp,simplex": ("simplex", "did you mean"),
        "--solvers ,": ("--solvers", "names none"),
        "--time-limit -1": ("time_limit", "seconds"),
    },
    "bench problem.npz": {
        "--solvers nosuch": ("unknown solver 'nosuch'",),
        "--solvers sm1_bcd": ("sm1_bcd does not fit l1",),
        "--solvers nowhere.at_all:f": ("no module 'nowhere'", "install it"),
        "--solvers clarabel,clarabel": ("'clarabel' is named twice",),
        "--solvers ,": ("no contestant is named",),
        "--solvers clarabel --external 'clarabel=a {instance} {answer}'": ("'clarabel' is named twice",),
        "--external 'run {instance} {answer}'": ("is not NAME=COMMAND",),
        "--external 'a=run {instance}'": ("lacks {instance} or {answer}",),
        '--external "a=run \'un {instance} {answer}"': ("cannot be split into words",),
        "--rounds 0": ("rounds = 0",),
        "--time-limit 0": ("time limit 0",),
    },
    "conform": {
        "": ("give either a function", "--command"),
        "solvers": ("is not package.module:function",),
        "'os;system:f'": ("is not package.module:function",),
        "nowhere.at_all:f": ("no module 'nowhere'", "install it"),
        "misbehaving:NUMBER": ("is not a function",),
        "misbehaving:missing": ("misbehaving has no 'missing'", "check the name"),
        "misbehaving:raises --set D=1": ("unknown parameter 'D' of l1",),
        "misbehaving:raises --level top": ("unknown level 'top'", "high, low, mid"),
        "misbehaving:raises --time-limit 0": ("time limit 0 is not positive",),
        "misbehaving:raises --specimens unicorn": ("unknown instance 'unicorn'",),
        "misbehaving:raises --specimens labels-rare": ("does not suit l1",),
        "misbehaving:raises --specimens ,": ("names no instance",),
        "misbehaving:raises -o report.txt": ("output report.txt", ".json"),
        "misbehaving:raises --command 'x {instance} {answer}'": ("give either a function",),
        "--command 'x {instance}'": ("lacks {instance} or {answer}",),
    },
    "validate": {
        "--largest 1": ("no instance is that small",),
        "--time-limit 0": ("--time-limit 0 is not positive",),
        "-o missing/folder": ("no folder missing", "create it first"),
        "-o problem.npz": ("is no folder",),
    },
    "zoo": {
        "export planted-l1-unequa": ("did you mean 'planted-l1-unequal'?",),
        "export xyz": ("see 'mklcvx zoo'",),
        "export all": ("no folder given",),
        "export by-hand --as xls": ("--as 'xls' is unknown",),
        "export by-hand --as mat -o a.npz": ("contradict each other",),
        "export by-hand -o a.txt": ("unknown kind of file '.txt'",),
        "export by-hand -o /nowhere/a.npz": ("no folder /nowhere",),
        "--json export by-hand": ("--json",),
        "exprt": ("No such command 'exprt'",),
    },
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place, given = tmp_path_factory.mktemp("refusals"), {"names": ["age", "genes", "height"], "groups": [0, 0, 1]}
    for name, targets in {"problem": {"y": Y}, "labels": {"labels": LABELS}}.items():
        mklcvx.save_instance(place / f"{name}.npz", mklcvx.Instance(K, **targets, **given))
    mklcvx.save_instance(place / "classes.npz", mklcvx.Instance(K, classes=np.arange(8) % 3))
    return place


@pytest.mark.parametrize(("command", "options"), [(one, rest) for one in REFUSALS for rest in REFUSALS[one]])
def test_an_unusable_request_is_refused_in_one_line_and_leaves_nothing(refusal, folder, monkeypatch, command, options):
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    message = refusal(*shlex.split(f"{command} {options}"))
    for word in REFUSALS[command][options]:
        assert word in message
    assert sorted(folder.iterdir()) == before


def test_line_breaks_in_the_names_of_files_do_not_break_the_line(refusal, tmp_path):
    assert "two lines.npz: no such file" in refusal("solve", tmp_path / "two\nlines.npz")


def test_numbers_beyond_double_precision_are_said_in_one_line(refusal, problem, monkeypatch):
    def overflow(*_, **__):
        raise OverflowError(34, "Numerical result out of range")

    monkeypatch.setattr(solving, "assemble", overflow)
    assert "left the range of double precision" in refusal("solve", problem)


def test_lack_of_memory_is_said_in_one_line(refusal, problem, monkeypatch):
    def exhausted(*_, **__):
        raise MemoryError

    monkeypatch.setattr(solving, "assemble", exhausted)
    assert "not enough memory for this instance: use fewer samples" in refusal("solve", problem)


@pytest.mark.parametrize("asked", [("solve",), ("path", "--grid", "C=1"), ("report", "-o", "page.html")])
def test_what_does_not_fit_into_memory_is_refused_before_it_is_solved(refusal, tmp_path, monkeypatch, asked):
    monkeypatch.chdir(tmp_path)
    mklcvx.save_instance("large.npz", mklcvx.Instance(np.eye(60)[None], np.where(np.arange(60) % 2, 1, -1)))
    monkeypatch.setattr(memory, "SMALL", 0.0)
    monkeypatch.setenv(memory.VARIABLE, str(4 * 8 * 60**2))
    command, *options = asked
    message = refusal(command, "large.npz", *options)
    assert "solutions for 60 samples by solver auto need about 0.115 MB of memory, 0.104 MB are available" in message
    assert "use fewer samples; in Python, mklcvx.LowRank takes factors; MKLCVX_MEMORY=unlimited tries" in message
    assert not (tmp_path / "page.html").exists()


def test_broken_promise_of_our_own_is_no_unusable_input(run, problem, monkeypatch):
    def contradiction(*_, **__):
        raise mklcvx.errors.InternalError("the bounds contradict weak duality")

    monkeypatch.setattr(solving, "assemble", contradiction)
    code, out, err = run("solve", problem)
    assert (code, out) == (1, "")
    assert err == "mklcvx: a defect of mklcvx itself: the bounds contradict weak duality; please report it\n"


def test_impossible_output_is_refused_before_the_work(refusal, problem, monkeypatch, tmp_path):
    monkeypatch.setattr(options, "loaded", lambda *_, **__: pytest.fail("read before refusing"))
    assert "create it first" in refusal("solve", problem, "-o", tmp_path / "nowhere" / "answer.json")


def test_interrupted_solve_leaves_nothing(run, problem, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(solving, "assemble", interrupted)
    (tmp_path / "old.json").write_text("old", encoding="utf-8")
    before = sorted(tmp_path.iterdir())
    for name in ("old.json", "new.json"):
        code, out, err = run("solve", problem, "-o", tmp_path / name)
        assert (code, out, err) == (130, "", "mklcvx: interrupted\n")
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "old.json").read_text(encoding="utf-8") == "old"


def test_failing_write_leaves_the_old_answer(refusal, problem, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / "answer.json").write_text("old", encoding="utf-8")
    monkeypatch.setattr(os, "replace", full)
    assert "answer.json: could not be written (No space left on device)" in refusal(
        "solve", problem, "-q", "-o", tmp_path / "answer.json"
    )
    assert sorted(file.name for file in tmp_path.iterdir()) == ["answer.json", "problem.npz"]
    assert (tmp_path / "answer.json").read_text(encoding="utf-8") == "old"
