"""The campaign of `validation/truth`: its exact optima are optima, and a small part of it finds nothing."""

import json
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("flint")

import importlib
from dataclasses import replace

import pytest
from flint import fmpq, fmpq_mat

from mklcvx import Instance, solve
from places import modules_of

pytestmark = pytest.mark.slow

PRICES = [{"C": 1.0}, {"C": 100.0}, {"C": 1.0, "bias": False}, {"nu": 0.4}, {"nu": 0.4, "bias": False}]
TRUTH = ("optima", "records", "enclosures", "grid", "comparing", "keeping", "page")
PLANTED = ("planted", "planted_values", "planted_penalties")
PART = 65


@pytest.fixture(scope="module")
def truth():
    """The campaign's modules."""
    return modules_of("validation/truth", *TRUTH, *PLANTED)


@pytest.fixture(scope="module")
def ordinary():
    """Three kernels of good condition."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(10, 4))
    distances = ((points[:, None] - points[None]) ** 2).sum(axis=-1)
    kernels = np.array([np.exp(-gamma * distances) for gamma in (0.3, 0.6, 1.2)])
    return Instance(kernels, np.where(np.arange(10) % 3 == 0, 1, -1), sample_weight=rng.uniform(0.5, 2.0, 10))


def quadratic(truth, matrix, box, groups=(), gain=1):
    size = len(box)
    feasible = truth.optima.Feasible(tuple(map(fmpq, box)), tuple(groups))
    return truth.optima.maximised(fmpq_mat(matrix), [fmpq(gain)] * size, feasible), feasible


# ------------------------------------------------------------------------------------------------------ exact optima
def test_optima_computed_by_hand(truth):
    """α − ½ kα² has its best at 1/k, or at the end of the box; two samples of both classes move together."""
    inside, _ = quadratic(truth, [[4]], [1])
    assert (inside.fraction, inside.alpha) == (Fraction(1, 8), [fmpq(1, 4)])
    at_the_end, _ = quadratic(truth, [[4]], [fmpq(1, 8)])
    assert at_the_end.fraction == Fraction(1, 8) - Fraction(1, 32)
    balance = truth.optima.Group((0, 1), (1, -1), fmpq(0))
    both, _ = quadratic(truth, [[2, -1], [-1, 3]], [5, 7], [balance])  # 2a − ½·3a²
    assert (both.fraction, both.alpha) == (Fraction(2, 3), [fmpq(2, 3)] * 2)


def test_singular_kernels_have_optima_too(truth):
    """Without curvature every sample goes to the end of its box; with a total the cheapest ones are filled."""
    flat, _ = quadratic(truth, [[0, 0], [0, 0]], [3, 4])
    assert flat.fraction == 7
    total = truth.optima.Group((0, 1, 2), (1, 1, 1), fmpq(1))
    cheap, _ = quadratic(truth, [[1, 1, 0], [1, 1, 0], [0, 0, 0]], [1, 1, fmpq(1, 2)], [total], gain=0)
    assert cheap.fraction == -Fraction(1, 8)


def test_years(truth):
    """Four samples of which a solution in doubles is 5e-6 too low."""
    given, parameters = truth.grid.made(truth.grid.Cell.named(truth.grid.EXAMPLE))
    problem = truth.records.record(Instance(**given), "svm", parameters)
    alpha = [fmpq(60900002, 841), fmpq(10**5)] * 2
    assert problem.feasible.contains(alpha)
    value = sum(alpha, fmpq(0)) - problem.half_squares(alpha)[0]
    assert truth.optima.as_fraction(value) >= Fraction("344827.5885")
    assert problem.optimum().value == value


def test_a_wrong_optimum_is_rejected(truth):
    balance = truth.optima.Group((0, 1), (1, -1), fmpq(0))
    matrix, gain = fmpq_mat([[2, -1], [-1, 3]]), [fmpq(1)] * 2
    best, feasible = quadratic(truth, matrix.tolist(), [5, 7], [balance])

    def proved(alpha):
        return truth.optima.multipliers(truth.optima.slopes_at(matrix, gain, alpha), feasible, alpha)

    assert proved(best.alpha) == best.multipliers
    tiny = fmpq(1, 10**40)
    assert proved([value + tiny for value in best.alpha]) is None  # feasible, not optimal
    assert proved([best.alpha[0] + tiny, best.alpha[1]]) is None  # not feasible
    assert proved([fmpq(-1), fmpq(-1)]) is None
    assert proved([fmpq(0), fmpq(0)]) is None


def test_an_empty_set_is_refused(truth):
    with pytest.raises(ValueError, match="empty"):
        quadratic(truth, [[1]], [fmpq(1, 3)], [truth.optima.Group((0,), (1,), fmpq(1))])


@pytest.mark.parametrize("parameters", PRICES, ids=str)
def test_exact_optima_are_those_of_the_package(truth, ordinary, parameters):
    for name, instance in (("svm", ordinary.select([1])), ("sum", ordinary)):
        value = float(truth.records.record(instance, name, parameters).optimum().fraction)
        found = solve(instance, name, **parameters).certificate
        assert value == pytest.approx(found.lower, rel=1e-7)
        assert value == pytest.approx(found.upper, rel=1e-7)


@pytest.mark.parametrize("parameters", PRICES, ids=str)
def test_enclosures_are_narrow_and_those_of_the_package(truth, ordinary, parameters):
    for name, own in (("l1", {}), ("sm1", {"theta": 0.5}), ("l2", {})):
        problem = truth.records.record(ordinary, name, {**parameters, **own})
        known = truth.enclosures.enclosed(problem)
        assert 0 <= known.width() <= truth.enclosures.NARROW
        found = solve(ordinary, name, **parameters, **own).certificate
        assert truth.enclosures.as_float(known.lower) == pytest.approx(found.upper, rel=1e-7)
        assert truth.enclosures.as_float(known.upper) == pytest.approx(found.lower, rel=1e-7)


def test_an_enclosure_agrees_with_the_exact_optimum(truth, ordinary):
    """With one kernel `l1` is `svm`."""
    single = ordinary.select([0])
    value = truth.records.record(single, "svm", {"C": 3.0}).optimum().value
    known = truth.enclosures.enclosed(truth.records.record(single, "l1", {"C": 3.0}))
    assert known.lower <= value <= known.upper


# -------------------------------------------------------------------------------------------------------- the record
def test_what_is_semidefinite_is_decided_exactly(truth):
    third = fmpq(1, 3)
    assert truth.records.semidefinite(fmpq_mat([[1, third], [third, third**2]]))
    assert not truth.records.semidefinite(fmpq_mat([[1, third], [third, third**2 - fmpq(1, 10**60)]]))
    assert not truth.records.semidefinite(fmpq_mat([[0, 1], [1, 5]]))
    shifted = fmpq_mat([[-1, -1], [-1, -1]])  # zero on vectors that sum to zero
    assert truth.records.semidefinite(truth.records.differences(shifted))


def test_the_record_is_the_lower_triangle_the_product_of_factors_and_the_box_of_doubles(truth):
    kernel = np.array([[2.0, 0.3], [0.1, 1.0]])
    assert truth.records.exact_kernel(kernel)[0, 1] == fmpq(*(0.1).as_integer_ratio())
    factor = np.array([[0.1], [3.0]])
    assert truth.records.exact_product(factor)[0, 0] == fmpq(*(0.1).as_integer_ratio()) ** 2
    instance = Instance(np.eye(2)[None], [1, -1], sample_weight=[0.1, 3.0])
    assert truth.records.record(instance, "svm", {"C": 0.3}).box[0] == fmpq(*(0.3 * 0.1).as_integer_ratio())


# ------------------------------------------------------------------------------------------------------ the campaign
def test_nothing_is_too_small_to_exclude(truth):
    third = truth.enclosures.Enclosure(fmpq(1, 3), fmpq(1, 3))
    below, above = np.nextafter(1 / 3, 0), np.nextafter(1 / 3, 1)
    assert truth.comparing.excess(below, above, third) is None
    assert truth.comparing.excess(-np.inf, np.inf, third) is None
    assert truth.comparing.excess(above, 1.0, third) == pytest.approx(1.1e-16, rel=0.1)
    assert truth.comparing.excess(0.0, below, third) > 0
    assert truth.comparing.excess(np.nan, 1.0, third) == np.inf
    assert truth.comparing.excess(0.0, -np.inf, third) == np.inf


def test_cells_have_names_of_their_own_and_kernels_that_are_what_they_say(truth):
    cells = truth.grid.cells()
    assert len({cell.name for cell in cells}) == len(cells) >= 14_000
    assert all(truth.grid.Cell.named(cell.name) == cell for cell in cells[::101])
    for cell in cells[::173]:
        given, parameters = truth.grid.made(cell)
        problem = truth.records.record(truth.comparing._Given(**given), cell.formulation, parameters)
        assert problem.feasible.contains(problem.feasible.start()) or problem.loss == "nu"
        assert problem.psd or cell.data == "gauss", cell.name


def test_finished_cells_are_kept_for_the_code_that_made_them(truth, tmp_path):
    file = tmp_path / "cells.jsonl"
    kept = truth.keeping.Kept(file, "code")
    kept.add("a", {"status": "certified", "truth": "exact"})
    with file.open("a", encoding="utf-8") as out:
        out.write('{"cell": "cut o')
    kept.add("b", {"status": "raised", "truth": "exact"})
    assert set(truth.keeping.Kept(file, "code").rows) == {"a", "b"}
    assert set(truth.keeping.Kept(file, "other").rows) == set()
    assert set(truth.keeping.Kept(file, "other", any_code=True).rows) == {"a", "b"}
    kept.tidy(["b", "a", "c"])
    assert [json.loads(line)["cell"] for line in file.read_text(encoding="utf-8").splitlines()] == ["b", "a"]


def test_the_page_counts_what_is_wrong(truth):
    cell = truth.grid.Cell.named(truth.grid.EXAMPLE)
    wrong = {"status": "certified", "truth": "exact", "excluded": 4.9e-6}
    fault = {"status": "raised", "truth": "exact", "reason": "InternalError: lower 1.5, upper 1.25e+00"}
    text = truth.page.page([(cell, wrong), (cell, fault)], 2)
    assert "excluding it **1**" in text
    assert "exceptions: **1**" in text
    assert "1 × InternalError: lower …, upper …" in text
    assert truth.page.faulty(wrong)
    assert truth.page.faulty(fault)


def test_a_part_of_the_campaign_excludes_nothing_and_raises_nothing(truth):
    """The example, and cells from all over the grid."""
    cells = truth.grid.cells()
    faults = {}
    for cell in cells[:: len(cells) // PART]:
        row = truth.comparing.compared(cell)
        assert row["truth"] in ("exact", "enclosed", "indefinite"), cell.name
        if truth.page.faulty(row):
            faults[cell.name] = row.get("excluded", row.get("reason"))
    assert not faults, f"{len(faults)} faults"


# ------------------------------------------------------------------------------------------------------- planted optima
PLANTED_PART = 90


def first_of(truth, **wanted):
    fitting = [c for c in truth.planted.planted_cells() if all(getattr(c, k) == v for k, v in wanted.items())]
    assert fitting
    return fitting


def test_there_are_thousands_of_all_kinds(truth):
    cells = truth.planted.planted_cells()
    assert len({cell.name for cell in cells}) == len(cells) >= 8_500
    assert {cell.kind for cell in cells} == {"one output", "several outputs", "classes", "labels", "hypergraphs"}
    assert {"group_lasso", "block_elastic", "ml_sum", "ml_minimax", "hypergraph_smooth"} <= {
        c.formulation for c in cells
    }


@pytest.mark.parametrize("loss", ["hinge", "nu"])
@pytest.mark.parametrize("name", ["svm", "sum", "l1"])
def test_planted_optima_are_those_of_the_exact_method_and_of_the_enclosures(truth, name, loss):
    """Which know nothing of how the problems were made."""
    for bias in ("bias", "none"):
        for cell in first_of(truth, formulation=name, loss=loss, bias=bias)[:2]:
            problem = truth.planted.planted(cell)
            given, parameters = dict(problem.given), dict(problem.parameters)
            parameters.pop("loss")
            record = truth.records.record(truth.comparing._Given(**given), name, parameters)
            known = truth.comparing.truth(record)
            assert problem.known.lower == problem.known.upper, cell.name
            assert known.lower <= problem.known.upper <= known.upper, cell.name


def test_any_other_point_gives_a_wider_interval_around_the_same_optimum(truth, monkeypatch):
    """Weak duality, at points near the planted one."""
    seen = []

    def proved(given, formulation, parameters, point, loss, prices):
        seen.append((given, formulation, parameters, point, loss, [truth.records.exact(c) for c in prices]))
        return kept(given, formulation, parameters, point, loss, prices)

    kept, wider = truth.planted_values.proved, 0
    for module in (importlib.import_module("planting"), importlib.import_module("planted_outputs")):
        monkeypatch.setattr(module, "proved", proved)
    for cell in truth.planted.planted_cells()[::130]:
        if cell.kind == "hypergraphs":
            continue
        seen.clear()
        known = truth.planted.planted(cell).known
        given, formulation, parameters, point, loss, prices = seen[-1]
        if formulation != "block_elastic":  # whose roots are those of the planted β
            point = replace(point, beta=[[x * Fraction(7, 8) for x in row] for row in point.beta])
        moved = Fraction(1, 16) if cell.bias == "bias" else Fraction(0)
        shifted = replace(point, bias=[b + moved for b in point.bias])
        if loss in ("nu", "one_class"):  # Σα = 1
            shifted = replace(shifted, beta=seen[-1][3].beta)
        found = truth.planted_values.values_at(given, formulation, parameters, shifted, loss, prices)
        assert found.lower <= known.upper, cell.name
        assert known.lower <= found.upper, cell.name
        wider += found.upper - found.lower > 2 * (known.upper - known.lower)
    assert wider > 40


def test_prices_of_penalties_add_up_where_norms_and_roots_belong_to_each_other(truth):
    rng = np.random.default_rng(3)
    for name, plan in truth.planted_penalties.PLANS.items():
        for used in (1, 2, 3):
            made = plan(rng, used, 0 if name in truth.planted_penalties.ALL_USED else 2, Fraction(21, 4))
            assert 0 < made.total <= Fraction(21, 4)
            assert made.norms[-1].numerator & (made.norms[-1].numerator - 1) == 0, name
            norms = [*made.norms, *[Fraction(0)] * (len(made.roots) - used)]
            weights = [truth.planted_values.rational(a / d if d else a) for a, d in zip(norms, made.roots, strict=True)]
            roots = [truth.planted_values.rational(d) for d in made.roots]
            own = {key: truth.records.exact(x) for key, x in made.own.items()}
            price = truth.planted_penalties.priced(name, weights, [d * d for d in roots], roots, own)
            half = sum((w * d * d for w, d in zip(weights, roots, strict=True)), fmpq(0)) / 2
            assert price.value + price.conjugate == half, name


def test_a_part_of_the_planted_ones_excludes_nothing_and_raises_nothing(truth):
    cells = truth.planted.planted_cells()
    pairs = [(cell, truth.planted.compared(cell)) for cell in cells[:: len(cells) // PLANTED_PART]]
    faults = {cell.name: row for cell, row in pairs if truth.page.faulty(row)}
    assert not faults, f"{len(faults)} faults"
    text = truth.planted.page(pairs, len(pairs))
    assert f"comparisons: {len(pairs)} of {len(pairs)}" in text
    assert "excluding" not in text.split("##")[0] or "**0**" in text


def test_an_interval_beside_a_planted_optimum_is_told(truth, monkeypatch):
    cell = first_of(truth, formulation="l1", loss="huber", outputs=2)[0]
    value = float(truth.enclosures.as_float(truth.planted.planted(cell).known.lower))
    beside = {"status": "certified", "interval": (np.nextafter(value, np.inf) + 1e-9, 2 * value), "gap": 1e-9}
    monkeypatch.setattr(truth.planted, "answered", lambda *_: dict(beside))
    row = truth.planted.compared(cell)
    assert row["excluded"] > 0
    assert "exclude the optimum, certified or not: **1**" in truth.planted.page([(cell, row)], 1)
