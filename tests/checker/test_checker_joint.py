"""The auditor and several outputs: what a sample costs, honest files, false ones, and weak duality."""

import copy
import math
from fractions import Fraction

import numpy as np
import pytest

from honest import written
from joint_cases import FOR_CLASSES, FOR_RESPONSES, OWN, WITH_WEIGHTS, classes, drawn, posed, responses, stored
from mklcvx import Instance, solve
from mklcvx.checker.audit import point_multipliers
from mklcvx.checker.claims import audit
from mklcvx.checker.joint import CrammerSinger, Softmax, check, evaluated, evaluated_file
from mklcvx.checker.numbers import Refused, root
from mklcvx.checker.outputs import Ridge

pytestmark = pytest.mark.slow

LOSSES = (*FOR_CLASSES, *FOR_RESPONSES)
KINDS = {"crammer_singer": CrammerSinger, "softmax": Softmax}


def instance_for(loss, **more):
    return classes(9, **more) if loss in FOR_CLASSES else responses(9, **more)


@pytest.fixture(scope="module")
def solved():
    """Instance and record of `l1` with a bias, for every loss."""
    found = {}
    for loss in LOSSES:
        instance = instance_for(loss)
        found[loss] = instance, written(solve(instance, "l1", loss=loss, C=0.7, **OWN.get(loss, {})))
    return found


def audited(instance, record):
    status, lines = audit(stored(instance), record, evaluated_file, point_multipliers)
    return status, lines[-1]


# ------------------------------------------------------------------------------------------------------- one sample
@pytest.mark.parametrize("square", [0, Fraction(1, 2**40), Fraction(1, 4), 3])
@pytest.mark.parametrize("loss", FOR_CLASSES)
def test_no_alpha_is_worth_more_than_the_cost_and_one_is_worth_it(loss, square):
    """Probabilities u stand for β̂ = c(e_y − u); the vertices among them, and what the outputs call for."""
    rng, c, own = np.random.default_rng(0), Fraction(0.7), 1
    for outputs in (2, 4):
        z = [Fraction(x) for x in rng.normal(size=outputs) * 2]
        centre = [Fraction(x) for x in rng.normal(size=outputs) * 0.2]
        ridge = Ridge(Fraction(square), [square * x for x in centre], square * sum(x * x for x in centre))
        one = KINDS[loss](own, c)
        cost = float(one.cost(z, ridge))
        powers = np.exp(np.array(z, dtype=float))
        draws = [*np.eye(outputs), powers / powers.sum(), *rng.dirichlet(np.full(outputs, 0.4), 400)]
        worth = []
        for u in draws:
            shares = [Fraction(x) for x in u]
            shares[own] += 1 - sum(shares)
            if min(shares) < 0:
                continue
            beta = [c * ((j == own) - share) for j, share in enumerate(shares)]
            alpha = [b if j == own else -b for j, b in enumerate(beta)]
            along = sum(b * x for b, x in zip(beta, z, strict=True))
            worth.append(float(one.gain(alpha) - along + ridge.at(beta)))
        assert max(worth) <= cost + 1e-15
        if square * c < 2 or loss == "crammer_singer":
            assert cost <= max(worth) + 0.02


def test_costs_without_a_ridge_are_the_losses():
    rng, zero = np.random.default_rng(1), Ridge(Fraction(0), [Fraction(0)] * 3, Fraction(0))
    for _ in range(20):
        z = rng.normal(size=3) * 3
        exact = [Fraction(x) for x in z]
        hinge = max(0.0, 1 - z[2] + max(z[0], z[1]))
        assert float(CrammerSinger(2, Fraction(2)).cost(exact, zero)) == pytest.approx(2 * hinge, abs=1e-15)
        value = 2 * (np.log(np.exp(z).sum()) - z[2])
        assert float(Softmax(2, Fraction(2)).cost(exact, zero)) == pytest.approx(value, rel=1e-14)


# ------------------------------------------------------------------------------------------------------ honest files
@pytest.mark.parametrize("loss", LOSSES)
def test_honest_files_are_confirmed(solved, loss):
    instance, record = solved[loss]
    assert record["status"] == "certified"
    status, last = audited(instance, record)
    assert (status, last) == (0, "confirmed")
    lower, upper = check(instance.kernels, instance.targets.values, record, instance.sample_weight)
    assert record["certificate"]["lower"] <= lower <= upper <= record["certificate"]["upper"]


@pytest.mark.parametrize("name", [name for name in WITH_WEIGHTS if name != "l1"])
def test_every_regulariser_is_known(name):
    for loss in ("crammer_singer", "softmax", "quantile"):
        instance = instance_for(loss, seed=3)
        own = {**OWN.get(loss, {}), **OWN.get(name, {})}
        record = written(solve(instance, name, loss=loss, bias=loss != "softmax", C=0.4, **own))
        assert audited(instance, record) == (0, "confirmed"), (loss, record["certificate"])


@pytest.mark.parametrize("seed", range(1000, 1012))
def test_problems_at_random_are_confirmed(seed):
    instance, name, given = drawn(seed)
    assert audited(instance, written(solve(instance, name, **given))) == (0, "confirmed")


@pytest.mark.parametrize("loss", ["crammer_singer", "softmax", "huber"])
def test_functions_of_their_own_prove_as_much_as_weights(solved, loss):
    instance, record = solved[loss]
    own = copy.deepcopy(record)
    signed = np.array(record["alpha"]) * np.array(record["y"])
    own["coefficients"] = (np.array(record["weights"])[:, None] * signed[:, None]).tolist()
    own["certificate"] |= {"stretch": 1.0, "ridge": 1e-9, "ridges": [1e-9] * 3}
    record = {**record, "certificate": {**record["certificate"], "stretch": 1.0}}
    given = instance.kernels, instance.targets.values
    one, other = (evaluated(*given, file, instance.sample_weight) for file in (record, own))
    assert one.lower == other.lower
    assert float(other.upper - one.upper) == pytest.approx(0, abs=1e-7)
    own["coefficients"][1][0][2] += 0.3
    assert evaluated(*given, own, instance.sample_weight).upper > one.upper + Fraction(1, 1000)


@pytest.mark.parametrize("loss", FOR_CLASSES)
def test_a_constant_in_all_biases_changes_nothing(solved, loss):
    instance, record = solved[loss]
    moved = {**record, "bias": [b + 2.0 for b in record["bias"]], "bias_low": [0.0] * 3}
    exact = {**record, "bias": [b - 2.0 for b in moved["bias"]], "bias_low": [0.0] * 3}
    given = instance.kernels, instance.targets.values
    one, other = (evaluated(*given, file, instance.sample_weight) for file in (exact, moved))
    assert abs(one.upper - other.upper) < Fraction(1, 10**45)


# ------------------------------------------------------------------------------------------------------- false files
def lies(loss, record):
    """Wrong claims about an answer, by what is wrong."""
    found = {}

    def lie(what):
        found[what] = copy.deepcopy(record)
        return found[what]

    for factor in (1 + 1e-6, 1 - 1e-6):
        made = lie(f"objective times {factor}")
        made["objective"] *= factor
        made["certificate"]["upper"] *= factor
    for key, factor in (("lower", 1 + 1e-7), ("gap", 0.1), ("relative_gap", 0.1), ("scale", 1.01), ("gain", 1.01)):
        lie(f"another {key}")["certificate"][key] *= factor
    for factor in (2.0, 0.5, 1 + 1e-3):
        lie(f"C times {factor}")["parameters"]["C"] *= factor
    for key, value in OWN.get(loss, {}).items():
        lie(f"another {key}")["parameters"][key] = 1.1 * value
        del lie(f"no {key}")["parameters"][key]
    lie("a parameter of another loss")["parameters"]["width"] = 0.1
    for other in (*LOSSES, "hinge", "logistic"):
        if other != loss:
            lie(f"as {other}")["parameters"] = {**record["parameters"], "loss": other, **OWN.get(other, {})}
    lie("no bias")["parameters"]["bias"] = False
    lie("another regulariser")["formulation"] = "sm2"
    lie("one without outputs")["formulation"] = "li"
    rows = lie("two outputs swapped in alpha")
    rows["alpha"] = rows["alpha"][1::-1] + rows["alpha"][2:]
    both = lie("two outputs swapped in alpha and biases")
    for key in ("alpha", "bias", "bias_low"):
        both[key] = both[key][1::-1] + both[key][2:]
    alpha = lie("alpha off by an ulp")["alpha"]
    i = int(np.argmax(np.abs(alpha[0])))
    alpha[0][i] = math.nextafter(alpha[0][i], 0.0)
    lie("twice alpha")["alpha"] = (2 * np.array(record["alpha"])).tolist()
    lie("alpha of one output")["alpha"] = record["alpha"][0]
    lie("another bias")["bias"][1] += 0.4
    lie("a low part of a bias")["bias_low"][1] = 0.4
    lie("a low part of alpha")["alpha_low"] = np.zeros((3, 9)).tolist()
    weights = lie("other weights")["weights"]
    weights[0], weights[2] = weights[2], weights[0]
    lie("weights off by an ulp")["weights"][0] = math.nextafter(record["weights"][0], 2.0)
    lie("functions of their own")["coefficients"] = np.zeros((3, 3, 9)).tolist()
    lie("other norms")["norms"][0] *= 1.001
    lie("a stretch below 1")["certificate"]["stretch"] = 0.5
    lie("another stretch")["certificate"]["stretch"] = 1.01
    lie("a ridge below 0")["certificate"]["ridge"] = -1e-9
    lie("another status")["status"] = "not_certified"
    lie("another target")["target"] = "labels"
    lie("other names")["label_names"] = ["a", "b", "c"]
    lie("other signs")["y"][0][0] *= -1
    return found


@pytest.mark.parametrize("loss", LOSSES)
def test_false_files_are_refused(solved, loss):
    instance, record = solved[loss]
    made = lies(loss, record)
    results = {what: audited(instance, forged) for what, forged in made.items()}
    assert {what: end for what, (status, end) in results.items() if status != 1 or "NOT confirmed" not in end} == {}
    assert len(made) >= 30


@pytest.mark.parametrize("loss", LOSSES)
def test_files_of_other_problems_are_refused(solved, loss):
    instance, record = solved[loss]
    data = stored(instance)
    kernels, weight = np.array(data["kernels"]), np.array(data["sample_weight"])
    kernels[0, 3, 1] += 1e-3
    kernels[0, 1, 3] += 1e-3
    kind = instance.targets.kind
    values = np.array(instance.targets.values)
    values[[0, 1]] = values[[1, 0]]
    others = {
        "a kernel": {"kernels": kernels}, "kernels in another order": {"kernels": np.array(data["kernels"])[::-1]},
        "weights of samples": {"sample_weight": weight * (1 + 1e-3 * np.arange(9))}, "targets": {kind: values},
    }  # fmt: skip
    for what, changed in others.items():
        status, lines = audit(data | changed, record, evaluated_file, point_multipliers)
        assert status == 1, what
        assert "NOT confirmed" in lines[-1]


@pytest.mark.parametrize("loss", FOR_CLASSES)
def test_alpha_must_be_feasible_exactly(solved, loss):
    instance, record = solved[loss]
    n, given = 9, (instance.kernels, instance.targets.values)
    _, task = posed(instance, "l1", loss=loss, C=0.7, bias=False)
    free = {**record, "parameters": {**record["parameters"], "bias": False}, "bias": [0.0] * 3, "bias_low": 0.0}
    own = np.argmax(task.y > 0, axis=0)

    def at(alpha):
        return evaluated(*given, {**free, "alpha": alpha.tolist()}, instance.sample_weight)

    alpha = np.zeros((3, n))
    other = (own[0] + 1) % 3
    alpha[own[0], 0] = alpha[other, 0] = task.box[0]
    at(alpha)
    beyond = alpha.copy()
    beyond[own[0], 0] = beyond[other, 0] = math.nextafter(task.box[0], math.inf)
    unequal = alpha.copy()
    unequal[other, 0] = math.nextafter(task.box[0], 0)
    for wrong, fault in (
        (beyond, "leaves its box"),
        (-alpha, "leaves its box"),
        (unequal, "not the sum of its others"),
    ):
        with pytest.raises(Refused, match=fault):
            at(wrong)
    with pytest.raises(Refused, match="does not sum to zero"):
        evaluated(*given, {**record, "alpha": alpha.tolist()}, instance.sample_weight)


def test_targets_that_do_not_fit_are_refused(solved):
    one, record = solved["softmax"]
    other, response = solved["squared"]
    for data, file in ((stored(other), record), (stored(one), response)):
        assert audit(data, file, evaluated_file, point_multipliers)[0] == 1
    with pytest.raises(Refused, match="needs classes"):
        evaluated(one.kernels, other.targets.values, record)
    with pytest.raises(Refused, match=r"needs a response \(n, k\)"):
        evaluated(one.kernels, one.targets.values, response)
    with pytest.raises(Refused, match="the loss needs classes, the instance has response"):
        evaluated_file(stored(other), record)


# ------------------------------------------------------------------------------------------------------ weak duality
@pytest.mark.parametrize("loss", ["crammer_singer", "softmax", "squared", "quantile"])
def test_lower_bounds_lie_below_upper_bounds_for_kernels_that_are_not_semidefinite(solved, loss):
    """The lower bound of every point and the upper bound of every other, with ridges that matter."""
    instance, best = solved[loss]
    kernels, rng = np.asarray(instance.kernels) - 0.05 * np.eye(9), np.random.default_rng(4)
    _, task = posed(instance, "l1", loss=loss, C=0.7, **OWN.get(loss, {}))
    points = []
    for near in (0.0, 0.0, 0.5, 0.9, 0.99, 1.0, 1.0):
        record = copy.deepcopy(best)
        moved = np.array(best["alpha"]) * near + (1 - near) * rng.normal(size=(3, 9)) * 0.3
        record["alpha"] = task.feasible(moved).tolist()
        record["bias"] = (np.array(best["bias"]) + (1 - near) * rng.normal(size=3)).tolist()
        signed = np.array(record["alpha"]) * task.signs
        record["certificate"] = {"stretch": 1 + 0.1 * rng.random() * (1 - near)}
        if rng.random() < 0.5:
            own = np.array(record["weights"])[:, None] * signed[:, None]
            noise = (1 - near) * rng.normal(size=(3, 3, 9)) * (np.array(record["weights"]) > 0)[:, None]
            record["coefficients"], record["certificate"]["stretch"] = (own + noise).tolist(), 1.0
        points.append(evaluated(kernels, instance.targets.values, record, instance.sample_weight))
    assert max(point.lower for point in points) <= min(point.upper for point in points)
    assert float(root(max(point.ridge for point in points), 1)) > 0.2


def test_one_output_in_two_dimensions_is_the_single_task(solved):
    """A file may have a response (n, 1)."""
    instance, _ = solved["huber"]
    column = instance.targets.values[:, 0]
    one = Instance(instance.kernels, response=column, sample_weight=instance.sample_weight)
    record = written(solve(one, "l1", loss="huber", C=0.7))
    status, lines = audit(stored(one) | {"response": column[:, None]}, record, evaluated_file, point_multipliers)
    assert (status, lines[-1]) == (0, "confirmed")
