"""No silent traps: kernels of unlike size, C in the wrong units, one class for all, a grid that ends too soon, and an
average kernel that does better."""

import json
import warnings

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score

import mklcvx
from mklcvx import InputError, Instance, MKLClassifier, MKLRegressor, MultiLabelMKL, OneClassWarning, ScaleWarning
from mklcvx.estimators.cross_validation import CrossValidation, FoldScore, GridPoint
from mklcvx.io.files import save_instance
from mklcvx.problem.preprocessing import Preprocessing, UnitDiagonal
from mklcvx.problem.scales import unit_of_price, unlike_sizes
from mklcvx.solvers.grids import PRICES, default_grid
from mklcvx.zoo import by_hand
from tables import CANCER, GRAPE, MALIGNANT, PROGRESSION, WINE, stack_of

pytestmark = pytest.mark.slow

UNLIKE = ["gaussian", "linear"]  # on thirty standardised features, k(x, x) is 1 and 30
ESTIMATORS = [getattr(mklcvx, name) for name in mklcvx.__all__ if hasattr(getattr(mklcvx, name), "fit")]


# ------------------------------------------------------------------------------------------------- 1: unlike sizes
def test_all_estimators_scale_kernels_alike():
    assert {model().normalise for model in ESTIMATORS} == {"diagonal"}


@pytest.mark.parametrize(
    "model",
    [
        MKLClassifier("l1", UNLIKE), MKLRegressor("l1", UNLIKE), mklcvx.OneClassMKL("l1", UNLIKE),
        MultiLabelMKL(kernels=UNLIKE), mklcvx.TwoStageMKL(kernels=UNLIKE, centre=False),
        mklcvx.HypergraphEmbedding(kernels=UNLIKE),
    ],
)  # fmt: skip
def test_unlike_sizes_are_said_once_unless_something_scales_them(model):
    with pytest.warns(ScaleWarning) as said:
        model.set_params(normalise=None).fit(CANCER, MALIGNANT)
    (warning,) = (one for one in said if one.category is ScaleWarning)
    message = str(warning.message)
    assert message.startswith("the trace of kernel linear is 30 times that of gaussian(γ=1/A), and nothing scales")
    assert message.endswith("set normalise='diagonal'")
    assert warning.filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        for scaled in ("diagonal", "trace"):
            model.set_params(normalise=scaled).fit(CANCER, MALIGNANT)


def test_sizes_are_those_of_what_is_combined():
    """Centring takes away most of a wide Gaussian; a kernel that is zero, and samples of weight zero, have no say."""
    with pytest.warns(ScaleWarning, match=r"times that of gaussian\(γ=0.015625/A\)"):
        MKLClassifier("l1", centre=True, normalise=None).fit(WINE, GRAPE == 0)
    kernels = np.stack([np.eye(4), np.zeros((4, 4)), np.diag([1.0, 1.0, 1.0, 99.0])])
    assert unlike_sizes(kernels, "abc").startswith("the trace of kernel c is 25.5 times that of a")
    assert unlike_sizes(kernels, "abc", np.array([1.0, 1.0, 1.0, 0.0])) == ""
    assert unlike_sizes(np.zeros((2, 4, 4)), "ab") == ""


def test_unit_diagonal_leaves_gaussians_bit_for_bit_and_a_zero_kernel_zero():
    bank = mklcvx.kernels.KernelBank([mklcvx.kernels.Gaussian(0.3)]).fit(WINE)
    stack = np.concatenate([bank.stack(), np.zeros((1, 60, 60)), 7 * bank.stack()])
    steps = Preprocessing([UnitDiagonal()]).fit(stack)
    made = steps.train(stack)
    np.testing.assert_array_equal(made[:2], stack[:2])
    np.testing.assert_allclose(np.einsum("mii->m", made), [60, 0, 60])
    np.testing.assert_allclose(made[2], stack[0], rtol=1e-14)
    assert not Preprocessing([UnitDiagonal()]).fit(stack[:2]).changes
    again = Preprocessing.from_dict(json.loads(json.dumps(steps.to_dict())))
    np.testing.assert_array_equal(again.test(stack[:, :3]), steps.test(stack[:, :3]))
    weight = np.arange(1.0, 61.0)
    mean = np.average(CANCER[:60, 0] ** 2, weights=weight)
    linear = np.outer(CANCER[:60, 0], CANCER[:60, 0])[None]
    weighted = Preprocessing([UnitDiagonal()]).fit(linear, sample_weight=weight).train(linear)
    np.testing.assert_allclose(weighted[0], linear[0] / mean, rtol=1e-9, atol=1e-12)


# ------------------------------------------------------------------------------------------------- 2: the units of C
@pytest.mark.parametrize("factor", [1e-4, 1.0, 1e4])
def test_the_default_price_survives_a_factor_of_the_kernels(factor):
    stack = stack_of(CANCER)[..., :2]
    expected = MKLClassifier("l1", "precomputed").fit(stack, MALIGNANT)
    assert expected.solutions_[0].parameters["C"] == 1.0
    model = MKLClassifier("l1", "precomputed", normalise=None, C="scale").fit(factor * stack, MALIGNANT)
    assert model.solutions_[0].parameters["C"] == pytest.approx(1 / factor, rel=1e-11)
    np.testing.assert_allclose(model.decision_function(factor * stack), expected.decision_function(stack), atol=1e-5)
    response = MKLRegressor("l1", "precomputed", normalise=None).fit(factor * stack, MALIGNANT)
    assert response.solutions_[0].parameters["C"] == pytest.approx(1 / factor, rel=1e-11)


def test_unit_traces_with_the_default_price_tell_classes_apart():
    """With C = 1 they did not: every sample had the same class, and nobody said so."""
    model = MKLClassifier(normalise="trace").fit(CANCER, MALIGNANT)
    assert model.solutions_[0].parameters["C"] == pytest.approx(len(CANCER))
    assert model.score(CANCER, MALIGNANT) > 0.95
    by_default = MKLClassifier().fit(CANCER, MALIGNANT).decision_function(CANCER)
    np.testing.assert_allclose(model.decision_function(CANCER), by_default, atol=1e-5)
    with pytest.warns(OneClassWarning, match="predicted as class 0: raise C = 1 .C='scale' would be 90.") as said:
        MKLClassifier(normalise="trace", C=1.0).fit(CANCER, MALIGNANT)
    assert said[0].filename == __file__


def test_one_class_for_all_is_said_of_joint_fits_and_of_many_classes():
    with pytest.warns(OneClassWarning, match=r"predicted as class 1: raise C = 0.0001"):
        MKLClassifier(C=1e-4, multi_class="ovo").fit(WINE, GRAPE)
    with pytest.warns(OneClassWarning):
        MultiLabelMKL(kernels={"kernel": "gaussian", "relative": 1e-3}, C=1e-4).fit(WINE, GRAPE == 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        MultiLabelMKL(C=1e-4).fit(WINE, np.column_stack([GRAPE == 0, GRAPE == 1]).astype(int))


def test_a_word_that_is_no_unit_is_refused():
    with pytest.raises(InputError, match="C = 'scal' is unknown: give a number, or 'scale'"):
        MKLClassifier(C="scal").fit(CANCER, MALIGNANT)


def test_a_path_has_the_unit_of_its_kernels():
    found = mklcvx.mkl_path(CANCER, MALIGNANT, {"theta": [0.5, 1.0]}, formulation="sm1", normalise="trace")
    assert [solution.parameters["C"] for solution in found.solutions] == [90.0, 90.0]
    with pytest.warns(ScaleWarning, match="the trace of kernel linear") as said:
        mklcvx.mkl_path(CANCER, MALIGNANT, {"C": [1.0]}, kernels=UNLIKE, normalise=None)
    assert said[0].filename == __file__


def scored(points, means, formulation="l1", count=4):
    rows = tuple(GridPoint(point, (FoldScore(mean, 0.0, True, ""),)) for point, mean in zip(points, means, strict=True))
    return CrossValidation(formulation, "accuracy", 0, rows, count)


@pytest.mark.parametrize(
    ("values", "means", "words"),
    [
        ([0.1, 1, 10], [0.5, 0.6, 0.7], "C = 10 is the largest of the grid: try larger ones"),
        ([0.1, 1, 10], [0.7, 0.6, 0.5], "C = 0.1 is the smallest of the grid: try smaller ones"),
        ([0.1, 1, 10], [0.5, 0.7, 0.6], ""),
        ([0.1, 1, 10], [0.5, 0.7, 0.7], ""),
        ([0.1, 1], [0.5, 0.5], "all points of the grid are equally good: try values that differ more"),
        ([0.1, 1], [1.0, 1.0], ""),
        ([1], [0.5], ""),
    ],
)
def test_the_edge_of_a_grid(values, means, words):
    assert scored([{"C": value} for value in values], means).edge == words


def test_the_limit_of_a_parameter_is_no_edge():
    points = [{"theta": theta, "C": 1.0} for theta in (0.25, 0.5, 1.0)]
    assert scored(points, [0.7, 0.6, 0.5], "sm1").edge == ""  # θ ≥ 1/M
    assert scored(points, [0.7, 0.6, 0.5], "sm1", count=9).edge.startswith("theta = 0.25 is the smallest")
    assert scored([{"nu": 0.2}, {"nu": 0.9}], [0.5, 0.6]).edge == ""
    losses = [{"loss": "hinge"}, {"loss": "logistic"}]
    assert scored(losses, [0.5, 0.6]).edge == ""


@pytest.fixture(scope="module")
def cancer(tmp_path_factory):
    path = tmp_path_factory.mktemp("traps") / "cancer.npz"
    kernels = np.moveaxis(stack_of(CANCER), -1, 0)
    save_instance(path, Instance(kernels, 2 * MALIGNANT - 1, names=["wide", "narrow", "linear"]))
    return path


def test_cv_has_a_grid_of_its_own_in_the_units_of_the_kernels_and_says_where_it_ends(run, quiet, succeeds, cancer):
    out = quiet("cv", cancer, "--normalise", "trace", "--folds", 2)
    found = [json.loads(line) for line in out.splitlines()]
    assert [row["parameters"]["C"] for row in found] == [90 * price for price in PRICES]
    assert max(row["mean"] for row in found) > 0.9
    out, err = succeeds("cv", cancer, "--normalise", "trace", "--folds", 2, "--grid", "C=0.1,1")
    assert err == "mklcvx: C = 1 is the largest of the grid: try larger ones\n"
    _, _, err = run("cv", cancer, "--folds", 2, "--grid", "C=0.0001,0.001,0.01")
    assert "the trace of kernel linear is 30 times that of wide, and nothing scales them: add --normalise diag" in err
    assert "C = 0.01 is the largest of the grid: try larger ones" in err


@pytest.mark.parametrize(
    "asked", [("solve", "--json"), ("path", "--grid", "C=1"), ("report", "-o", "page.html", "--solvers", "interior")]
)
def test_commands_say_that_kernels_are_of_unlike_sizes(run, succeeds, tmp_path, monkeypatch, asked):
    monkeypatch.chdir(tmp_path)
    hand = by_hand()
    save_instance("unlike.npz", Instance(hand.kernels * np.array([1, 10])[:, None, None], hand.y))
    command, *options = asked
    out, err = succeeds(command, "unlike.npz", *options)
    note = "the trace of kernel K2 is 40 times that of K1, and nothing scales them: add --normalise diagonal\n"
    assert err.count("nothing scales") == 1
    assert note in err
    assert "nothing scales" not in out
    assert note in run(command, "unlike.npz", *options, "--quiet")[2]  # which leaves warnings
    assert "nothing scales" not in run(command, "unlike.npz", *options, "--normalise", "diagonal")[2]


def test_a_path_has_the_same_grid(succeeds, cancer):
    out, _ = succeeds("path", cancer, "--tol", 1e-3)
    points = [json.loads(line)["parameters"]["C"] for line in out.splitlines()]
    unit = unit_of_price(np.moveaxis(stack_of(CANCER), -1, 0))
    np.testing.assert_allclose(points, [price * unit for price in PRICES], rtol=0.05)
    assert default_grid(np.eye(3)[None], "l1", {"loss": "nu"}).keys() == {"nu"}
    with pytest.raises(InputError, match="hypergraph has no C here to vary"):
        default_grid(np.eye(3)[None], "hypergraph", {})


# ------------------------------------------------------------------------------------------- 3: the average kernel
def test_the_average_kernel_is_scored_on_the_same_folds(tmp_path):
    model = MKLClassifier("sm1", theta=0.5, compare_average=True).fit(CANCER, MALIGNANT)
    cut = StratifiedKFold(5, shuffle=True, random_state=0)
    np.testing.assert_array_equal(
        model.cv_scores_, cross_val_score(MKLClassifier("sm1", theta=0.5), CANCER, MALIGNANT, cv=cut)
    )
    expected = cross_val_score(MKLClassifier("average"), CANCER, MALIGNANT, cv=cut)
    np.testing.assert_array_equal(model.average_cv_scores_, expected)
    model.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(mklcvx.load_model(tmp_path / "model.npz").average_cv_scores_, expected)
    model.set_params(compare_average=False).fit(CANCER, MALIGNANT)
    assert not hasattr(model, "average_cv_scores_")


def test_regression_and_weights_and_stacks_compare_too():
    X, counts = stack_of(WINE), np.arange(60) % 3
    model = MKLRegressor("l2", "precomputed", compare_average=True).fit(X, WINE[:, 0], sample_weight=counts)
    assert model.cv_scores_.shape == model.average_cv_scores_.shape == (5,)
    assert model.cv_scores_.mean() > model.average_cv_scores_.mean() > 0.5
    with pytest.raises(InputError, match="compare_average=True needs two samples of every class"):
        MKLClassifier(compare_average=True).fit(PROGRESSION[:9, None], np.arange(9) == 0)
    with pytest.raises(InputError, match="compare_average=True needs four samples"):
        MKLRegressor(compare_average=True).fit(PROGRESSION[:3, None], PROGRESSION[:3])
