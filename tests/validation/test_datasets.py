"""Data sets: the right copy is read from wherever it comes, and every other copy is refused with what was expected."""

import csv
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from mklcvx import Instance
from refusals import check_refused
from shared.datasets import BUNDLED, VARIABLE, Dataset, load
from shared.datasets.records import RECORDS, record_of

pytestmark = pytest.mark.slow

TABLE = {
    "heart": (270, 13), "pima": (768, 8), "australian": (690, 14), "ionosphere": (351, 34), "sonar": (208, 60),
    "liver": (345, 6), "vertebral": (310, 6), "banana": (5300, 2), "flaresolar": (1066, 9), "ringnorm": (7400, 20),
    "emotions": (593, 72),
}  # fmt: skip


def invented(labels: bool = False) -> Dataset:
    """Forty samples, three columns with decimals; 25 of one class and 15 of the other, or two labels."""
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.normal(size=40).round(4), rng.integers(0, 5, 40) + 0.5, rng.exponential(size=40).round(2)])
    classes = None if labels else np.array(["0"] * 25 + ["1"] * 15)
    return Dataset("invented", X, classes, rng.integers(0, 2, (40, 2)) if labels else None, "a test")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder whose invented.csv is the recorded one, and RECORDS that know it."""
    monkeypatch.delenv(VARIABLE, raising=False)
    for name, data in {"invented": invented(), "sets": invented(labels=True)}.items():
        monkeypatch.setitem(RECORDS, name, record_of(data, openml=1))
        write(tmp_path / f"{name}.csv", data)
    return tmp_path


def write(file, data, number=repr):
    last = ["target"] if data.labels is None else [f"label{k + 1}" for k in range(data.labels.shape[1])]
    targets = data.target.reshape(len(data), -1)
    with file.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out)
        writer.writerow([*(f"x{j + 1}" for j in range(data.X.shape[1])), *last])
        writer.writerows([*map(number, row.tolist()), *target] for row, target in zip(data.X, targets, strict=True))


# ------------------------------------------------------------------------------------------------- the right copy
def test_the_recorded_copy_is_read_from_folder_and_variable(folder, monkeypatch):
    read = load("invented", folder)
    assert read.origin == str(folder / "invented.csv")
    monkeypatch.setenv(VARIABLE, str(folder))
    again = load("invented")
    np.testing.assert_array_equal(read.X, again.X)
    assert sorted(map(tuple, read.X)) == sorted(map(tuple, invented().X))
    assert (read.y > 0).sum() == 15
    assert load("sets").labels.shape == (40, 2)
    assert list(load("sets").targets) == ["labels"]


def test_order_of_rows_and_writing_of_numbers_do_not_matter(folder):
    data, before = invented(), load("invented", folder)
    write(folder / "invented.csv", data.take(np.random.default_rng(0).permutation(40)), number="{:.6e}".format)
    after = load("invented", folder)
    np.testing.assert_array_equal(before.X, after.X)
    np.testing.assert_array_equal(before.classes, after.classes)


def test_other_words_for_the_classes_are_understood(folder):
    data = invented()
    write(folder / "invented.csv", replace(data, classes=np.where(data.classes == "0", "absent", "present")))
    assert set(load("invented", folder).classes) == {"0", "1"}


# ----------------------------------------------------------------------------------------------------- wrong ones
def wrong(**changes):
    data = invented()
    X, classes = data.X.copy(), data.classes.copy()
    return replace(data, **{key: change(X if key == "X" else classes) for key, change in changes.items()})


def exchanged(X):
    return X[:, [1, 2, 0]]


def moved(X):
    """A column's values one row further, which no sum over a column sees."""
    X[:, 2] = np.roll(X[:, 2], 1)
    return X


def last_digit(X):
    X[7, 0] += 1e-4
    return X


WRONG = {
    "columns exchanged": ({"X": exchanged}, "the recorded features"),
    "a column added to": ({"X": lambda X: X + np.eye(3)[1]}, "the recorded features"),
    "a column moved by a row": ({"X": moved}, "the recorded features"),
    "decimals lost": ({"X": lambda X: X.round(2)}, "the recorded features"),
    "all decimals lost": ({"X": np.floor}, "the recorded features"),
    "one digit": ({"X": last_digit}, "the recorded features"),
    "labels in proportion": ({"classes": lambda c: np.random.default_rng(1).permutation(c)}, "targets"),
    "labels exchanged": ({"classes": lambda c: np.where(c == "0", "1", "0")}, "0: 25, 1: 15, found 0: 15"),
    "labels flipped": ({"classes": lambda c: np.where(np.arange(40) < 4, "1", c)}, "0: 25"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_copy_is_refused_with_what_was_expected(folder, case):
    changes, words = WRONG[case]
    write(folder / "invented.csv", wrong(**changes))
    with check_refused("data set invented", "expected", "found", words):
        load("invented", folder)


def test_rows_and_columns_must_be_all_there(folder):
    write(folder / "invented.csv", invented().take(np.arange(39)))
    with check_refused("expected 40 × 3", "found 39 × 3"):
        load("invented", folder)
    write(folder / "invented.csv", replace(invented(), X=invented().X[:, :2]))
    with check_refused("header of 3 columns", "expected the 4 columns x1,…,x3,target"):
        load("invented", folder)


def test_label_sets_are_checked_against_their_rows(folder):
    data = invented(labels=True)
    write(folder / "sets.csv", replace(data, labels=np.roll(data.labels, 1, axis=0)))
    with check_refused("data set sets", "expected the recorded targets"):
        load("sets", folder)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "header of 0 columns"),
        ("x1,x2,x3,target\n1,2\n", "row 2 has 2 entries"),
        ("x1,x2,x3,target\n1,two,3,0\n", "has the entry 'two'"),
        ("x1,x2,x3,target\n1,nan,3,0\n", "has the entry 'nan'"),
        ("x1,x2,x3,target\n", "found 0 × 3"),
    ],
)
def test_damaged_files_are_refused_in_a_line(folder, text, words):
    (folder / "invented.csv").write_text(text, encoding="utf-8")
    with check_refused("data set invented", words):
        load("invented", folder)


def test_what_is_not_there_is_said_with_the_remedy(folder):
    with check_refused("no file", "heart.csv", "another folder"):
        load("heart", folder)
    with check_refused("unknown data set 'hart'", "heart"):
        load("hart")
    with check_refused("unknown data set ['heart']"):
        load(["heart"])


# ---------------------------------------------------------------------------------------------------------- OpenML
def fetched(**changes):
    """What scikit-learn makes of an ARFF file: categories as codes, beside a dictionary."""
    data = invented()
    codes = data.X.copy()
    words = [f"{value:g}" for value in np.unique(data.X[:, 1])]
    codes[:, 1] = [words.index(f"{value:g}") for value in data.X[:, 1]]
    bunch = {
        "data": codes, "feature_names": ["a", "b", "c"], "categories": {"b": words, "class": ["no", "yes"]},
        "target": np.where(data.classes == "0", "no", "yes"),
    }  # fmt: skip
    return SimpleNamespace(**{**bunch, **changes})


def test_openml_is_asked_where_no_folder_is_given(folder, monkeypatch):
    asked = []
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **given: asked.append(given) or fetched())
    data = load("invented")
    assert asked[0]["data_id"] == 1
    assert data.origin == "OpenML 1"
    np.testing.assert_array_equal(data.X, load("invented", folder).X)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: fetched(categories={}))
    with check_refused("from OpenML 1", "expected the recorded features"):
        load("invented")


def test_without_a_network_the_remedy_is_said(folder, monkeypatch):
    def offline(**_):
        raise OSError("no route\nto host")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", offline)
    with check_refused("invented", "no route", "MKLCVX_DATA"):
        load("invented")
    monkeypatch.setitem(RECORDS, "invented", replace(RECORDS["invented"], openml=None))
    with check_refused("invented", "no copy", "MKLCVX_DATA"):
        load("invented")


# --------------------------------------------------------------------------------------------------- the real ones
def test_records_have_the_sizes_of_the_papers():
    assert {name: (r.samples, r.features) for name, r in RECORDS.items() if name in TABLE} == TABLE
    assert sum(RECORDS["vertebral"].counts.values()) == 310
    assert RECORDS["heart"].counts == {"0": 150, "1": 120}


@pytest.mark.parametrize("name", BUNDLED)
def test_what_scikit_learn_bundles_is_always_there(name, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    data = load(name)
    assert data.origin == "scikit-learn"
    Instance((data.X @ data.X.T)[None], **data.targets)
    if name == "breast_cancer":
        assert sorted(np.unique(data.y, return_counts=True)[1]) == [212, 357]
    else:
        with check_refused("two classes", name):
            _ = data.y
