"""The regression experiment in small, its nested folds piece by piece, and the rules behind its sentence."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

import mklcvx
import toy_experiment  # puts the experiments on the path
from _harness import Cache, Row, Setting, finished, key, run
from _reporting import write_page

pytestmark = pytest.mark.slow

assert toy_experiment.EXPERIMENTS.is_dir()
regression, nested, machines = map(import_module, ("regression", "regression_contest", "regression_machines"))
results, report, views = map(import_module, ("regression_results", "regression_report", "_views"))

WITHOUT = replace(regression.EXPERIMENT, left_out=lambda cell: cell["who"] == "himalaya")
GRID = {"C": (0.01, 0.1)}


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """The smallest run, where himalaya is not installed: the outcome and the page."""
    setting = Setting("quick", folder=tmp_path_factory.mktemp("results"))
    outcome = run(WITHOUT, setting)
    return outcome, write_page(WITHOUT, setting, outcome, "python validation/experiments regression --quick")


@pytest.fixture(scope="module")
def diabetes():
    """A split of some of the patients."""
    return nested.Split.of(regression.data_of("diabetes"), np.arange(0, 120), np.arange(120, 160))


# ------------------------------------------------------------------------------------------------------------ in small
def test_every_answer_in_small_is_certified(quick):
    outcome, page = quick
    assert outcome.complete, outcome.failed
    lines = [line for row in outcome.rows for line in row["rows"] if line["solved"]]
    assert len(lines) == 2 * 16
    for line in lines:
        assert line["certified"] == line["solved"] == line["fits"], line["method"]
        assert line["worst_gap"] <= machines.TOLERANCE
        assert line["apart"] is None or line["apart"] <= report.WITNESSED
    assert "**Found: every MKL answer is certified; " in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("table", "columns"),
    [
        ("findings", ["", "found", "numbers"]),
        ("errors", ["", "linnerud: error", "linnerud: explained"]),
        ("tests", ["data", "ours", "theirs", "difference", "95 % interval", "test", "Holm"]),
    ],
)
def test_a_table_in_small(quick, table, columns):
    toy_experiment.check_table(quick[1].parent / f"{table}.csv", columns)


def test_a_page_in_small(quick):
    text = quick[1].read_text(encoding="utf-8")
    assert "too small to be evidence" in text
    assert "himalaya is not installed" in text
    assert "## How it was measured" in text
    assert "Unfinished" not in text
    assert "{" not in text.replace("{0.", "")  # but for sets of numbers: every value is filled in


def test_shared_weights_are_one_vector_and_others_one_for_each_target(quick):
    (row, *_) = (row for row in quick[0].rows if row["who"] == "mklcvx")
    count = {line["method"]: len(line["weights"]) for line in row["rows"]}
    assert (count["l1, squared"], count["l1, squared, weights per target"]) == (1, 3)
    assert all(len(line["errors"]) == 3 for line in row["rows"])


def test_a_narrower_gap_moves_weights_less(quick):
    found = results.Results(quick[0].rows)
    moved = [np.max([line["weights_moved"] for line in found.rough("linnerud", gap)]) for gap in (1e-1, 1e-3, 1e-8)]
    assert moved[0] > moved[1] > moved[2] == 0


def test_the_page_of_too_little_says_so(quick, tmp_path):
    only = [row for row in quick[0].rows if row["who"] == "mklcvx"]
    assert "Too little" in report.report(Setting("quick", folder=tmp_path), only).verdict


def test_cells_of_a_missing_package_are_left_out_unless_they_are_known(tmp_path):
    setting = Setting(folder=tmp_path)
    without = replace(toy_experiment.TOY, left_out=lambda cell: cell["set"] == "b")
    assert [row["set"] for row in run(without, setting).rows] == ["a"] * 4
    Cache.of(without, setting).append(Row({"set": "b", "split": 3}, {"value": 9}, 0.0))
    outcome = finished(without, setting)
    assert outcome.complete
    assert [row["set"] for row in outcome.rows] == ["a"] * 4 + ["b"]


# --------------------------------------------------------------------------------------------------------------- folds
def test_nothing_of_a_test_sample_reaches_the_training_part():
    data = regression.data_of("diabetes")
    train, test = np.arange(60), np.arange(60, 80)
    changed = replace(data, features=data.features.copy(), targets=data.targets.copy())
    changed.features[test] += 100
    changed.targets[test] *= -3
    a, b = (nested.Split.of(which, train, test) for which in (data, changed))
    np.testing.assert_array_equal(a.kernels, b.kernels)
    np.testing.assert_array_equal(a.targets, b.targets)
    assert not np.allclose(a.to_test, b.to_test)
    np.testing.assert_allclose([a.targets.mean(), a.targets.std()], [0, 1], atol=1e-12)
    np.testing.assert_allclose(np.trace(a.kernels, axis1=1, axis2=2), 60)


def test_inner_folds_stay_within_the_training_part_and_choose_the_least_error(monkeypatch):
    data, seen = regression.data_of("linnerud"), []
    train, test = np.arange(2, 18), np.array([0, 1, 18, 19])
    kernels = views.FeatureViews.kernels

    def spied(self, a, b):
        seen.append((set(a), set(b)))
        return kernels(self, a, b)

    monkeypatch.setattr(views.FeatureViews, "kernels", spied)

    def fits(split, grid):
        for shift in grid["shift"]:
            yield {"shift": shift}, nested.Fit(split.truth + shift)

    rival = nested.Contestant("shifted truth", {"shift": (3.0, -1.0, 2.0)}, fits)
    (line,) = nested.contest([rival], data, train, test, nested.inner_folds(4, 0))
    assert seen[0] == (set(train), set(test))
    assert all(a | b == set(train) and not a & b for a, b in seen[1:])
    assert sorted(np.concatenate([list(b) for _, b in seen[1:]])) == sorted(train)
    assert line["parameters"] == 3 * [{"shift": -1.0}]
    np.testing.assert_allclose(line["errors"], 1)
    assert line["fits"] == 3 * (4 * 3 + 1)


def test_everybody_has_the_same_folds_and_every_sample_is_tested_once():
    setting, cells = Setting(), regression.cells(Setting())
    split = {key(cell): regression.outer_split(cell, setting, 442) for cell in cells if cell["data"] == "diabetes"}
    for repeat in (0, 1):
        tests = []
        for fold in range(regression.OUTER):
            cell = {"data": "diabetes", "repeat": repeat, "fold": fold}
            own = [split[key({**cell, "who": who})] for who in regression.WHO]
            assert all(np.array_equal(own[0][1], other[1]) for other in own)
            tests.append(own[0][1])
        assert sorted(np.concatenate(tests)) == list(range(442))
    first, second = (split[key({"data": "diabetes", "repeat": r, "fold": 0, "who": "mklcvx"})][1] for r in (0, 1))
    assert not np.array_equal(first, second)


# ------------------------------------------------------------------------------------------------------------ machines
@pytest.mark.parametrize("loss", machines.LOSSES)
def test_a_contestant_is_the_estimator(diabetes, loss):
    fits = machines.multiple("elastic", loss, GRID).fits(diabetes, {"C": [0.1]})
    ((_, fit),) = fits
    stack, to_test = (np.moveaxis(kernels, 0, -1) for kernels in (diabetes.kernels, diabetes.to_test))
    given = {"loss": loss, "C": 0.1, "l1_ratio": 0.5, "tol": 1e-10, "normalise": None}
    model = mklcvx.MKLRegressor("elastic", kernels="precomputed", **given)
    model.fit(stack, diabetes.targets.ravel())
    assert fit.certified
    np.testing.assert_allclose(fit.predicted.ravel(), model.predict(to_test), atol=1e-4)


def test_single_machines_are_those_of_one_kernel(diabetes):
    """With one kernel KernelRidge is our squared loss, and SVR our ε-insensitive one."""
    alone = diabetes._replace(kernels=diabetes.kernels[3:4], to_test=diabetes.to_test[3:4])
    width = {"epsilon": [0.1]}
    for made, loss, own in ((machines.ridge, "squared", {}), (machines.support_vectors, "epsilon_insensitive", width)):
        grid = {**own, "C": [0.5]}
        ((_, theirs),) = made([0], grid).fits(alone, {"kernel": [0], **grid})
        ((_, ours),) = machines.multiple("average", loss, grid).fits(alone, grid)
        np.testing.assert_allclose(ours.predicted.ravel(), theirs.predicted, atol=2e-3)  # SVR's own tolerance is 1e-3


def test_himalaya_at_its_weights_is_ours(diabetes):
    pytest.importorskip("himalaya", reason="pip install 'mklcvx[experiments]'")
    rival = machines.himalaya(machines.RANDOM, (0.1, 1.0), nested.inner_folds(2, 0), 0)
    line = nested.row(rival, diabetes, [])
    assert line["apart"] < 1e-6
    assert line["errors"][0] < 1


# --------------------------------------------------------------------------------------------------------------- rules
def rows_of(lead, noise=0.01, folds=5):
    """MKL's errors are ahead of everybody else's by the lead, fold by fold."""
    rng, rows = np.random.default_rng(0), []
    names = [machines.named(f, loss) for f in machines.FORMULATIONS for loss in machines.LOSSES]
    for fold in range(folds):
        base = 1 + 0.1 * fold
        made = {
            "mklcvx": {n: base - lead * (not n.startswith("average")) + noise * rng.normal() for n in names},
            "scikit-learn": {n: base + noise * rng.normal() for n in ("mean", "KernelRidge", "SVR")},
        }
        for who, errors in made.items():
            lines = [{"method": name, "errors": [error]} for name, error in errors.items()]
            cell = {"data": "diabetes", "repeat": 0, "fold": fold, "who": who}
            rows.append(Row(cell, {"rows": lines, "test": 20, "train": 80}, 0.0))
    return results.Results(rows)


@pytest.mark.parametrize(("lead", "holds"), [(0.5, True), (0.0, False), (-0.5, False)])
def test_a_lead_is_found_where_it_is(lead, holds):
    found = rows_of(lead)
    assert report.against_single(found).holds is holds
    assert report.against_average(found).holds is holds
    pairs = results.compared(found, "diabetes")
    assert all(pair.low <= pair.difference <= pair.high for pair in pairs.values())
    assert all(pair.adjusted >= pair.p for pair in pairs.values())


def test_the_explained_share_is_pooled_over_the_folds_of_a_repeat():
    found = rows_of(0.25, noise=0.0, folds=3)
    assert found.explained("diabetes", "mean").tolist() == [[0.0]]
    np.testing.assert_allclose(found.explained("diabetes", "l1, squared"), [[0.75 / 3.3]])


# ------------------------------------------------------------------------------------------------ what is committed
