"""A little of the soak, and of the misuses of the interface."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "validation" / "robustness"


@pytest.fixture
def robustness(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for name in ("soak", "problems", "misuse", "hostile", "interface"):
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
