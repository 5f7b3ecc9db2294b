"""The golden optima: complete, consistent with what is known, and a sample of them computed from scratch."""

import json
import subprocess
import sys
from fractions import Fraction

import pytest

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
    labelled = [one for one in SPECIMENS if one.recorded["targets"] in LABELLED]  # the others: test_golden_losses
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
