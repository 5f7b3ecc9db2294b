"""What is public stays: every name, command, option and field of JSON that has been there. More may come."""

from __future__ import annotations

import pytest

import surface
from surface import fields_of, json_fields, parts_of, public_commands, thing_at

pytestmark = pytest.mark.slow

KNOWN = surface.snapshot()
REMEDY = "what is renamed must stay and warn, see mklcvx.renamed; python tests/surface.py adds what is new"


def lost_names(known):
    for key, parts in known.items():
        place, _, name = key.partition(":")
        thing = thing_at(place, name)
        if thing is None:
            yield f"{place}.{name}"
            continue
        now = parts_of(thing)
        yield from (f"{place}.{name}: {part}" for part in parts if part not in now and not hasattr(thing, part))


def lost_parts(known, now):
    for name, parts in known.items():
        if name not in now:
            yield name
        yield from (f"{name}: {part}" for part in parts if part not in now.get(name, parts))


def check_nothing_lost(lost):
    missing = list(lost)
    assert not missing, f"missing: {', '.join(missing)}; {REMEDY}"


# ------------------------------------------------------------------------------------------------------ what is there
def test_the_snapshot_has_everything_that_is_public_by_name():
    places = {key.partition(":")[0] for key in KNOWN["names"]}
    assert {"mklcvx", "mklcvx.files", "mklcvx.kernels", "mklcvx.rigorous", "mklcvx.formulations"} <= places
    assert {"lower", "upper", "gap", "proves"} <= set(KNOWN["names"]["mklcvx:Certificate"])
    assert "--formulation" in KNOWN["commands"]["mklcvx solve"]
    assert set(KNOWN["json"]) == {*surface.COMMANDS, "validate"}
    assert all(KNOWN["json"].values())


def test_names_are_still_there():
    check_nothing_lost(lost_names(KNOWN["names"]))


def test_commands_and_options_are_still_there():
    check_nothing_lost(lost_parts(KNOWN["commands"], public_commands()))


@pytest.mark.parametrize("name", [*surface.COMMANDS, "validate"])
def test_fields_of_json_are_still_there(name):
    if name == "prove":
        pytest.importorskip("flint")
    check_nothing_lost(lost_parts({name: KNOWN["json"][name]}, {name: json_fields(name)}))


# -------------------------------------------------------------------------------------------- what would be noticed
def test_a_lost_name_and_a_lost_part_are_named():
    known = {
        "mklcvx:solve": ["tol", "patience"],
        "mklcvx:Solution": ["weights", "predict", "colour"],
        "mklcvx:resolve": [],
        "mklcvx.nowhere:solve": [],
    }
    assert list(lost_names(known)) == [
        "mklcvx.solve: patience", "mklcvx.Solution: colour", "mklcvx.resolve", "mklcvx.nowhere.solve",
    ]  # fmt: skip
    with pytest.raises(AssertionError, match=r"missing: mklcvx\.resolve; what is renamed must stay and warn"):
        check_nothing_lost(lost_names({"mklcvx:resolve": []}))


def test_a_lost_option_is_named():
    known = {"mklcvx solve": ["--tol", "--patience", "argument 2"], "mklcvx resolve": ["--tol"]}
    assert list(lost_parts(known, public_commands())) == [
        "mklcvx solve: --patience", "mklcvx solve: argument 2", "mklcvx resolve",
    ]  # fmt: skip


def test_fields_are_found_at_every_depth():
    record = {"a": 1, "b": {"c": [{"d": 1}, {"e": []}]}, "perturbations": {"some kernel": 1}}
    assert fields_of(record) == {"a", "b", "b.c", "b.c[].d", "b.c[].e", "perturbations"}


def test_renewing_takes_nothing_away(tmp_path, monkeypatch):
    path = tmp_path / "surface.json"
    path.write_text('{"commands": {"mklcvx solve": ["--patience"], "mklcvx gone": []}}', encoding="utf-8")
    monkeypatch.setattr(surface, "SNAPSHOT", path)
    monkeypatch.setattr(surface, "json_fields", lambda name: [name])
    surface.renew()
    renewed = surface.snapshot()
    assert {"--patience", "--tol"} <= set(renewed["commands"]["mklcvx solve"])
    assert "mklcvx gone" in renewed["commands"]
    assert set(renewed["names"]) >= {"mklcvx:solve", "mklcvx:MKLClassifier"}
