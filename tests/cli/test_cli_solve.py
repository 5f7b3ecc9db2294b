"""The command line's `solve`: exit status, strict JSON, what is shown, what is written."""

import numpy as np
import pytest

import mklcvx
from mklcvx.io.files import load_instance, load_solution
from refusals import CERTIFICATE, KEYS, strict
from stacks import FOR_COMMANDS

pytestmark = pytest.mark.slow

N, M = 8, 3
Y, K, TEST = FOR_COMMANDS.y, FOR_COMMANDS.kernels, FOR_COMMANDS.test_kernels


def test_certified_solution_is_shown_with_status_zero(quiet, problem):
    out = quiet("solve", problem, "-f", "l1")
    for word in ("l1 (C = 1, bias)", "certified", "optimum", "relative gap", "age", "genes", "height"):
        assert word in out


def test_json_is_one_strict_object_with_every_key(quiet, problem):
    out = quiet("solve", problem, "-f", "sm1", "--set", "theta=0.5", "--set", "C=2", "--json")
    content = strict(out)
    assert set(content) >= KEYS
    assert content["schema"] == "mklcvx.solution/2"
    assert content["status"] == "certified"
    assert content["parameters"] == {"C": 2.0, "theta": 0.5, "bias": True}
    assert set(content["certificate"]) == CERTIFICATE
    assert content["certificate"]["lower"] <= content["objective"] == content["certificate"]["upper"]
    assert len(content["weights"]) == M
    assert len(content["alpha"]) == N
    assert content["coefficients"] is None or np.shape(content["coefficients"]) == (M, N)


@pytest.mark.parametrize(
    "limits", [("--max-iter", "1"), ("--solver", "clarabel", "--tol", "1e-15"), ("--solver", "scs", "--max-iter", "3")]
)
def test_uncertified_solution_has_status_one_and_says_its_gap(run, problem, limits):
    code, out, err = run("solve", problem, "-f", "sm2", *limits, "--json")
    content = strict(out)
    assert (code, content["status"]) == (1, "not_certified")
    gap = content["certificate"]["relative_gap"]
    assert err == f"mklcvx: {content['message']}\n"
    assert f"not certified: relative gap {gap:.2e}, asked for " in err


def test_uncertified_solution_is_shown_and_written_all_the_same(run, problem, tmp_path):
    code, out, err = run("solve", problem, "--max-iter", "1", "-o", tmp_path / "answer.json")
    assert code == 1
    assert "not_certified" in out
    assert "not certified: relative gap" in err
    assert not load_solution(tmp_path / "answer.json").certified


@pytest.mark.parametrize("ending", [".json", ".npz"])
def test_output_is_the_solution_that_python_finds(run, problem, tmp_path, ending):
    answer = tmp_path / f"answer{ending}"
    assert run("solve", problem, "-f", "l2", "--set", "nu=0.5", "-o", answer, "--quiet") == (0, "", "")
    found, loaded = mklcvx.solve(load_instance(problem), "l2", nu=0.5), load_solution(answer)
    np.testing.assert_allclose(loaded.weights, found.weights, rtol=1e-12)
    np.testing.assert_allclose(loaded.decision_function(TEST), found.decision_function(TEST), rtol=1e-9)
    assert loaded.parameters == found.parameters


def test_some_kernels_only(run, problem):
    code, out, _ = run("solve", problem, "--kernels", "height, 0", "--json")
    content = strict(out)
    assert (code, content["names"]) == (0, ["height", "age"])
    code, out, _ = run("solve", problem, "-f", "svm", "--kernels", "genes", "--json")
    assert (code, strict(out)["names"]) == (0, ["genes"])


@pytest.mark.parametrize("repair", ["clip", "shift"])
def test_repair_says_what_it_changed(run, refusal, tmp_path, repair):
    indefinite = K.copy()
    indefinite[1, 0, 0] = -2.0
    np.savez(tmp_path / "bad.npz", kernels=indefinite, y=Y, names=["age", "ge\x1bnes", "height"])
    assert "not positive semidefinite" in refusal("solve", tmp_path / "bad.npz")
    for more in ((), ("--kernels", "age,1")):
        code, out, err = run("solve", tmp_path / "bad.npz", "--repair", repair, *more, "--json")
        assert (code, strict(out)["status"]) == (0, "certified")
        assert err.startswith("mklcvx: repaired kernel 'ge")
        assert f"(index 1): {'clipped' if repair == 'clip' else 'shifted'}: " in err
        assert "\x1b" not in err


def test_names_are_shown_as_they_are_and_never_obeyed(succeeds, tmp_path):
    np.savez(tmp_path / "names.npz", kernels=K, y=Y, names=["[/red]", "[bold]loud", "\x1b[2Jclear"])
    out, _ = succeeds("solve", tmp_path / "names.npz")
    assert "[/red]" in out
    assert "[bold]loud" in out
    assert "\x1b" not in out
