"""Estimators with the losses of regression, probabilities and one class: one structure for all, files,
searches and pipelines."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import check_sample_weight_equivalence_on_dense_data

from mklcvx import Instance, MKLClassifier, MKLRegressor, MultiLabelMKL, OneClassMKL, load_model, mkl_path, solve
from mklcvx.errors import InputError
from mklcvx.estimators.base import KernelCombiner
from refusals import check_refused
from tables import CANCER, GRAPE, KERNELS, LEARNED, MALIGNANT, RAW, TARGET, WINE, stack_of

pytestmark = pytest.mark.slow

unscaled = pytest.mark.filterwarnings("ignore::mklcvx.ScaleWarning")


# ---------------------------------------------------------------------------------------------------------- weights
@pytest.mark.parametrize(
    "model",
    [
        MKLClassifier(),
        MKLClassifier("l2", multi_class="ovo", normalise="variance"),
        MKLClassifier(nu=0.2),
        MKLClassifier(loss="logistic"),
        MKLClassifier("l2", loss="squared_hinge", multi_class="ovo"),
        MKLClassifier(loss="softmax"),
        MKLClassifier("l2", centre=True, normalise="trace", C=100.0),
        MKLClassifier("l2", class_weight="balanced"),
        MultiLabelMKL(),
        MKLRegressor(),
        MKLRegressor("l2", loss="huber", centre=True),
        MKLRegressor(loss="absolute"),
    ],
)
def test_weights_are_repetitions_for_everything_but_the_columns_of_transform(model, monkeypatch):
    """scikit-learn's check, whose comparison of `transform` cannot hold: repeated samples have columns of their own."""
    monkeypatch.delattr(KernelCombiner, "transform")
    check_sample_weight_equivalence_on_dense_data(type(model).__name__, model)


# ------------------------------------------------------------------------------------------------------ joint outputs
@unscaled
@pytest.mark.parametrize("loss", ["softmax", "crammer_singer"])
def test_classes_jointly_have_one_machine(loss, tmp_path):
    model = MKLClassifier("l1", KERNELS.kernels, loss=loss, C=1.0, **RAW).fit(WINE, np.array(["c", "a", "b"])[GRAPE])
    found = solve(Instance(KERNELS.fit(WINE).stack(), classes=(GRAPE + 2) % 3), "l1", loss=loss)
    assert len(model.solutions_) == 1
    np.testing.assert_array_equal(model.weights_, found.weights)
    np.testing.assert_array_equal(model.decision_function(WINE), found.decision_function(KERNELS.stack(WINE)))
    assert list(model.classes_) == ["a", "b", "c"]
    assert model.score(WINE, np.array(["c", "a", "b"])[GRAPE]) > 0.95
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(load_model(tmp_path / "model.npz").predict(WINE), model.predict(WINE))
    assert mkl_path(WINE, GRAPE, {"C": [0.1, 1.0]}, kernels=KERNELS, loss=loss).certified


# --------------------------------------------------------------------------------------------------- combined kernel
@unscaled
@pytest.mark.parametrize("kernels", ["features", "precomputed"])
def test_the_learned_combination_goes_into_a_machine_with_a_precomputed_kernel(kernels):
    """With the weights of the optimum that machine finds the same decision function."""
    X = CANCER if kernels == "features" else stack_of(CANCER)
    combining = MKLClassifier("l1", KERNELS if kernels == "features" else "precomputed", C=0.5, **RAW)
    pipeline = make_pipeline(combining, SVC(kernel="precomputed", C=0.5, tol=1e-9)).fit(X, MALIGNANT)
    np.testing.assert_allclose(pipeline.decision_function(X), pipeline[0].decision_function(X), atol=1e-4)
    combined = pipeline[0].transform(X)
    np.testing.assert_allclose(combined, np.tensordot(pipeline[0].weights_, stack_of(CANCER), axes=(0, 2)))
    np.testing.assert_array_equal(clone(combining).fit_transform(X, MALIGNANT), combined)
    assert list(pipeline[0].get_feature_names_out())[:2] == ["mklclassifier0", "mklclassifier1"]


@unscaled
def test_of_several_machines_the_combination_is_their_mean_and_undefined_weights_are_refused():
    model = MKLClassifier("l2", KERNELS, **RAW).fit(WINE, GRAPE)
    expected = np.tensordot(model.weights_.mean(axis=0), stack_of(WINE), axes=(0, 2))
    np.testing.assert_allclose(model.transform(WINE), expected)
    model.weights_ = np.array([1.0, np.nan, 0.0])
    with pytest.raises(InputError, match=r"weight of kernel gaussian\(γ=0.1\) is undefined"):
        model.transform(WINE)


# ------------------------------------------------------------------------------------------------- scikit-learn's ways
@pytest.mark.parametrize(
    ("loss", "settings", "present"),
    [
        ("logistic", {}, True),
        ("logistic", {"multi_class": "ovo"}, False),
        ("softmax", {"multi_class": "ovo"}, True),
        ("crammer_singer", {}, False),
        ("hinge", {}, False),
        (None, {"nu": 0.2}, False),
        ("squared_hinge", {"probability": True}, True),
        ("nothing", {}, False),
        (["logistic"], {}, False),
    ],
)
def test_probabilities_are_there_for_the_losses_that_have_them(loss, settings, present):
    model = MKLClassifier(loss=loss, **settings)
    assert hasattr(model, "predict_proba") == hasattr(model, "predict_log_proba") == present


def test_probabilities_belong_to_the_loss_that_was_fitted():
    model = MKLClassifier("l2", KERNELS).fit(CANCER, MALIGNANT).set_params(loss="logistic")
    with pytest.raises(InputError, match="fitted with probability=False, by a loss without"):
        model.predict_proba(CANCER)
    with pytest.raises(NotFittedError):
        MKLClassifier(loss="logistic").predict_proba(CANCER)


# ------------------------------------------------------------------------------------------------------------- files
def test_files_whose_parts_do_not_fit_are_refused(tmp_path):
    OneClassMKL("l2", KERNELS.kernels).fit(LEARNED).save(tmp_path / "one.npz")
    MKLRegressor("l2", KERNELS.kernels).fit(LEARNED, TARGET).save(tmp_path / "real.npz")
    with np.load(tmp_path / "one.npz") as one, np.load(tmp_path / "real.npz") as real:
        one, real = dict(one), dict(real)
    solution = {name: value for name, value in one.items() if name.startswith("solution_0/")}
    for words, parts in (
        ("no number", {**one, "offset_": np.array(np.nan)}),
        ("other targets", {**{name: value for name, value in real.items() if name not in solution}, **solution}),
    ):
        np.savez(tmp_path / "bad.npz", **parts)
        with pytest.raises(InputError, match=f"incomplete or damaged.*{words}"):
            load_model(tmp_path / "bad.npz")
    with pytest.raises(InputError, match="is a MKLRegressor, not a OneClassMKL"):
        OneClassMKL.load(tmp_path / "real.npz")


# ---------------------------------------------------------------------------------------------------------- refusals
@pytest.mark.parametrize(
    ("model", "y", "words"),
    [
        (MKLRegressor(loss="hinge"), TARGET, "MKLRegressor has no loss 'hinge': known: absolute, epsilon_insensitive"),
        (MKLRegressor(loss="sqared"), TARGET, "did you mean 'squared'"),
        (MKLClassifier(loss="squared"), TARGET > 0, "MKLClassifier has no loss 'squared'"),
        (MKLClassifier(loss=3), TARGET > 0, "MKLClassifier has no loss 3"),
        (MKLClassifier(loss="hinge", nu=0.2), TARGET > 0, "parameter nu does not belong to loss hinge"),
        (MKLClassifier(loss="nu"), TARGET > 0, "loss nu needs nu"),
        (MKLRegressor(epsilon=0.1), TARGET, "parameter epsilon does not belong to loss squared"),
        (MKLRegressor("ml_sum"), TARGET, "MKLRegressor does not serve formulation ml_sum"),
        (OneClassMKL(nu=1.5), None, "nu = 1.5 is outside the limits"),
    ],
)
def test_what_does_not_fit_is_refused(model, y, words):
    with pytest.raises(InputError, match=words):
        model.fit(LEARNED, y)


# ------------------------------------------------------------------------------------------------------------- paths
def test_paths_along_prices_and_losses():
    along = mkl_path(LEARNED, TARGET, {"C": [0.1, 1.0]}, formulation="l2", kernels=KERNELS, loss="huber", delta=0.5)
    for C, solution in zip((0.1, 1.0), along.solutions, strict=True):
        model = MKLRegressor("l2", KERNELS, loss="huber", delta=0.5, C=C).fit(LEARNED, TARGET)
        assert solution.objective == pytest.approx(model.solutions_[0].objective, rel=3e-8)
    several = mkl_path(LEARNED, TARGET, {"loss": ["squared", "absolute"]}, kernels=KERNELS)
    assert [solution.parameters["loss"] for solution in several.solutions] == ["squared", "absolute"]
    counts = np.full(60, 3.0)
    none = mkl_path(LEARNED, None, {"nu": [0.2, 0.4]}, kernels=KERNELS, loss="one_class", sample_weight=counts)
    model = OneClassMKL("l1", KERNELS, nu=0.4).fit(LEARNED)
    assert none.solutions[1].objective == pytest.approx(model.solutions_[0].objective, rel=3e-8)
    assert mkl_path(CANCER, MALIGNANT, {"C": [1.0]}, kernels=KERNELS, loss="logistic").certified


def test_nothing_is_said_where_all_is_well():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        MKLRegressor("l2", KERNELS).fit(LEARNED, TARGET)
        OneClassMKL("l2", KERNELS).fit(LEARNED)
    assert said == []


# -------------------------------------------------------------------------------------------------- a tube that is free
def test_nu_belongs_to_nu_svr_and_to_one_output():
    with check_refused("parameter nu does not belong to loss squared", "nu_svr"):
        MKLRegressor("l1", KERNELS, nu=0.3).fit(LEARNED, TARGET)
    with check_refused("loss nu_svr has no form for several outputs", "give one column"):
        MKLRegressor("l1", KERNELS, loss="nu_svr").fit(LEARNED, np.column_stack([TARGET, -TARGET]))
    search = GridSearchCV(MKLRegressor("sum", KERNELS, loss="nu_svr"), {"nu": [0.2, 0.6], "C": [1.0, 100.0]}, cv=3)
    assert set(search.fit(LEARNED, TARGET).best_params_) == {"nu", "C"}


@pytest.mark.parametrize("loss", ["squared", "absolute", "epsilon_insensitive", "huber", "quantile", "nu_svr"])
def test_constant_targets_are_predicted_and_certified(loss):
    model = MKLRegressor("l2", KERNELS, loss=loss).fit(LEARNED, np.full(60, 7.0))
    np.testing.assert_allclose(model.predict(LEARNED), 7.0, atol=0.1 if loss == "epsilon_insensitive" else 1e-9)
    assert model.solutions_[0].certified
