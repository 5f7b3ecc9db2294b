"""`mklcvx cv`: scores of certified solutions on held-out samples, point by point."""

import json
import os
import shlex
import signal
import time

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.model_selection import StratifiedKFold

from mklcvx import Instance, MKLClassifier, zoo
from mklcvx.estimators.cross_validation import FoldsMissing, cross_validate
from mklcvx.io.files import save_instance

pytestmark = pytest.mark.slow

WINE = zoo.real("wine", samples=60, count=6)
CLASSES = zoo.real("wine", "classes", samples=45, count=5)


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    path = tmp_path_factory.mktemp("cv") / "wine.npz"
    save_instance(path, WINE)
    return path


def lines_of(out):
    return [json.loads(line) for line in out.splitlines()]


def test_scores_are_those_of_the_estimator_on_the_same_folds(succeeds, wine):
    grid = ("--grid", "C=0.1,10", "--grid", "theta=0.3,1")
    steps = ("--normalise", "variance", "--centre")
    out, _ = succeeds("cv", wine, "-f", "sm1", *grid, "--folds", 3, "--seed", 4, *steps)
    found = lines_of(out)
    assert [record["parameters"] for record in found] == [
        {"C": 0.1, "theta": 0.3}, {"C": 0.1, "theta": 1}, {"C": 10, "theta": 0.3}, {"C": 10, "theta": 1},
    ]  # fmt: skip
    stack = np.moveaxis(WINE.kernels, 0, -1)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=4).split(WINE.y, WINE.y))
    for record in found:
        settings = {"centre": True, "normalise": "variance", **record["parameters"]}
        scores = []
        for train, test in folds:
            model = MKLClassifier("sm1", "precomputed", **settings).fit(stack[np.ix_(train, train)], WINE.y[train])
            scores.append(model.score(stack[np.ix_(test, train)], WINE.y[test]))
        assert record["scores"] == pytest.approx(scores)
        assert record["mean"] == pytest.approx(np.mean(scores))
        assert record["std"] == pytest.approx(np.std(scores))
        assert record["status"] == "certified"
        assert record["relative_gap"] <= 1e-8
        assert (record["schema"], record["score"], record["folds"], record["seed"]) == ("mklcvx.cv/1", "accuracy", 3, 4)
    means = [record["mean"] for record in found]
    assert [record["best"] for record in found] == [number == int(np.argmax(means)) for number in range(4)]


def test_jobs_change_nothing(run, wine):
    alone = run("cv", wine, "--grid", "C=0.1,1", "--folds", 2)
    with parallel_config(backend="threading"):
        beside = run("cv", wine, "--grid", "C=0.1,1", "--folds", 2, "--jobs", 2)
    assert alone == beside


def test_a_file_gets_the_lines_and_people_a_table(succeeds, wine, tmp_path):
    out, _ = succeeds("cv", wine, "--grid", "C=0.1,1", "--folds", 2, "-o", tmp_path / "cv.jsonl")
    stored = lines_of((tmp_path / "cv.jsonl").read_text(encoding="utf-8"))
    assert len(stored) == 2
    assert out.count("★") == 1
    best = next(record for record in stored if record["best"])
    starred = next(line for line in out.splitlines() if "★" in line)
    assert f"C = {best['parameters']['C']}" in starred
    assert f"{best['mean']:.4f}" in starred


def test_the_table_ends_in_a_command_that_solves_the_best_point_on_all_samples(run, succeeds, wine, tmp_path):
    fixed = ("-f", "sm1", "--set", "theta=0.7", "--normalise", "trace", "--centre", "--kernels", "0,2")
    grid = ("--grid", "C=10,100", "--folds", 2, "-o", tmp_path / "cv.jsonl")
    _, out, _ = run("cv", wine, *fixed, *grid)
    command = out.splitlines()[-1].removeprefix("the best on all samples: mklcvx ")
    best = next(record for record in lines_of((tmp_path / "cv.jsonl").read_text(encoding="utf-8")) if record["best"])
    out, _ = succeeds(*shlex.split(command), "--json")
    parameters = json.loads(out)["parameters"]
    assert len(json.loads(out)["weights"]) == 2
    assert (parameters["theta"], parameters["C"]) == (0.7, best["parameters"]["C"])


def test_where_one_kernel_is_needed_one_can_be_named(run, refusal, wine, tmp_path):
    """By every command whose refusal says so."""
    one, answer = ("-f", "svm", "--kernels", "0"), tmp_path / "answer.json"
    assert run("solve", wine, *one, "-o", answer, "-q")[0] == 0
    folds, rounds = ("--grid", "C=1", "--folds", 2), ("--solvers", "interior", "--rounds", 1)
    for command in (("cv", wine, *folds), ("bench", wine, *rounds), ("verify", wine, answer)):
        assert "name one by --kernels" in refusal(*command, "-f", "svm")
        assert run(*command, *one)[0] == 0


def test_the_exit_status_is_the_worst_one(run, wine):
    code, out, err = run(
        "cv", wine, "--grid", "C=0.1,100", "--folds", 2, "--solver", "simplemkl", "--max-iter", 1, "--tol", 1e-9
    )
    assert code == 1
    assert "not_certified" in {record["status"] for record in lines_of(out)}
    assert "4 of 4 solutions are not certified; the first: not certified: relative gap" in err


@pytest.mark.filterwarnings("ignore:all points of the grid are equally good")
def test_classes_and_label_sets():
    (row,) = cross_validate(CLASSES, "ml_sum", [{"C": 1.0}], folds=3).rows
    assert row.scores.mean() > 0.9
    assert row.certified
    labels = np.column_stack([CLASSES.targets.indicators(), np.arange(45) == 7])  # one label in a single fold
    instance = Instance(CLASSES.kernels, labels=labels)
    found = cross_validate(instance, "ts", [{"lam": 0.01}, {"lam": 0.1}], folds=3)
    assert found.score == "f1_macro"
    assert all(0.5 < row.scores.mean() < 1 for row in found.rows)
    nearly = Instance(CLASSES.kernels, labels=1 - labels)
    (row,) = cross_validate(nearly, "ml_sum", [{"C": 1.0}], folds=3).rows
    assert row.scores.min() > 0.9  # a label that all training samples have is predicted


def test_a_score_must_fit_the_targets(refusal, tmp_path):
    save_instance(tmp_path / "classes.npz", CLASSES)
    message = refusal("cv", tmp_path / "classes.npz", "-f", "ts", "--grid", "C=1", "--score", "roc_auc")
    assert "score roc_auc does not fit targets classes: choose one of accuracy, balanced_accuracy" in message


class Killer:
    """Ends the process of the second fold that asks, once."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, text):
        if "point 1 of" in text:
            (self.folder / f"begun-{os.getpid()}-{time.monotonic_ns()}").touch()
            if len(list(self.folder.glob("begun-*"))) == 3:
                os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_killed_process_is_named_and_what_has_ended_is_taken_up(tmp_path):
    instance, points, asked = zoo.random(24, 2, seed=1), [{"C": 0.5}], {"folds": 4}
    with pytest.raises(FoldsMissing, match=r"^folds? [\d, ]+ did not end: a process was killed") as caught:
        cross_validate(instance, "l1", points, jobs=2, report=Killer(tmp_path), **asked)
    known = caught.value.solution
    resumed = cross_validate(instance, "l1", points, jobs=1, known=known, **asked)
    assert resumed.as_dicts() == cross_validate(instance, "l1", points, jobs=1, **asked).as_dicts()
