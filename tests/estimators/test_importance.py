"""`kernel_importance` on planted problems: which kernels are said to matter is known beforehand."""

import json

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mklcvx
from mklcvx import InputError, MKLClassifier, MKLRegressor, OneClassMKL, TwoStageMKL, kernel_importance

RANDOM = np.random.default_rng(5)
Y = np.repeat([0, 1], 24)
SIGNAL, NOISE = RANDOM.normal(size=(48, 2)) + 3.0 * Y[:, None], RANDOM.normal(size=(48, 4))
FEATURES = np.hstack([SIGNAL, NOISE])
COLUMNS = {"signal": [0, 1], "noise": [2, 3], "more noise": [4, 5]}
FOLDS = StratifiedKFold(3, shuffle=True, random_state=2)
NAMES = ("noise", "signal", "more noise")
MODEL = MKLClassifier("l1", "precomputed", normalise="trace", C=100.0)


def linear(columns):
    return FEATURES[:, columns] @ FEATURES[:, columns].T + 1.0


def stack_of(*names):
    return np.stack([linear(COLUMNS[name]) for name in names], axis=-1)


@pytest.fixture(scope="module")
def planted():
    """One informative kernel between two of noise."""
    return kernel_importance(MODEL, stack_of(*NAMES), Y, cv=FOLDS, resamples=6, repeats=3, names=NAMES)


@pytest.fixture(scope="module")
def copies():
    """The informative kernel twice, and noise."""
    return kernel_importance(MODEL, stack_of("signal", "signal", "noise"), Y, cv=FOLDS, resamples=4)


def test_the_informative_kernel_is_found_by_every_answer(planted):
    table = planted.columns
    for name in ("weight", "alone", "drop_without", "drop_permuted", "resampled"):
        assert int(np.argmax(table[name])) == 1, name
    assert table["alone"][1] > 0.9
    assert (table["alone"][[0, 2]] < 0.75).all()
    assert table["drop_without"][1] > 0.2
    assert table["drop_permuted"][1] > 0.2
    assert np.abs(table["drop_without"][[0, 2]]).max() < 0.1
    assert table["selected"][1] == 1.0


def test_scores_are_those_of_scikit_learn(planted):
    stack = stack_of("noise", "signal", "more noise")
    assert planted.scores == pytest.approx(cross_val_score(MODEL, stack, Y, cv=FOLDS))
    assert planted.score == pytest.approx(planted.scores.mean())
    assert planted.without[:, 1] == pytest.approx(cross_val_score(MODEL, stack[:, :, [0, 2]], Y, cv=FOLDS))
    assert planted.alone[:, 1] == pytest.approx(cross_val_score(MODEL, stack[:, :, [1]], Y, cv=FOLDS))


def test_every_fit_is_counted_and_certified(planted):
    assert planted.fits == 3 * (2 * 3 + 1) + 6 + 1
    assert planted.uncertified == 0
    whole = clone(MODEL).fit(stack_of("noise", "signal", "more noise"), Y)
    assert planted.certificate.relative_gap == whole.certificate_.relative_gap <= 1e-8
    assert planted.weights[0] == pytest.approx(whole.scaled_weights_)


def test_each_of_two_copies_can_be_spared(copies):
    table = copies.columns
    assert table["drop_without"][:2] == pytest.approx([0.0, 0.0])  # the other one remains
    assert (table["alone"][:2] > 0.9).all()
    assert (table["drop_permuted"][:2] > 0.05).all()  # the classifier was fitted on both, and leans on each
    assert table["weight"][0] == pytest.approx(table["weight"][1], abs=1e-4)


def test_permuting_a_kernel_without_weight_changes_nothing():
    useless = np.stack([linear(COLUMNS["signal"]), np.eye(48)], axis=-1)  # of no test sample is it other than 0
    found = kernel_importance(MODEL, useless, Y, cv=FOLDS, answers=["permuted"], repeats=2)
    assert (found.permuted[:, :, 1] == found.scores[:, None]).all()
    assert (found.permuted[:, :, 0] < found.scores[:, None]).all()
    assert found.alone is found.without is found.resampled is None
    assert found.fits == 4


def test_permuting_is_what_it_says():
    """One fold by hand: rows of one kernel between test and training samples, shuffled."""
    stack = stack_of("noise", "signal")
    train, test = next(FOLDS.split(Y, Y))
    found = kernel_importance(MODEL, stack, Y, cv=[(train, test)], answers=["permuted"], repeats=1, random_state=7)
    model = clone(MODEL).fit(stack[np.ix_(train, train)], Y[train])
    rows = stack[np.ix_(test, train)]
    assert found.scores[0] == model.score(rows, Y[test])
    scores = []
    for seed in range(40):
        rows[:, :, 1] = rows[np.random.default_rng(seed).permutation(len(test)), :, 1]
        scores.append(model.score(rows, Y[test]))
    assert min(scores) <= found.permuted[0, 0, 1] <= max(scores) < found.scores[0]


def test_features_and_their_stack_have_the_same_answers():
    """Bandwidths and scales are those of each fold's training samples."""
    bank = [{"kernel": "linear", "features": columns} for columns in COLUMNS.values()]
    model = MKLClassifier("l1", bank, normalise="trace", C=100.0)
    kinds = {"cv": FOLDS, "answers": ["alone", "stability"], "resamples": 2}
    found = kernel_importance(model, FEATURES, Y, **kinds)
    stack = np.stack([FEATURES[:, c] @ FEATURES[:, c].T for c in COLUMNS.values()], axis=-1)
    given = kernel_importance(MODEL, stack, Y, **kinds)
    assert found.scores == pytest.approx(given.scores)
    assert found.alone == pytest.approx(given.alone)
    assert found.resampled == pytest.approx(given.resampled, abs=1e-6)
    assert found.names == tuple(clone(model).fit(FEATURES, Y).kernel_names_)


def test_bootstrap_samples_are_samples_met_twice():
    """The weights of a resample are those of the estimator on the samples as they were drawn."""
    from sklearn.utils import check_random_state, resample

    stack = stack_of("noise", "signal")
    found = kernel_importance(MODEL, stack, Y, answers=["stability"], resamples=2, random_state=3)
    seeds = check_random_state(3)
    for weights in found.resampled:
        drawn = resample(np.arange(48), stratify=Y, random_state=seeds.randint(2**31 - 1))
        again = clone(MODEL).fit(stack[np.ix_(drawn, drawn)], Y[drawn])
        assert weights[0] == pytest.approx(again.scaled_weights_, abs=1e-5)
    assert found.scores is None
    assert found.score is None


def test_several_classes_have_weights_each():
    y = np.repeat([0, 1, 2], 16)
    X = np.random.default_rng(1).normal(size=(48, 4))
    X[:, 0] += 6 * (y == 0)  # only the first kernel tells 0 from the rest, only the second 2
    X[:, 2] += 6 * (y == 2)
    bank = [{"kernel": "linear", "features": columns} for columns in ([0, 1], [2, 3])]
    model = MKLClassifier("l1", bank, C=1.0)
    found = kernel_importance(model, X, y, cv=2, answers=["stability"], resamples=2)
    assert found.machines == ("0", "1", "2")
    assert found.weights[0, 0] > 0.7
    assert found.weights[2, 1] > 0.7
    assert found.resampled.shape == (2, 3, 2)
    pairs = kernel_importance(clone(model).set_params(multi_class="ovo"), X, y, answers=["stability"], resamples=2)
    assert pairs.machines == ("1 v 0", "2 v 0", "2 v 1")


def test_regression_two_stages_and_one_class():
    response = FEATURES[:, 0] - FEATURES[:, 1]
    stack = stack_of("noise", "signal")
    regressor = MKLRegressor("l1", "precomputed", normalise="trace", C=100.0)
    assert np.argmax(kernel_importance(regressor, stack, response, cv=2, answers=["alone"]).columns["alone"]) == 1
    staged = kernel_importance(TwoStageMKL("ts", "precomputed"), stack, Y, cv=2, resamples=2)
    assert int(np.argmax(staged.columns["drop_without"])) == 1
    gaussians = np.stack([np.exp(-0.2 * ((f[:, None] - f[None]) ** 2).sum(-1)) for f in (NOISE, SIGNAL)], axis=-1)
    detector = OneClassMKL("average", "precomputed", nu=0.2)
    found = kernel_importance(detector, gaussians, 1 - 2 * Y, cv=2, scoring="roc_auc", answers=["alone"])
    assert found.scoring == "roc_auc"
    of_its_own = {"scoring": lambda model, X, y: model.score_samples(X).mean(), "answers": ["alone"]}
    assert np.isfinite(kernel_importance(detector, gaussians, None, cv=2, **of_its_own).alone).all()
    counts = MKLRegressor("average", "precomputed", loss="poisson", normalise="trace")
    assert kernel_importance(counts, stack, Y, cv=2, answers=["alone"]).scoring == "d2"
    assert kernel_importance(detector, gaussians, None, answers=["stability"], resamples=2).resampled.shape == (2, 1, 2)


def test_groups_go_with_their_kernels_and_one_kernel_alone_needs_no_parameters():
    stack = stack_of("noise", "signal", "more noise")
    stack += 0.1 * np.eye(48)[:, :, None]
    grouped = MKLClassifier("ckl", "precomputed", groups=[0, 1, 1], normalise="trace", C=10.0)
    found = kernel_importance(grouped, stack, Y, cv=2, answers=["alone", "without"])
    assert np.isfinite(found.alone).all()
    assert np.isfinite(found.without).all()
    capped = MKLClassifier("sm1", "precomputed", theta=0.4, normalise="trace", C=10.0)
    found = kernel_importance(capped, stack, Y, cv=2, answers=["alone", "without"])
    assert np.isfinite(found.alone).all()
    assert np.isnan(found.without).all()  # θ ≥ 1/M does not hold for two kernels
    (note,) = found.notes
    assert "theta = 0.4" in note
    assert note in str(found)
    json.dumps(found.as_dict(), allow_nan=False)


def test_what_is_not_certified_is_counted_and_said():
    stack = stack_of("noise", "signal", "more noise")
    rough = clone(MODEL).set_params(solver="simplemkl", max_iter=1, tol=1e-9)
    with pytest.warns(ConvergenceWarning, match=r"of 9 fits are not certified; the first: "):
        found = kernel_importance(rough, stack, Y, cv=2, answers=["without"])
    assert 0 < found.uncertified <= found.fits == 9
    assert f"{found.uncertified} not certified" in found.summary()


# --------------------------------------------------------------------------------------------------------- the record
def test_the_record_is_complete_and_reads_as_json(planted):
    record = json.loads(json.dumps(planted.as_dict(), allow_nan=False))
    assert record["schema"] == "mklcvx.kernels/1"
    assert np.shape(record["permuted"]) == (3, 3, 3)
    assert record["columns"]["alone"] == pytest.approx(planted.columns["alone"])
    assert record["certificate"]["lower"] <= record["certificate"]["upper"]


def test_it_prints_a_line_or_a_table(planted):
    assert repr(planted).startswith("KernelImportance(3 kernels, accuracy ")
    assert "\n" not in repr(planted)
    first, *rows = str(planted).splitlines()
    assert first.split()[:3] == ["kernel", "weight", "alone"]
    assert [row[:10].strip() for row in rows[:3]] == list(NAMES)
    assert "28 fits, all certified" in rows[3]


def test_seeds_decide_not_jobs_and_progress_is_reported(copies):
    said, stack = [], stack_of("signal", "signal", "noise")
    with parallel_config("threading"):
        again = kernel_importance(MODEL, stack, Y, cv=FOLDS, resamples=4, n_jobs=2, report=said.append)
    assert (again.permuted == copies.permuted).all()
    assert (again.resampled == copies.resampled).all()
    assert said[0] == "fold 1 of 3"
    assert said[-1] == "resample 4 of 4"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"answers": ["alon"]}, "'alon'.*alone"),
        ({"answers": []}, "give some of alone, without"),
        ({"repeats": 0}, "repeats = 0: give a whole number at least 1"),
        ({"resamples": 1}, "resamples = 1: give a whole number at least 2"),
        ({"threshold": 1.5}, "threshold = 1.5"),
        ({"cv": 1}, "cv = 1: give at least 2"),
        ({"cv": 40}, "n_splits=40"),
        ({"names": ["a"]}, "1 names for 2 kernels"),
        ({"scoring": "acuracy"}, "scoring 'acuracy' is unknown: did you mean 'accuracy'"),
        ({"scoring": 3}, "scoring 3 is unknown: give a name of scikit-learn"),
        ({"scoring": ["accuracy", "f1"]}, "is unknown: give a name of scikit-learn, or a function"),
    ],
)
def test_unusable_questions_are_refused(settings, words):
    with pytest.raises(InputError, match=words):
        kernel_importance(MODEL, stack_of("signal", "noise"), Y, **settings)


def test_estimators_that_cannot_answer_are_refused():
    with pytest.raises(InputError, match="one kernel"):
        kernel_importance(MODEL, stack_of("signal"), Y)
    with pytest.raises(InputError, match="OneClassMKL has no score of its own: give scoring"):
        kernel_importance(OneClassMKL("l1", "precomputed"), stack_of("signal", "noise"), None)
    with pytest.raises(InputError, match=r"Pipeline is no estimator of mklcvx: .*pipeline\[:-1\].transform\(X\)"):
        kernel_importance(make_pipeline(StandardScaler(), MKLClassifier()), FEATURES, Y)
    with pytest.raises(InputError, match=r"GridSearchCV is no estimator of mklcvx: .*best_estimator_\[-1\]"):
        kernel_importance(GridSearchCV(MODEL, {"C": [1.0]}, cv=2).fit(stack_of(*NAMES), Y), FEATURES, Y)
    with pytest.raises(InputError, match="'l1' is no estimator of mklcvx: give for example MKLClassifier"):
        kernel_importance("l1", FEATURES, Y)
    with pytest.raises(InputError, match="HypergraphEmbedding has no score"):
        kernel_importance(mklcvx.HypergraphEmbedding(), FEATURES, Y)
