"""Planted optima are optima, by other witnesses and by weak duality; a small part of their campaign finds nothing."""

import importlib
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("flint")

from flint import fmpq

from places import modules_of

pytestmark = pytest.mark.slow

TRUTH = ("planted", "planted_values", "planted_penalties", "comparing", "enclosures", "records", "page")
PART = 90


@pytest.fixture(scope="module")
def truth():
    """The campaign's modules."""
    return modules_of("validation/truth", *TRUTH)


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


def test_a_part_of_the_campaign_excludes_nothing_and_raises_nothing(truth):
    cells = truth.planted.planted_cells()
    pairs = [(cell, truth.planted.compared(cell)) for cell in cells[:: len(cells) // PART]]
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
