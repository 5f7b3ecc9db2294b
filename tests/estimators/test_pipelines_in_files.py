"""Pipelines in files: scalers before a model come back as they were, and rows are served as they came."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC

from mklcvx import InputError, MKLClassifier, MKLRegressor, load_model, save_model
from mklcvx.io.archives import Archive

X, RESPONSE = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
X, RESPONSE, NEW = X[:200:4], RESPONSE[:200:4], X[1:21:4]
ILL = np.where(RESPONSE > 150, "ill", "well")
GROUPS = [("body", "gaussian", ["bmi", "bp"]), ("blood", ["linear", "gaussian"], slice("s1", "s6"))]
SCALERS = [
    StandardScaler(), StandardScaler(with_mean=False), MinMaxScaler(feature_range=(-1, 1), clip=True), MaxAbsScaler(),
    RobustScaler(with_centering=False, quantile_range=(10.0, 90.0)),
]  # fmt: skip


@pytest.fixture(scope="module")
def regression():
    scaler = StandardScaler().set_output(transform="pandas")
    return Pipeline([("scale", scaler), ("mkl", MKLRegressor("l2", GROUPS))]).fit(X, RESPONSE)


@pytest.fixture
def saved(regression, tmp_path):
    save_model(tmp_path / "model.npz", regression)
    return tmp_path / "model.npz"


@pytest.mark.parametrize("scaler", SCALERS, ids=lambda scaler: type(scaler).__name__)
def test_every_scaler_comes_back_as_it_was(scaler, tmp_path):
    model = make_pipeline(scaler, "passthrough", MKLClassifier("l1", ["linear", "gaussian"])).fit(X, ILL)
    save_model(tmp_path / "model.npz", model)
    again = load_model(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.decision_function(NEW), model.decision_function(NEW))
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))
    assert again[0].get_params() == scaler.get_params()
    assert again.feature_names_in_.tolist() == list(X.columns)


def test_names_reach_the_kernels_of_a_loaded_pipeline(regression, saved):
    again = load_model(saved)
    assert [name for name, _ in again.steps] == ["scale", "mkl"]
    assert again["mkl"].named_weights_ == regression["mkl"].named_weights_
    np.testing.assert_array_equal(again.predict(NEW), regression.predict(NEW))
    again.fit(X, RESPONSE)
    np.testing.assert_allclose(again.predict(NEW), regression.predict(NEW))


def test_the_command_line_scales_rows_as_they_came(quiet, regression, saved, tmp_path):
    NEW[NEW.columns[::-1]].assign(patient=range(len(NEW))).to_csv(tmp_path / "new.csv", index=False)
    out = quiet("predict", saved, tmp_path / "new.csv")
    values = [float(line) for line in out.split()[1:]]
    np.testing.assert_allclose(values, regression.predict(NEW), rtol=1e-12)


def test_a_model_by_itself_is_written_as_its_method_does(regression, tmp_path):
    model = regression["mkl"]
    save_model(tmp_path / "one.npz", model)
    model.save(tmp_path / "other.npz")
    one, other = (Archive(tmp_path / name) for name in ("one.npz", "other.npz"))
    assert one.keys() == other.keys()
    assert one["record"] == other["record"]
    assert json.loads(str(one["record"]))["schema"] == "mklcvx.model/1"
    assert isinstance(load_model(tmp_path / "one.npz"), MKLRegressor)


def test_what_no_file_can_hold_is_refused_in_a_line(regression, tmp_path):
    pipeline = make_pipeline(PCA(2), MKLClassifier("l1", ["linear", "gaussian"])).fit(X, ILL)
    with pytest.raises(InputError, match="step 'pca' of the pipeline is a PCA: a file can hold StandardScaler, "):
        save_model(tmp_path / "model.npz", pipeline)
    with pytest.raises(InputError, match="SVC is no estimator of mklcvx: give one, or a pipeline"):
        save_model(tmp_path / "model.npz", SVC())
    with pytest.raises(
        InputError, match=r"the first argument is a Pipeline, not a file: give save_model\('model.npz', model\)"
    ):
        save_model(regression, tmp_path / "model.npz")
    assert not (tmp_path / "model.npz").exists()


def test_a_pipeline_is_not_taken_for_its_model(saved):
    with pytest.raises(InputError, match=r"is a pipeline with a MKLRegressor, .*: use mklcvx.load_model"):
        MKLRegressor.load(saved)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("scaler", "Pipeline"),
        ("learned", ["mean_", "transform"]),
        ("none", ["__class__"]),
        ("learned", ["mean_", "n_features_in_"]),
        ("parameters", {"with_mean": True, "system": "rm"}),
        ("output", "pickle"),
    ],
)
def test_damaged_scalers_are_refused(saved, key, value):
    arrays = dict(Archive(saved))
    record = json.loads(str(arrays["record"]))
    record["before"][0][key] = value
    arrays["record"] = np.array(json.dumps(record))
    if value == ["mean_", "n_features_in_"]:
        arrays["before_0/mean_"] = arrays["before_0/mean_"][:3]
    np.savez(saved, **arrays)
    with pytest.raises(InputError, match=r"model .*: incomplete or damaged \("):
        load_model(saved)


def test_rows_without_names_are_taken_in_the_order_of_training(saved, regression):
    with pytest.warns(UserWarning, match="valid feature names"):
        values = load_model(saved).predict(NEW.to_numpy())
    np.testing.assert_array_equal(values, regression.predict(NEW))
    assert isinstance(load_model(saved)[:-1].transform(NEW), pd.DataFrame)


# ------------------------------------------------------------------------------------------ tables with more columns
@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A classifier, and a file of new rows with words that it does not know."""
    folder = tmp_path_factory.mktemp("served")
    save_model(folder / "model.npz", make_pipeline(StandardScaler(), MKLClassifier("l1", ["linear"])).fit(X, ILL))
    X.assign(patient=[f"p{i}" for i in range(len(X))], state=ILL, code=(ILL == "well") * 1).to_csv(
        folder / "rows.csv", index=False
    )
    return folder


def test_columns_that_the_model_does_not_know_are_ignored_even_if_they_hold_words(quiet, served):
    out = quiet("predict", served / "model.npz", served / "rows.csv")
    assert [line.split(",")[1] for line in out.splitlines()[1:]] == load_model(served / "model.npz").predict(X).tolist()


def test_the_truth_is_a_column_that_is_named(run, refusal, served):
    score = load_model(served / "model.npz").score(X, ILL)
    code, _, err = run("predict", served / "model.npz", served / "rows.csv", "--var", "y=state")
    assert (code, err) == (0, f"accuracy {score:.4f} on {len(X)} samples\n")
    said = refusal("predict", served / "model.npz", served / "rows.csv", "--var", "y=sate")
    assert "no column 'sate': did you mean 'state'?" in said
    said = refusal("predict", served / "model.npz", served / "rows.csv", "--var", "y=code")
    assert "y has 1.0, and no class of the model: ill, well" in said or "y has 0.0, and no class" in said
    said = refusal("predict", served / "model.npz", served / "rows.csv", "--var", "kernels=state")
    assert "--var kernels: a model takes features, and y, the truth" in said


def test_the_truth_of_an_npz_file_is_named_too(run, refusal, served, tmp_path):
    np.savez(tmp_path / "rows.npz", X=X.to_numpy(), truth=ILL)
    code, _, err = run("predict", served / "model.npz", tmp_path / "rows.npz", "--var", "y=truth")
    assert (code, err.startswith("accuracy ")) == (0, True)
    said = refusal("predict", served / "model.npz", tmp_path / "rows.npz", "--var", "y=thruth")
    assert "no array 'thruth': did you mean 'truth'?" in said
