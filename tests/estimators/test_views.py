"""`Views`: views of the same samples that scikit-learn's searches can cut."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklcvx import MKLClassifier, Views, load_model
from refusals import check_refused
from tables import GRAPE, WINE

ACIDS, COLOURS = WINE[:, :5], WINE[:, 9:]
NAMED = Views({"acids": ACIDS, "colours": pd.DataFrame(COLOURS, columns=["a", "b", "c", "d"])})
MODEL = MKLClassifier("average", "gaussian")


def test_searches_choose_samples_of_views():
    columns = [("acids", "gaussian", slice(0, 5)), ("colours", "gaussian", slice(5, 9))]
    table, plain = np.hstack([ACIDS, COLOURS]), MKLClassifier("average", columns)
    for views in (NAMED, Views([ACIDS, COLOURS])):
        scores = cross_val_score(MODEL, views, GRAPE, cv=3)
        np.testing.assert_array_equal(scores, cross_val_score(plain, table, GRAPE, cv=3))
    search = GridSearchCV(MODEL, {"C": [0.1, 1.0]}, cv=2).fit(NAMED, GRAPE)
    assert search.best_estimator_.kernel_names_.tolist() == ["acids", "colours"]
    assert search.score(NAMED, GRAPE) > 0.9


def test_views_are_the_list_or_the_dict_that_they_were_made_of():
    model = clone(MODEL).fit(NAMED, GRAPE)
    same = clone(MODEL).fit({"acids": ACIDS, "colours": COLOURS}, GRAPE)
    np.testing.assert_array_equal(model.decision_function(NAMED), same.decision_function(NAMED))
    turned = Views({"colours": COLOURS[:4], "acids": ACIDS[:4]})
    np.testing.assert_array_equal(model.predict(turned), model.predict(NAMED)[:4])


def test_headings_of_views_are_those_of_training(succeeds, tmp_path):
    """Also by a model from its file, and by the columns of a table without views."""
    table = pd.DataFrame(WINE[:, :3], columns=["p", "q", "r"])
    views = {"first": table[["p", "q"]], "second": table[["r"]]}
    model = MKLClassifier("average", "linear").fit(views, GRAPE)
    model.save(tmp_path / "model.npz")
    for fitted in (model, load_model(tmp_path / "model.npz")):
        with check_refused("view first has the columns q, p, the model was fitted on p, q"):
            fitted.predict({"second": table[["r"]], "first": table[["q", "p"]]})
        assert fitted.score([WINE[:, :2], WINE[:, 2:3]], GRAPE) == model.score(views, GRAPE)
    table[["r", "q", "p"]].to_csv(tmp_path / "turned.csv", index=False)
    out, _ = succeeds("predict", tmp_path / "model.npz", tmp_path / "turned.csv")
    predicted = [int(line.split(",")[-1]) for line in out.splitlines()[1:]]
    np.testing.assert_array_equal(predicted, model.predict(views))


def test_kernels_that_get_other_names_keep_those_that_they_are_given_by(tmp_path):
    named = {"a": WINE @ WINE.T, "b": ACIDS @ ACIDS.T}
    model = MKLClassifier("average", "precomputed", kernel_names=["u", "v"]).fit(named, GRAPE)
    model.save(tmp_path / "model.npz")
    for fitted in (model, load_model(tmp_path / "model.npz")):
        assert fitted.kernel_names_.tolist() == ["u", "v"]
        turned = {name: named[name] for name in ("b", "a")}
        np.testing.assert_array_equal(fitted.predict(turned), model.predict(np.stack([*named.values()], axis=-1)))


def test_samples_are_chosen_in_every_view():
    train, test = train_test_split(NAMED, test_size=0.25, random_state=0)
    assert (len(train), len(test), train.shape) == (45, 15, (45, 9))
    assert isinstance(train.views["colours"], pd.DataFrame)
    some = NAMED[np.array([3, 1])]
    np.testing.assert_array_equal(some.views["acids"], ACIDS[[3, 1]])
    assert repr(some) == "Views(2 samples; acids: 5 features, colours: 4 features)"
    assert repr(Views([ACIDS])) == "Views(60 samples; view 1: 5 features)"


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: Views([ACIDS, COLOURS[:9]]), ("(60, 5), (9, 4)", "of the same samples")),
        (lambda: Views({}), ("shapes none",)),
        (lambda: Views([GRAPE]), ("(60,)",)),
        (lambda: NAMED[:, 0], ("samples can be chosen, columns cannot",)),
        (lambda: make_pipeline(StandardScaler(), MODEL).fit(NAMED, GRAPE), ("prepare each view before",)),
        (lambda: MKLClassifier("l1", "precomputed").fit(NAMED, GRAPE), ("no kernels (n, n)", "mklcvx.LowRank")),
        (lambda: MKLClassifier("l1", "precomputed").fit([ACIDS, COLOURS], GRAPE), ("(60, 5), (60, 4), no kernels",)),
    ],
)
def test_what_cannot_be_is_refused(attempt, words):
    with check_refused(*words):
        attempt()
