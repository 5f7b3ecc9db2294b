"""The golden optima: complete, consistent with what is known, and a sample of them computed from scratch."""

import json
import subprocess
import sys
from fractions import Fraction

import pytest

from mklcvx import solve
from mklcvx.bench.conformance.references import case_of
from mklcvx.formulations.losses import EVERY
from mklcvx.problem.targets import LABELLED
from mklcvx.verification.proof import WIDTH, prove
from mklcvx.zoo import SPECIMENS, specimen
from places import ROOT

pytestmark = pytest.mark.slow

FOLDER = ROOT / "validation" / "golden"
GOLDEN = json.loads((FOLDER / "golden.json").read_text(encoding="utf-8"))
OPTIMA = {(row["specimen"], row["formulation"]): row for row in GOLDEN["optima"]}
SMALL = [key for key in OPTIMA if specimen(key[0]).recorded["samples"] * specimen(key[0]).recorded["kernels"] < 500]
SAMPLE = SMALL[::25]


def ends(row):
    """Read as decimals; to read them as doubles is right, too."""
    lower, upper = Fraction(row["lower"]), Fraction(row["upper"])
    assert lower <= Fraction(float(row["lower"])) <= Fraction(float(row["upper"])) <= upper
    return lower, upper


def test_every_specimen_has_an_optimum_for_every_formulation_it_suits():
    labelled = [one for one in SPECIMENS if one.recorded["targets"] in LABELLED]  # the others: below
    assert list(OPTIMA) == [(one.name, formulation) for one in labelled for formulation in one.suits]
    assert GOLDEN["schema"] == "mklcvx.golden/1"


def test_every_optimum_is_of_the_specimen_on_record():
    assert all(row["sha256"] == specimen(name).recorded["sha256"] for (name, _), row in OPTIMA.items())


def test_what_is_wide_has_a_reason():
    for row in OPTIMA.values():
        lower, upper = ends(row)
        assert lower <= upper
        size = max(abs(lower), abs(upper), Fraction(row["scale"]))
        if row["relative_width"] is not None:  # to be found in doubles, up to an ulp at each end
            assert float((upper - lower) / (size or 1)) <= row["relative_width"] * (1 + 1e-6) + 2.0**-51
        assert (row["relative_width"] is not None and row["relative_width"] <= WIDTH) == (row["why_wide"] is None)


def test_known_optima_lie_inside():
    known = {name: specimen(name).optimum() for name in {key[0] for key in OPTIMA} if specimen(name).optimum}
    for name, optimum in known.items():
        row = OPTIMA[name, optimum.formulation]
        assert {key: row["parameters"][key] for key in optimum.parameters} == dict(optimum.parameters)
        lower, upper = ends(row)
        assert lower <= Fraction(optimum.value) <= upper


@pytest.mark.parametrize("key", SAMPLE, ids="/".join)
def test_a_sample_from_scratch(key):
    """Two proofs of the same number have to overlap."""
    name, formulation = key
    proof = prove(specimen(name).instance(), formulation, **specimen(name).parameters_for(formulation))
    lower, upper = ends(OPTIMA[key])
    assert Fraction(proof.lower) <= upper
    assert Fraction(proof.upper) >= lower
    assert proof.upper - proof.lower <= max(2.5 * float(upper - lower), 1e-12 * proof.scale)  # the row's are of old
    assert proof.parameters == OPTIMA[key]["parameters"]


def test_the_command_renews_what_it_is_asked_for(tmp_path):
    path = tmp_path / "golden.json"
    for only in ("two-samples/l1", "by-hand/sum"):
        command = [sys.executable, str(FOLDER), "--only", only, "-o", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 0, done.stderr
    rows = json.loads(path.read_text(encoding="utf-8"))["optima"]
    assert [(row["specimen"], row["formulation"]) for row in rows] == [("by-hand", "sum"), ("two-samples", "l1")]
    lower, upper = ends(rows[0])
    assert lower <= Fraction(5, 8) <= upper
    assert upper - lower <= Fraction(1, 10**12)


def test_the_command_refuses_an_unknown_name(tmp_path):
    command = [sys.executable, str(FOLDER), "--only", "nothing", "-o", str(tmp_path / "golden.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 2
    assert "nothing" in done.stderr
    assert not list(tmp_path.iterdir())


# --------------------------------------------------------------------------------------------------------------- losses
OF_LOSSES = json.loads((FOLDER / "losses.json").read_text(encoding="utf-8"))
LOSS_OPTIMA = {(row["specimen"], row["formulation"], row["loss"]): row for row in OF_LOSSES["optima"]}
REGULARISERS = ("sum", "l1", "sm2", "l2", "elastic", "li")
FIRST, SECOND = 1e-8, 1e-5  # what the two witnesses enclose the optimum to, relative to the scale
LOSS_SAMPLE = list(LOSS_OPTIMA)[::23]


def test_every_loss_has_optima_with_every_regulariser_on_two_specimens():
    assert OF_LOSSES["schema"] == "mklcvx.golden_losses/1"
    for loss in EVERY:
        for regulariser in REGULARISERS:
            rows = [key for key in LOSS_OPTIMA if key[1:] == (regulariser, loss.name)]
            assert len(rows) == (0 if loss.free_margin and regulariser == "li" else 2)


@pytest.mark.parametrize("loss", [loss.name for loss in EVERY])
def test_both_witnesses_are_sharp_and_agree(loss):
    for key, row in LOSS_OPTIMA.items():
        if key[2] != loss:
            continue
        lower, upper = row["second"]
        size = max(row["scale"], abs(row["upper"]))
        assert row["sha256"] == specimen(key[0]).recorded["sha256"]
        assert 0 <= row["upper"] - row["lower"] <= FIRST * size, key
        assert 0 <= upper - lower <= SECOND * size, key
        assert max(lower, row["lower"]) <= min(upper, row["upper"]), key


@pytest.mark.parametrize("key", LOSS_SAMPLE, ids="/".join)
def test_a_sample_of_losses_from_scratch(key):
    name, formulation, _ = key
    row = LOSS_OPTIMA[key]
    found = solve(specimen(name).instance(), formulation, tol=1e-9, **row["parameters"])
    assert found.parameters == row["parameters"]
    assert found.certificate.lower <= row["upper"]
    assert found.certificate.upper >= row["lower"]


def test_conformance_judges_by_them():
    """The problem need not be solved for its optimum."""
    row = LOSS_OPTIMA["response", "l1", "huber"]
    case = case_of(specimen("response"), "l1", {"loss": "huber"}, 1e-6)
    assert case.known[:2] == (row["lower"], row["upper"])
    assert "reference" not in vars(case)
    assert case_of(specimen("response"), "l1", {"loss": "huber", "delta": 0.5}, 1e-6).proved is None


def test_the_command_renews_what_it_is_asked_for_and_keeps_the_rest(tmp_path):
    path = tmp_path / "losses.json"
    kept = [row for row in OF_LOSSES["optima"] if row["loss"] != "logistic" or row["specimen"] != "by-hand"]
    path.write_text(json.dumps({**OF_LOSSES, "optima": kept}), encoding="utf-8")
    command = [sys.executable, str(FOLDER), "--losses", "-o", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("logistic") == len(OF_LOSSES["optima"]) - len(kept) == 6
    rows = json.loads(path.read_text(encoding="utf-8"))["optima"]
    assert [(row["specimen"], row["formulation"], row["loss"]) for row in rows] == list(LOSS_OPTIMA)
    refused = subprocess.run([*command, "--only", "nothing"], capture_output=True, text=True, timeout=100, check=False)
    assert refused.returncode == 2
    assert "nothing" in refused.stderr
