"""A little of the soak, and of the misuses of the interface."""

import platform
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "validation" / "robustness"
TAKEN = (
    "import numpy, scipy.linalg, threadpoolctl; "
    "taken = [each['architecture'] for each in threadpoolctl.threadpool_info() if 'architecture' in each]"
)


@pytest.fixture
def robustness(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for name in ("soak", "problems", "misuse", "hostile", "interface", "conditions"):
        sys.modules.pop(name, None)


def test_a_short_soak_raises_nothing_and_contradicts_nothing(robustness, tmp_path, capsys):
    import soak

    assert soak.main(["--trials", "12", "--seed", "5", "-o", str(tmp_path)]) == 0
    assert "12 problems" in capsys.readouterr().out
    page = (tmp_path / "soak.md").read_text(encoding="utf-8")
    assert "0 exceptions, 0 contradictions" in page
    assert "| solver | solved | certified |" in page


def test_the_soak_sees_what_is_raised_and_what_contradicts(robustness, monkeypatch):
    import soak

    bounds = {"auto": (0.0, 1.0), "scs": (2.0, 3.0), "prove": (0.5, 2.5)}
    assert [one["pair"] for one in soak._apart(bounds)] == [("auto", "scs")]
    assert soak._apart({"auto": (float("nan"), 1.0)})
    monkeypatch.setattr(soak, "solve", lambda *_, **__: 1 / 0)
    assert soak.trial(5, 0)["raised"][0]["fault"] == "ZeroDivisionError('division by zero')"


def test_misuses_are_refused_and_what_is_not_ours_is_seen(robustness):
    import misuse

    counts, faults = misuse.misused(every=9, pattern="solve (lp)")
    assert faults == []
    assert sum(counts["solve (lp)"].values()) > 30
    assert counts["solve (lp)"]["refused"] > 10
    assert misuse.outcome(lambda: [][1]) == ("raised", "IndexError: 'list index out of range'")
    assert misuse.outcome(lambda: print("loud")) == ("result", "it printed 'loud\\n'")


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="Nehalem's kernels are those of x86")
def test_the_suite_runs_on_the_kernels_of_another_processor(robustness, tmp_path, capsys):
    """Of NumPy and SciPy, which bring an OpenBLAS each."""
    import conditions

    path, only = tmp_path / "test_kernels.py", ["--processors", "--only", "nehalem", str(tmp_path)]
    path.write_text(f"def test_them():\n    {TAKEN}\n    assert taken == ['Nehalem', 'Nehalem']\n", encoding="utf-8")
    assert conditions.main(only) == 0
    assert capsys.readouterr().out.startswith("nehalem: 1 passed")
    path.write_text("def test_them():\n    assert False\n", encoding="utf-8")
    assert conditions.main(only) == 1
    assert capsys.readouterr().out.startswith("nehalem: 1 failed")


def test_kernels_that_cannot_run_are_left_out_and_named(robustness, monkeypatch, capsys):
    import conditions

    monkeypatch.setattr(conditions, "taken_kernels", lambda condition: "armv8")
    monkeypatch.setattr(conditions, "run", lambda condition, tests: pytest.fail("it ran"))
    assert conditions.main(["--processors", "--only", "haswell"]) == 0
    assert capsys.readouterr().out == "haswell: left out: OpenBLAS takes the kernels of armv8 here\n"
