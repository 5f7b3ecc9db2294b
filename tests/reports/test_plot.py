"""Pictures of weights and of runs, by what they draw: the data of their artists, their names, and how they are told
apart without colour."""

import io
import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from mklcvx import InputError, Instance, solve, solve_path, zoo
from mklcvx.formulations.losses import EVERY, Huber
from mklcvx.reports import plot
from mklcvx.reports.plot._style import COLOURS, LINES, MARKERS, look, words
from mklcvx.reports.plot.weight_space import CORNERS
from refusals import check_refused

pytestmark = pytest.mark.slow

THREE = zoo.random(n=24, M=3, overlap=0.6, seed=3)
HOSTILE = ["$\\bad_{", "_genes", "<b>&"]


@pytest.fixture(scope="module")
def runs():
    return {name: solve(THREE, "l1", solver=name) for name in ("interior", "silp", "simplemkl")}


def names_in(legend):
    return [text.get_text() for text in legend.get_texts()]


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def drawn(ax):
    """Everything is really drawn: a name that could not be set would be an error now."""
    ax.figure.savefig(io.BytesIO(), format="svg")


# -------------------------------------------------------------------------------------------------------- weights
def test_intervals_are_lines_over_the_bars(ax):
    plot.weights([0.2, 0.0, 0.8], None, ax, interval=[[0.1, 0.3], [0.0, 1e-9], [0.7, np.inf]])
    lines = [line.get_xdata() for line in ax.lines if len(line.get_xdata()) == 2 and np.ptp(line.get_ydata()) == 0]
    assert [line[0] for line in lines] == [0.1, 0.0, 0.7]
    assert lines[0][1] == 0.3
    assert 0.8 < lines[2][1] < 1  # as far as is shown, with an arrow
    assert ">" in [line.get_marker() for line in ax.lines]
    drawn(ax)
    with pytest.raises(InputError, match="give two ends for each of 3 kernels"):
        plot.weights([0.2, 0.0, 0.8], None, ax, interval=[[0.0, 1.0]])


def test_weights_are_bars_with_their_names_as_they_are(ax):
    assert plot.weights([0.2, 0.0, 0.8], HOSTILE, ax) is ax
    (bars,) = ax.containers
    assert [bar.get_width() for bar in bars] == [0.2, 0.0, 0.8]
    assert ticks(ax.yaxis) == HOSTILE
    assert ax.get_xlabel() == "kernel weight"
    first, last = bars[0].get_y(), bars[2].get_y()
    assert ax.yaxis.get_inverted() == (first < last)
    drawn(ax)


def test_a_candidate_is_hatched_beside_the_exact_weights(ax):
    plot.weights([0.2, 0.8], None, ax, candidate=[-0.1, np.nan])
    exact, candidate = ax.containers
    assert [bar.get_width() for bar in candidate] == [-0.1, 0.0]
    assert {bar.get_hatch() for bar in exact} == {None}
    assert all(bar.get_hatch() for bar in candidate)
    for one, other in zip(exact, candidate, strict=True):
        assert one.get_y() + one.get_height() <= other.get_y()
    assert names_in(ax.get_legend()) == ["exact", "candidate"]
    assert ticks(ax.yaxis) == ["K1", "K2"]
    (undefined,) = [text for text in ax.texts if text.get_text() == "undefined"]
    assert candidate[1].get_y() < undefined.xy[1] < candidate[1].get_y() + candidate[1].get_height()


# ----------------------------------------------------------------------------------------------------------- gaps
def test_gaps_are_those_of_the_traces(ax, runs):
    assert plot.gaps({**runs, "exact": solve(THREE, "l1", solver="clarabel")}, ax) is ax
    assert ax.get_yscale() == "log"
    for line, run in zip(ax.lines, runs.values(), strict=False):
        assert list(line.get_xdata()) == [row.iteration for row in run.trace]
        assert np.allclose(line.get_ydata(), [max(row.gap, 1e-16) for row in run.trace], rtol=1e-15)
    level = ax.lines[3].get_ydata()
    assert level[0] == level[1] < 1e-8
    assert names_in(ax.get_legend()) == [*runs, "exact"]
    assert ax.get_ylabel() == "certified relative gap"


# ------------------------------------------------------------------------------------------------------ landscape
def test_the_landscape_has_the_optimum_and_the_way_there(ax, runs):
    assert plot.landscape(THREE, "l1", {"silp": runs["silp"]}, ax, resolution=6) is ax
    way, star = ax.lines
    weights = np.array([row.weights for row in runs["silp"].trace])
    assert np.allclose(np.column_stack(way.get_data()), weights @ CORNERS)
    assert np.allclose(np.ravel(star.get_data()), runs["interior"].weights @ CORNERS, atol=1e-5)
    assert star.get_marker() == "*"
    assert names_in(ax.get_legend()) == ["silp", "optimum"]
    assert {text.get_text() for text in ax.texts} >= set(THREE.names)
    drawn(ax)


def test_contours_stay_in_the_domain_of_capped_weights(ax):
    plot.landscape(THREE, "sm1", ax=ax, resolution=20, theta=0.6)
    (lines,) = ax.collections
    places = np.concatenate([curve.vertices for curve in lines.get_paths()])
    barycentric = np.linalg.solve(np.vstack([CORNERS.T, np.ones(3)]), np.vstack([places.T, np.ones(len(places))]))
    assert barycentric.max() < 0.6 + 1e-6
    assert barycentric.max() > 0.5


# ------------------------------------------------------------------------------------------------- cutting planes
def test_cutting_planes_support_the_value_of_the_problem_solved_by_hand(ax):
    plot.cutting_planes(zoo.by_hand(), "l1", 4, ax)
    value, *planes, envelope, visited = ax.lines
    t, height = value.get_data()
    assert len(planes) == 4
    lines = np.array([plane.get_ydata() for plane in planes])
    assert np.allclose(np.diff(lines, 2, axis=1), 0, atol=1e-10)  # straight
    assert (lines <= height + 1e-6).all()
    assert np.allclose(envelope.get_ydata(), lines.max(axis=0))
    assert height.min() == pytest.approx(9 / 8, abs=1e-3)
    assert height[[0, -1]] == pytest.approx([2.125, 2.5], abs=1e-5)
    places = np.asarray(visited.get_xdata())
    assert places[0] == 0.5
    for plane, place, dot in zip(lines, places, visited.get_ydata(), strict=True):
        assert np.interp(place, t, plane) == pytest.approx(dot, abs=1e-9)
        machine = Instance(np.tensordot([place, 1 - place], zoo.by_hand().kernels, 1)[None], zoo.by_hand().y)
        assert solve(machine, "svm").objective == pytest.approx(dot, abs=1e-7)
    assert [text.get_text() for text in ax.texts] == ["1", "2", "3", "4"]


# ----------------------------------------------------------------------------------------------------------- path
def test_a_path_shows_the_weights_along_its_parameter(ax):
    along = solve_path(THREE, "l1", {"C": [10.0, 0.01, 1.0]})
    assert plot.path(along, "C", ax) is ax
    order = [1, 2, 0]
    seen = [line for line in ax.lines if line.get_marker() in MARKERS]
    used = [m for m in range(3) if along.weights[:, m].max() > 1e-6]
    assert len(seen) == len(used) > 1
    for line, m in zip(seen, used, strict=True):
        assert list(line.get_xdata()) == [0.01, 1.0, 10.0]
        assert np.array_equal(line.get_ydata(), along.weights[order, m])
    assert ax.get_xscale() == "log"
    assert names_in(ax.get_legend()) == [THREE.names[m] for m in used]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("C", "kernel weight")


def test_a_path_along_theta_names_the_letter_and_faint_kernels_have_no_name(ax):
    useless = Instance(np.concatenate([THREE.kernels, 1e-9 * THREE.kernels[:1]]), THREE.y)
    plot.path(solve_path(useless, "sm1", {"theta": [0.5, 0.7]}), "theta", ax)
    assert ax.get_xlabel() == "θ"
    assert ax.get_xscale() == "linear"
    assert "K4" not in names_in(ax.get_legend())


# ---------------------------------------------------------------------------------------------------------- style
def test_lines_are_told_apart_without_colour():
    looks = [tuple(look(index).values())[1:] for index in range(len(MARKERS) * len(LINES))]
    assert len(set(looks)) == len(looks)
    assert {to_hex(colour) for colour in COLOURS} == set(COLOURS)


def test_names_are_short_and_printable():
    assert words("a\nb\x1b[0m\ud800") == "a�b�[0m�"
    assert words("abcdefghij" * 5) == "abcdefghijabcdefgh…bcdefghij"
    assert len(words("x" * 500)) == 28


def test_without_axes_a_figure_is_made(monkeypatch):
    from matplotlib import pyplot

    made = plot.weights([0.5, 0.5])
    assert made.figure in map(pyplot.figure, pyplot.get_fignums())
    pyplot.close("all")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with check_refused("matplotlib", "mklcvx[plot]"):
        plot.weights([0.5, 0.5])


# ------------------------------------------------------------------------------------------------------- refusals
TWO = THREE.select([0, 1])
SETS = Instance(THREE.kernels, labels=np.column_stack([THREE.y > 0, THREE.y < 0]))


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda ax, _: plot.weights([0.5, 0.5], ax=ax, candidate=[1.0]), ("candidate", "1 weights for 2 kernels")),
        (lambda ax, _: plot.weights([0.5, 0.5], ["a"], ax), ("names", "1 names for 2 kernels")),
        (lambda ax, _: plot.weights([np.inf], ax=ax), ("weights", "give one")),
        (lambda ax, _: plot.weights([[1.0]], ax=ax), ("weights", "give one")),
        (lambda ax, _: plot.weights([], ax=ax), ("weights", "give one")),
        (lambda ax, _: plot.weights(["a"], ax=ax), ("weights", "give one")),
        (lambda ax, _: plot.gaps({}, ax), ("traces", "none")),
        (lambda ax, _: plot.gaps({"a": [1.0, 2.0]}, ax), ("trace 'a'", "give one")),
        (lambda ax, runs: plot.gaps(runs, ax, against="minutes"), ("against", "svm_solves")),
        (lambda ax, _: plot.landscape(TWO, "l1", ax=ax), ("2 kernels", "select three")),
        (lambda ax, _: plot.landscape(THREE, "square", ax=ax), ("square", "no simplex")),
        (lambda ax, _: plot.landscape(THREE, "average", ax=ax), ("average", "no simplex")),
        (lambda ax, _: plot.landscape(THREE, "l1", ax=ax, resolution=1), ("resolution = 1",)),
        (lambda ax, _: plot.cutting_planes(zoo.by_hand(), "l2", ax=ax), ("l2", "l1, sm1")),
        (lambda ax, _: plot.cutting_planes(THREE, ax=ax), ("3 kernels", "select two")),
        (lambda ax, _: plot.cutting_planes(zoo.by_hand(), steps=0, ax=ax), ("steps = 0",)),
        (lambda ax, _: plot.path(solve_path(TWO, "sm1", {"C": [1.0, 2.0], "theta": [0.5, 1.0]}), "C", ax),
         ("theta varies too",)),
        (lambda ax, _: plot.path(solve_path(TWO, "l1", {"C": [1.0]}), "p", ax), ("'p'", "C")),
        (lambda ax, _: plot.path(solve_path(SETS, "hypergraph", {"expansion": ["star", "zhou"]}), "expansion", ax),
         ("'expansion'", "no numbers")),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_is_refused(ax, runs, attempt, words):
    with check_refused(*words):
        attempt(ax, runs)


# ------------------------------------------------------------------------------ losses, and optimality sample by sample
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
