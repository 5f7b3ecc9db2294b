"""Kernels that are never stored, in small: cells are kept, the page and its figure are made of them."""

import json
import sys

import numpy as np
import pytest

import streamed


@pytest.mark.parametrize("name", ["moons", "ringnorm", "noisy"])
def test_the_data_have_two_classes(name):
    X, y = streamed.data_of(name, 500)
    assert len(X) == len(y) == 500
    assert 0.4 < np.mean(y > 0) < 0.6


def test_a_small_run_makes_the_page_and_does_not_repeat_itself(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    asked = []

    def here(*cell):
        asked.append(cell[:2])
        return json.loads(json.dumps(streamed.measure(*cell)))

    monkeypatch.setattr(streamed, "in_a_process", here)
    monkeypatch.setattr(streamed, "WORKING_SET", 100)
    page = tmp_path / "streamed.md"
    words = ["streamed.py", "-o", str(page), "--samples", "250", "--only", "moons:0,moons:20"]
    monkeypatch.setattr(sys, "argv", words)
    streamed.main()
    monkeypatch.setattr(sys, "argv", [*words[:-1], "moons:0,moons:20,noisy:0"])
    streamed.main()
    assert asked == [("moons", 0), ("moons", 20), ("noisy", 0)]
    lines = page.read_text(encoding="utf-8").splitlines()
    rows = [line.split("|") for line in lines if line.startswith(("| moons", "| noisy"))]
    assert [(row[1].strip(), row[7].strip()) for row in rows] == [
        ("moons", "certified"), ("noisy", "certified"), ("moons", "certified"),
    ]  # fmt: skip
    assert all(float(row[6]) <= streamed.TOLERANCE for row in rows)
    assert page.with_suffix(".png").stat().st_size > 1000
