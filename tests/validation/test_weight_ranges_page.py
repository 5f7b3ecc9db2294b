"""Ranges of weights against answers that are looked for, in small: rows, table and figure are made, and a range that is
too narrow is found out."""

import sys

import numpy as np
import pytest

import mklcvx
import weight_ranges


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate:UserWarning")
def test_a_small_run_goes_on_where_it_was(monkeypatch, tmp_path):
    page = tmp_path / "ranges.md"
    monkeypatch.setattr(sys, "argv", ["weight_ranges.py", "-o", str(page), "--count", "3"])
    (tmp_path / "ranges.partial.jsonl").write_text("", encoding="utf-8")
    asked, real = [], weight_ranges.check
    monkeypatch.setattr(weight_ranges, "check", lambda seed: (asked.append(seed), real(seed))[1])
    weight_ranges.main()
    assert asked == [0, 1, 2]
    text = page.read_text(encoding="utf-8")
    assert "3 random instances, 12 ends" in text
    assert "**0 outside" in text
    assert not (tmp_path / "ranges.partial.jsonl").exists()


def test_a_range_that_is_too_narrow_is_found_out(monkeypatch):
    whole = mklcvx.Solution.weights_interval

    def halved(self, tolerance=None):
        low, high = whole(self, tolerance).T
        return np.column_stack([(low + self.weights) / 2, (high + self.weights) / 2])

    monkeypatch.setattr(mklcvx.Solution, "weights_interval", halved)
    assert weight_ranges.check(48)["outside"] > 0
