"""The harness of the experiments: cells are computed once, on any back end, and survive the death of their process."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import toy_experiment as toy
from _harness import Cache, Setting, key, run
from _reporting import write_page
from places import TESTS, modules_of

pytestmark = pytest.mark.slow

HERE = TESTS / "helpers"
significance = modules_of("validation/experiments", "_significance")._significance


@pytest.fixture
def setting(tmp_path):
    return Setting(folder=tmp_path)


def computed(setting):
    return (setting.folder / "computed.log").read_text(encoding="utf-8").split()


def results(outcome):
    return {key(row.cell): row.result for row in outcome.rows}


# ------------------------------------------------------------------------------------------------------ taking up
def test_cells_are_computed_once(setting):
    first = run(toy.TOY, setting)
    assert first.complete
    assert [row.cell for row in first.rows] == toy.cells(setting)
    assert [row["value"] for row in first.rows] == [0, 1, 4, 9] * 2
    assert results(run(toy.TOY, setting)) == results(first)
    assert sorted(computed(setting)) == [f"{name}{split}" for name in "ab" for split in range(4)]


def test_another_seed_or_protocol_is_computed_anew_beside_the_old(setting, monkeypatch):
    first = run(toy.TOY, setting)
    other = run(toy.TOY, replace(setting, seed=1))
    assert [row["drawn"] for row in other.rows] != [row["drawn"] for row in first.rows]
    run(replace(toy.TOY, protocol=lambda _: {"pause": "another"}), setting)
    assert len(computed(setting)) == 24
    assert results(run(toy.TOY, setting)) == results(first)
    assert len(computed(setting)) == 24


def test_a_killed_run_loses_only_the_cell_it_was_at(setting):
    process = subprocess.Popen(
        [sys.executable, str(HERE / "toy_experiment.py"), str(setting.folder)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    cache, deadline = Cache.of(toy.TOY, setting), time.monotonic() + 60
    while len(cache.read()) < 3 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept, begun = len(cache.read()), len(computed(setting))
    assert 3 <= kept < 8
    assert begun - kept <= 1
    assert run(toy.TOY, setting).complete
    assert len(computed(setting)) == 8 + begun - kept


def test_a_line_cut_off_is_passed_over_and_does_not_spoil_the_next(setting):
    run(toy.TOY, setting)
    file = Cache.of(toy.TOY, setting).file
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    again = run(toy.TOY, setting)
    assert again.complete
    assert len(computed(setting)) == 9
    assert run(toy.TOY, setting).complete
    assert len(computed(setting)) == 9
    for line in file.read_text(encoding="utf-8").splitlines()[:7]:
        assert json.loads(line)["result"]["none"] is None


def test_a_failing_cell_ends_no_other_and_is_tried_again(setting):
    unlucky = replace(setting, seed=13)
    outcome = run(toy.TOY, unlucky)
    assert not outcome.complete
    assert len(outcome.rows) == 7
    assert outcome.failed[0].error == "ArithmeticError: two lines"
    run(toy.TOY, unlucky)
    assert computed(unlucky).count("b2") == 2
    page = write_page(toy.TOY, unlucky, outcome, "python toy").read_text(encoding="utf-8")
    assert "Unfinished: 7 of 8 cells" in page
    assert "two lines" in page


# --------------------------------------------------------------------------------------------------------- back ends
def test_two_processes_and_a_dask_cluster_find_what_one_process_finds(setting, tmp_path):
    import joblib
    from distributed import Client, LocalCluster

    alone = results(run(toy.TOY, setting))
    folders = [tmp_path / "two", tmp_path / "dask"]
    for folder in folders:
        folder.mkdir()
    assert results(run(toy.TOY, replace(setting, folder=folders[0], jobs=2))) == alone
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        assert results(run(toy.TOY, replace(setting, folder=folders[1]))) == alone


# -------------------------------------------------------------------------------------------------------- the report
def test_a_page_says_how_it_was_made(setting):
    page = write_page(toy.TOY, setting, run(toy.TOY, setting), "python validation/experiments toy")
    text = page.read_text(encoding="utf-8")
    assert page == setting.folder / "toy" / "toy.md"
    for words in (
        "# A toy",
        "**It holds.**",
        "| a | 9 |",
        "What differs",
        "`python validation/experiments toy`",
        "numpy",
    ):
        assert words in text
    assert time.strftime("%Y-%m-%d") in text
    assert (page.parent / "values.csv").read_text(encoding="utf-8").splitlines()[:3] == ["set,value", "a,0", "a,1"]
    quick = replace(setting, size="quick")
    assert "smoke run" in write_page(toy.TOY, quick, run(toy.TOY, quick), "").read_text(encoding="utf-8")


# -------------------------------------------------------------------------------------------------------- statistics
def test_the_corrected_test_is_wider_than_students_and_equal_to_it_without_overlap():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0.4, 1, 10), rng.normal(0, 1, 10)
    assert significance.corrected_t_test(a, b, 0.0) == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-12)
    assert significance.corrected_t_test(a, b, 3 / 7) > significance.corrected_t_test(a, b, 0.0)
    assert significance.corrected_t_test(a, a, 0.5) == 1.0
    assert significance.corrected_t_test(a + 1, a, 0.5) < 1e-12
    assert np.isnan(significance.corrected_t_test([1], [2], 0.5))


def test_ranks_share_and_averages_are_the_papers():
    """Table I of Xu et al.: AveKernel is printed with the average rank 6.28, ranks of Heart 7 and so on."""
    np.testing.assert_array_equal(significance.ranks([[3.0, 1.0, 3.0]]), [[1.5, 3, 1.5]])
    np.testing.assert_array_equal(significance.ranks([[3.0, 1.0, 2.0]], largest_first=False), [[3, 1, 2]])
    np.testing.assert_allclose(significance.average_ranks([[3, 2, 1], [2, 3, 1]]), [1.5, 1.5, 3])


def test_friedman_and_wilcoxon_see_what_is_there():
    table = np.arange(8)[:, None] * 1.0 + np.array([0.0, 1.0, 2.0])
    assert significance.friedman(table) < 0.001
    assert significance.friedman(np.ones((4, 3))) == 1.0
    assert np.isnan(significance.friedman(table[:, :2]))
    assert significance.wilcoxon(table[:, 0], table[:, 1]) < 0.01
    assert significance.wilcoxon([1, 2], [1, 2]) == 1.0


def test_agreement_is_three_printed_deviations():
    assert significance.agrees(80.0, 83.0, 1.0)
    assert not significance.agrees(80.0, 83.1, 1.0)
    assert significance.verdict_of_cell(90.0, (73.0, 5.0)) == "unexplained"
    assert significance.verdict_of_cell(88.0, (73.0, 5.0)) == "within"
    assert significance.verdict_of_cell(88.0, None) == "not printed"
