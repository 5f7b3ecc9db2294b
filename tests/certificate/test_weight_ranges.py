"""Outer ranges of weights: the sets {F ≤ ε} worked out by hand and sampled, and ranges of solved problems against what
weights are worth."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

import mklcvx
from mklcvx import Instance, formulations, solve, zoo
from mklcvx.certificate.weight_ranges import outer
from mklcvx.certificate.weight_shapes import SHAPES, shape_of
from mklcvx.io.files import load_solution, save_solution
from mklcvx.verification.families.single_task import worth

V = np.array([1.0, 0.7, 0.9, 0.2])


@dataclass(frozen=True)
class Row:
    """A formulation with its parameters: R, and how random weights come into its domain."""

    name: str
    own: dict
    price: object
    into: object


def simplex(mu):
    return mu / mu.sum(axis=1, keepdims=True)


def nothing(mu):
    return np.zeros(len(mu))


def ball(size):
    """Into {size ≤ 1}, to its boundary but for a few, by bisection: size grows along rays."""

    def into(mu):
        low, high = np.zeros(len(mu)), 1 / mu.max(axis=1)
        for _ in range(60):
            middle = (low + high) / 2
            fits = size(middle[:, None] * mu) <= 1
            low, high = np.where(fits, middle, low), np.where(fits, high, middle)
        return (low * np.where(np.arange(len(mu)) % 4, 1.0, 1 - 1e-3))[:, None] * mu

    return into


def powered(theta, p):
    return lambda mu: (2 * (p - 1) / (theta * p)) ** (p - 1) / p * np.sum(mu**p, axis=1)


ROWS = [
    Row("l1", {}, nothing, simplex),
    Row("sm2", {"theta": 0.5}, lambda mu: np.sum(mu**2, axis=1), simplex),
    Row("smp", {"theta": 0.5, "p": 1.5}, powered(0.5, 1.5), simplex),
    Row("smp", {"theta": 0.5, "p": 3.0}, powered(0.5, 3.0), simplex),
    Row("square", {"theta": 0.5}, lambda mu: np.sum(mu**2, axis=1), lambda mu: mu),
    Row("l2", {}, nothing, ball(lambda mu: np.sum(mu**2, axis=1))),
    Row("lp", {"p": 1.0}, nothing, ball(lambda mu: np.sum(mu, axis=1))),
    Row("lp", {"p": 1.5}, nothing, ball(lambda mu: np.sum(mu**1.5, axis=1))),
    Row("lp", {"p": 4.0}, nothing, ball(lambda mu: np.sum(mu**4, axis=1))),
    Row("elastic", {"l1_ratio": 0.4}, nothing, ball(lambda mu: np.sum(0.4 * mu + 0.6 * mu**2, axis=1))),
    Row("elastic", {"l1_ratio": 1.0}, nothing, ball(lambda mu: np.sum(mu, axis=1))),
    Row("block_elastic", {"l1_ratio": 0.4}, nothing, ball(lambda mu: np.sum(0.4 * mu / (1 - 0.6 * mu), axis=1))),
    Row("block_elastic", {"l1_ratio": 1.0}, nothing, ball(lambda mu: np.sum(mu, axis=1))),
]


def sampled(row, v, excess, draws=20_000):
    """Weights with F(μ) ≤ ε: found by a walk from the best ones outwards."""
    rng = np.random.default_rng(0)
    conjugate = formulations.get(row.name).conjugate(np.sqrt(2 * v), **row.own)

    def fenchel(mu):
        return row.price(mu) + conjugate - mu @ v

    found = row.into(np.exp(2 * rng.normal(size=(draws, len(v)))))
    for width in (0.3, 0.1, 0.03, 0.03, 0.01, 0.01):
        best = found[np.argsort(fenchel(found))[:50]]
        near = np.repeat(best, draws // 200, axis=0)
        moved = np.maximum(near + width * rng.normal(size=near.shape) * rng.integers(0, 2, near.shape), 1e-12)
        found = np.vstack([found, row.into(moved)])
    inside = found[fenchel(found) <= excess]
    for _ in range(12):  # walks along the boundary, for every kernel up and down
        ends = inside[np.concatenate([inside.argmin(axis=0), inside.argmax(axis=0)])]
        near = np.repeat(ends, 300, axis=0)
        scale = 0.5 * (inside.max(axis=0) - inside.min(axis=0)) * 2.0 ** -rng.integers(0, 6, (len(near), 1))
        moved = row.into(np.maximum(near + scale * rng.normal(size=near.shape), 1e-12))
        inside = np.vstack([inside, moved[fenchel(moved) <= excess]])
    return inside.min(axis=0), inside.max(axis=0)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.name}{''.join(map(str, row.own.values()))}")
@pytest.mark.parametrize("excess", [1e-3, 0.05])
def test_ranges_contain_the_set_and_are_hardly_wider(row, excess):
    low, high = outer(shape_of(row.name, row.own, len(V)), V, V, excess)
    least, most = sampled(row, V, excess)
    assert (low <= least).all()
    assert ((high >= most) & (high - low <= 1.4 * (most - least) + 1e-3 * excess)).all()


def test_l1_has_the_formula():
    low, high = outer(shape_of("l1", {}, 4), V, V, 0.05)
    assert high == pytest.approx([1, 0.05 / 0.3, 0.05 / 0.1, 0.05 / 0.8], rel=1e-9)
    assert low == pytest.approx([0.5, 0, 0, 0], abs=1e-9)
    assert (high[1:] >= 0.05 / (1 - V[1:])).all()  # never below what is meant


def test_sm1_keeps_its_cap_and_fills_it():
    """v sorted: 1, 0.9, 0.7, 0.2 with cap 0.4: two at the cap, 0.2 left for the third, κ = 0.7."""
    low, high = outer(shape_of("sm1", {"theta": 0.4}, 4), V, V, 0.01)
    assert high == pytest.approx([0.4, 0.2 + 0.05, 0.4, 0.01 / 0.5], rel=1e-6)
    assert low == pytest.approx([0.4 - 0.01 / 0.3, 0.2 - 0.01 / 0.5, 0.4 - 0.01 / 0.2, 0], abs=1e-6)


def test_a_price_on_the_sum_bounds_from_above():
    low, high = outer(shape_of("group_lasso", {"lam": 1.5}, 4), V, V, 0.05)
    assert high == pytest.approx(0.05 / (1.125 - V), rel=1e-9)
    assert not low.any()


def test_pairs_have_a_root():
    low, high = outer(shape_of("ts", {"lam": 0.1}, 2), np.array([0.3, -0.2]), np.array([0.3, -0.2]), 1e-4)
    assert low == pytest.approx([3 - np.sqrt(2e-3), 0], rel=1e-9)
    assert high == pytest.approx([3 + np.sqrt(2e-3), (np.sqrt(0.04 + 2e-5) - 0.2) / 0.1], rel=1e-6)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.name}{''.join(map(str, row.own.values()))}")
def test_what_is_known_of_v_is_paid_for(row):
    """With an interval for v the ranges contain those of every v in it."""
    shape, rng = shape_of(row.name, row.own, len(V)), np.random.default_rng(1)
    low, high = outer(shape, V - 1e-3, V + 1e-3, 1e-3)
    for _ in range(5):
        v = V + rng.uniform(-1e-3, 1e-3, len(V))
        inner = outer(shape, v, v, 1e-3)
        assert (low <= inner[0]).all()
        assert (high >= inner[1]).all()


@pytest.mark.parametrize("name", [name for name in SHAPES if name not in ("svm", "sum", "average")])
def test_extremes_prove_nothing_and_fail_nowhere(name):
    own = {"theta": 0.5, "p": 2.5, "l1_ratio": 0.3, "lam": 1.0}
    taken = {row.name: row.own for row in ROWS} | {"sm1": {"theta": 0.5}, "group_lasso": {"lam": 1.0}}
    taken |= {"ts": {"lam": 1.0}, "ts_l1": {"lam": 1.0}, "hypergraph": {"lam": 1.0}}
    shape = shape_of(name, {key: own[key] for key in taken.get(name, {})}, 3)
    for v in (np.zeros(3), np.full(3, 1e-300), np.array([1e300, 1.0, 0.0]), np.array([np.nan, 1.0, np.inf])):
        for excess in (0.0, 1e-320, 1.0, 1e300, np.inf, np.nan):
            low, high = outer(shape, v, v, excess)
            assert not np.isnan([low, high]).any()
            assert ((low >= 0) & (high >= low)).all()


# ------------------------------------------------------------------------------------------------------- of solutions
INSTANCE = zoo.random(30, 5, seed=1)


@pytest.fixture(scope="module")
def found():
    return {name: solve(INSTANCE, name) for name in ("l1", "sm2", "li", "sum", "average")}


def test_a_tolerance_that_is_none_is_refused(found):
    for tolerance in (-1e-3, float("nan"), "small"):
        with pytest.raises(mklcvx.InputError, match="give a relative one such as 1e-6"):
            found["sm2"].weights_interval(tolerance)
        with pytest.raises(mklcvx.InputError, match="give a relative one such as 1e-6"):
            mklcvx.narrow_weights(INSTANCE, found["l1"], tolerance=tolerance)


def test_a_tolerance_widens(found):
    widths = [np.ptp(found["sm2"].weights_interval(tolerance), axis=1) for tolerance in (None, 1e-6, 1e-3)]
    assert ((widths[0] <= widths[1]) & (widths[1] < widths[2])).all()


def test_cutting_planes_find_what_is_needed(found):
    solution, tolerance = found["l1"], 1e-4
    wide, narrow = solution.weights_interval(tolerance), mklcvx.narrow_weights(INSTANCE, solution, tolerance=tolerance)
    used = solution.weights > 1e-6
    assert used.sum() == 4
    assert not wide[used, 0].any()  # tied: one α cannot tell them apart
    assert (narrow[used, 0] > 0).all()
    assert ((narrow[:, 0] <= solution.weights) & (narrow[:, 1] >= solution.weights)).all()
    formulation = formulations.get("l1")
    task, _ = formulation.task(INSTANCE, solution.parameters)
    level = solution.certificate.lower + tolerance * solution.certificate.base
    reached = []
    for m in np.flatnonzero(used):  # moving a weight at the others' cost: as far as J allows
        away = np.where(np.arange(5) == m, 1.0, -solution.weights / (1 - solution.weights[m]))
        near, far = 0.0, 0.2
        for _ in range(20):
            middle = (near + far) / 2
            good = worth(formulation, task, solution.weights + middle * away)[0] <= level
            near, far = (middle, far) if good else (near, middle)
        reached.append(solution.weights[m] + near)
    assert (np.array(reached) <= narrow[used, 1]).all()
    assert (narrow[used, 1] - solution.weights[used] <= 4 * (np.array(reached) - solution.weights[used])).all()


@pytest.mark.parametrize("given", [{"formulation": "sm1", "theta": 0.4}, {"formulation": "group_lasso"}])
def test_cutting_planes_know_caps_and_prices(given):
    name, own = given["formulation"], {key: value for key, value in given.items() if key != "formulation"}
    solution = solve(INSTANCE, name, **own)
    low, high = mklcvx.narrow_weights(INSTANCE, solution, tolerance=1e-4, rounds=15).T
    assert ((low <= solution.weights) & (high >= solution.weights)).all()
    assert (low[solution.weights > 1e-6] > 0).all()
    assert np.max(high - low) < 0.5 * solution.weights.max()


def test_nothing_is_narrowed_where_weights_are_curved_or_given(found):
    for name in ("sm2", "sum"):
        narrow = mklcvx.narrow_weights(INSTANCE, found[name])
        np.testing.assert_array_equal(narrow, found[name].weights_interval())
    assert mklcvx.narrow_weights(INSTANCE, found["li"]) is None


def test_files_keep_what_ranges_are_made_of(found, tmp_path):
    for ending in ("json", "npz"):
        save_solution(tmp_path / f"one.{ending}", found["l1"])
        again = load_solution(tmp_path / f"one.{ending}")
        np.testing.assert_array_equal(again.weights_interval(), found["l1"].weights_interval())
    record = json.loads((tmp_path / "one.json").read_text(encoding="utf-8"))
    assert record["weights_interval"] == found["l1"].weights_interval().tolist()
    record["slopes"] = None
    (tmp_path / "without.json").write_text(json.dumps(record), encoding="utf-8")
    assert load_solution(tmp_path / "without.json").weights_interval() is None


def test_many_labels_and_pairs_have_ranges():
    labelled = Instance(INSTANCE.kernels[:3, :12, :12], labels=np.arange(12)[:, None] // [1, 2, 3] % 2)
    for name in ("ml_sum", "ml_minimax", "ts", "ts_l1", "hypergraph"):
        solution = solve(labelled, name)
        low, high = solution.weights_interval().T
        assert ((low <= solution.weights) & (high >= solution.weights)).all()
        assert (high < 1).any() or name.startswith("ts")
    classes = Instance(INSTANCE.kernels[:3, :12, :12], classes=np.arange(12) % 3)
    joint = solve(classes, "sm2", loss="crammer_singer")
    assert np.ptp(joint.weights_interval(), axis=1).max() < 0.01


def test_slopes_of_another_shape_are_refused(found, tmp_path):
    record = {**found["l1"].as_dict(), "slopes": [[0.0] * 4] * 2}
    (tmp_path / "one.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(mklcvx.InputError, match="weights and slopes do not fit together"):
        load_solution(tmp_path / "one.json")


def test_verdicts_state_the_ranges_of_what_they_accept():
    instance = zoo.random(12, 3, seed=4)
    solution = solve(instance, "sm2")
    report = mklcvx.verify(instance, "sm2", weights=solution.weights, tol=1e-4)
    assert report.accepted
    for one, name, weight in zip(report.weights_interval, instance.names, solution.weights, strict=True):
        assert one.kernel == name
        assert one.low <= weight <= one.high
    assert report.as_dict()["weights_interval"][0] == {
        "kernel": instance.names[0], "low": report.weights_interval[0].low, "high": report.weights_interval[0].high,
    }  # fmt: skip
    moved = solution.weights + np.array([1, -1, 0]) * 2 * (report.weights_interval[0].high - solution.weights[0])
    assert not mklcvx.verify(instance, "sm2", weights=moved, tol=1e-4, diagnosis=False).accepted
    assert mklcvx.verify(instance, "sm2", objective=solution.objective).weights_interval is None


def test_a_range_is_short_in_words():
    from mklcvx.verification.uniqueness import Range

    assert Range("k", 0.0, 3.21e-9).words == "≤ 3.2e-09"
    assert Range("k", 0.0, np.inf).words == "≥ 0"
    assert Range("k", 0.46100, 0.46136).words == "0.461 – 0.46136"
    assert Range("k", 1.0, 1.0).words == "1"


def test_a_verdict_names_what_is_needed_and_what_is_small():
    from mklcvx.verification.uniqueness import Range, in_every_answer

    many = [Range(f"K{m}", 0.0, 1e-8) for m in range(8)]
    found = dict(in_every_answer([Range("A", 0.3, 0.4), Range("B", 0.0, 0.5), *many]))
    assert found["needed in every answer"] == "A 0.3 – 0.4"
    assert found["small in every answer"].startswith("K0 ≤ 1e-08, ")
    assert found["small in every answer"].endswith("K5 ≤ 1e-08, 2 more")
    assert in_every_answer([Range("A", 0.0, 1.0)]) == []
