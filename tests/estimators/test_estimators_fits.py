"""What estimators fit: the optimum that `solve` finds on the same stack, whatever the kernels come from."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV

import mklcvx
from mklcvx import HypergraphEmbedding, Instance, MKLClassifier, MKLRegressor, MultiLabelMKL, TwoStageMKL, mkl_path
from mklcvx.errors import InputError
from mklcvx.formulations.losses import EVERY, REAL
from mklcvx.problem.preprocessing import Preprocessing
from tables import CANCER, GRAPE, KERNELS, LEARNED, MALIGNANT, TARGET, TEST, TRAIN, WINE, stack_of

pytestmark = pytest.mark.slow

# Kernels as they are, to compare them with those of `solve`: Gaussians beside a linear one.
RAW = {"normalise": None}
unscaled = pytest.mark.filterwarnings("ignore::mklcvx.ScaleWarning")


# ------------------------------------------------------------------------------------------------------ one optimum
LABELS = np.column_stack([GRAPE == 0, GRAPE > 0, WINE[:, 0] > 0]).astype(int)
SIGNS, TWO = {"y": 2 * MALIGNANT - 1}, np.column_stack([TARGET, LEARNED[:, 2] * LEARNED[:, 8]])
OWN = {"epsilon_insensitive": {"epsilon": 0.3}, "huber": {"delta": 0.4}}
OWN |= {"quantile": {"quantile": 0.8}, "nu_svr": {"nu": 0.3}}
FITS = [
    *(
        (MKLClassifier(name, KERNELS, C=2.0, centre=True, normalise="trace"), CANCER, MALIGNANT, SIGNS)
        for name in ("l1", "sm1", "elastic", "li")
    ),
    *(
        (
            MKLRegressor("l2", KERNELS, loss=loss.name, C=2.0, **OWN.get(loss.name, {}), **RAW),
            LEARNED,
            TARGET,
            {"response": TARGET},
        )
        for loss in EVERY
        if loss.targets == REAL
    ),
    (MKLRegressor("l1", KERNELS, loss="huber", delta=0.5, C=1.0, **RAW), LEARNED, TWO, {"response": TWO}),
    (MKLClassifier("l1", KERNELS, loss="softmax", C=1.0, **RAW), WINE, GRAPE, {"classes": GRAPE}),
    (MultiLabelMKL("ml_minimax", KERNELS, C=2.0, **RAW), WINE, LABELS, {"labels": LABELS}),
    (MultiLabelMKL("ml_sum", KERNELS, C=2.0, **RAW), WINE, GRAPE, {"classes": GRAPE}),
    (TwoStageMKL("ts", KERNELS, centre=False, C=1.0, lam=0.1, **RAW), WINE, GRAPE, {"classes": GRAPE}),
    (TwoStageMKL("ts_l1", KERNELS, centre=False, C=1.0, **RAW), WINE, LABELS, {"labels": LABELS}),
    (HypergraphEmbedding("hypergraph", KERNELS, lam=0.5, **RAW), WINE, LABELS, {"labels": LABELS}),
]


@unscaled
@pytest.mark.parametrize(("model", "X", "y", "targets"), FITS, ids=lambda one: getattr(one, "formulation", ""))
def test_a_fit_is_what_solve_finds_on_the_same_stack(model, X, y, targets):
    raw = KERNELS.fit(X).stack()
    steps = Preprocessing.from_options(centre=getattr(model, "centre", False), normalise=model.normalise).fit(raw)
    found = mklcvx.solve(Instance(steps.train(raw), **targets), model.formulation, **model._given)
    fitted = clone(model).fit(X, y)
    (own,) = fitted.solutions_
    assert (own.objective, fitted.certificate_) == (found.objective, found.certificate)
    assert fitted.n_iter_ == found.iterations
    np.testing.assert_array_equal(fitted.weights_, found.weights)
    new = steps.test(KERNELS.stack(X[:9]))
    values = found.decision_function(new)
    valued = fitted.transform if fitted.embeds else getattr(fitted, "decision_function", fitted.predict)
    np.testing.assert_array_equal(valued(X[:9]), values)
    if "labels" in targets and not fitted.embeds:
        np.testing.assert_array_equal(fitted.predict(X[:9]), found.predict(new).astype(int))


def test_of_several_targets_each_has_its_coefficients_and_the_score_is_their_mean():
    model = MKLRegressor("l1", KERNELS, loss="huber", delta=0.5, **RAW).fit(LEARNED, TWO)
    assert (model.weights_.shape, model.dual_coef_.shape, model.intercept_.shape) == ((3,), (60, 2), (2,))
    by_hand = np.einsum("m,tim,ik->tk", model.weights_, stack_of(LEARNED), model.dual_coef_)
    np.testing.assert_allclose(model.predict(LEARNED), by_hand + model.intercept_, atol=1e-9)
    assert model.score(LEARNED, TWO) == r2_score(TWO, model.predict(LEARNED))


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


@unscaled
def test_scaled_weights_compare_kernels_of_different_size():
    model = MKLClassifier("sum", KERNELS, **RAW).fit(CANCER, MALIGNANT)
    traces = np.array([90.0, 90.0, np.sum(CANCER**2)])
    np.testing.assert_allclose(model.scaled_weights_, traces / traces.sum())
    assert list(model.kernel_names_) == ["gaussian(γ=0.02)", "gaussian(γ=0.1)", "linear"]


# -------------------------------------------------------------------------------------------------- model selection
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


# ---------------------------------------------------------------------------------------------------------- weights
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
    assert not hasattr(mklcvx.load_model(tmp_path / "model.npz"), "calibration_")
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


def test_a_fit_that_is_not_certified_warns_with_its_gap():
    model = MKLClassifier("l1", KERNELS, solver="simplemkl", max_iter=1, tol=1e-9)
    with pytest.warns(ConvergenceWarning, match=r"not certified: relative gap \d\.\d+e-\d+, asked for 1e-09"):
        model.fit(CANCER, MALIGNANT)
    assert model.certificate_.relative_gap > 1e-9
    with pytest.warns(ConvergenceWarning, match="3 of 3 machines; the worst: not certified"):
        model.fit(WINE, GRAPE)


# ------------------------------------------------------------------------------------------ joint fits and embeddings
def test_a_label_that_training_cannot_learn_is_constant():
    labels = np.column_stack([LABELS[:, 0], np.zeros(60), LABELS[:, 2], np.ones(60)]).astype(np.int8)
    with pytest.warns(UserWarning, match="labels 1, 3 are the same for all training samples"):
        model = MultiLabelMKL(kernels=KERNELS).fit(WINE, labels)
    predicted = model.predict(WINE)
    assert predicted.dtype == np.int8
    np.testing.assert_array_equal(predicted[:, [1, 3]], labels[:, [1, 3]])
    others = MultiLabelMKL(kernels=KERNELS).fit(WINE, labels[:, [0, 2]]).predict(WINE)
    np.testing.assert_array_equal(predicted[:, [0, 2]], others)


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


def test_a_path_over_losses_has_the_price_of_each():
    """In the unit of the kernels, which are not of unit size here, also where that is asked for by its name."""
    given = {"kernels": "linear", "formulation": "average", **RAW}
    expected = MKLRegressor(**given).fit(10 * LEARNED, TARGET).solutions_[0].parameters["C"]
    assert expected < 0.01
    for asked in ({}, {"C": "scale"}):
        along = mkl_path(10 * LEARNED, TARGET, {"loss": ["squared", "nu_svr"]}, **given, **asked)
        assert along.values("C").tolist() == [expected, expected]


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


def test_weights_have_proved_intervals():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(30, 3))
    model = MKLClassifier("sm2", kernels="gaussians").fit(x, np.arange(30) % 2)
    low, high = model.weights_interval_.T
    assert ((low <= model.weights_) & (model.weights_ <= high)).all()
    several = MKLClassifier("sm2", kernels="gaussians").fit(x, np.arange(30) % 3)
    assert several.weights_interval_.shape == (*several.weights_.shape, 2)
    assert MKLClassifier("li", kernels="gaussians").fit(x, np.arange(30) % 2).weights_interval_ is None


def test_no_kernel_that_helps_is_said():
    y = np.tile([0, 1], 10)
    points = np.repeat(np.arange(10.0), 2)[:, None]
    with pytest.warns(UserWarning, match="no kernel gets weight"):
        TwoStageMKL("alignment", ["linear"], normalise=None, centre=False).fit(points - 9, y)


def test_weights_of_label_sets_must_be_positive():
    with pytest.raises(InputError, match="class_weight leaves samples without a positive weight"):
        MultiLabelMKL(class_weight=[{0: 1, 1: 0}, {0: 1, 1: 1}, {0: 1, 1: 1}]).fit(WINE, LABELS)


def test_weights_are_plotted_by_name_and_by_class():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    names = {"gaussian(γ=0.02)", "gaussian(γ=0.1)", "linear"}
    for y, rows in ((GRAPE == 0, names), (GRAPE, {"0", "1", "2"})):
        axes = MKLClassifier("l1", KERNELS).fit(WINE, y).plot_weights()
        assert {label.get_text() for label in axes.get_yticklabels()} == rows
        pyplot.close(axes.figure)


def test_paths_of_other_families_and_of_the_other_loss():
    assert mkl_path(WINE, GRAPE, {"lam": [0.1, 0.01]}, formulation="ts", kernels=KERNELS).certified
    weighted = mkl_path(CANCER, MALIGNANT, {"nu": [0.2]}, kernels=KERNELS, sample_weight=np.full(90, 2.0))
    model = MKLClassifier("l1", KERNELS, nu=0.2).fit(CANCER, MALIGNANT)
    assert weighted.solutions[0].objective == pytest.approx(model.solutions_[0].objective, rel=3e-8)
