"""The times of fits, in small: every contestant runs, and the table has their ratios."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

from places import ROOT


@pytest.fixture(scope="module")
def fit_times():
    sys.path.insert(0, str(ROOT / "validation"))
    try:
        yield importlib.import_module("fit_times")
    finally:
        sys.path.remove(str(ROOT / "validation"))


def test_the_data_are_like_the_protein_folds(fit_times):
    kernels, codes = fit_times.folds_of_proteins(fit_times.Size(samples=120))
    assert kernels.shape == (120, 120, 12)
    counts = np.bincount(codes)
    assert len(counts) == 27
    assert counts.min() >= 2
    assert counts.max() > 2 * counts.min()
    np.testing.assert_array_equal(kernels, kernels.transpose(1, 0, 2))
    np.testing.assert_array_equal(np.einsum("iim->im", kernels), 1.0)


def test_a_small_run_makes_the_table(fit_times, monkeypatch, tmp_path):
    asked = []

    def here(name, row, older, quick):
        asked.append((name, older))
        assert quick
        return fit_times.child(name.replace("two jobs", "one job"), fit_times.QUICK, row.wall)

    monkeypatch.setattr(fit_times, "measured", here)
    file = tmp_path / "times.md"
    assert fit_times.main(["--quick", "--rounds", "1", "--older", "elsewhere", "-o", str(file)]) == 0
    rows = [
        line.strip("| ").split(" | ") for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("| ")
    ]
    assert len(rows) == 1 + len(fit_times.ROWS)
    assert asked[:2] == [("l1", None), ("l1", "elsewhere")]
    for row in rows[1:]:
        assert float(row[3]) > 0
    assert fit_times.main(["--quick", "--rounds", "1", "-o", str(file)]) == 0
    assert "older" not in "".join(
        line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("| ")
    )


@pytest.mark.slow
def test_a_process_of_its_own_measures_and_says_what_failed(fit_times):
    row = fit_times.ROWS[2]
    assert fit_times.measured("SVC", row, None, True) > 0
    with pytest.raises(SystemExit, match="KeyError"):
        fit_times.measured("nothing", row, None, True)
