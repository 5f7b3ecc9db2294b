"""The experiments after Govindaraj, Ji and Bucak: in small, piece by piece, and the rules behind their sentences."""

from collections import Counter
from importlib import import_module

import numpy as np
import pytest

import toy_experiment  # puts the experiments on the path
from _findings import Finding, probability, sentence
from _harness import Cache, Row, Setting, key, run
from _reporting import write_page

pytestmark = pytest.mark.slow

assert toy_experiment.EXPERIMENTS.is_dir()
bucak, bucak_contest, bucak_learning = map(import_module, ("bucak", "bucak_contest", "bucak_learning"))
govindaraj, one_versus_one = map(import_module, ("govindaraj", "one_versus_one"))
ji, ji_contest, label_views = map(import_module, ("ji", "ji_contest", "label_views"))
synthetic, synthetic_report = map(import_module, ("govindaraj_redundancy", "govindaraj_synthetic_report"))

QUICK = {experiment.name: experiment for experiment in (govindaraj.EXPERIMENT, ji.EXPERIMENT, bucak.EXPERIMENT)}
COLUMNS = {
    ("govindaraj", "redundancy"): ["means differ in", "p", "ρ", "L1", "Li", "sum", "Li/L1", "±", "Li/sum", "±"],
    ("govindaraj", "kernels"): ["kernels", "L1", "Li", "Li/L1", "±", "Li better / equal / worse", "paired test"],
    ("govindaraj", "prices"): ["C", "L1", "Li", "Li − L1"],
    ("govindaraj", "sizes"): ["training samples of each class", "L1", "Li", "CKL", "sum"],
    ("ji", "macro_f1"): ["", "digits, 120", "average rank", "printed scores", "printed rank"],
    ("ji", "micro_f1"): ["", "digits, 120", "average rank", "printed scores", "printed rank"],
    ("bucak", "precision"): ["", "digits, quick", "rank of all", "rank in the table", "printed rank"],
    ("bucak", "cost"): ["", "formulation", "solver", "digits, quick: SVMs", "digits, quick: seconds"],
}


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Every experiment at its smallest: the outcome, and the folder of its page."""
    setting, found = Setting("quick", folder=tmp_path_factory.mktemp("results")), {}
    for name, experiment in QUICK.items():
        outcome = run(experiment, setting)
        found[name] = outcome, write_page(experiment, setting, outcome, f"python validation/experiments {name} --quick")
    return found


def results(quick, name, **cell):
    rows = [row for row in quick[name][0].rows if cell.items() <= row.cell.items()]
    return [one for row in rows for one in row["rows"]]


@pytest.mark.parametrize(("name", "table"), COLUMNS)
def test_a_table_in_small(quick, name, table):
    outcome, page = quick[name]
    assert outcome.complete, outcome.failed
    toy_experiment.check_table(page.parent / f"{table}.csv", COLUMNS[name, table])


@pytest.mark.parametrize("name", QUICK)
def test_a_page_in_small(quick, name):
    text = quick[name][1].read_text(encoding="utf-8")
    assert "conclusions hold here" in text
    assert "too small to be evidence" in text
    assert "Unfinished" not in text
    assert (quick[name][1].parent / f"{name}.png").stat().st_size > 10_000


def test_less_redundant_kernels_favour_li(quick):
    """Where all features carry the signal and C ends where the claims' grid does."""
    rows = [row for row in quick["govindaraj"][0].rows if row.cell["part"] == "redundancy"]
    assert synthetic_report.trend(rows, "all features", "l1", synthetic_report.FLOOR).rise > 0


def test_machines_on_digits_are_better_than_chance_and_certified(quick):
    for part, classes in (("kernels", 4), ("sizes", 3)):
        for one in results(quick, "govindaraj", part=part):
            assert one["accuracy"] > 1.5 / classes
            assert one["gap"] <= 1e-6, one


def test_integrated_kernels_beat_the_best_single_one(quick):
    scores = {method: [] for method in ji_contest.METHODS}
    for one in results(quick, "ji"):
        if one["method"] in scores:
            scores[one["method"]].append(one["macro"])
    single = np.mean(scores.pop("BIK"))
    assert all(np.mean(values) > single for values in scores.values())


def test_no_shared_weights_are_better_than_the_certified_optimum(quick):
    worth = {one["method"]: one["objective"] for one in results(quick, "bucak") if "objective" in one}
    assert worth["minimax, exact"] <= min(worth["SA"], worth["mirror-prox"]) * (1 + 1e-7)
    assert worth["Sum, exact"] <= worth["Sum"] * (1 + 1e-7)
    assert worth["mirror-prox"] <= worth["minimax, exact"] * (1 + 2 * bucak_learning.GAP)


# -------------------------------------------------------------------------------------------------------- their parts
def test_kernels_of_the_redundancy_experiment():
    size = synthetic.Size(kernels=6, samples=60)
    maps = synthetic.kernel_maps(size, 3, np.random.default_rng(0))
    assert len(maps) == 6
    assert sorted(np.concatenate([used for used, _ in maps[:3]])) == list(range(6))
    assert {tuple(used) for used, _ in maps} == {tuple(used) for used, _ in maps[:3]}
    x = np.random.default_rng(1).normal(size=(20, 6))
    assert all(np.linalg.matrix_rank(f @ f.T) == 2 for f in synthetic.factors(maps, x))


def test_votes_are_those_of_libsvm():
    from sklearn.datasets import load_wine
    from sklearn.svm import SVC

    x, classes = load_wine(return_X_y=True)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    train, test = np.arange(0, 178, 3), np.arange(1, 178, 3)
    kernels = (x[train] @ x[train].T / 10)[None], (x[test] @ x[train].T / 10)[None]
    found = one_versus_one.voted(kernels, classes[train], "sum", (0.01, 1.0), None, 1e-8)
    for price, predicted in zip((0.01, 1.0), found.classes, strict=True):
        machine = SVC(C=price, kernel="precomputed", tol=1e-8).fit(kernels[0][0], classes[train])
        assert np.array_equal(predicted, machine.predict(kernels[1][0]))


def test_a_price_is_chosen_by_folds_and_kernels_are_fitted_on_the_training_part():
    seen, x = [], np.random.default_rng(0).normal(size=(40, 2))
    classes = np.arange(40) % 2
    x[:, 0] += 3 * classes

    def kernels(train, test):
        seen.append((set(train), set(test)))
        return (x[train] @ x[train].T)[None], (x[test] @ x[train].T)[None]

    found = one_versus_one.tuned(kernels, classes, np.arange(30), np.arange(30, 40), "sum", (1e-3, 1.0, 10.0))
    assert all(not train & test for train, test in seen)
    assert all(train < set(range(30)) for train, _ in seen[:-1])
    assert seen[-1] == (set(range(30)), set(range(30, 40)))
    best = np.flatnonzero(np.isclose(found["inner"], max(found["inner"])))
    assert found["C"] == (1e-3, 1.0, 10.0)[best[(len(best) - 1) // 2]]
    assert found["accuracy"] == found["outer"][best[(len(best) - 1) // 2]]


def test_emotions_fall_into_nine_groups():
    used = Counter(feature for view in label_views.EMOTION_GROUPS.values() for feature in view)
    assert used == Counter(range(72))
    assert len(label_views.EMOTION_GROUPS) == 9


@pytest.mark.parametrize("classes", [10, 55])
def test_kernels_of_views_are_fitted_on_the_training_part(classes):
    data = label_views.digit_classes(Setting("quick"), classes)
    assert data.labels.shape[1] == classes
    assert (data.labels[:, :10].sum(axis=1) == 1).all()
    train = np.arange(30)
    stack, to_test = data.kernels(train, np.arange(30, 40))
    assert np.allclose(np.trace(stack, axis1=1, axis2=2), 30)
    assert np.allclose(stack.mean(axis=1), 0, atol=1e-9)
    assert np.allclose(to_test[:, :3], data.kernels(train, np.arange(30, 33))[1])
    assert len(data.groups) == len(stack) == len(data.names) == 9


def test_folds_hold_every_class_alike():
    labels = np.eye(3, dtype=int)[np.random.default_rng(0).permutation(np.arange(30) % 3)]
    parts = bucak_contest.folds(labels)
    assert sorted(np.concatenate(parts)) == list(range(30))
    for part in parts:
        assert np.ptp(labels[part].sum(axis=0)) <= 1


def test_sampling_ends_when_no_average_moves_by_a_hundredth():
    def mark(i, *weights):
        return bucak_learning.Mark(i, float(i), i, np.array(weights))

    marks = [mark(0, 0.5, 0.5), mark(1, 0.5, 0.5), mark(2, 0.6, 0.4), mark(3, 0.606, 0.394), mark(4, 0.607, 0.393)]
    assert bucak_learning.settled(marks).iteration == 4
    assert bucak_learning.settled(marks[:3]).iteration == 2
    assert bucak_learning.settled([*marks[:2], mark(2, 0.5, 0.5)]).iteration == 2


# -------------------------------------------------------------------------------------------------------- their rules
def redundancy_rows(slope):
    """Li-MKL's accuracy rises by the slope with ρ, L1-MKL's and the sum's stay; every C does as well as another."""
    rows = []
    for parts in (1, 5, 10):
        for split in range(6):
            accuracy = {"l1": 0.8, "sum": 0.8, "li": 0.8 + slope * parts / 10 + 1e-3 * (split % 3)}
            prices = (1e-5, 1.0)
            found = [{"method": m, "C": c, "validation": 0.5, "test": a} for m, a in accuracy.items() for c in prices]
            rows.append(Row({"spread": "all features", "parts": parts, "split": split}, {"rows": found}, 0.0))
    return rows


@pytest.mark.parametrize(("slope", "holds"), [(0.1, True), (0.0, False), (-0.1, False)])
def test_a_rise_with_redundancy_is_judged_by_rank(slope, holds):
    assert [finding.holds for finding in synthetic_report.of_redundancy(redundancy_rows(slope))] == [holds, holds]


def test_a_sentence_counts_what_holds():
    findings = [Finding("one", True, "a"), Finding("two", False, "b"), Finding("three", "holds only on x", "c")]
    assert sentence(findings) == (
        "1 of 3 conclusions hold here, 1 in part: one: holds (a); two: does not hold (b); three: holds only on x (c)."
    )
    assert [probability(p) for p in (1e-4, 0.0123, 0.5, float("nan"))] == [
        "p < 0.001", "p = 0.012", "p = 0.50", "too few for a test",
    ]  # fmt: skip


# ------------------------------------------------------------------------------------------------ what is committed
COMMITTED = [name for name, experiment in QUICK.items() if (experiment.folder(Setting()) / f"{name}.md").is_file()]


def test_something_is_committed():
    assert "govindaraj" in COMMITTED


@pytest.mark.parametrize("name", COMMITTED)
def test_a_committed_page_says_what_its_cells_say(name, tmp_path):
    """The sentence by today's rule is the one on the page; pictures go elsewhere."""
    experiment, rows = QUICK[name], Cache.of(QUICK[name], Setting()).read()
    wanted = [key(cell) for cell in experiment.cells(Setting())]
    known = {key(row.cell): row for row in rows}
    assert known.keys() <= set(wanted)
    page = experiment.report(Setting(folder=tmp_path), [known[cell] for cell in wanted if cell in known])
    text = (experiment.folder(Setting()) / f"{name}.md").read_text(encoding="utf-8")
    assert f"**{page.verdict}**" in text
    assert f"{len(known)} cells" in text
