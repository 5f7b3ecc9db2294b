"""Pictures of losses, of optimality sample by sample, and of predictions, by what they draw."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from test_plot import THREE, drawn, names_in, ticks

from mklcvx import Instance, solve, zoo
from mklcvx.formulations.losses import EVERY, Huber
from mklcvx.reports import plot
from refusals import check_refused

pytestmark = pytest.mark.slow


# ------------------------------------------------------------------------------------------------------------ kkt
@pytest.mark.parametrize("given", [{"C": 0.3}, {"nu": 0.4}])
def test_kkt_shows_alpha_against_the_margin_on_the_staircase(ax, given):
    solution = solve(THREE, "l1", **given)
    assert plot.kkt(THREE, solution, ax) is ax
    stairs, *groups = ax.lines
    level = solution.multipliers.get("rho", 1.0)
    assert list(stairs.get_xdata())[1:3] == [level, level]
    margins = THREE.y * solution.decision_function(THREE.kernels)
    price = given.get("C", 1 / (0.4 * THREE.samples))
    points = np.concatenate([np.column_stack(group.get_data()) for group in groups])
    wanted = np.column_stack([margins, solution.alpha / price])
    assert np.allclose(np.sort(points, axis=0), np.sort(wanted, axis=0), atol=1e-9)
    zero, free, full = groups
    assert (zero.get_xdata() > level - 1e-6).all()
    assert np.allclose(free.get_xdata(), level, atol=1e-6)
    assert (full.get_xdata() < level + 1e-6).all()
    assert len({group.get_marker() for group in groups}) == 3
    counts = [int(name.split(": ")[1]) for name in names_in(ax.get_legend())]
    assert counts == [len(group.get_xdata()) for group in groups]


def test_kkt_of_many_labels_has_every_label(ax):
    labels = np.column_stack([THREE.y > 0, np.arange(24) % 3 == 0])
    many = Instance(THREE.kernels, labels=labels)
    plot.kkt(many, solve(many, "ml_sum"), ax)
    assert sum(len(group.get_xdata()) for group in ax.lines[1:]) == 48


def test_kkt_does_not_magnify_rounding_and_refuses_strangers(ax):
    solution = solve(zoo.by_hand(), "l1")
    plot.kkt(zoo.by_hand(), solution, ax)
    low, high = ax.get_xlim()
    assert high - low > 0.5
    with check_refused("2 kernels and 4 samples", "3 and 24"):
        plot.kkt(THREE, solution, ax)
    many = Instance(THREE.kernels, labels=np.column_stack([THREE.y > 0, THREE.y < 0]))
    with check_refused("hypergraph", "no α"):
        plot.kkt(many, solve(many, "hypergraph"), ax)


@pytest.mark.parametrize("size", [1e100, 1e308, np.nan])
def test_kkt_of_a_strangers_numbers_is_drawn(ax, size):
    solution = solve(zoo.by_hand(), "l1")
    strange = replace(solution, alpha=np.array([size, 0.5, -size, 0.1]), bias=size)
    with np.errstate(all="ignore"):
        plot.kkt(zoo.by_hand(), strange, ax)
    ax.figure.canvas.draw()
    assert np.isfinite([*ax.get_xlim(), *ax.get_ylim()]).all()


# --------------------------------------------------------------------------------------------------------- losses
@pytest.fixture
def panels():
    return Figure(figsize=(8, 3)).subplots(1, 3)


def curve(ax, place=0):
    return [np.asarray(values, dtype=float) for values in ax.get_lines()[place].get_data()]


def test_a_loss_is_drawn_with_its_conjugate_and_its_bounds(panels):
    assert plot.losses([Huber(0.5)], panels, price=2.0) is panels
    r, loss = curve(panels[0])
    np.testing.assert_allclose(loss, 2 * np.where(np.abs(r) <= 0.5, r**2 / 2, 0.5 * np.abs(r) - 0.125))
    alpha, conjugate = curve(panels[1])
    np.testing.assert_allclose(conjugate, alpha**2 / 4, atol=1e-15)
    assert (alpha[0], alpha[-1]) == (-1.0, 1.0)
    assert curve(panels[2])[0].tolist() == [-1.0, 1.0]
    assert ticks(panels[2].yaxis) == ["huber"]
    drawn(panels[0])


@pytest.mark.parametrize("name", [loss.name for loss in EVERY])
def test_a_conjugate_is_what_makes_the_loss(panels, name):
    """ℓ(r) = sup over α of rα − h(α): on the points that are drawn, from below and near."""
    plot.losses([name], panels)
    (r, loss), (alpha, conjugate) = curve(panels[0]), curve(panels[1])
    near = np.abs(r) < 1.0
    best = (np.outer(r, alpha) - conjugate).max(axis=1)
    assert np.all(best <= loss + 1e-12)
    np.testing.assert_allclose(best[near], loss[near], atol=1e-3)


def test_bounds_are_told_apart_reached_or_not_or_none(panels):
    plot.losses(["logistic", "hinge", "squared_hinge"], panels)
    markers = [line.get_marker() for line in panels[2].get_lines() if len(line.get_xdata()) == 1]
    assert markers == ["o", "o", "|", "|", "|", ">"]
    styles = [(line.get_linestyle(), line.get_marker()) for line in panels[0].get_lines()]
    assert len(set(styles)) == 3


# ---------------------------------------------------------------------------------------------------- other losses
RESPONSE = Instance(THREE.kernels, response=THREE.y * np.linspace(0.5, 2.0, 24))
COUNTED = Instance(THREE.kernels, response=np.arange(24) % 4)


@pytest.mark.parametrize(
    ("instance", "given", "axis"),
    [
        (RESPONSE, {"loss": "squared"}, "residual y − f(x)"),
        (RESPONSE, {"loss": "huber", "delta": 0.3}, "residual y − f(x)"),
        (RESPONSE, {"loss": "epsilon_insensitive", "epsilon": 0.3, "C": 0.5}, "residual y − f(x)"),
        (RESPONSE, {"loss": "quantile", "quantile": 0.7, "C": 0.5}, "residual y − f(x)"),
        (RESPONSE, {"loss": "nu_svr", "nu": 0.4, "C": 0.5}, "residual y − f(x)"),
        (COUNTED, {"loss": "poisson", "C": 0.5}, "residual y − exp f(x)"),
        (THREE, {"loss": "logistic"}, "margin y f(x)"),
        (THREE, {"loss": "squared_hinge"}, "margin y f(x)"),
        (THREE, {"loss": "smoothed_hinge", "width": 0.5, "C": 0.3}, "margin y f(x)"),
        (Instance(THREE.kernels), {"nu": 0.3}, "f(x)"),
    ],
)
def test_the_staircase_is_minus_the_slope_of_the_loss(ax, instance, given, axis):
    solution = solve(instance, "l1", **given)
    plot.kkt(instance, solution, ax)
    stairs, *groups = ax.lines
    assert ax.get_xlabel() == axis
    points = np.concatenate([np.column_stack(group.get_data()) for group in groups])
    assert len(points) == 24
    x, y = (np.asarray(part) for part in stairs.get_data())
    scale = np.array([np.ptp(x), np.ptp(y)])
    corners, points_seen = np.column_stack([x, y]) / scale, points / scale
    ways = np.diff(corners, axis=0)
    along = ((points_seen[:, None] - corners[:-1]) * ways).sum(axis=-1) / np.maximum((ways**2).sum(axis=-1), 1e-300)
    nearest = corners[:-1] + np.clip(along, 0, 1)[..., None] * ways
    apart = np.linalg.norm(points_seen[:, None] - nearest, axis=-1).min(axis=1)
    assert apart.max() < 1e-3  # of the picture
    if instance is RESPONSE:
        residuals = instance.response - solution.decision_function(instance.kernels)
        np.testing.assert_allclose(np.sort(points[:, 0]), np.sort(residuals), atol=1e-9)
    drawn(ax)


def test_several_outputs_have_their_residuals_and_classes_have_no_margin(ax):
    two = Instance(THREE.kernels, response=np.column_stack([RESPONSE.response, THREE.y]))
    plot.kkt(two, solve(two, "l1"), ax)
    assert sum(len(group.get_xdata()) for group in ax.lines[1:]) == 48
    classes = Instance(THREE.kernels, classes=np.arange(24) % 3)
    with check_refused("softmax", "no margin"):
        plot.kkt(classes, solve(classes, "l1", loss="softmax"), ax)


def test_predictions_lie_beside_what_was_observed(ax):
    observed, predicted = [1.0, 2.0, 4.0], [1.5, 1.0, 4.0]
    assert plot.predictions(observed, predicted, ax) is ax
    line, marks = ax.lines
    assert list(line.get_xdata()) == list(line.get_ydata()) == list(ax.get_xlim()) == list(ax.get_ylim())
    assert (list(marks.get_xdata()), list(marks.get_ydata())) == (observed, predicted)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_legend()) == ("observed", "predicted", None)
    other = plot.residuals(observed, predicted, Figure().subplots())
    level, marks = other.lines
    assert set(level.get_ydata()) == {0.0}
    assert (list(marks.get_xdata()), list(marks.get_ydata())) == (predicted, [-0.5, 1.0, 0.0])
    drawn(ax)
    drawn(other)


@pytest.mark.parametrize("draw", [plot.predictions, plot.residuals])
@pytest.mark.parametrize(
    ("observed", "predicted"), [([1.0], [1.0, 2.0]), ([], []), ([np.nan], [1.0]), (["a"], [1.0]), (1.0, 1.0)]
)
def test_what_is_no_pair_of_responses_is_refused(draw, observed, predicted, ax):
    with check_refused("observed of shape", "finite numbers of one shape"):
        draw(observed, predicted, ax)
