"""The evidence for the estimators' defaults, in small: it runs on what scikit-learn bundles, and can say no."""

import pytest

import defaults

pytestmark = pytest.mark.slow


def test_a_small_run_prefers_kernels_of_one_size(monkeypatch, tmp_path):
    ways = ("none", "diagonal")
    monkeypatch.setattr(defaults, "STEPS", {name: defaults.STEPS[name] for name in ways})
    monkeypatch.setattr(defaults, "FORMULATIONS", {"average": {}, "l1": {}})
    monkeypatch.setattr(defaults, "BANKS", {"mixed": defaults.MIXED})
    monkeypatch.setattr(defaults, "PRICES", (1.0,))
    asked = ["--splits", "1", "--only", "breast_cancer", "diabetes", "--journal", str(tmp_path / "journal.jsonl")]
    assert defaults.main([*asked, "-o", str(tmp_path / "page.md")]) == 0
    first = (tmp_path / "page.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in first.splitlines()]
    accuracy = {
        tuple(row[:2]): float(row[2]) for row in rows if row[0] == "l1" and row[1] in ways and "±" not in row[2]
    }
    assert accuracy["l1", "diagonal"] > accuracy["l1", "none"] + 0.02
    (default,) = (row for row in rows if row[0] == "breast_cancer")
    assert float(default[1]) > 0.9
    assert "R² of `MKLRegressor` on diabetes" in first
    assert defaults.main([*asked, "-o", str(tmp_path / "again.md")]) == 0  # from the journal
    assert (tmp_path / "again.md").read_text(encoding="utf-8") == first


def test_a_default_that_falls_behind_is_named():
    cells = [defaults.Cell("default", name, "gaussians", k) for name in ("good", "bad") for k in range(2)]
    scores = {"good": (0.85, 0.9), "bad": (0.7, 0.9)}
    results = {cell: dict(zip(("default", "average"), scores[cell.data], strict=True)) for cell in cells}
    results[cells[0]] = {"default": 0.85, "average": 0.7}
    text = defaults.page(results, defaults.PRICES, "")
    assert "than one standard deviation of its splits: bad." in text
