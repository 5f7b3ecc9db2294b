"""What estimators fit: the optimum that `solve` finds on the same stack, whatever the kernels come from."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mklcvx import (
    HypergraphEmbedding,
    Instance,
    MKLClassifier,
    MKLRegressor,
    MultiLabelMKL,
    TwoStageMKL,
    load_model,
    mkl_path,
    solve,
)
from mklcvx.errors import InputError
from mklcvx.problem.preprocessing import Preprocessing
from tables import CANCER, GRAPE, KERNELS, LEARNED, MALIGNANT, TARGET, TEST, TRAIN, WINE, stack_of

pytestmark = pytest.mark.slow

# Kernels as they are, to compare them with those of `solve`: Gaussians beside a linear one.
RAW = {"normalise": None}
unscaled = pytest.mark.filterwarnings("ignore::mklcvx.ScaleWarning")


# ------------------------------------------------------------------------------------------------------ one optimum
@pytest.mark.parametrize("name", ["l1", "sm1", "elastic", "li"])
def test_weights_objective_and_values_are_those_of_solve_on_the_same_stack(name):
    model = MKLClassifier(name, KERNELS, C=2.0, centre=True, normalise="trace").fit(CANCER[TRAIN], MALIGNANT[TRAIN])
    raw = KERNELS.fit(CANCER[TRAIN]).stack()
    steps = Preprocessing.from_options(centre=True, normalise="trace").fit(raw)
    instance = Instance(steps.train(raw), np.where(MALIGNANT[TRAIN] == 1, 1, -1))
    found = solve(instance, name, C=2.0)
    (own,) = model.solutions_
    assert own.objective == found.objective
    np.testing.assert_array_equal(model.weights_, found.weights)
    assert model.certificate_ == found.certificate
    assert model.n_iter_ == found.iterations
    values = found.decision_function(steps.test(KERNELS.stack(CANCER[TEST])))
    np.testing.assert_array_equal(model.decision_function(CANCER[TEST]), values)
    np.testing.assert_array_equal(model.predict(CANCER[TEST]), (values > 0).astype(int))


@pytest.mark.parametrize(
    "model",
    [
        MKLClassifier("sm1", KERNELS, theta=0.5, centre=True, normalise="variance"),
        MultiLabelMKL("ml_sum", KERNELS, normalise="trace", C=100.0),
        TwoStageMKL("alignment", KERNELS),
    ],
)
def test_features_and_a_precomputed_stack_give_identical_predictions(model):
    features = clone(model).fit(CANCER[TRAIN], MALIGNANT[TRAIN])
    precomputed = clone(model).set_params(kernels="precomputed").fit(stack_of(CANCER[TRAIN]), MALIGNANT[TRAIN])
    between = stack_of(CANCER[TRAIN], CANCER[TEST])
    np.testing.assert_array_equal(features.weights_, precomputed.weights_)
    np.testing.assert_array_equal(features.decision_function(CANCER[TEST]), precomputed.decision_function(between))
    np.testing.assert_array_equal(features.predict(CANCER[TEST]), precomputed.predict(between))


def test_one_kernel_of_an_svm_is_libsvms():
    model = MKLClassifier("svm", "linear", C=0.5, **RAW).fit(CANCER[TRAIN], MALIGNANT[TRAIN])
    libsvm = SVC(kernel="linear", C=0.5, tol=1e-9).fit(CANCER[TRAIN], MALIGNANT[TRAIN])
    expected = libsvm.decision_function(CANCER[TEST])
    np.testing.assert_allclose(model.decision_function(CANCER[TEST]), expected, rtol=1e-5, atol=1e-6)


@unscaled
def test_scaled_weights_compare_kernels_of_different_size():
    model = MKLClassifier("sum", KERNELS, **RAW).fit(CANCER, MALIGNANT)
    traces = np.array([90.0, 90.0, np.sum(CANCER**2)])
    np.testing.assert_allclose(model.scaled_weights_, traces / traces.sum())
    assert list(model.kernel_names_) == ["gaussian(γ=0.02)", "gaussian(γ=0.1)", "linear"]


# -------------------------------------------------------------------------------------------------- model selection
def test_a_grid_search_over_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), MKLClassifier("sm1", KERNELS))
    grid = {"mklclassifier__C": [0.1, 1.0], "mklclassifier__theta": [0.5, 1.0]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(CANCER, MALIGNANT)
    assert search.best_score_ > 0.9
    best = search.best_estimator_[-1]
    assert best.solutions_[0].certified
    assert search.best_params_["mklclassifier__theta"] == best.solutions_[0].parameters["theta"]


def test_the_same_grid_search_on_a_precomputed_stack_slices_both_axes():
    """Centring and scaling are fitted within each fold, so that the scores are the same to the last digit."""
    grid = {"C": [0.1, 10.0], "theta": [0.5, 1.0]}
    model = MKLClassifier("sm1", KERNELS, centre=True, normalise="variance")
    features = GridSearchCV(model, grid, cv=3, scoring="roc_auc").fit(CANCER, MALIGNANT)
    stacked = GridSearchCV(clone(model).set_params(kernels="precomputed"), grid, cv=3, scoring="roc_auc")
    stacked.fit(stack_of(CANCER), MALIGNANT)
    np.testing.assert_array_equal(features.cv_results_["mean_test_score"], stacked.cv_results_["mean_test_score"])
    assert stacked.best_estimator_.n_features_in_ == 90


# ---------------------------------------------------------------------------------------------------- many classes
def test_one_versus_rest_is_a_machine_for_every_class():
    model = MKLClassifier("l1", KERNELS, multi_class="ovr").fit(WINE, GRAPE)
    values = model.decision_function(WINE)
    assert values.shape == (60, 3)
    assert model.weights_.shape == (3, 3)
    for k in range(3):
        alone = MKLClassifier("l1", KERNELS).fit(WINE, np.equal(GRAPE, k))  # which starts from no machine of LIBSVM
        bounds = [model.solutions_[k].certificate, alone.solutions_[0].certificate]
        assert max(one.lower for one in bounds) <= min(one.upper for one in bounds)
        np.testing.assert_allclose(values[:, k], alone.decision_function(WINE), atol=1e-7)
    np.testing.assert_array_equal(model.predict(WINE), values.argmax(axis=1))
    assert model.certificate_.relative_gap == max(s.certificate.relative_gap for s in model.solutions_)


@unscaled
def test_one_versus_one_is_a_machine_for_every_pair_and_votes():
    model = MKLClassifier("l1", KERNELS, multi_class="ovo", C=1.0, **RAW).fit(WINE, GRAPE)
    votes = np.zeros((60, 3))
    for (first, second), solution in zip([(0, 1), (0, 2), (1, 2)], model.solutions_, strict=True):
        pair = np.isin(GRAPE, (first, second))
        alone = MKLClassifier("l1", KERNELS, C=1.0, **RAW).fit(WINE[pair], GRAPE[pair])
        assert solution.objective == pytest.approx(alone.solutions_[0].objective, rel=1e-12)
        positive = alone.decision_function(WINE) > 0
        votes[positive, second] += 1
        votes[~positive, first] += 1
    decided = np.sort(votes, axis=1)[:, -1] > np.sort(votes, axis=1)[:, -2]
    np.testing.assert_array_equal(model.predict(WINE)[decided], votes.argmax(axis=1)[decided])
    assert model.score(WINE, GRAPE) > 0.95


def test_words_as_classes():
    names = np.array(["no", "yes"])[MALIGNANT]
    model = MKLClassifier("l1", KERNELS).fit(CANCER[TRAIN], names[TRAIN])
    assert list(model.classes_) == ["no", "yes"]
    assert set(model.predict(CANCER[TEST])) == {"no", "yes"}


# ---------------------------------------------------------------------------------------------------------- weights
@pytest.mark.parametrize(
    "settings",
    [
        {"centre": True, "normalise": "variance"},
        {"centre": True, "normalise": "trace", "C": 100.0},
        {"nu": 0.2, "kernels": "gaussians"},
        {"class_weight": "balanced", "kernels": "gaussians"},
        {"class_weight": {0: 2.0, 1: 0.5}, "multi_class": "ovo"},
    ],
)
def test_a_sample_of_weight_two_is_one_met_twice_and_of_weight_zero_none(settings):
    counts = np.random.default_rng(0).integers(0, 3, 60)
    model = MKLClassifier("l2", **{"kernels": KERNELS, **settings})
    weighted = clone(model).fit(WINE, np.minimum(GRAPE, 1), sample_weight=counts)
    repeated = clone(model).fit(WINE.repeat(counts, axis=0), np.minimum(GRAPE, 1).repeat(counts))
    np.testing.assert_allclose(weighted.decision_function(WINE), repeated.decision_function(WINE), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(weighted.scaled_weights_, repeated.scaled_weights_, rtol=1e-6, atol=1e-9)


@unscaled
def test_weights_of_a_third_class_do_not_change_the_nu_of_a_pair():
    model = MKLClassifier("l2", KERNELS, nu=0.2, multi_class="ovo", **RAW)
    weighted = clone(model).fit(WINE, GRAPE, sample_weight=np.where(GRAPE == 0, 3.0, 1.0))
    (pair,) = clone(model).fit(WINE[GRAPE > 0], GRAPE[GRAPE > 0]).solutions_
    assert weighted.solutions_[2].objective == pytest.approx(pair.objective, rel=1e-8)


def test_balanced_labels_count_samples_as_often_as_their_weights_say():
    counts, labels = np.random.default_rng(1).integers(1, 3, 60), np.column_stack([GRAPE == 0, GRAPE > 1]).astype(int)
    model = MultiLabelMKL("ml_sum", KERNELS, class_weight="balanced")
    weighted = clone(model).fit(WINE, labels, sample_weight=counts).decision_function(WINE)
    repeated = clone(model).fit(WINE.repeat(counts, axis=0), labels.repeat(counts, axis=0)).decision_function(WINE)
    np.testing.assert_allclose(weighted, repeated, atol=1e-4)  # f is known to the root of the gap


def test_weights_matter_and_a_precomputed_stack_keeps_its_columns():
    counts = np.where(MALIGNANT == 1, 1, 3) * (np.arange(90) % 4 > 0)
    features = MKLClassifier("l1", KERNELS).fit(CANCER, MALIGNANT, sample_weight=counts)
    stacked = MKLClassifier("l1", "precomputed").fit(stack_of(CANCER), MALIGNANT, sample_weight=counts)
    values = features.decision_function(CANCER[:5])
    np.testing.assert_allclose(values, stacked.decision_function(stack_of(CANCER, CANCER[:5])), rtol=1e-9)
    unweighted = MKLClassifier("l1", KERNELS).fit(CANCER, MALIGNANT).decision_function(CANCER[:5])
    assert np.abs(values - unweighted).max() > 0.01


@unscaled
def test_class_weights_move_the_decision():
    light, heavy = (
        MKLClassifier("l1", KERNELS, C=0.01, class_weight={0: w, 1: 1.0}, **RAW).fit(CANCER, MALIGNANT) for w in (1, 50)
    )
    assert (heavy.predict(CANCER) == 0).sum() > (light.predict(CANCER) == 0).sum()


def test_weighted_steps_are_those_of_repeated_samples():
    counts = np.array([1.0, 2.0, 3.0, 1.0])
    kernels = KERNELS.fit(WINE[:4]).stack()
    many = kernels.repeat(counts.astype(int), axis=1).repeat(counts.astype(int), axis=2)
    for options in ({"centre": True}, {"normalise": "trace"}, {"centre": True, "normalise": "variance"}):
        weighted = Preprocessing.from_options(**options).fit(kernels, sample_weight=counts)
        repeated = Preprocessing.from_options(**options).fit(many)
        first = np.cumsum(counts).astype(int) - 1
        expected = repeated.train(many)[:, first][:, :, first]
        np.testing.assert_allclose(weighted.train(kernels), expected, atol=1e-13)
        again = Preprocessing.from_dict(weighted.to_dict())
        np.testing.assert_array_equal(again.test(kernels[:, :2]), weighted.test(kernels[:, :2]))


# -------------------------------------------------------------------------------------------- probabilities, warnings
@pytest.mark.parametrize(("X", "y"), [(CANCER, MALIGNANT), (WINE, GRAPE)])
def test_probabilities_are_those_of_scikit_learns_calibration(X, y):
    model = MKLClassifier("l1", KERNELS, probability=True, calibration_folds=3).fit(X, y)
    expected = CalibratedClassifierCV(MKLClassifier("l1", KERNELS), cv=3, ensemble=False).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), expected, atol=1e-12)
    assert not hasattr(MKLClassifier(), "predict_proba")
    with pytest.raises(AttributeError) as refused:
        MKLClassifier().predict_proba(X)
    assert "set probability=True, or loss='logistic', before fit" in str(refused.value.__cause__)


@unscaled
@pytest.mark.parametrize("names", [np.array(["x", "y", "z"]), np.array([1, 2, 0]), np.array([1, 2, 3])])
def test_class_weights_go_with_their_classes_into_the_calibration(names):
    """Held-out values are those of the same class weights, whatever the classes are called."""
    weights, given = [5.0, 0.5, 0.1], {"probability": True, "calibration_folds": 3, "C": 0.02, **RAW}
    order = np.argsort(names)
    expected = MKLClassifier("l1", KERNELS, class_weight=dict(enumerate(weights)), **given).fit(WINE, GRAPE)
    named = {name: weights[k] for k, name in enumerate(names.tolist())}
    model = MKLClassifier("l1", KERNELS, class_weight=named, **given).fit(WINE, names[GRAPE])
    np.testing.assert_allclose(model.calibration_, expected.calibration_[order], rtol=1e-6)


def test_a_calibration_ends_with_its_fit(tmp_path):
    model = MKLClassifier("l1", KERNELS, probability=True, calibration_folds=2).fit(WINE, GRAPE)
    model.set_params(probability=False).fit(CANCER, MALIGNANT)
    model.save(tmp_path / "model.npz")
    assert not hasattr(load_model(tmp_path / "model.npz"), "calibration_")
    with pytest.raises(InputError, match="fitted with probability=False"):
        model.set_params(probability=True).predict_proba(CANCER)


@pytest.mark.parametrize("model", [MKLClassifier("average", "linear"), MultiLabelMKL(kernels="linear")])
def test_a_fit_that_fails_leaves_nothing_to_predict_with(model):
    """Its kernels with the former coefficients would be a model that nobody has fitted."""
    fitted = clone(model).fit(CANCER, MALIGNANT).set_params(C=-1.0)
    with pytest.raises(InputError, match="C"):
        fitted.fit(2 * CANCER, MALIGNANT)
    with pytest.raises(NotFittedError):
        fitted.predict(CANCER)


def test_probabilities_on_a_precomputed_stack():
    model = MKLClassifier("l1", KERNELS, probability=True, calibration_folds=3).fit(CANCER, MALIGNANT)
    stacked = clone(model).set_params(kernels="precomputed").fit(stack_of(CANCER), MALIGNANT)
    np.testing.assert_allclose(stacked.predict_proba(stack_of(CANCER)), model.predict_proba(CANCER), atol=1e-9)


def test_a_fit_that_is_not_certified_warns_with_its_gap():
    model = MKLClassifier("l1", KERNELS, solver="simplemkl", max_iter=1, tol=1e-9)
    with pytest.warns(ConvergenceWarning, match=r"not certified: relative gap \d\.\d+e-\d+, asked for 1e-09"):
        model.fit(CANCER, MALIGNANT)
    assert model.certificate_.relative_gap > 1e-9
    with pytest.warns(ConvergenceWarning, match="3 of 3 machines; the worst: not certified"):
        model.fit(WINE, GRAPE)


# ------------------------------------------------------------------------------------------ joint fits and embeddings
LABELS = np.column_stack([GRAPE == 0, GRAPE > 0, WINE[:, 0] > 0]).astype(int)


@unscaled
@pytest.mark.parametrize(
    ("model", "targets"),
    [
        (MultiLabelMKL("ml_minimax", KERNELS, C=2.0, **RAW), {"labels": LABELS}),
        (MultiLabelMKL("ml_sum", KERNELS, C=2.0, **RAW), {"classes": GRAPE}),
        (TwoStageMKL("ts", KERNELS, centre=False, C=1.0, lam=0.1, **RAW), {"classes": GRAPE}),
        (TwoStageMKL("ts_l1", KERNELS, centre=False, C=1.0, **RAW), {"labels": LABELS}),
        (HypergraphEmbedding("hypergraph", KERNELS, normalise=None, lam=0.5), {"labels": LABELS}),
    ],
)
def test_joint_fits_are_those_of_solve(model, targets):
    (y,) = targets.values()
    kernels = KERNELS.fit(WINE).stack()
    found = solve(Instance(kernels, **targets), model.formulation, **model._given)
    fitted = clone(model).fit(WINE, y)
    np.testing.assert_array_equal(fitted.weights_, found.weights)
    assert fitted.solutions_[0].objective == found.objective
    own = fitted.transform if fitted.embeds else fitted.decision_function
    np.testing.assert_array_equal(own(WINE[:9]), found.decision_function(KERNELS.stack(WINE[:9])))
    if hasattr(fitted, "predict"):
        expected = found.predict(KERNELS.stack(WINE))
        np.testing.assert_array_equal(fitted.predict(WINE), expected.astype(int))


def test_a_label_that_training_cannot_learn_is_constant():
    labels = np.column_stack([LABELS[:, 0], np.zeros(60), LABELS[:, 2], np.ones(60)]).astype(np.int8)
    with pytest.warns(UserWarning, match="labels 1, 3 are the same for all training samples"):
        model = MultiLabelMKL(kernels=KERNELS).fit(WINE, labels)
    predicted = model.predict(WINE)
    assert predicted.dtype == np.int8
    np.testing.assert_array_equal(predicted[:, [1, 3]], labels[:, [1, 3]])
    others = MultiLabelMKL(kernels=KERNELS).fit(WINE, labels[:, [0, 2]]).predict(WINE)
    np.testing.assert_array_equal(predicted[:, [0, 2]], others)


def test_no_kernel_that_helps_is_said():
    y = np.tile([0, 1], 10)
    points = np.repeat(np.arange(10.0), 2)[:, None]
    with pytest.warns(UserWarning, match="no kernel gets weight"):
        TwoStageMKL("alignment", ["linear"], normalise=None, centre=False).fit(points - 9, y)


def test_the_embedding_goes_into_a_pipeline():
    embedding = HypergraphEmbedding(kernels=KERNELS, expansion="star")
    pipeline = make_pipeline(embedding, SVC()).fit(WINE, GRAPE)
    assert pipeline.score(WINE, GRAPE) > 0.95
    width = pipeline[0].transform(WINE).shape[1]
    assert list(pipeline[0].get_feature_names_out()) == [f"hypergraphembedding{j}" for j in range(width)]


def test_weights_of_label_sets_must_be_positive():
    with pytest.raises(InputError, match="class_weight leaves samples without a positive weight"):
        MultiLabelMKL(class_weight=[{0: 1, 1: 0}, {0: 1, 1: 1}, {0: 1, 1: 1}]).fit(WINE, LABELS)


# ------------------------------------------------------------------------------------------------------------- paths
def test_a_path_is_the_fits_along_its_grid():
    grid = {"C": [0.1, 1.0, 10.0]}
    along = mkl_path(CANCER, MALIGNANT, grid, formulation="sm1", kernels=KERNELS, theta=0.6, centre=True)
    assert along.certified
    kernels = KERNELS.fit(CANCER).stack(CANCER[:4])
    for C, solution in zip(grid["C"], along.solutions, strict=True):
        model = MKLClassifier("sm1", KERNELS, theta=0.6, centre=True, C=C).fit(CANCER, MALIGNANT)
        assert solution.objective == pytest.approx(model.solutions_[0].objective, rel=3e-8)
        expected = model.decision_function(CANCER[:4])
        np.testing.assert_allclose(solution.decision_function(kernels), expected, atol=1e-3)


def test_paths_of_other_families_and_of_the_other_loss():
    assert mkl_path(WINE, GRAPE, {"lam": [0.1, 0.01]}, formulation="ts", kernels=KERNELS).certified
    weighted = mkl_path(CANCER, MALIGNANT, {"nu": [0.2]}, kernels=KERNELS, sample_weight=np.full(90, 2.0))
    model = MKLClassifier("l1", KERNELS, nu=0.2).fit(CANCER, MALIGNANT)
    assert weighted.solutions[0].objective == pytest.approx(model.solutions_[0].objective, rel=3e-8)


def test_a_path_over_losses_has_the_price_of_each():
    """In the unit of the kernels, which are not of unit size here, also where that is asked for by its name."""
    given = {"kernels": "linear", "formulation": "average", **RAW}
    expected = MKLRegressor(**given).fit(10 * LEARNED, TARGET).solutions_[0].parameters["C"]
    assert expected < 0.01
    for asked in ({}, {"C": "scale"}):
        along = mkl_path(10 * LEARNED, TARGET, {"loss": ["squared", "nu_svr"]}, **given, **asked)
        assert along.values("C").tolist() == [expected, expected]


@pytest.mark.parametrize(("X", "y"), [(CANCER, MALIGNANT), (WINE, GRAPE)])
def test_a_path_takes_the_options_of_its_solver(X, y):
    given = {"kernels": KERNELS, "solver": "level", "tol": 1e-4}
    paths = [mkl_path(X, y, {"C": [1.0]}, solver_options={"share": share}, **given) for share in (0.01, 0.9)]
    quick, slow = (path.solutions[0].as_dict()["iterations"] for path in paths)
    assert quick < slow


@pytest.mark.parametrize(
    ("y", "settings", "words"),
    [
        (GRAPE, {"multi_class": "all"}, "multi_class 'all' is unknown"),
        (GRAPE == 0, {"thetta": 1}, "unknown parameter 'thetta'"),
        (GRAPE == 0, {"C": 1.0}, "C is both fixed and varied"),
        (GRAPE == 0, {"grid": [0.1, 1.0]}, r"grid = \[0.1, 1.0\] is a list: give a dict such as"),
        (GRAPE, {"formulation": "ts", "sample_weight": np.ones(60)}, "no place for sample weights"),
    ],
)
def test_unusable_paths_are_refused(y, settings, words):
    with pytest.raises(InputError, match=words):
        mkl_path(WINE, y, **{"grid": {"C": [1.0]}, **settings})


def test_weights_are_plotted():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    names = ["gaussian(γ=0.02)", "gaussian(γ=0.1)", "linear"]
    axes = MKLClassifier("l1", KERNELS).fit(WINE, GRAPE == 0).plot_weights()
    assert sorted(label.get_text() for label in axes.get_yticklabels()) == names
    many = MKLClassifier("l1", KERNELS).fit(WINE, GRAPE)
    heat = many.plot_weights()  # one row for each class
    assert sorted(label.get_text() for label in heat.get_xticklabels()) == names
    assert [label.get_text() for label in heat.get_yticklabels()] == ["0", "1", "2"]
    assert np.asarray(heat.collections[0].get_array()).reshape(3, 3) == pytest.approx(many.scaled_weights_)
    for drawn in (axes, heat):
        matplotlib.pyplot.close(drawn.figure)


def test_weights_have_proved_intervals():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(30, 3))
    model = MKLClassifier("sm2", kernels="gaussians").fit(x, np.arange(30) % 2)
    low, high = model.weights_interval_.T
    assert ((low <= model.weights_) & (model.weights_ <= high)).all()
    several = MKLClassifier("sm2", kernels="gaussians").fit(x, np.arange(30) % 3)
    assert several.weights_interval_.shape == (*several.weights_.shape, 2)
    assert MKLClassifier("li", kernels="gaussians").fit(x, np.arange(30) % 2).weights_interval_ is None
