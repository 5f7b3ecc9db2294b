"""The golden optima of losses: complete, two witnesses that agree, and a sample of them from scratch."""

import json
import subprocess
import sys

import pytest

from mklcvx import solve
from mklcvx.bench.conformance.references import case_of
from mklcvx.formulations.losses import EVERY
from mklcvx.zoo import specimen
from places import ROOT

pytestmark = pytest.mark.slow

FOLDER = ROOT / "validation" / "golden"
GOLDEN = json.loads((FOLDER / "losses.json").read_text(encoding="utf-8"))
OPTIMA = {(row["specimen"], row["formulation"], row["loss"]): row for row in GOLDEN["optima"]}
REGULARISERS = ("sum", "l1", "sm2", "l2", "elastic", "li")
FIRST, SECOND = 1e-8, 1e-5  # what the two witnesses enclose the optimum to, relative to the scale
SAMPLE = list(OPTIMA)[::23]


def test_every_loss_has_optima_with_every_regulariser_on_two_specimens():
    assert GOLDEN["schema"] == "mklcvx.golden_losses/1"
    for loss in EVERY:
        for regulariser in REGULARISERS:
            rows = [key for key in OPTIMA if key[1:] == (regulariser, loss.name)]
            assert len(rows) == (0 if loss.free_margin and regulariser == "li" else 2)


@pytest.mark.parametrize("loss", [loss.name for loss in EVERY])
def test_both_witnesses_are_sharp_and_agree(loss):
    for key, row in OPTIMA.items():
        if key[2] != loss:
            continue
        lower, upper = row["second"]
        size = max(row["scale"], abs(row["upper"]))
        assert row["sha256"] == specimen(key[0]).recorded["sha256"]
        assert 0 <= row["upper"] - row["lower"] <= FIRST * size, key
        assert 0 <= upper - lower <= SECOND * size, key
        assert max(lower, row["lower"]) <= min(upper, row["upper"]), key


@pytest.mark.parametrize("key", SAMPLE, ids="/".join)
def test_a_sample_from_scratch(key):
    name, formulation, _ = key
    row = OPTIMA[key]
    found = solve(specimen(name).instance(), formulation, tol=1e-9, **row["parameters"])
    assert found.parameters == row["parameters"]
    assert found.certificate.lower <= row["upper"]
    assert found.certificate.upper >= row["lower"]


def test_conformance_judges_by_them():
    """The problem need not be solved for its optimum."""
    row = OPTIMA["response", "l1", "huber"]
    case = case_of(specimen("response"), "l1", {"loss": "huber"}, 1e-6)
    assert case.known[:2] == (row["lower"], row["upper"])
    assert "reference" not in vars(case)
    assert case_of(specimen("response"), "l1", {"loss": "huber", "delta": 0.5}, 1e-6).proved is None


def test_the_command_renews_what_it_is_asked_for_and_keeps_the_rest(tmp_path):
    path = tmp_path / "losses.json"
    kept = [row for row in GOLDEN["optima"] if row["loss"] != "logistic" or row["specimen"] != "by-hand"]
    path.write_text(json.dumps({**GOLDEN, "optima": kept}), encoding="utf-8")
    command = [sys.executable, str(FOLDER), "--losses", "-o", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("logistic") == len(GOLDEN["optima"]) - len(kept) == 6
    rows = json.loads(path.read_text(encoding="utf-8"))["optima"]
    assert [(row["specimen"], row["formulation"], row["loss"]) for row in rows] == list(OPTIMA)
    refused = subprocess.run([*command, "--only", "nothing"], capture_output=True, text=True, timeout=100, check=False)
    assert refused.returncode == 2
    assert "nothing" in refused.stderr
