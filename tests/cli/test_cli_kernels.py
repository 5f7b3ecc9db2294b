"""`mklcvx kernels`, and the same section of `report`: scores as `cv` has them, names, exit status, refusals."""

import json

import numpy as np
import pytest

from mklcvx import Instance, zoo
from mklcvx.cli.options import _kernels_in
from mklcvx.estimators.cross_validation import cross_validate
from mklcvx.io.files import save_instance
from refusals import within_a_second

WINE = zoo.real("wine", samples=40, count=5).select([0, 2, 4])
QUICK = ("--folds", 2, "--resamples", 2, "--repeats", 2)


def saved(folder, instance):
    path = folder / "problem.npz"
    save_instance(path, instance)
    return path


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    return saved(tmp_path_factory.mktemp("kernels"), Instance(WINE.kernels, WINE.y, names=["age", "genes", "height"]))


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    instance = zoo.real("wine", "classes", samples=36, count=5).select([1, 3])
    return saved(tmp_path_factory.mktemp("classes"), instance)


@pytest.mark.parametrize("normalise", ["trace", "cosine"])
def test_the_score_is_that_of_cv_on_the_same_folds(quiet, wine, tmp_path, normalise):
    steps = ("--normalise", normalise, "--set", "C=100", "--seed", 3, "--score", "balanced_accuracy")
    out = quiet("kernels", wine, *QUICK, *steps, "--json", "-o", tmp_path / "found.json")
    found = json.loads(out)
    assert found == json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    given = {"folds": 2, "seed": 3, "score": "balanced_accuracy", "normalise": normalise}
    known = cross_validate(WINE, "l1", [{"C": 100.0}], **given).rows[0]
    assert found["scores"] == pytest.approx(known.scores)
    assert found["names"] == ["age", "genes", "height"]
    assert (found["scoring"], found["fits"], found["uncertified"]) == ("balanced_accuracy", 2 * 7 + 2 + 1, 0)


def test_a_table_names_the_kernels(quiet, wine):
    out = quiet("kernels", wine, "--folds", 2, "--answers", "alone")
    lines = out.splitlines()
    assert lines[0].split() == ["kernel", "weight", "alone"]
    assert [line.split()[0] for line in lines[1:4]] == ["age", "genes", "height"]
    assert "9 fits, all certified" in lines[4]


def test_classes_have_machines_and_a_page(run, classes, tmp_path):
    page = tmp_path / "kernels.html"
    answers = ("--answers", "stability,permuted")
    code, out, err = run("kernels", classes, *QUICK, *answers, "--kernels", "1,0", "--html", page, "-q")
    assert (code, out, err) == (0, "", "")
    code, out, _ = run("kernels", classes, *QUICK, "--answers", "stability", "--multi-class", "ovo", "--json")
    assert len(json.loads(out)["machines"]) == 3
    assert " v " in json.loads(out)["machines"][0]
    text = page.read_text(encoding="utf-8")
    assert 'id="classes-' in text
    assert "problem.npz: which kernels matter" in text


def test_targets_choose_the_estimator(succeeds, tmp_path):
    response = Instance(WINE.kernels[:2], response=np.arange(40.0) % 7, sample_weight=np.linspace(1, 2, 40))
    out, _ = succeeds("kernels", saved(tmp_path, response), "--folds", 2, "--answers", "without", "--json")
    assert json.loads(out)["scoring"] == "r2"
    labels = Instance(WINE.kernels[:2], labels=np.column_stack([WINE.y > 0, WINE.y < 0]))
    file = saved(tmp_path, labels)
    out, _ = succeeds("kernels", file, "-f", "ml_sum", "--folds", 2, "--answers", "alone", "--json")
    assert json.loads(out)["scoring"] == "f1_macro"


def test_what_is_not_certified_has_status_one(run, wine):
    code, _, err = run("kernels", wine, "--folds", 2, "--answers", "without", "--max-iter", 1, "--solver", "simplemkl")
    assert code == 1
    assert "of 9 fits are not certified" in err


def test_parameters_of_estimators_that_are_no_ones_of_formulations_are_refused(refusal, wine, classes):
    for setting in ("class_weight=balanced", "multi_class=ovo", "C=scale", "D=1"):
        assert setting.split("=")[0] in refusal("kernels", classes, "--set", setting, "-q")
    assert "cannot follow --centre" in refusal("kernels", wine, "--normalise", "cosine", "--centre")
    assert "threshold = 2.0" in refusal("kernels", wine, "--threshold", 2)
    assert "one kernel" in refusal("kernels", wine, "--kernels", "age")


def test_report_has_the_section_on_demand(quiet, tmp_path):
    page, four = tmp_path / "report.html", saved(tmp_path, zoo.real("wine", samples=30, count=5).select([0, 1, 2, 3]))
    for normalise, folds, there in (("diagonal", (), False), ("cosine", ("--folds", 2), True)):
        quiet("report", four, *folds, "-o", page, "--solvers", "interior", "--normalise", normalise, "-q")
        assert ('id="kernels"' in page.read_text(encoding="utf-8")) == there


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a, b", ["a", "b"]),
        ("gaussian(x1,x2), b", ["gaussian(x1,x2)", "b"]),
        ("f(x,y),g(z),c", ["f(x,y)", "g(z)", "c"]),
        ("a(,b", ["a(", "b"]),
        (",", ["", ""]),
        ("", [""]),
    ],
)
def test_kernels_are_split_at_commas_outside_parentheses(text, names):
    assert _kernels_in(text) == names


def test_a_hundred_thousand_commas_are_split_at_once():
    with within_a_second():
        assert len(_kernels_in("," * 100_000 + "(" * 100_000)) == 100_001
