"""Pictures of what was found about kernels, by the data of their artists; legends that cover nothing, colours that do
not repeat."""

import io

import numpy as np
import pytest
from matplotlib.figure import Figure
from test_plot import ticks

from mklcvx import Certificate, KernelImportance
from mklcvx.certificate.run import Row
from mklcvx.reports import plot
from mklcvx.reports.pages.kernels import importance_section, kernels_page
from mklcvx.reports.plot._style import COLOURS, FURTHER, look
from refusals import check_refused

NAMES = ("$genes_{", "_age", "height")
ROW = Row(0, 0.0, 0.0, 1.0, 0, 0.0, np.ones(1))


def found(count=3, machines=2, **changes):
    random = np.random.default_rng(count)
    names = NAMES if count == 3 else tuple(f"kernel number {m}" for m in range(count))
    scores = np.array([0.8, 0.9])
    given = {
        "names": names, "machines": tuple(f"class {k}" for k in range(machines)), "scoring": "accuracy",
        "weights": random.dirichlet(np.ones(count), size=machines),
        "certificate": Certificate(1.0, 1.0 + 1e-9, scale=1.0), "fits": 10, "uncertified": 0,
        "threshold": 0.01, "scores": scores, "alone": random.uniform(size=(2, count)),
        "without": scores[:, None] - random.uniform(size=(2, count)),
        "permuted": scores[:, None, None] - random.uniform(size=(2, 3, count)),
        "resampled": random.dirichlet(np.ones(count), size=(4, machines)),
    }  # fmt: skip
    return KernelImportance(**{**given, **changes})


def boxes(ax):
    """Draw, and return where the axes and their legend are."""
    ax.figure.savefig(io.BytesIO(), format="svg")
    return ax.get_window_extent(), ax.get_legend().get_window_extent()


def means(container):
    return container.lines[0].get_xdata()


def test_drops_are_marks_with_their_deviations(ax):
    record = found()
    assert plot.importance(record, ax) is ax
    without, permuted = ax.containers
    assert means(without) == pytest.approx(record.columns["drop_without"])
    assert means(permuted) == pytest.approx(record.columns["drop_permuted"])
    ((first, *_),) = (bars.get_segments() for bars in without.lines[2])
    assert np.ptp(first[:, 0]) == pytest.approx(2 * record.columns["drop_without_std"][0])
    assert ticks(ax.yaxis) == list(NAMES)
    assert ax.get_xlabel() == "drop in accuracy, held out"
    assert without.lines[0].get_marker() != permuted.lines[0].get_marker()


def test_kernels_alone_stand_beside_all_of_them(ax):
    record = found()
    plot.alone(record, ax)
    assert means(ax.containers[0]) == pytest.approx(record.columns["alone"])
    (whole,) = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert whole.get_xdata() == pytest.approx([0.85, 0.85])


def test_every_resample_is_a_dot_and_shares_are_named(ax):
    record = found()
    plot.stability(record, ax)
    dots = ax.lines[0]
    assert np.sort(dots.get_xdata()) == pytest.approx(np.sort(record.resampled.mean(axis=1).ravel()))
    (shares,) = ax.child_axes
    assert ticks(shares.yaxis) == [f"{share:.0%}" for share in record.columns["selected"]]


def test_classes_are_rows_of_a_heat_map(ax):
    record = found()
    plot.classes(record, ax=ax)
    drawn = np.asarray(ax.collections[0].get_array())
    assert drawn.reshape(2, 3) == pytest.approx(record.weights)
    assert ticks(ax.yaxis) == ["class 0", "class 1"]
    assert ticks(ax.xaxis) == list(NAMES)
    assert ax.yaxis.get_inverted()
    assert [text.get_text() for text in ax.texts] == [f"{weight:.2f}" for weight in record.weights.ravel()]
    many = Figure(layout="constrained").subplots()
    plot.classes(np.eye(27), ax=many)
    assert not many.texts  # too many cells for numbers
    assert ticks(many.xaxis)[26] == "K27"
    many.figure.savefig(io.BytesIO(), format="svg")


def test_what_was_not_asked_for_is_not_drawn(ax):
    bare = found(scores=None, alone=None, without=None, permuted=None, resampled=None)
    for draw, answer in ((plot.importance, "without"), (plot.alone, "alone"), (plot.stability, "stability")):
        with check_refused(draw.__name__, answer):
            draw(bare, ax)
    for wrong in ([], [["a"]], [[np.inf]], np.ones((1, 1, 1))):
        with check_refused("classes", "one row for each machine"):
            plot.classes(wrong, ax=ax)
    with check_refused("machines", "1 names for 2 rows"):
        plot.classes(np.ones((2, 2)), machines=["a"], ax=ax)


# ------------------------------------------------------------------------------------------------ legends and colours
@pytest.mark.parametrize("count", [3, 12, 27])
def test_legends_stand_beside_the_axes(ax, count):
    rows = [[ROW._replace(iteration=i, gap=0.1 ** (i + k)) for i in range(3)] for k in range(count)]
    traces = {f"solver number {k}": row for k, row in enumerate(rows)}
    for where in (ax, None):
        drawn = plot.gaps(traces, where)
        inside, legend = boxes(drawn)
        assert not inside.overlaps(legend)
        assert len(drawn.get_legend().get_texts()) == count
        page = drawn.figure.bbox
        assert page.x0 <= legend.x0 <= legend.x1 <= page.x1 + 1
        assert page.y0 - 1 <= legend.y0 <= legend.y1 <= page.y1 + 1
        assert inside.width > 0.3 * page.width


@pytest.mark.parametrize("draw", [plot.importance, plot.alone, plot.stability])
@pytest.mark.parametrize("count", [3, 27])
def test_legends_of_kernels_cover_no_mark(draw, count):
    inside, legend = boxes(draw(found(count)))
    assert not inside.overlaps(legend)


def test_forty_lines_have_forty_colours():
    assert len({look(index)["color"] for index in range(40)}) == 40 == len(COLOURS + FURTHER)


# --------------------------------------------------------------------------------------------------------- on a page
def test_a_page_has_the_table_and_every_chart():
    text = kernels_page(found(), "l1", "<mine>.npz")
    assert "&lt;mine&gt;.npz: which kernels matter" in text
    for chart in ("importance", "alone", "stability", "classes"):
        assert f'id="{chart}-' in text
    assert "10 of 10 fits certified" in text
    assert "<image" not in text  # which the page may not load
    alone = importance_section(found(machines=1, without=None, permuted=None, resampled=None))
    assert 'id="alone-' in alone
    assert 'id="classes-' not in alone
    assert "3 not certified" in importance_section(found(uncertified=3))
