"""No forged file is confirmed, and every honest one is."""

import json
from pathlib import Path

import pytest

from forgeries import EVERY, forgeries, original, single_precision
from mklcvx import Instance
from mklcvx.checker import audit as checker
from mklcvx.checker import families as checker_families
from mklcvx.checker.claims import audited
from mklcvx.io.files import save_instance

pytestmark = pytest.mark.slow


def audit(folder: Path, instance: Instance, formulation: str, text: str) -> int:
    """The exit status for a file with that text."""
    place, answer = folder / "problem.npz", folder / "answer.json"
    if not place.exists():
        save_instance(place, instance)
    answer.write_text(text, encoding="utf-8")
    program = checker if formulation in checker.OWN else checker_families
    return audited([str(place), str(answer)], program.evaluated_file, program.point_multipliers)


@pytest.mark.parametrize("case", EVERY)
def test_an_honest_file_is_confirmed(tmp_path, capsys, case):
    instance, name, _ = EVERY[case]
    record = original(case)
    assert audit(tmp_path, instance, name, json.dumps(record)) == 0, capsys.readouterr()
    out, err = capsys.readouterr()
    assert out.endswith("\nconfirmed\n")
    assert err == ""
    held, others = (line.split(": ", 1)[1].split(", ") for line in out.splitlines()[-3:-1])
    assert not set(held) & set(others)
    parts = {f"{key}.{name}" for key in ("certificate", "multipliers") for name in record[key]}
    assert {*held, *others} - {"multipliers"} == {*record, *parts} - {"certificate", "multipliers"}


@pytest.mark.parametrize("case", EVERY)
def test_every_forged_file_is_refused(tmp_path, capsys, case):
    instance, name, _ = EVERY[case]
    made, believed = forgeries(case), []
    for what, text in made:
        assert text != json.dumps(original(case)), what
        status = audit(tmp_path, instance, name, text)
        out, err = capsys.readouterr()
        spoken = out.splitlines()[-1].startswith("NOT confirmed: ") if status == 1 else err.count("\n") == 1
        if status not in (1, 2) or not spoken:
            believed.append(what)
    assert believed == []
    assert len(made) > 25


def test_functions_where_a_kernel_is_negative_prove_nothing(tmp_path, capsys):
    instance, forge = single_precision()
    record = forge()
    assert record["certificate"]["upper"] < 0
    assert audit(tmp_path, instance, "l1", json.dumps(record)) == 1
    assert "ridge is not proved" in capsys.readouterr().out
