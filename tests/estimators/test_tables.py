"""Every estimator takes tables of pandas and polars, hands them out on demand, routes weights, reads other arrays."""

import numpy as np
import pandas
import polars
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import mklcvx
from foreign_arrays import Foreign, Readable
from mklcvx import InputError, MKLClassifier

RANDOM = np.random.default_rng(3)
CODES = np.arange(24) % 2
X = RANDOM.normal(size=(24, 3)) + CODES[:, None]
COLUMNS = ["age", "height", "weight"]
WORDS = np.where(CODES == 1, "ill", "well")
WEIGHT = 1.0 + np.arange(24) % 3
GROUPS = [("body", "gaussian", ["height", "weight"]), ("age", "linear", "age")]
NUMBERED = [("body", "gaussian", [1, 2]), ("age", "linear", [0])]
TABLES = {"pandas": pandas.DataFrame(X, columns=COLUMNS), "polars": polars.DataFrame(X, schema=COLUMNS)}
SERIES = {"pandas": pandas.Series, "polars": polars.Series}
CASES = {
    "MKLClassifier": (MKLClassifier("l1"), WORDS),
    "MKLRegressor": (mklcvx.MKLRegressor("l2"), X[:, 0]),
    "OneClassMKL": (mklcvx.OneClassMKL("l1", nu=0.5), None),
    "MultiLabelMKL": (mklcvx.MultiLabelMKL("ml_sum"), WORDS),
    "TwoStageMKL": (mklcvx.TwoStageMKL("alignment"), WORDS),
    "HypergraphEmbedding": (mklcvx.HypergraphEmbedding(), WORDS),
}
WEIGHTED = [name for name in CASES if name not in ("HypergraphEmbedding", "TwoStageMKL")]


def answer_of(model, data):
    return (model.predict if hasattr(model, "predict") else model.transform)(data)


@pytest.fixture(scope="module", params=CASES)
def case(request):
    """An estimator with columns by name, its targets, and what the same estimator makes of plain arrays."""
    model, y = CASES[request.param]
    plain = clone(model).set_params(kernels=NUMBERED).fit(X, y)
    return clone(model).set_params(kernels=GROUPS), y, plain


@pytest.mark.parametrize("kind", TABLES)
def test_tables_are_what_arrays_are(case, kind):
    model, y, plain = case
    found = clone(model).fit(TABLES[kind], y if y is None else SERIES[kind](y.tolist()))
    assert found.kernel_names_.tolist() == ["body", "age"]
    assert found.feature_names_in_.tolist() == COLUMNS
    np.testing.assert_array_equal(found.weights_, plain.weights_)
    np.testing.assert_array_equal(answer_of(found, TABLES[kind]), answer_of(plain, X))


@pytest.mark.parametrize("kind", TABLES)
def test_tables_come_out(case, kind):
    model, y, plain = case
    made = clone(model).set_output(transform=kind).fit(TABLES[kind], y).transform(TABLES[kind])
    assert isinstance(made, type(TABLES[kind]))
    assert next(iter(made.columns)) == f"{type(model).__name__.lower()}0"
    np.testing.assert_array_equal(made.to_numpy(), plain.transform(X))


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_are_routed_to_every_estimator_that_takes_them(name):
    model, y = CASES[name]
    model = clone(model).set_params(kernels=NUMBERED)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = clone(model).set_fit_request(sample_weight=True)
        search = GridSearchCV(asking, {"centre": [False]}, cv=2, scoring=lambda *_: 1.0).fit(X, y, sample_weight=WEIGHT)
    alone = clone(model).fit(X, y, sample_weight=WEIGHT)
    found, wanted, other = (one.solutions_[0].alpha for one in (search.best_estimator_, alone, clone(model).fit(X, y)))
    np.testing.assert_array_equal(found, wanted)
    assert not np.allclose(wanted, other)


def test_arrays_of_others_are_read_or_refused_for_every_estimator(case):
    model, y, plain = case
    model = clone(model).set_params(kernels=NUMBERED)
    np.testing.assert_array_equal(answer_of(clone(model).fit(Readable(X), y), Readable(X)), answer_of(plain, X))
    with pytest.raises(
        InputError, match=r"X is an array foreign_arrays.Foreign that NumPy cannot read: move it to the CPU"
    ):
        model.fit(Foreign(X), y)


def test_targets_and_weights_of_others_are_read_or_refused():
    model = MKLClassifier("l1", NUMBERED)
    found = clone(model).fit(X, Readable(CODES), sample_weight=Readable(WEIGHT))
    np.testing.assert_array_equal(found.weights_, clone(model).fit(X, CODES, sample_weight=WEIGHT).weights_)
    with pytest.raises(InputError, match=r"y is an array foreign_arrays.Foreign that NumPy cannot read"):
        model.fit(X, Foreign(CODES))
    with pytest.raises(InputError, match=r"sample_weight is an array foreign_arrays.Foreign that NumPy cannot read"):
        model.fit(X, CODES, sample_weight=Foreign(WEIGHT))
