"""Every field that the auditor vouches for is held against its own interval, wherever terms cancel."""

import copy
import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

from forgeries import CASES, original
from honest import written
from mklcvx import Instance, solve
from mklcvx.checker import audit, families, joint
from mklcvx.checker.claims import judged
from mklcvx.checker.files import arrays_of
from mklcvx.io.files import save_instance

FOLDER = Path(__file__).parents[2] / "validation" / "forged"
OTHER = {"expansion": ("clique", "star", "zhou", "kcca"), "loss": ("squared", "huber", "logistic")}


@pytest.fixture(scope="module")
def true_fields():
    sys.path.insert(0, str(FOLDER))
    try:
        import true_fields

        return true_fields
    finally:
        sys.path.remove(str(FOLDER))


def verdict(folder, instance, record, **changed):
    """The exit status, and the last line."""
    save_instance(folder / "problem.npz", instance)
    module = joint if record["formulation"] in audit.OWN else families
    used = audit.point_multipliers if module is joint else families.point_multipliers
    status, lines = judged(arrays_of(folder / "problem.npz") | changed, record, module.evaluated_file, used)
    return status, lines[-1]


# ------------------------------------------------------------------------------------------------ terms that cancel
def years(price: float, name: str = "svm"):
    """Fourteen samples of features like years: f is a small difference of large numbers."""
    dates = np.random.default_rng(0).integers(1950, 2021, size=(2, 14)).astype(float)
    kernels = dates[: 1 if name == "svm" else 2, :, None] * dates[: 1 if name == "svm" else 2, None, :]
    instance = Instance(kernels, np.where(np.arange(14) % 2, 1, -1))
    return instance, written(solve(instance, name, C=price))


WRONG = {
    "bounds": lambda said, record: said.update(upper=said["upper"] + 2e4, lower=said["lower"] - 2e4),
    "upper by a billionth": lambda said, record: said.update(upper=said["upper"] * (1 + 1e-9)),
    "gain": lambda said, record: said.update(gain=-said["gain"]),
    "gain by a billionth": lambda said, record: said.update(gain=said["gain"] * (1 - 1e-9)),
    "norms": lambda said, record: record.update(norms=[x * 1.05 for x in record["norms"]]),
    "scale": lambda said, record: said.update(scale=said["scale"] * 0.999, relative_gap=said["relative_gap"] / 0.999),
    "slopes": lambda said, record: record.update(slopes=[[v * 1.01 for v in ends] for ends in record["slopes"]]),
    "biases": lambda said, record: record.update(
        bias_interval=[x + 1.0 * i for i, x in enumerate(record["bias_interval"])]
    ),
}


@pytest.mark.parametrize("name", ["svm", "l1", "lp"])
@pytest.mark.parametrize("wrong", WRONG)
def test_nothing_wrong_hides_behind_terms_that_cancel(tmp_path, wrong, name):
    instance, record = years(1e3, name)
    assert verdict(tmp_path, instance, record) == (0, "confirmed")
    WRONG[wrong](record["certificate"], record)
    record["objective"] = record["certificate"]["upper"]
    status, words = verdict(tmp_path, instance, record)
    assert status == 1
    assert words.startswith("NOT confirmed: ")


def test_all_of_it_at_once_is_refused(tmp_path):
    instance, record = years(1e3)
    for wrong in ("bounds", "gain", "norms"):
        WRONG[wrong](record["certificate"], record)
    record["objective"] = record["certificate"]["upper"]
    assert verdict(tmp_path, instance, record)[0] == 1


def test_slopes_of_families_without_a_regulariser_are_refused(tmp_path):
    instance, record = CASES["li"][0], copy.deepcopy(original("li"))
    record["slopes"] = [[0.0] * 3, [1e3] * 3]
    assert verdict(tmp_path, instance, record) == (1, "NOT confirmed: slopes: there are none in this family")


# -------------------------------------------------------------------------------------------------- single parameters
def others(key, value, instance):
    """Other values of a parameter."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        return [word for word in OTHER[key] if word != value]
    if key == "dimensions":
        return [value + 1, value + 2, *([value - 1] if value > 1 else [])]
    return [value * 0.5, value * 0.9, value * 1.1, value * 2]


@pytest.mark.slow
@pytest.mark.parametrize("case", [*CASES, "approximate", "one dimension"])
def test_a_parameter_that_is_changed_alone_is_not_confirmed_unless_it_is_true(tmp_path, true_fields, case):
    """A file with another parameter is confirmed only if the other problem, solved anew, has this answer."""
    if case in CASES:
        instance, record = CASES[case][0], original(case)
    else:
        instance = CASES["alignment" if case == "approximate" else "hypergraph"][0]
        name, given = ("alignment", {}) if case == "approximate" else ("hypergraph", {"lam": 0.5, "dimensions": 1})
        record = written(solve(instance, name, **given))
    assert verdict(tmp_path, instance, record) == (0, "confirmed")
    refused = 0
    for key, value in record["parameters"].items():
        for other in others(key, value, instance):
            forged = copy.deepcopy(record)
            forged["parameters"][key] = other
            if verdict(tmp_path, instance, forged)[0]:
                refused += 1
            else:
                assert true_fields.false_fields(instance, forged) == [], (key, other)
    assert refused


@pytest.mark.parametrize("key", ["approximate", "dimensions"])
def test_parameters_that_no_bound_depends_on_are_checked(tmp_path, key):
    case = "alignment" if key == "approximate" else "hypergraph"
    instance, record = CASES[case][0], copy.deepcopy(original(case))
    record["parameters"][key] = True if key == "approximate" else 1
    status, words = verdict(tmp_path, instance, record)
    assert status == 1
    assert words.startswith(f"NOT confirmed: parameters.{key}: ")


@pytest.mark.parametrize("case", ["l1", "ml_sum on y", "ts_l1", "alignment on y"])
def test_labels_that_are_not_ones_are_refused(tmp_path, case):
    name = case.removesuffix(" on y")
    instance = CASES["l1"][0]
    record = written(solve(instance, name))
    assert verdict(tmp_path, instance, record) == (0, "confirmed")
    words = "NOT confirmed: y: the instance's labels are not −1 and +1"
    assert verdict(tmp_path, instance, record, y=1.9 * np.array(instance.y)) == (1, words)


# ------------------------------------------------------------------------------------------------------ the campaign
@pytest.mark.slow
@pytest.mark.parametrize(("first", "honest"), [(30, 20), (127, 1)], ids=["a few", "indefinite for one label"])
def test_a_few_of_the_forged_files_of_the_campaign(tmp_path, monkeypatch, capsys, first, honest):
    monkeypatch.syspath_prepend(str(FOLDER))
    place = importlib.util.spec_from_file_location("campaign_of_forged_files", FOLDER / "__main__.py")
    campaign = importlib.util.module_from_spec(place)
    place.loader.exec_module(campaign)
    page = tmp_path / "forged.md"
    given = ["--honest", str(honest), "--forged", str(10 * honest), "--first", str(first), "-o", str(page)]
    assert campaign.main(given) == 0, capsys.readouterr()
    assert f"| honest | {honest} |" in page.read_text(encoding="utf-8")
    assert "| **forged, confirmed and false** | **0** |" in page.read_text(encoding="utf-8")
