"""The examples of estimators run, and say what their first lines promise."""

import re
import runpy

import pytest

from places import ROOT

pytestmark = pytest.mark.slow


def test_regression_of_diabetes_by_groups_of_features(capsys, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    script = runpy.run_path(str(ROOT / "examples" / "regression" / "diabetes.py"))
    script["main"](str(tmp_path / "picture.png"))
    said = capsys.readouterr().out
    scores = {name.strip(): float(score) for name, score in re.findall(r"^(.+?) +(0\.\d{3})  0", said, re.MULTILINE)}
    assert list(scores) == ["MKL, squared loss", "MKL, huber", "kernel ridge", "SVR"]
    assert scores["MKL, squared loss"] > scores["SVR"]
    assert "certified: True" in said
    shares = [float(share) for share in re.findall(r"(?:linear|gaussian) +(\d\.\d{3})", said)]
    assert sum(shares) == pytest.approx(1, abs=0.01)
    assert shares == sorted(shares, reverse=True)
    assert (tmp_path / "picture.png").stat().st_size > 1000
