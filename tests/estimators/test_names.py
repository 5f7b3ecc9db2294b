"""Kernels over named columns, groups, views and transformers; tables in and out; names that reach weights, files and
the command line."""

import numpy as np
import pandas
import polars
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_selector
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mklcvx import InputError, MKLClassifier, MKLRegressor, MultiLabelMKL, TwoStageMKL, load_model
from mklcvx.problem.low_rank import LowRank
from refusals import check_refused
from tables import CANCER, GRAPE, MALIGNANT, WINE, stack_of

pytestmark = pytest.mark.slow

NAMES = load_breast_cancer().feature_names.tolist()
FRAME = pandas.DataFrame(CANCER, columns=NAMES)
POLARS = polars.DataFrame(dict(zip(NAMES, CANCER.T, strict=True)))
SIZE = ["mean radius", "mean area"]
GROUPS = [
    ("size", "gaussian", SIZE),
    ("first", ["linear", {"kernel": "polynomial", "degree": 2}], slice(0, 3)),
    ("mask", "linear", np.arange(30) < 2),
    ("texture", "gaussian", "mean texture"),
    ("range", "linear", slice("mean radius", "mean area")),
    {"kernel": "gaussian", "features": ["mean texture", "worst area"]},
    ("all of it", "laplacian"),
    {"kernel": "linear", "name": "last", "features": -1},
    ("by function", "linear", lambda frame: [0, 5]),
]
CALLED = [
    "size", "first: linear", "first: polynomial(degree=2)", "mask", "texture", "range",
    "gaussian(γ=1/A)[mean texture,worst area]", "all of it", "last", "by function",
]  # fmt: skip
SAME = [
    [0, 3], [0, 1, 2], [0, 1], [1], [0, 1, 2, 3], [1, 23], None, [29], [0, 5],
]  # fmt: skip


# ---------------------------------------------------------------------------------------------------- 4: columns
@pytest.mark.parametrize("table", [FRAME, POLARS], ids=["pandas", "polars"])
def test_groups_of_columns_have_the_names_and_kernels_that_were_asked_for(table):
    model = MKLClassifier("sum", GROUPS).fit(table, MALIGNANT)
    assert model.kernel_names_.tolist() == CALLED
    assert list(model.named_weights_) == CALLED
    assert list(model.solutions_[0].names) == CALLED
    numbers = [{"kernel": "gaussian", "features": SAME[0]}]
    numbers += [{"kernels": [{"kernel": "linear"}, {"kernel": "polynomial", "degree": 2}], "features": SAME[1]}]
    kinds = ("linear", "gaussian", "linear", "gaussian", "laplacian", "linear", "linear")
    numbers += [
        {"kernel": kind, "features": "all" if own is None else own} for kind, own in zip(kinds, SAME[2:], strict=True)
    ]
    plain = MKLClassifier("sum", numbers).fit(CANCER, MALIGNANT)
    np.testing.assert_array_equal(model.decision_function(table), plain.decision_function(CANCER))


def test_a_selector_and_each_feature_by_name():
    chosen = [("worst", "linear", make_column_selector("^worst")), {"kernel": "gaussian", "features": "each"}]
    model = MKLClassifier("l1", chosen).fit(FRAME, MALIGNANT)
    assert model.kernel_names_.tolist() == ["worst", *(f"gaussian(γ=1/A)[{name}]" for name in NAMES)]
    inside = MKLClassifier("l1", [("means", {"kernel": "linear", "features": "each"}, SIZE)]).fit(FRAME, MALIGNANT)
    assert inside.kernel_names_.tolist() == [f"means: linear[{name}]" for name in SIZE]


def test_a_tuple_of_kernels_names_is_still_a_list_of_kernels():
    model = MKLClassifier("l1", ["laplacian", ("linear", "gaussian")]).fit(WINE, GRAPE == 0)
    assert model.kernel_names_.tolist() == ["laplacian(γ=1/A)", "linear", "gaussian(γ=1/A)"]


@pytest.mark.parametrize(
    ("columns", "X", "words"),
    [
        (["mean radios"], FRAME, "features has 'mean radios', no column of X: did you mean 'mean radius'?"),
        (SIZE, CANCER, "are names, and X has none: give a DataFrame (after a transformer in a pipeline, its"),
        ([], FRAME, "select no column of X"),
        ([40], FRAME, "are not all among the 30 columns of X"),
        (np.ones(3, bool), FRAME, "are unknown: give columns' names, numbers, a slice, a mask"),
        (make_column_selector("worst"), POLARS, "the function make_column_selector selects no columns of X"),
        (3.5, FRAME, "features 3.5 are unknown"),
    ],
)
def test_columns_that_are_not_there_are_refused_in_one_line(columns, X, words):
    with pytest.raises(InputError) as refused:
        MKLClassifier("l1", [("some", "linear", columns)]).fit(X, MALIGNANT)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_folds_of_a_table_are_tables():
    """In searches of scikit-learn, and in the folds of calibration and comparison within a fit."""
    bank = [("size", "gaussian", SIZE), ("worst", "linear", make_column_selector("worst"))]
    search = GridSearchCV(MKLClassifier("l1", bank), {"C": [0.1, 1.0]}, cv=2).fit(FRAME, MALIGNANT)
    assert search.best_score_ > 0.85
    model = MKLClassifier("l1", bank, probability=True, calibration_folds=2, compare_average=True)
    assert model.fit(FRAME, MALIGNANT).predict_proba(FRAME).shape == (90, 2)
    assert model.cv_scores_.mean() > 0.85


# ----------------------------------------------------------------------------------------------- 4: names go along
def test_names_are_saved_and_serve_on_the_command_line(quiet, tmp_path):
    bank = [*GROUPS[:6], {"kernel": "gaussian", "features": "each"}]
    model = MKLClassifier("l1", bank).fit(FRAME, MALIGNANT)
    model.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert again.kernel_names_.tolist() == model.kernel_names_.tolist()
    assert again.named_weights_ == model.named_weights_
    assert again.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(again.decision_function(FRAME), model.decision_function(FRAME))
    FRAME[NAMES[::-1]].assign(other=1.0)[:5].to_csv(tmp_path / "new.csv", index=False)
    out = quiet("predict", tmp_path / "model.npz", tmp_path / "new.csv")
    values = [float(line.split(",")[0]) for line in out.splitlines()[1:]]
    np.testing.assert_allclose(values, model.decision_function(FRAME[:5]), rtol=1e-12)


def test_kernels_can_be_named_whatever_they_come_from(tmp_path):
    named = MKLClassifier("l1", "precomputed", kernel_names=["a", "b", "c"]).fit(stack_of(CANCER), MALIGNANT)
    assert list(named.named_weights_) == ["a", "b", "c"]
    bank = MKLRegressor("l1", ["linear", "gaussian"], kernel_names=("x", "y")).fit(WINE, WINE[:, 0])
    bank.save(tmp_path / "model.npz")
    assert load_model(tmp_path / "model.npz").kernel_names_.tolist() == ["x", "y"]
    with pytest.raises(InputError, match=r"kernel_names are \['x'\]: give a word for each of 2 kernels"):
        bank.set_params(kernel_names=["x"]).fit(WINE, WINE[:, 0])


def test_weights_by_name_of_several_machines_and_of_kernels_with_one_name():
    model = MKLClassifier("l1", ["linear", "linear"]).fit(WINE, GRAPE)
    assert list(model.named_weights_) == ["linear", "linear (2)"]
    model.set_params(kernels="linear", kernel_names=["a", "a", "a (2)"]).fit(
        [WINE[:, :2], WINE[:, 2:4], WINE[:, 4:]], GRAPE
    )
    assert list(model.named_weights_) == ["a", "a (3)", "a (2)"]
    np.testing.assert_array_equal(np.stack([*model.named_weights_.values()], axis=1), model.weights_)


# --------------------------------------------------------------------------------------------------------- 4: views
def test_a_list_of_views_is_a_bank_on_each(tmp_path):
    views = [WINE[:, :5], pandas.DataFrame(WINE[:, 5:])]
    model = MKLClassifier("l1", ["linear", "gaussian"]).fit(views, GRAPE)
    assert model.kernel_names_.tolist() == [
        "view 1: linear", "view 1: gaussian(γ=1/A)", "view 2: linear", "view 2: gaussian(γ=1/A)",
    ]  # fmt: skip
    named = MKLClassifier("l1", "linear", probability=True, calibration_folds=2)
    named.fit(dict(zip("ab", views, strict=True)), GRAPE)
    assert named.kernel_names_.tolist() == ["a", "b"]
    grouped = MKLClassifier("l1", [("a", "linear", slice(0, 5)), ("b", "linear", slice(5, 13))]).fit(WINE, GRAPE)
    np.testing.assert_array_equal(named.decision_function(views), grouped.decision_function(WINE))
    named.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(load_model(tmp_path / "model.npz").predict_proba(views), named.predict_proba(views))
    for again in (named, load_model(tmp_path / "model.npz")):
        swapped = {"b": views[1], "a": views[0]}
        np.testing.assert_array_equal(again.decision_function(swapped), named.decision_function(views))
        for wrong in (views[::-1], {"a": views[0], "c": views[1]}, views[:1], {"a": views[1], "b": views[0]}):
            with pytest.raises(InputError, match=r"the model was fitted on a \(5\), b \(8\): give these"):
                again.predict(wrong)
    with pytest.raises(InputError, match=r"views of shapes \(60, 5\), \(59, 8\): give the same samples"):
        named.fit([WINE[:, :5], WINE[1:, 5:]], GRAPE)
    with pytest.raises(InputError, match="X is a dict, and not of arrays with two dimensions"):
        named.fit({"a": WINE[:, 0]}, GRAPE)


def test_a_list_of_matrices_is_a_stack():
    stack, new = stack_of(WINE), stack_of(WINE, WINE[:7])
    expected = MKLClassifier("l1", "precomputed").fit(stack, GRAPE).decision_function(new)
    model = MKLClassifier("l1", "precomputed").fit([*np.moveaxis(stack, -1, 0)], GRAPE)
    np.testing.assert_array_equal(model.decision_function([*np.moveaxis(new, -1, 0)]), expected)
    np.testing.assert_array_equal(model.decision_function([*new]), expected)  # rows of a stack, as before
    named = MKLClassifier("l1", "precomputed").fit(dict(zip("uvw", np.moveaxis(stack, -1, 0), strict=True)), GRAPE)
    assert named.kernel_names_.tolist() == ["u", "v", "w"]
    turned = dict(zip("wvu", np.moveaxis(new, -1, 0)[::-1], strict=True))
    np.testing.assert_array_equal(named.decision_function(turned), expected)


# -------------------------------------------------------------------------------------------------- 4: transformers
def test_features_of_transformers_are_kernels_in_factors():
    maps = [
        ("landmarks", Nystroem(n_components=9, random_state=0), slice(0, 6)), RBFSampler(n_components=8, random_state=0)
    ]  # fmt: skip
    model = MKLClassifier("l1", maps).fit(CANCER, MALIGNANT)
    assert model.kernel_names_.tolist() == ["landmarks", "RBFSampler"]
    features = [clone(maps[0][1]).fit(CANCER[:, :6]), clone(maps[1]).fit(CANCER)]
    phi = [features[0].transform(CANCER[:, :6]), features[1].transform(CANCER)]
    stack = np.stack([one @ one.T for one in phi], axis=-1)
    dense = MKLClassifier("l1", "precomputed", kernel_names=["landmarks", "RBFSampler"]).fit(stack, MALIGNANT)
    np.testing.assert_allclose(model.decision_function(CANCER), dense.decision_function(stack), atol=1e-5)
    np.testing.assert_allclose(model.weights_, dense.weights_, atol=1e-5)
    table, y, _ = model._checked(CANCER, MALIGNANT)
    assert isinstance(model._sourced(table, y, None)[0].kernels, LowRank)
    assert not isinstance(model.set_params(centre=True)._sourced(table, y, None)[0], LowRank)


@pytest.mark.parametrize(
    "model",
    [
        MKLClassifier(multi_class="ovo"), MKLClassifier(normalise="trace"), MKLClassifier(centre=True),
        MKLClassifier(normalise="cosine"), MultiLabelMKL(), TwoStageMKL(), MKLRegressor(),
    ],
)  # fmt: skip
def test_any_transformer_will_do_with_any_estimator(model):
    bank = [("main", PCA(3)), make_pipeline(StandardScaler(), Nystroem(n_components=7, random_state=0))]
    model = clone(model).set_params(kernels=bank).fit(WINE, GRAPE)
    assert model.kernel_names_.tolist() == ["main", "Pipeline"]
    assert model.score(WINE, GRAPE) > 0.8


# --------------------------------------------------------------------------------------------- scikit-learn's ways
def test_weights_are_routed_through_the_folds_of_a_fit():
    with sklearn.config_context(enable_metadata_routing=True):
        counts = np.tile([1, 5], 45)
        model = MKLClassifier("l1", "linear", probability=True, calibration_folds=2, compare_average=True)
        assert model.fit(CANCER, MALIGNANT, sample_weight=counts).cv_scores_.shape == (5,)


def test_two_columns_of_one_name_are_refused():
    frame = FRAME.iloc[:, :3].set_axis(["a", "a", "b"], axis=1)
    with check_refused("several columns called 'a'", "a name of its own"):
        MKLClassifier("l1").fit(frame, MALIGNANT)
