"""The papers' experiments in small: every command runs, its tables have the promised columns, known orders hold."""

import csv
import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import toy_experiment  # puts validation/experiments on the path
from _harness import Row, Setting
from _kumar_tables import ACCURACY as KUMAR
from _selection import Contest, Problem, Split, standardised
from _significance import average_ranks
from _xu_page import unseen
from _xu_tables import ACCURACY, METHODS, RANKS, SETS

pytestmark = pytest.mark.slow

FOLDER = toy_experiment.EXPERIMENTS
COMMITTED = sorted((FOLDER / "results").glob("*/table[12].csv"))


def table(file):
    with Path(file).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.fixture
def experiments(tmp_path, monkeypatch):
    """The command, in this process: its status and the folder it fills."""
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    monkeypatch.delenv("MKLCVX_DATA", raising=False)

    def run(*arguments):
        main = runpy.run_path(str(FOLDER / "__main__.py"), run_name="experiments")["main"]
        return main([*arguments, "--folder", str(tmp_path)]), tmp_path

    return run


# --------------------------------------------------------------------------------------------------------- commands
def test_soft_margin_in_small(experiments):
    status, folder = experiments("xu", "--quick")
    assert status == 0
    accuracy = table(folder / "xu-quick" / "table1.csv")
    assert list(accuracy[0]) == [
        "data set", "method", "accuracy %", "sd", "printed %", "printed sd", "within three printed sd",
    ]  # fmt: skip
    assert [row["method"] for row in accuracy] == list(METHODS.values())
    assert all(float(row["accuracy %"]) > 70 for row in accuracy)
    (used,) = table(folder / "xu-quick" / "figure1.csv")
    assert float(used["AveKernel"]) == float(used["of"]) == 39
    assert float(used["SimpleMKL"]) < float(used["SGMKL"]) < float(used["L2MKL"])
    noise = table(folder / "xu-quick" / "figure2.csv")
    assert [row["noise r"] for row in noise] == ["0.0", "1.0"]
    assert set(noise[0]) == {"noise r", "AveKernel", "SimpleMKL", "L2MKL", "SM1MKL", "SM2MKL"}
    for name in ("ranks.csv", "tests.csv", "table2.csv", "scale.csv", "figure1.png", "figure2.png", "cells.jsonl"):
        assert (folder / "xu-quick" / name).stat().st_size
    page = (folder / "xu-quick" / "xu.md").read_text(encoding="utf-8")
    assert "smoke run" in page
    gaps = [float(gap) for gap in re.search(r"at worst: (\S+) of .* judged, (\S+) of", page).groups()]
    assert gaps[0] <= 1e-8
    assert gaps[1] <= 1e-4


def test_two_stages_in_small(experiments):
    status, folder = experiments("kumar", "--quick")
    assert status == 0
    rows = table(folder / "kumar-quick" / "table2.csv")
    assert {row["kernels"] for row in rows} == {"p = 13", "p = 13d + 13"}
    assert {"Best Kernel", "Average", "Targ. Align", "MKL (SILP/Simple)", "L2-MKL", "TS-MKL"} <= {
        row["method"] for row in rows
    }
    assert all(float(row["accuracy %"]) > 50 for row in rows)  # three classes, two features
    used = table(folder / "kumar-quick" / "kernels.csv")
    assert sorted(row["of"] for row in used) == ["13", "39"]
    for row in used:
        assert float(row["Best Kernel"]) == 1
        assert float(row["MKL (SILP/Simple)"]) < float(row["L2-MKL"]) <= float(row["Average"]) == float(row["of"])
    assert {row["method"] for row in table(folder / "kumar-quick" / "table3.csv")} >= {"Targ. Align", "TS-MKL"}


def test_a_missing_data_set_is_said_in_a_line(experiments, tmp_path, capsys):
    assert experiments("xu", "--data", str(tmp_path))[0] == 2
    assert "heart.csv" in capsys.readouterr().err


def test_a_folder_that_cannot_be_is_said_in_a_line(experiments, tmp_path, capsys):
    (tmp_path / "xu-quick").write_text("a file in the way", encoding="utf-8")
    assert experiments("xu", "--quick")[0] == 2
    assert "another place" in capsys.readouterr().err


def test_only_what_is_finished_is_reported(experiments, monkeypatch, capsys):
    assert experiments("kumar", "--quick", "--report")[0] == 1
    with pytest.raises(SystemExit):
        experiments("kumar", "--quick", "--jobs", "0")
    assert "below 1" in capsys.readouterr().err
    monkeypatch.setattr("_harness.compute", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    assert experiments("kumar", "--quick")[0] == 130
    assert "goes on" in capsys.readouterr().err


# ----------------------------------------------------------------------------------------------------------- choosing
@pytest.fixture(scope="module")
def contest():
    """Three kernels: one that tells the classes, one of noise, and their sum."""
    rng = np.random.default_rng(3)
    y = np.repeat([1.0, -1.0], 40)
    views = [rng.normal(size=(80, 2)) + y[:, None], rng.normal(size=(80, 2))]
    stack = np.stack([np.exp(-0.5 * ((v[:, None] - v) ** 2).sum(axis=2)) for v in views])
    stack = np.concatenate([stack, stack.sum(axis=0)[None] / 2])
    train, test = np.arange(0, 80, 2), np.arange(1, 80, 2)
    split = Split(stack[:, train][:, :, train], y[train], stack[:, test][:, :, train], y[test])
    return Contest(split, split.folds(3, 0), [0.1, 1.0])


def test_the_best_held_out_accuracy_wins_and_what_is_known_is_not_solved_again(contest, monkeypatch):
    contest.hold_out([Problem("l1"), Problem("sm2", (("theta", 0.1),))])
    assert contest.worst_gap <= 1e-4
    tag, price = contest.best([Problem("l1"), Problem("sm2", (("theta", 0.1),))])
    assert contest.scores[tag, price] == max(contest.scores.values())
    monkeypatch.setattr("_selection.along", lambda *_: pytest.fail("solved again"))
    contest.hold_out([Problem("l1")])


def test_a_mixture_predicts_as_its_only_kernel_does(contest):
    noise = contest.fit(Problem("svm"), 1.0, np.array([0.0, 1.0, 0.0]))
    signal = contest.fit(Problem("svm"), 1.0, np.array([1.0, 0.0, 0.0]))
    both = contest.fit(Problem("svm"), 1.0, np.array([0.5, 0.5, 0.0]))
    third = contest.fit(Problem("svm"), 1.0, np.array([0.0, 0.0, 1.0]))
    assert contest.split.accuracy(signal) > contest.split.accuracy(noise) + 0.2
    test = contest.split.test_kernels
    np.testing.assert_array_equal(both.predict(test), third.predict(test))
    assert (signal.kernels, both.kernels) == (1, 2)


def test_classes_are_decided_by_the_largest_of_their_values(contest):
    names = np.where(contest.split.targets > 0, "b", "a")
    split = Split(contest.split.kernels, names, contest.split.test_kernels, np.array([]))
    several = Contest(split, split.folds(3, 0), [1.0]).fit(Problem("l1"), 1.0)
    alone = contest.fit(Problem("l1"), 1.0)
    test = contest.split.test_kernels
    np.testing.assert_array_equal(several.predict(test) == "b", alone.predict(test) > 0)


def test_features_constant_in_training_are_left_out():
    train, test = np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([[2.0, 9.0]])
    seen, unseen = standardised(train, test)
    np.testing.assert_array_equal(seen, [[-1.0], [1.0]])
    np.testing.assert_array_equal(unseen, [[0.0]])


def test_methods_share_the_problems_in_which_they_meet():
    import xu

    setting = Setting()
    for method in ("lp", "elastic", "sm1"):
        assert Problem("l1") in xu.problems_of(method, 50, setting)
    assert xu.problems_of("sm1", 50, setting)[1] == Problem("sm1", (("theta", 1 / (0.2 * 50)),))
    assert all(len(xu.problems_of(m, 50, Setting(size="full"))) >= 8 for m in xu.OWN)
    assert all(len(xu.own_grid(m, setting)) >= 3 for m in xu.OWN)
    assert len(xu.prices(setting)) >= 3
    assert xu.splits(setting) >= 5


def test_noise_joins_the_same_split():
    import xu

    quick = Setting(size="quick")
    cell = {"data": "breast_cancer", "split": 0, "noise": 0.0}
    clean, noisy = xu.prepared(cell, quick), xu.prepared({**cell, "noise": 1.0}, quick)
    np.testing.assert_array_equal(clean.test_targets, noisy.test_targets)
    assert (len(clean.kernels), len(noisy.kernels)) == (39, 65)
    np.testing.assert_allclose(clean.kernels[13:39], noisy.kernels[13:39], rtol=1e-12)
    np.testing.assert_allclose(np.trace(clean.kernels, axis1=1, axis2=2), 1, rtol=1e-12)


def test_later_splits_are_counted_by_themselves():
    """The first five helped to choose the kernels' scale."""
    printed, deviation = ACCURACY["heart", "l1"]

    def of(*accuracies):
        rows = {split: Row({}, {"accuracy": accuracy}, 0.0) for split, accuracy in enumerate(accuracies)}
        return unseen({("heart", "l1"): rows, ("heart", "unprinted"): rows}, ["heart"])

    far = printed + 4 * deviation
    assert of(*[far] * 5) == ""
    assert "1 of 1 means" in of(*[far] * 5, printed)
    assert "0 of 1 means" in of(*[printed] * 5, far)


# ---------------------------------------------------------------------------------------------------- printed numbers
def test_the_printed_table_has_the_printed_ranks():
    """But for SM1MKL, whose 81.60 on Heart is printed with rank 4: it shares rank 6, and three others move up by one.
    Equal accuracies have the best of their ranks in the paper."""
    printed = np.array([[ACCURACY[data, method][0] for method in METHODS] for data in SETS])
    best_of_ties = (printed[:, :, None] < printed[:, None, :]).sum(axis=2) + 1
    moved = {"sm1": 2, "average": -1, "l1": -1, "lp": -1}
    expected = [RANKS[method] + moved.get(method, 0) / len(SETS) for method in METHODS]
    np.testing.assert_allclose(best_of_ties.mean(axis=0), expected, atol=0.006)  # printed with two decimals, cut off
    assert average_ranks(printed).argmin() == list(METHODS).index("sm2")


def test_the_other_printed_table_is_complete():
    assert len(KUMAR) == 4 * 2 * 7
    assert KUMAR["sonar", "all+each", "best"] == (86.90, 4.23)
    assert KUMAR["vertebral", "all", "ts"] == (81.10, 4.42)


@pytest.mark.skipif(not COMMITTED, reason="no tables are committed yet")
def test_committed_cells_agree_with_the_papers_or_say_why_not():
    for file in COMMITTED:
        for row in table(file):
            assert row.get("within three printed sd") != "unexplained", (file, row)
