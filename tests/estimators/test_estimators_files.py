"""Models in files: the same predictions, no pickle, damaged and hostile files refused in a line; models served."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

import mklcvx
from mklcvx import HypergraphEmbedding, InputError, MKLClassifier, MultiLabelMKL, OneClassMKL, TwoStageMKL, load_model
from mklcvx.problem.kernels import Gaussian, KernelBank, Linear, MeanDistance, Polynomial

pytestmark = pytest.mark.slow

X, GRAPE = load_wine(return_X_y=True)
X, GRAPE = ((X - X.mean(axis=0)) / X.std(axis=0))[::4], GRAPE[::4]
NAMES = np.array(["barbera", "grignolino", "barolo"])[GRAPE]
LABELS = np.column_stack([GRAPE == 0, GRAPE > 0, np.zeros(len(X))]).astype(int)
STACK = np.moveaxis(KernelBank([Gaussian(0.1), Linear()]).fit(X).stack(), 0, -1)
VIEWS = [
    KernelBank([Gaussian(MeanDistance(2.0)), Linear()], "all+each"),
    {"kernel": "rbf", "features": [3, 1]},
    {"kernel": "laplacian", "gamma": np.float64(0.3)},
    Polynomial(2, coef0=0.5),
]


@pytest.mark.parametrize(
    ("model", "data", "y", "weight"),
    [
        (MKLClassifier("sm1", theta=0.5, class_weight={0: 2.0, 1: 1, 2: 1}, probability=True), X, GRAPE, None),
        (MKLClassifier("l1", VIEWS, multi_class="ovo", centre=True, normalise="cosine"), X, NAMES, GRAPE + 0.5),
        pytest.param(
            MKLClassifier("ckl", "precomputed", groups=[0, 1], centre=True), STACK, GRAPE == 0, np.arange(45) % 3,
            marks=pytest.mark.filterwarnings("ignore:not certified.*rounded entries"),
        ),
        (MKLClassifier("l1", solver="level", tol=1e-3, solver_options={"share": 0.5}), X, GRAPE == 1, None),
        (MultiLabelMKL("ml_sum", VIEWS), X, NAMES, None),
        pytest.param(
            MultiLabelMKL("ml_minimax", normalise="trace"), X, LABELS, None,
            marks=pytest.mark.filterwarnings("ignore:labels 2 are the same"),
        ),
        (TwoStageMKL("alignment"), X, GRAPE == 0, None),
        (HypergraphEmbedding(expansion="star"), X, NAMES, None),
        (mklcvx.MKLRegressor("l2", VIEWS, loss="huber", delta=0.5, centre=True), X, X[:, 0], np.arange(45) % 3),
        (MKLClassifier("l2", loss="logistic", C=0.5), X, GRAPE == 0, np.arange(45) % 3),
        (OneClassMKL("l2", VIEWS, nu=0.2, normalise="trace"), X, None, None),
    ],
)  # fmt: skip
def test_a_model_comes_back_as_it_was(model, data, y, weight, tmp_path):
    given = {} if weight is None else {"sample_weight": weight}
    fitted = clone(model).fit(data, y, **given)
    fitted.save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert type(again) is type(fitted)
    for method in ("decision_function", "predict", "predict_proba", "score_samples", "transform"):
        assert hasattr(again, method) == hasattr(fitted, method)
        if hasattr(fitted, method):
            np.testing.assert_array_equal(getattr(again, method)(data), getattr(fitted, method)(data))
    for name in ("weights_", "scaled_weights_", "kernel_names_", "dual_coef_", "intercept_", "offset_"):
        np.testing.assert_array_equal(getattr(again, name, 0), getattr(fitted, name, 0))
    assert again.certificate_ == fitted.certificate_
    assert again.n_features_in_ == fitted.n_features_in_
    for name, value in fitted.get_params().items():
        assert name == "kernels" or again.get_params()[name] == value
    again.save(tmp_path / "twice.npz")
    refitted = clone(again).fit(data, y, **given)  # its kernels are described so that they can be fitted again
    np.testing.assert_allclose(refitted.scaled_weights_, fitted.scaled_weights_, atol=1e-9)
    assert type(fitted).load(tmp_path / "twice.npz").get_params() == again.get_params()


class Rank(Linear):
    """A kernel of a class of its own."""


class Inner:
    def fit(self, X, y=None):
        self.train = X
        return self

    def transform(self, X):
        return X @ self.train.T


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (lambda X, Z: X @ Z.T, "is a function, which no file can hold: save a model with kernels='precomputed'"),
        (Inner(), "kernels of Inner cannot be saved: put the transformer into a pipeline"),
        (Rank(), "is of a class of its own, which no file can hold"),
    ],
)
def test_what_is_code_cannot_be_saved(kernel, words, tmp_path):
    fitted = MKLClassifier(kernels=[kernel]).fit(X, GRAPE)
    with pytest.raises(InputError, match=words):
        fitted.save(tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_names_that_no_array_holds_are_not_saved(tmp_path):
    names = np.array(["a", "a\0", "b"], dtype=object)
    with pytest.raises(InputError, match="classes_ has names that end in a zero character"):
        MKLClassifier().fit(X, names[GRAPE]).save(tmp_path / "model.npz")


def test_what_is_not_fitted_or_of_another_class_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        MKLClassifier().save(tmp_path / "model.npz")
    fitted = MKLClassifier().fit(X, GRAPE)
    with pytest.raises(InputError, match=r"end the name in \.npz"):
        fitted.save(tmp_path / "model.pkl")
    fitted.save(tmp_path / "model.npz")
    with pytest.raises(InputError, match="is a MKLClassifier, not a TwoStageMKL"):
        TwoStageMKL.load(tmp_path / "model.npz")


# ---------------------------------------------------------------------------------------------------- hostile files
@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.npz"
    MKLClassifier("l1", VIEWS, centre=True, probability=True, calibration_folds=2).fit(X, GRAPE).save(path)
    with np.load(path, allow_pickle=False) as archive:
        arrays = dict(archive)
    return json.loads(str(arrays.pop("record"))), arrays


def spoilt(parts, tmp_path, record=None, **changes):
    """The file of a model with some of its parts changed; None takes a part out."""
    arrays = {**parts[1], **changes}
    arrays = {key: value for key, value in arrays.items() if value is not None}
    arrays["record"] = np.array(json.dumps({**parts[0], **(record or {})}))
    np.savez(tmp_path / "spoilt.npz", **arrays)
    return tmp_path / "spoilt.npz"


@pytest.mark.parametrize(
    ("record", "changes", "words"),
    [
        ({"schema": "mklcvx.solution/1"}, {}, "is not 'mklcvx.model/1'"),
        ({"estimator": "SVC"}, {}, "'SVC' is no estimator of mklcvx"),
        ({"estimator": "os.system"}, {}, "is no estimator"),
        ({"estimator": "TwoStageMKL"}, {}, "unexpected keyword argument"),
        ({"parameters": {"kernels": "gaussians", "evil": 1}}, {}, "unexpected keyword argument"),
        ({"parameters": {"kernels": "gaussians", "formulation": "l2"}}, {}, "formulation and solutions"),
        ({"bank": ["__import__('os')"]}, {}, "the bank is no list of kernels"),
        ({"bank": [{"kernels": [{"kernel": "evil"}], "features": "all"}]}, {}, "kernel 'evil' is unknown"),
        ({"bank": [{"kernels": [{"kernel": "linear"}], "features": "all"}]}, {}, "do not fit together"),
        ({"bank": None}, {}, "it has no kernels"),
        ({"parameters": {"kernels": "precomputed"}}, {}, "it has no kernels, or too many"),
        ({"names": "K1"}, {}, "no list of words"),
        ({"features": -1}, {}, "features is -1, not a count"),
        ({"features": 12}, {}, "train and features do not fit together"),
        ({"solutions": 2}, {}, "scaled weights and kernels do not fit together"),
        ({"solutions": 10**9}, {}, "solution 3: no solution"),
        ({"preprocessing": {"kernels": 1}}, {}, "preprocessing"),
        ({"preprocessing": None}, {}, "preprocessing and parameters do not fit together"),
        ({"names": ["other"] * 31}, {}, "the bank and the names of its kernels do not fit together"),
        ({}, {"members_1": np.arange(45)[::-1]}, "indices of samples are out of range, or of order"),
        ({}, {"train": None}, "KeyError"),
        ({}, {"train": np.full((45, 13), np.nan)}, "train is not an array of finite numbers"),
        ({}, {"train": X[:10]}, "do not fit together"),
        ({}, {"classes_": np.array([0, 0, 1])}, "no list of different ones"),
        ({}, {"classes_": np.array([0, 1, 2, 3])}, "classes and machines do not fit together"),
        ({}, {"members_1": np.arange(45) + 1}, "indices of samples are out of range"),
        ({}, {"members_1": np.arange(44)}, "do not fit together"),
        ({}, {"members_1": None}, "classes and machines do not fit together"),
        ({}, {"calibration_": np.zeros((1, 2))}, "calibration"),
        ({}, {"calibration_": None}, "the calibration and the parameters do not fit together"),
        ({}, {"weight": np.zeros(45)}, "weight and samples do not fit together"),
        ({}, {"solution_1/record": None}, "solution 1: no solution"),
        ({}, {"solution_1/alpha": np.ones(3)}, "solution 1: incomplete or damaged"),
    ],
)
def test_hostile_models_are_refused_in_one_line(parts, tmp_path, record, changes, words):
    path = spoilt(parts, tmp_path, record, **changes)
    with pytest.raises(InputError) as refused:
        load_model(path)
    message = str(refused.value)
    assert message.startswith(f"model {path}: ")
    assert words in message
    assert "\n" not in message


@pytest.mark.parametrize("multi_class", ["ovo", "all", None, ["ovr"]])
def test_machines_must_be_those_of_the_parameters(parts, tmp_path, multi_class):
    """One against the rest and one against one are three machines each for three classes."""
    path = spoilt(parts, tmp_path, {"parameters": {**parts[0]["parameters"], "multi_class": multi_class}})
    with pytest.raises(InputError, match="classes and machines do not fit together"):
        load_model(path)


@pytest.mark.filterwarnings("ignore:labels 2 are the same")
@pytest.mark.parametrize("constant", [np.full(3, np.nan), np.full(3, 0.5), np.array(["a", "b", "c"])])
def test_labels_that_are_constant_are_so_one_way_or_the_other(tmp_path, constant):
    MultiLabelMKL().fit(X, LABELS).save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz", allow_pickle=False) as archive:
        np.savez(tmp_path / "spoilt.npz", **{**archive, "constant": constant})
    with pytest.raises(InputError, match="the labels do not fit together"):
        load_model(tmp_path / "spoilt.npz")


@pytest.mark.parametrize(
    "change", [{"multi_class": "ovo"}, {"formulation": "l2"}, {"kernels": "linear"}, {"probability": True}]
)
def test_a_model_is_saved_as_it_was_fitted(change, tmp_path):
    fitted = MKLClassifier("l1", VIEWS).fit(X, GRAPE)
    expected = fitted.decision_function(X)
    fitted.set_params(**change).save(tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.decision_function(X), expected)
    assert (again.formulation, again.multi_class, again.probability) == ("l1", "ovr", False)


def test_pickles_and_other_files_are_refused(tmp_path):
    path = tmp_path / "model.npz"
    np.savez(path, record=np.array([{"a": 1}], dtype=object))
    with pytest.raises(InputError, match="pickled objects, which are refused"):
        load_model(path)
    np.savez(path, kernels=np.eye(2))
    with pytest.raises(InputError, match=r"no model \(kernels\)"):
        load_model(path)


# ------------------------------------------------------------------------------------------------------ the command
@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    MKLClassifier("l1").fit(X, NAMES).save(folder / "classes.npz")
    MKLClassifier("l1").fit(X, GRAPE == 1).save(folder / "two.npz")
    HypergraphEmbedding().fit(X, GRAPE).save(folder / "embedding.npz")
    np.savez(folder / "new.npz", X=X[:6], y=NAMES[:6])
    head = ",".join(f"f{j}" for j in range(13))
    np.savetxt(folder / "new.csv", X[:6], delimiter=",", header=head, comments="")
    return folder


def test_predict_serves_a_model_on_features(succeeds, served):
    out, err = succeeds("predict", served / "classes.npz", served / "new.npz")
    lines = out.splitlines()
    assert lines[0] == "decision barbera,decision barolo,decision grignolino,class"
    model = load_model(served / "classes.npz")
    assert [line.split(",")[-1] for line in lines[1:]] == list(model.predict(X[:6]))
    assert float(lines[1].split(",")[0]) == model.decision_function(X[:6])[0, 0]
    assert err == "accuracy 1.0000 on 6 samples\n"


def test_predict_reads_tables_and_writes_files(run, succeeds, served, tmp_path):
    out, _ = succeeds("predict", served / "two.npz", served / "new.csv")
    assert out.splitlines()[0] == "decision,label"
    assert {line.split(",")[1] for line in out.splitlines()[1:]} <= {"True", "False"}
    for name in ("out.json", "out.npz", "out.csv"):
        assert run("predict", served / "two.npz", served / "new.csv", "-o", tmp_path / name)[0] == 0
    stored = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["decision"]
    np.testing.assert_array_equal(stored, np.load(tmp_path / "out.npz")["decision"])
    out, _ = succeeds("predict", served / "embedding.npz", served / "new.csv")
    assert out.startswith("e1,")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"Z": X}, "no array 'X' (found Z)"),
        ({"X": X[:, :5]}, "X has 5 features, but MKLClassifier is expecting 13 features"),
        ({"X": np.full((2, 13), np.nan)}, "no array of finite numbers"),
        ({"X": X[:0]}, "X has no samples"),
        ({"X": X[:2], "y": NAMES[:3]}, "y has shape (3,)"),
        ({"X": np.array([["a"] * 13])}, "no array of finite numbers"),
        ({"X": X[:2], "y": np.array([0, 1])}, "y has 0, and no class of the model: barbera, barolo, grignolino"),
        ({"X": X[:2], "y": np.array([np.nan, np.nan])}, "no class of the model"),
    ],
)
def test_unusable_features_are_refused(refusal, served, tmp_path, content, words):
    np.savez(tmp_path / "new.npz", **content)
    assert words in refusal("predict", served / "classes.npz", tmp_path / "new.npz")


def test_other_files_of_features_are_refused(refusal, served, tmp_path):
    assert "no such file" in refusal("predict", served / "classes.npz", tmp_path / "new.csv")
    (tmp_path / "new.csv").write_text("a,b\n1,x\n", encoding="utf-8")
    assert "column 'b' has words, such as 'x': leave the column out" in refusal(
        "predict", served / "classes.npz", tmp_path / "new.csv"
    )
    (tmp_path / "new.txt").write_text("1,2\n", encoding="utf-8")
    assert "give a .npz or .csv file" in refusal("predict", served / "classes.npz", tmp_path / "new.txt")
