"""Right answers from solvers that are not ours are accepted; answers to other problems are told from them."""

from __future__ import annotations

import runpy

import pytest

from conforming import conformed
from mklcvx import Instance, zoo
from mklcvx.bench.conformance.trials import Room
from places import ROOT

pytestmark = pytest.mark.slow

SMALL = ["by-hand", "three-samples", "clouds"]


@pytest.fixture(autouse=True)
def examples(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "examples" / "conform")


@pytest.fixture(scope="module")
def room():
    with Room() as place:
        yield place


def test_scikit_learns_machine_conforms_to_average(room):
    found = conformed(room, "third_party:svc_average", "average", specimens=[*SMALL, "imbalanced-weighted"])
    assert found.passed, [trial.words for trial in found.trials]
    assert found.rate("mid").accepted == 4


@pytest.mark.parametrize(
    ("function", "given", "level"),
    [
        ("svr_average", {"loss": "epsilon_insensitive"}, "mid"),
        ("kernel_ridge_average", {"loss": "squared", "bias": False}, "high"),
        ("one_class_average", {"loss": "one_class"}, "mid"),
    ],
)
def test_scikit_learns_machines_conform_with_other_losses(room, function, given, level):
    """On everything in the zoo that has the targets of the loss."""
    found = conformed(room, f"third_party:{function}", "average", level=level, **given)
    assert [(trial.specimen, trial.words, trial.off) for trial in found.failures] == []
    assert found.passed
    assert found.rate(level).accepted == len(found.trials) == (2 if given["loss"] == "one_class" else 12)


def clouds() -> Instance:
    return zoo.specimen("clouds").instance()


# ------------------------------------------------------------------------------------------------------------- reports
def test_the_reports_are_written_and_say_what_was_found(tmp_path):
    main = runpy.run_path(str(ROOT / "validation" / "conform" / "__main__.py"), run_name="conform")["main"]
    assert main(["broken", "svc", "--folder", str(tmp_path), "--specimens", "by-hand,two-samples"]) == 0
    broken = (tmp_path / "broken.md").read_text(encoding="utf-8")
    assert "does not conform to `l1`: 0 of 2 accepted" in broken
    assert "Diagnoses: 2 × C_over_n." in broken
    assert "conforms to `average`: 2 of 2 accepted" in (tmp_path / "svc.md").read_text(encoding="utf-8")
