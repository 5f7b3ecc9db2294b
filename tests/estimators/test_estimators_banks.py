"""Where estimators have their kernels from: names, dicts, functions, transformers, or a stack."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.pipeline import make_pipeline

from mklcvx import MKLClassifier, MultiLabelMKL
from mklcvx.errors import InputError
from mklcvx.problem.kernels import Gaussian, Polynomial, xu_bank
from tables import BANK, CANCER, GRAPE, MALIGNANT, WINE, stack_of


class Cubes:
    """A transformer that yields two kernels with what it was fitted on."""

    def fit(self, X, y=None):
        self.train = X
        return self

    def transform(self, X):
        inner = X @ self.train.T / X.shape[1]
        return np.stack([inner, inner**3], axis=-1)


def squares(X, Z):
    return (1 + X @ Z.T) ** 2


def test_a_bank_is_a_list_of_names_dicts_kernels_functions_and_transformers():
    bank = ["linear", *BANK[1:], squares, Cubes(), {"kernel": "poly", "features": "each"}]
    model = MKLClassifier("sum", bank, normalise="trace").fit(WINE[:, :4], GRAPE)
    assert list(model.kernel_names_) == [
        "linear", "gaussian(γ=0.1)", "linear", "gaussian(γ=1)[x0,x3]", "squares", "Cubes[0]", "Cubes[1]",
        *(f"polynomial(degree=3)[x{j}]" for j in range(4)),
    ]  # fmt: skip
    same = MKLClassifier("l1", [Polynomial(2)], normalise="cosine").fit(CANCER, MALIGNANT)
    own = MKLClassifier("l1", squares, normalise="cosine").fit(CANCER, MALIGNANT)
    np.testing.assert_allclose(own.decision_function(CANCER), same.decision_function(CANCER), atol=1e-7)


def test_a_transformer_in_a_pipeline_is_the_same_as_in_a_bank():
    pipeline = make_pipeline(Cubes(), MKLClassifier("l1", "precomputed")).fit(WINE[::2], GRAPE[::2])
    inside = MKLClassifier("l1", Cubes()).fit(WINE[::2], GRAPE[::2])
    np.testing.assert_allclose(pipeline.decision_function(WINE), inside.decision_function(WINE), rtol=1e-7)


def test_the_banks_of_the_papers_have_names():
    model = MKLClassifier("l1", "xu", normalise="trace", C=100.0).fit(WINE[:, :2], GRAPE == 0)
    assert list(model.kernel_names_) == xu_bank().fit(WINE[:, :2]).names
    assert len(MKLClassifier("l1", "kumar").fit(WINE, GRAPE == 0).weights_) == 13


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kernels": "gausian"}, "kernels 'gausian' is unknown: did you mean 'gaussian'?"),
        ({"kernels": []}, "kernels is empty"),
        ({"kernels": [3.5]}, "kernels has 3.5: give a name"),
        ({"kernels": [{"kernel": "gaussian", "gama": 1}]}, "'gaussian' has no parameter 'gama': did you mean 'gamma'?"),
        ({"kernels": [{"kernel": "rbf", "gamma": 1.0, "relative": 2.0}]}, "'gaussian' has both gamma and relative"),
        ({"kernels": [("g", ["a", "b"], "gaussian")]}, "columns come last: (name, kernels, columns), such as"),
        ({"kernels": [{"kernel": "gaussian", "features": [99]}]}, "are not all among the 13 columns"),
        ({"kernels": [{"kernel": "linear", "features": 3.5}]}, "features 3.5 are unknown"),
        ({"kernels": [lambda X, Z: X]}, "returned shape"),
        ({"kernels": [lambda X, Z: np.tril(X @ Z.T)]}, "is not symmetric"),
        ({"kernels": [lambda X, Z: 1j * (X @ Z.T)]}, "returned complex128: return real numbers"),
        ({"kernels": [lambda X, Z: np.full((len(X), len(Z)), "x")]}, "returned <U1: return real numbers"),
        ({"kernels": [Gaussian]}, "kernels has the class Gaussian: give one of its objects, such as Gaussian(...)"),
        ({"kernels": ["linear", "precomputed"]}, "'precomputed' stands for all kernels: give it alone, not in a list"),
        ({"class_weight": {0: 0, 1: 1, 2: 1}}, "class_weight of class 0 is 0"),
        ({"class_weight": {0: 1, 1: -2.0, 2: 1}}, "class_weight of class 1 is -2"),
        ({"formulation": "ml_sum"}, "MKLClassifier does not serve formulation ml_sum"),
        ({"multi_class": "all"}, "multi_class 'all' is unknown"),
        ({"normalise": "sum"}, "unknown normalisation 'sum'"),
        ({"kernels": "precomputed"}, "not square"),
        ({"probability": True, "calibration_folds": 1}, "calibration_folds = 1: give a whole number at least 2"),
    ],
)
def test_unusable_settings_are_refused_in_one_line(settings, words):
    with pytest.raises(InputError) as refused:
        MKLClassifier(**settings).fit(WINE, GRAPE)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_cosine_needs_more_than_a_transformer():
    with pytest.raises(InputError, match=r"normalise='cosine' needs k.x, x. of new samples, which Cubes has not"):
        MKLClassifier(kernels=["linear", Cubes()], normalise="cosine").fit(WINE, GRAPE)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_sample_weights_beyond_measure_are_refused(size):
    with pytest.raises(InputError, match=r"sample_weight has the entry .*200.* rescale"):
        MKLClassifier().fit(WINE, GRAPE, np.where(np.arange(60) % 2, size, 1.0))


@pytest.mark.parametrize("weight", [np.nan, np.inf, -1.0])
@pytest.mark.parametrize("model", [MKLClassifier(), MultiLabelMKL()])
def test_a_single_sample_weight_that_is_no_weight_is_refused(model, weight):
    with pytest.raises(InputError, match=r"sample_weight"):
        model.fit(WINE, np.eye(3, dtype=int)[GRAPE] if model.__class__ is MultiLabelMKL else GRAPE, weight)


def test_columns_and_kernels_may_come_as_other_kinds_of_arrays():
    plain = MKLClassifier("l1", [{"kernel": "rbf", "features": [1, 2]}]).fit(WINE, GRAPE).decision_function(WINE)
    for columns in (np.array([1, 2]), range(1, 3)):
        model = MKLClassifier("l1", [{"kernel": "rbf", "features": columns}]).fit(WINE, GRAPE)
        np.testing.assert_array_equal(model.decision_function(WINE), plain)
    inner = MKLClassifier("l1", lambda X, Z: X @ Z.T).fit(WINE, GRAPE).decision_function(WINE)
    sparse = MKLClassifier("l1", lambda X, Z: csr_array(X @ Z.T)).fit(WINE, GRAPE).decision_function(WINE)
    np.testing.assert_allclose(sparse, inner, atol=1e-6)


def test_cosine_needs_more_than_a_precomputed_stack():
    with pytest.raises(InputError, match="normalise='cosine' needs k"):
        MKLClassifier(kernels="precomputed", normalise="cosine").fit(stack_of(WINE), GRAPE)
    model = MKLClassifier(kernels="precomputed").fit(stack_of(WINE), GRAPE)
    with pytest.raises(InputError, match="X has 2 kernels, the model was fitted on 3"):
        model.predict(stack_of(WINE)[..., :2])


def test_asymmetric_kernels_are_mended_before_they_are_scaled():
    inner = WINE @ WINE.T
    askew = inner + np.triu(0.1 * inner, 1)
    model = MKLClassifier("average", "precomputed", repair="symmetrise,clip").fit(askew, GRAPE)
    plain = MKLClassifier("average", "precomputed", repair="clip").fit((askew + askew.T) / 2, GRAPE)
    np.testing.assert_allclose(model.decision_function(inner), plain.decision_function(inner), rtol=1e-6)
    with pytest.raises(InputError, match="not symmetric"):
        model.set_params(repair="clip").fit(askew, GRAPE)
