"""Pictures of weights and of runs, by what they draw: the data of their artists, their names, and how they are told
apart without colour."""

import io
import sys

import numpy as np
import pytest
from matplotlib.colors import to_hex

from mklcvx import InputError, Instance, solve, solve_path, zoo
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
