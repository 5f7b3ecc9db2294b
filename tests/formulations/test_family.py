"""The family tree of the site: every edge is a statement about values, and is measured."""

import re

import numpy as np
import pytest

from family import EDGES, PLACES
from mklcvx import Instance, formulations, solve, zoo

C = 1.3
NAMES = [formulation.name for formulation in formulations.FORMULATIONS]


def instances(shape: str) -> tuple[Instance, Instance]:
    """The instance for the one formulation and for the other: the same data, the targets as each takes them."""
    base = zoo.random(24, 4, overlap=0.8, seed=5)
    if shape == "one kernel":
        base = Instance(base.kernels[:1], base.y)
    elif shape == "own groups":
        base = Instance(base.kernels, base.y, groups=np.arange(4))
    elif shape == "one group":
        base = Instance(base.kernels, base.y, groups=np.zeros(4, dtype=int))
    elif shape == "labels":
        labels = np.column_stack([base.y > 0, np.arange(24) % 3 == 0])
        base = Instance(base.kernels, labels=labels)
    elif shape == "one label":
        return Instance(base.kernels, labels=(base.y > 0)[:, None]), base
    return base, base


def value(instance: Instance, name: str, price: float, own: dict) -> float:
    priced = {"C": price} if "C" in formulations.get(name).parameter_names else {}
    found = solve(instance, name, **priced, **own)
    assert found.certified
    return found.objective


def misses(edge) -> list[float]:
    """How far the edge is from holding, at each of its settings."""
    one, other = instances(edge.shape)
    right = edge.factor * value(other, edge.gives, edge.price * C, dict(edge.target))
    found = []
    for settings in edge.settings:
        own = dict(settings(one.count))
        left = value(one, edge.of, C, own) - edge.shift(one.count, own)
        found.append(abs(left - right) / abs(right))
    return found


@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: f"{edge.of}-{edge.gives}")
def test_an_edge_of_the_tree_holds(edge):
    off = misses(edge)
    if edge.exact:
        assert off[0] < 1e-7
    else:
        assert off[-1] < 3e-3
        assert off[-1] < 0.25 * off[0]
        assert sorted(off, reverse=True) == off


def test_an_edge_that_is_not_there_would_be_noticed():
    from dataclasses import replace

    for edge in EDGES:
        if edge.of == "sm1" and edge.gives == "l1":
            assert min(misses(replace(edge, gives="average"))) > 1e-2
            assert min(misses(replace(edge, factor=2.0))) > 0.1
        if edge.of == "smp" and edge.gives == "l1":
            assert misses(replace(edge, shift=lambda count, own: 0.0))[-1] > 5e-2
        if edge.of == "smp" and edge.gives == "sm1":
            assert misses(replace(edge, target={"theta": 0.4}))[-1] > 1e-2


def test_every_formulation_has_a_place_and_every_edge_two_ends():
    assert sorted(PLACES) == sorted(NAMES)
    assert len(set(PLACES.values())) == len(PLACES)
    for edge in EDGES:
        assert {edge.of, edge.gives} <= set(NAMES)


def test_degenerate_cases_that_name_another_formulation_are_in_the_tree():
    """What a docstring says under `Degenerate cases` of `NAME` at a value of a parameter is an edge, in one of the
    directions."""
    linked = {frozenset((edge.of, edge.gives)) for edge in EDGES}
    # The same α or f at other parameters, not the same value; or another formulation altogether.
    unlike = {("elastic", "sm2"), ("square", "l2"), ("group_lasso", "l1"), ("block_elastic", "elastic")}
    from mklcvx.reports.theorem import parse

    for formulation in formulations.FORMULATIONS:
        text = parse(formulation.theorem).paragraph("Degenerate cases")
        for other in set(re.findall(r"`(\w+)`", text)) & set(NAMES) - {formulation.name}:
            if (formulation.name, other) not in unlike and "M = 1" not in text.split(f"`{other}`")[0][-12:]:
                assert frozenset((formulation.name, other)) in linked, (formulation.name, other)
