"""What several test files are handed: the command line and a problem for it; an instance's file, and solutions."""

import gc
import os
import random

import pytest

from mklcvx import Instance, solve
from mklcvx.bench.conformance.trials import Room
from mklcvx.cli import main as cli
from mklcvx.io.files import save_instance
from places import ROOT
from stacks import FOR_COMMANDS, FOR_FILES, LABELS

pytest.register_assert_rewrite("refusals")


def pytest_collection_modifyitems(items):
    """MKLCVX_TEST_ORDER, a seed, draws another order: of the files, and of the tests of each file, which share work."""
    seed = os.environ.get("MKLCVX_TEST_ORDER")
    if seed is None:
        return
    rng = random.Random(int(seed))
    files = list(dict.fromkeys(item.path for item in items))
    place = dict(zip(files, rng.sample(range(len(files)), len(files)), strict=True))
    rng.shuffle(items)
    items.sort(key=lambda item: place[item.path])


def pytest_collection_finish():
    """Tests stay until the end: the garbage collector need not go through all of them again and again."""
    gc.collect()
    gc.freeze()


# ------------------------------------------------------------------------------------------------- the command line
@pytest.fixture
def problem(tmp_path):
    """An instance with everything, in a file."""
    path = tmp_path / "problem.npz"
    instance = Instance(
        FOR_COMMANDS.kernels,
        FOR_COMMANDS.y,
        groups=[0, 0, 1],
        names=["age", "genes", "height"],
        test_kernels=FOR_COMMANDS.test_kernels,
        test_y=FOR_COMMANDS.test_y,
        test_diagonals=FOR_COMMANDS.test_diagonals,
    )
    save_instance(path, instance)
    return path


@pytest.fixture
def run(capsys):
    """Run a command in this process: exit status, standard output, standard error."""

    def call(*arguments):
        with pytest.raises(SystemExit) as ended:
            cli.main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    return call


@pytest.fixture
def succeeds(run):
    """Run a command that must succeed: standard output, standard error."""

    def call(*arguments):
        code, out, err = run(*arguments)
        assert code == 0, err
        return out, err

    return call


@pytest.fixture
def quiet(succeeds):
    """Run a command that must succeed and leave standard error alone: standard output."""

    def call(*arguments):
        out, err = succeeds(*arguments)
        assert err == ""
        return out

    return call


@pytest.fixture
def refusal(run):
    """Run a command that must be refused: exit status 2, nothing on standard output, one line on standard error."""

    def call(*arguments):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith("mklcvx: ")
        assert err.count("\n") == 1
        assert err.endswith("\n")
        assert "Traceback" not in err
        return err

    return call


# ----------------------------------------------------------------------------------------------------- conformance
@pytest.fixture
def examples_to_conform(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples" / "conform")


@pytest.fixture(scope="module")
def room():
    with Room() as place:
        yield place


# ----------------------------------------------------------------------------------------------------------- files
@pytest.fixture
def path(tmp_path):
    """An instance's file."""
    save_instance(tmp_path / "problem.npz", Instance(FOR_FILES.kernels, FOR_FILES.y, groups=[0, 0, 1]))
    return tmp_path / "problem.npz"


@pytest.fixture(scope="module")
def solution():
    return solve(Instance(FOR_FILES.kernels, FOR_FILES.y, names=["α", "two words", "<c>"]), "l1", solver="clarabel")


@pytest.fixture(scope="module")
def families():
    """A solution of every family, for labels, one sample of which has none; solved when first asked for."""
    found = {}
    instance = Instance(FOR_FILES.kernels, labels=LABELS, label_names=["rot", "grün", "two words"])

    def of(name):
        if name not in found:
            found[name] = solve(instance, name, solver="clarabel")
        return found[name]

    return of
