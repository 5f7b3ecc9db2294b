"""Many samples: kernels in factors, and predictions that never form the kernels (M, t, n) of new samples at once."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem, RBFSampler

import mklcvx
from mklcvx import Instance, LowRank, MKLClassifier, MKLRegressor, OneClassMKL, TwoStageMKL, kernel_importance
from mklcvx.estimators import source
from mklcvx.estimators.columns import Table
from mklcvx.estimators.cross_validation import cross_validate
from mklcvx.estimators.source import KernelSource
from mklcvx.problem.cross_kernels import Product
from mklcvx.problem.low_rank import dense
from mklcvx.problem.preprocessing import Preprocessing
from refusals import check_refused, peak_of
from tables import GRAPE, WINE

OLD, NEW = slice(None, None, 2), slice(1, None, 2)
X, Y, Z = WINE[OLD], GRAPE[OLD], WINE[NEW]
VIEWS = (slice(0, 4), slice(4, 9), slice(9, 13))
FACTORS, NEW_FACTORS = (LowRank([one[:, view] for view in VIEWS]) for one in (X, Z))
STACK = np.moveaxis(dense(FACTORS), 0, -1)
NEW_STACK = np.stack([Z[:, view] @ X[:, view].T for view in VIEWS], axis=-1)
SETS = np.eye(3, dtype=int)[Y]
LINEAR = [(name, "linear", view) for name, view in zip("abc", VIEWS, strict=True)]
MIXED = ["gaussian", "linear", Nystroem(n_components=9, random_state=0), lambda A, B: (A @ B.T) ** 2]
FEATURES = [Nystroem(n_components=6, random_state=0), RBFSampler(n_components=7, random_state=0)]


# -------------------------------------------------------------------------------------------------------- predictions
def by_hand(model, stack):
    """Decision values of every machine from all kernels (M, t, n) at once."""
    members = getattr(model, "_members", [np.arange(stack.shape[2])])
    each = []
    for solution, part in zip(model.solutions_, members, strict=True):
        if solution.embeds:
            each.append(np.tensordot(solution.weights, stack, axes=1) @ solution.multipliers["B"])
        else:
            sums = np.einsum("...mi,mti->t...", solution.all_coefficients, stack[:, :, part])
            each.append(solution.function.stretch * (sums + solution.bias) - solution.threshold)
    return each


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (MKLClassifier("l2", MIXED, multi_class="ovo"), Y),
        (MKLClassifier("l1", MIXED, centre=True, normalise="trace"), Y),
        (MKLClassifier("l1", MIXED[:2], normalise="cosine", loss="softmax"), Y),
        (MKLClassifier("li", LINEAR), Y),
        (MKLClassifier("l1", FEATURES), Y),
        (MKLRegressor("l1", MIXED), WINE[OLD, :2]),
        (OneClassMKL("l1", LINEAR, nu=0.2), None),
        (mklcvx.MultiLabelMKL("ml_sum", MIXED), SETS),
        (TwoStageMKL("alignment", LINEAR), Y),
        (mklcvx.HypergraphEmbedding(kernels=MIXED), SETS),
    ],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_predictions_in_blocks_are_those_of_all_kernels_at_once(model, y, monkeypatch):
    model.fit(X, y)
    answer = "transform" if model.embeds else "predict" if isinstance(model, MKLRegressor) else "decision_function"
    whole = getattr(model, answer)(Z)
    stack = model._source.cross(model._new(Z)).formed()
    wanted = np.stack(by_hand(model, stack), axis=1).reshape(len(Z), -1)
    if not (isinstance(model, MKLClassifier) and len(model.solutions_) == 3 and model.multi_class == "ovo"):
        np.testing.assert_allclose(whole.reshape(len(Z), -1), wanted, rtol=1e-12, atol=1e-11)
    monkeypatch.setattr(source, "BLOCK", 7 * len(X) + 1)
    np.testing.assert_allclose(getattr(model, answer)(Z), whole, rtol=1e-12, atol=1e-12)
    if hasattr(model, "predict"):
        assert len(model.predict(Z)) == len(Z)
    if not model.embeds:
        combined = np.tensordot(np.atleast_2d(np.nan_to_num(model.weights_)).mean(axis=0), stack, axes=1)
        if np.isfinite(model.weights_).all():
            np.testing.assert_allclose(model.transform(Z), combined, rtol=1e-12, atol=1e-12)


def test_a_kernel_that_no_machine_uses_is_not_evaluated():
    seen = []

    def watched(A, B):
        seen.append(len(A))
        return A @ B.T

    model = MKLClassifier("average", ["gaussian", watched]).fit(X, Y)
    values, weights = model.decision_function(Z[:7]), np.array([0.5, 0.0])
    assert seen.count(7) == 1
    model.solutions_ = (replace(model.solutions_[0], weights=weights), *model.solutions_[1:])
    model.predict(Z[:7])
    assert seen.count(7) == 2  # the others use it
    model.solutions_ = tuple(replace(one, weights=weights) for one in model.solutions_)
    assert (model.decision_function(Z[:7]) != values).any()
    assert seen.count(7) == 2


def test_predictions_take_the_memory_of_few_samples(monkeypatch):
    rng = np.random.default_rng(0)
    train, new = rng.normal(size=(150, 3)), rng.normal(size=(4000, 3))
    model = MKLClassifier("average").fit(train, train[:, 0] > 0)
    monkeypatch.setattr(source, "BLOCK", 100 * len(train))
    quarter = 8 * len(train) * len(new) / 4  # of one kernel; there are seven
    assert peak_of(lambda: model.decision_function(new)) < quarter


def test_training_kernels_are_made_in_one_stack():
    rng, n = np.random.default_rng(0), 500
    train, parts = rng.normal(size=(n, 3)), ["gaussians", ("all", ["linear", "laplacian"])]
    table, steps = Table(train, train), Preprocessing.from_options(normalise="diagonal")
    made = []
    peak = peak_of(lambda: made.extend(KernelSource.fit(parts, table, np.zeros(n), None, steps)))
    fitted, kernels = made
    assert kernels.kernels.shape == (9, n, n)
    assert fitted.steps.changes  # the linear kernel is scaled, in its place
    assert peak < (9 + 6) * 8 * n**2


# ------------------------------------------------------------------------------------------------------------ factors
@pytest.fixture(scope="module")
def factored():
    return MKLClassifier("l1", "precomputed").fit(FACTORS, Y)


def test_factors_are_kernels_that_are_never_formed(factored):
    stacked = MKLClassifier("l1", "precomputed").fit(STACK, Y)
    for one, other in zip(factored.solutions_, stacked.solutions_, strict=True):
        assert one.certified
        assert one.objective == pytest.approx(other.objective, rel=1e-8)
    assert factored.kernel_names_.tolist() == ["K1", "K2", "K3"]
    values = factored.decision_function(NEW_FACTORS)
    np.testing.assert_allclose(values, stacked.decision_function(NEW_STACK), atol=1e-4)  # the root of the gap
    scaled = np.moveaxis(NEW_STACK / STACK.diagonal().mean(axis=1), -1, 0)
    np.testing.assert_allclose(values, np.stack(by_hand(factored, scaled), axis=1), rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(factored.predict(NEW_FACTORS), factored.classes_[values.argmax(axis=1)])


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (MKLRegressor("l1", "precomputed"), WINE[OLD, 0]),
        (OneClassMKL("l1", "precomputed", nu=0.2), None),
        (MKLClassifier("l1", "precomputed", probability=True, calibration_folds=2, compare_average=True), Y == 0),
        (TwoStageMKL("alignment", "precomputed"), Y),
    ],
    ids=lambda one: type(one).__name__,
)
def test_every_estimator_takes_factors(model, y):
    weighted = () if isinstance(model, TwoStageMKL) else (np.where(np.arange(len(X)) % 5, 1.0, 0.0),)
    model.fit(FACTORS, y, *weighted)
    assert len(model.predict(NEW_FACTORS)) == len(Z)
    assert model.transform(NEW_FACTORS).shape == (len(Z), len(X) - (6 if weighted else 0))
    if hasattr(model, "predict_proba"):
        assert model.predict_proba(NEW_FACTORS).shape == (len(Z), 2)


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda model: model.predict(NEW_STACK), ("X is not LowRank", "give LowRank of the new samples' factors")),
        (lambda model: model.predict(LowRank([Z[:, :4], Z[:, 4:]])), ("X has the views K1 (4), K2 (9)", "K3 (4)")),
        (lambda _: MKLClassifier().fit(FACTORS, Y), ("X is LowRank", "set kernels='precomputed'")),
        (
            lambda _: MKLClassifier("average", "precomputed").fit(STACK, Y).predict(NEW_FACTORS),
            ("X is LowRank", "give those of new and training samples, (t, n, M)"),
        ),
    ],
)
def test_what_is_no_factor_is_refused(factored, attempt, words):
    with check_refused(*words):
        attempt(factored)


@pytest.mark.filterwarnings("ignore::mklcvx.GridEdgeWarning")
def test_folds_of_factors_are_those_of_their_kernels():
    y, points = np.where(Y == 0, 1, -1), [{"C": 0.1}, {"C": 10.0}]
    low, full = Instance(FACTORS, y), Instance(dense(FACTORS), y)
    for steps in ({}, {"normalise": "trace"}, {"centre": True, "normalise": "cosine"}):
        one, other = (cross_validate(part, "average", points, folds=3, **steps) for part in (low, full))
        np.testing.assert_array_equal([row.scores for row in one.rows], [row.scores for row in other.rows])
        assert one.certified


# ------------------------------------------------------------------------------------------------------ order of axes
def test_a_stack_with_the_kernel_index_first_is_read_with_a_warning():
    known = MKLClassifier("average", "precomputed").fit(STACK, Y)
    with pytest.warns(UserWarning, match=r"X has shape \(3, 30, 30\): read as \(M, n, n\), kernel index first") as told:
        model = MKLClassifier("average", "precomputed").fit(np.moveaxis(STACK, -1, 0), Y)
    assert told[0].filename == __file__
    few = NEW_STACK[:7]
    with pytest.warns(UserWarning, match=r"X has shape \(3, 7, 30\): read as \(M, t, n\)") as told:
        values = model.decision_function(np.moveaxis(few, -1, 0))
    assert told[0].filename == __file__
    np.testing.assert_array_equal(values, known.decision_function(few))
    with pytest.raises((mklcvx.InputError, ValueError)):
        model.predict(np.moveaxis(few, -1, 1))


def test_a_large_constant_in_a_factor_costs_no_digits():
    rng = np.random.default_rng(0)
    new, train, beta = rng.normal(size=(5, 2)), rng.normal(size=(40, 2)), rng.integers(-8, 9, size=40) / 8.0
    beta[0] -= beta.sum()
    offset = np.array([0.0, 2.0**40])
    exact = new @ (train.T @ beta)
    shifted = train + offset
    wanted = new @ ((shifted - offset).T @ beta)
    plain, careful = Product(new, shifted), Product(new, shifted).without_constants()
    assert abs(careful @ beta - wanted).max() <= 1e-12 * abs(exact).max()
    assert abs(plain @ beta - wanted).max() > 1e-7 * abs(exact).max()


def test_paths_and_importances_take_factors():
    path = mklcvx.mkl_path(FACTORS, Y == 0, {"C": [0.1, 1.0]}, kernels="precomputed")
    assert path.certified
    model = MKLClassifier("average", "precomputed")
    found = kernel_importance(model, FACTORS, Y == 0, cv=2, answers=["without"])
    again = kernel_importance(model, STACK, Y == 0, cv=2, answers=["without"])
    np.testing.assert_array_equal(found.without, again.without)
