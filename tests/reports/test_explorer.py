"""The explorer's script recomputes the bounds that the package certified; run by Node where it is installed."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from places import ROOT, TESTS

DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_ext"))

import explorer_grid  # noqa: E402


@pytest.fixture(scope="module")
def coarse(monkeypatch_module):
    monkeypatch_module.setattr(explorer_grid, "PRICES", np.array([0.01, 1.0, 100.0]))
    swept = {n: s and (s[0], s[1][[0, -1]]) for n, s in explorer_grid.SWEPT.items()}
    monkeypatch_module.setattr(explorer_grid, "SWEPT", swept)
    return explorer_grid.data()


@pytest.fixture(scope="module")
def monkeypatch_module():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def test_every_point_of_the_grid_is_certified_and_the_limits_meet(coarse):
    found = coarse["formulations"]
    for family in found.values():
        for row in family["rows"]:
            assert all(at["upper"] - at["lower"] <= 1e-7 * abs(at["upper"]) for at in row)
    first, last = found["sm1"]["rows"]
    for limit, other in ((first, "average"), (last, "l1"), (found["lp"]["rows"][0], "l1")):
        assert [at["upper"] for at in limit] == pytest.approx([at["upper"] for at in found[other]["rows"][0]], rel=1e-6)
    assert found["li"]["rows"][0][-1]["weights"][0] is None
    assert "coefficients" in found["li"]["rows"][0][-1]


def test_losses_do_to_alpha_what_the_page_says(coarse):
    found = {loss: coarse["formulations"][f"l1, {loss}"] for loss in explorer_grid.LOSSES}
    assert {family["regulariser"] for family in found.values()} == {"l1"}
    for price, (soft, square) in zip(
        coarse["C"], zip(found["logistic"]["rows"][0], found["squared_hinge"]["rows"][0], strict=True), strict=True
    ):
        assert 1e-9 * price < min(soft["alpha"])
        assert max(soft["alpha"]) < (1 - 1e-9) * price
        assert price == 100.0 or max(square["alpha"]) > price  # no box
    assert min(found["squared_hinge"]["rows"][0][-1]["alpha"]) <= 1e-9 * 100.0


@pytest.mark.skipif(shutil.which("node") is None, reason="Node runs the page's script, and is not installed")
def test_the_page_recomputes_the_same_bounds(coarse, tmp_path):
    script = tmp_path / "ask.js"
    scripts = TESTS / "helpers/in_the_page"
    parts = (scripts / "explorer_page.js", DOCS / "_static/explorer.js", scripts / "explorer_bounds.js")
    before, explorer, after = (path.read_text(encoding="utf-8") for path in parts)
    script.write_text(f"{before}window.MKLCVX_EXPLORER = {json.dumps(coarse)};\n{explorer}{after}", encoding="utf-8")
    done = subprocess.run(["node", str(script)], capture_output=True, encoding="utf-8", check=True)
    told = json.loads(done.stdout)
    for name, family in coarse["formulations"].items():
        ours = [[(at["lower"], at["upper"]) for at in row] for row in family["rows"]]
        assert np.array(told["out"][name]) == pytest.approx(np.array(ours), rel=3e-8)
    assert 'data-bound="lower"' in told["certificate"]
