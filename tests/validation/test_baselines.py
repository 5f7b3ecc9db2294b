"""The baselines: AdaBoost over single kernels, and what all of them share."""

import numpy as np
import pytest

from baselines import adaboost, knn, lp_beta
from baselines._machines import held_out, machines
from baselines.adaboost import mistakes
from baselines.lp_beta import HIGHS, LP_BETA, Mixing
from checks import declared_apart
from mklcvx import Instance, zoo
from mklcvx.reports.explain import as_latex, as_text
from mklcvx.solvers.conic import solve_declared
from mklcvx.zoo import real
from refusals import check_refused

pytestmark = pytest.mark.slow


def informative_and_noise(samples=60, seed=0):
    """One kernel that knows the labels up to a few mistakes, two that know nothing."""
    random = np.random.default_rng(seed)
    y = np.where(np.arange(samples) % 2 == 0, 1.0, -1.0)
    features = [y + 0.6 * random.normal(size=samples), random.normal(size=samples), random.normal(size=samples)]
    return Instance(np.stack([np.outer(f, f) for f in features]), y)


def test_adaboost_by_hand():
    """The votes are those of the rounds written out."""
    instance = real("breast_cancer")
    found = adaboost(instance, C=1.0, rounds=3)
    wrong = mistakes(instance, 1.0, 5, 0)
    weights, votes = np.full(instance.samples, 1 / instance.samples), np.zeros(instance.count)
    for _ in range(3):
        errors = np.array([weights[row].sum() for row in wrong])
        best = errors.argmin()
        vote = 0.5 * np.log((1 - errors[best]) / errors[best])
        votes[best] += vote
        weights[wrong[best]] *= np.exp(vote)
        weights[~wrong[best]] *= np.exp(-vote)
        weights /= weights.sum()
        assert weights[wrong[best]].sum() == pytest.approx(0.5)
    assert found.votes == pytest.approx(votes)


def test_a_flawless_kernel_has_finite_votes_and_ends_it():
    base = zoo.random(30, 2, seed=3)
    instance = Instance(np.stack([np.outer(base.y, base.y), base.kernels[0]]), base.y)
    found = adaboost(instance)
    assert np.isfinite(found.votes).all()
    assert found.votes[0] > 0 == found.votes[1]
    assert (found.predict(instance.kernels) == base.y).all()


def test_kernels_no_better_than_chance_leave_the_best_single_one():
    random = np.random.default_rng(1)
    y = np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    noise = random.normal(size=(2, 40, 1))
    instance = Instance(noise @ noise.transpose(0, 2, 1), y)
    for seed in range(6):
        found = adaboost(instance, seed=seed)
        assert found.votes.any()
        assert (found.votes >= 0).all()


def test_bad_settings_are_refused():
    instance = informative_and_noise()
    with check_refused("rounds = 0 is below 1", "give a number of rounds"):
        adaboost(instance, rounds=0)
    with check_refused("folds = 31", "give between 2 and 30"):
        adaboost(instance, folds=31)
    with check_refused("parameter C = 0 is outside the limits of adaboost"):
        adaboost(instance, C=0)
    with check_refused("test_kernels"):
        adaboost(instance).predict(np.zeros((3, 5, 7)))


def test_a_convex_baseline_is_explained_as_a_formulation_is():
    text, code = as_text(LP_BETA), as_latex(LP_BETA)
    assert text.startswith("lp_beta — ")
    for part in ("primal", "dual", "From one to the other", "recovery", "multipliers", "Degenerate", "Reference:"):
        assert part in text
    assert r"\text{primal} &" in code
    assert r"\text{dual} &" in code
    assert code.isascii()


@pytest.mark.parametrize(
    ("baseline", "whole"), [(adaboost, "rounds"), (adaboost, "folds"), (lp_beta, "folds"), (knn, "neighbours")]
)
def test_numpys_whole_numbers_are_whole_numbers(baseline, whole):
    instance = informative_and_noise(20)
    ours, theirs = (baseline(instance, **{whole: kind(3)}) for kind in (int, np.int64))
    values = ours.decision_function(instance.kernels)
    np.testing.assert_array_equal(theirs.decision_function(instance.kernels), values)


@pytest.mark.parametrize("tol", [0, -1.0, 1.5, "1e-8", float("nan"), True])
def test_tolerances_are_between_0_and_1(tol):
    with check_refused("tol = ", "is not between 0 and 1"):
        lp_beta(informative_and_noise(20), tol=tol)


@pytest.mark.parametrize("baseline", [adaboost, lp_beta])
@pytest.mark.parametrize("seed", [-1, 2**32, "one", 0.5])
def test_seeds_are_whole_numbers(baseline, seed):
    with check_refused("seed = ", "give a whole number between 0 and"):
        baseline(informative_and_noise(20), seed=seed)


# -------------------------------------------------------------------------------------------------------------- lp_beta
CASES = {
    "breast cancer": real("breast_cancer", "y", samples=60, count=6),
    "wine": real("wine", "classes", samples=60, count=6),
    "digits": real("digits", "classes", samples=80, count=5),
    "random": zoo.random(30, 4, seed=2),
}


def mean_of_worst(margins, shares, nu):
    """The mean of the smallest margins that make up ν of the samples' weight."""
    order = np.argsort(margins)
    left, total = nu, 0.0
    for i in order:
        part = min(shares[i], left)
        total, left = total + part * margins[i], left - part
    return total / nu


def solved(margins, box):
    return solve_declared(LP_BETA, Mixing(np.asarray(margins, dtype=float), box), 1e-9, options=HIGHS, units=(1.0,))[0]


@pytest.mark.parametrize(
    ("margins", "nu", "value", "mu"),
    [
        ([[[1, 0]], [[0, 1]]], 0.5, -0.5, [0.5, 0.5]),  # each kernel knows one sample: both are needed
        ([[[1, 0]], [[0, 3]]], 1.0, -1.5, [0.0, 1.0]),  # the mean alone counts
        ([[[1, 0], [0, 1]]], 1.0, -0.5, [0.5, 0.5]),  # one sample with two rivals
        ([[[2, 1]], [[2, 1]], [[-4, 1]]], 1 / 3, -1.0, [0.0, 1.0]),  # the worst third decides
        ([[[2, 1]], [[2, 1]], [[-4, 1]]], 1.0, -1.0, [0.0, 1.0]),
    ],
)
def test_lp_beta_by_hand(margins, nu, value, mu):
    point = solved(margins, np.full(len(margins), 1 / (nu * len(margins))))
    assert point.certificate.lower == pytest.approx(value, abs=1e-12)
    assert point.certificate.upper == pytest.approx(value, abs=1e-12)
    assert point.upper.point == pytest.approx(mu, abs=1e-9)


@pytest.mark.parametrize("nu", [0.1, 0.4, 1.0])
@pytest.mark.parametrize("name", CASES)
def test_certified_and_declared_alike(name, nu):
    instance = CASES[name]
    found = lp_beta(instance, C=2.0, nu=nu, folds=3 if name != "digits" else 2)
    assert found.message == ""
    assert found.certificate.relative_gap <= 1e-10
    margins, mu = found.multipliers["margins"], found.weights
    assert mu.sum() == pytest.approx(1, abs=1e-14)
    worst, even = (margins @ mu).min(axis=1), np.full(instance.samples, 1 / instance.samples)
    assert found.certificate.upper == pytest.approx(-mean_of_worst(worst, even, nu), abs=1e-9)
    u = found.multipliers["u"]
    assert (u >= 0).all()
    assert u.sum() == pytest.approx(1, abs=1e-12)
    assert (u.sum(axis=1) <= 1 / (nu * instance.samples) * (1 + 1e-12)).all()
    assert found.certificate.lower == pytest.approx(-np.einsum("iu,ium->m", u, margins).max(), abs=1e-12)
    primal, dual = declared_apart(LP_BETA, Mixing(margins, np.full(instance.samples, 1 / (nu * instance.samples))))
    scale = found.certificate.scale
    assert primal == pytest.approx(dual, abs=1e-9 * scale)
    assert primal == pytest.approx(found.certificate.upper, abs=1e-9 * scale)


def test_the_margins_are_those_of_held_out_samples():
    instance = CASES["wine"]
    outputs = held_out(instance, 2.0, 3, 0, "test")
    margins, own = lp_beta(instance, C=2.0, folds=3).multipliers["margins"], np.asarray(instance.targets.values)
    for i in (0, 7, 30):
        for place, rival in enumerate(u for u in range(3) if u != own[i]):
            assert margins[i, place] == pytest.approx(outputs[own[i], :, i] - outputs[rival, :, i])


def test_one_kernel_is_its_own_svm():
    instance = CASES["breast cancer"].select([2])
    found = lp_beta(instance, C=1.0, nu=0.3)
    coefficients, biases = machines(instance, 1.0, "test")
    assert found.weights.tolist() == [1.0]
    values = instance.kernels[0] @ coefficients[0, 0] + biases[0, 0]
    assert found.decision_function(instance.kernels) == pytest.approx(values)
    even = np.full(60, 1 / 60)
    worst = found.multipliers["margins"][:, 0, 0]
    assert found.certificate.upper == pytest.approx(-mean_of_worst(worst, even, 0.3), abs=1e-12)


def test_the_decision_mixes_the_machines():
    instance = CASES["wine"]
    found = lp_beta(instance, C=1.0, nu=0.2)
    coefficients, biases = machines(instance, 1.0, "test")
    parts = np.einsum("mti,kmi->tkm", instance.kernels, coefficients) + biases
    assert found.decision_function(instance.kernels) == pytest.approx(parts @ found.weights)
    assert np.mean(found.predict(instance.kernels) == instance.targets.values) > 0.9


def test_weights_of_samples_count():
    base = CASES["random"]
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 30)
    weighted = Instance(base.kernels, base.y, sample_weight=weight)
    found = lp_beta(weighted, nu=0.5, folds=3)
    worst = (found.multipliers["margins"] @ found.weights).min(axis=1)
    assert found.certificate.upper == pytest.approx(-mean_of_worst(worst, weight / weight.sum(), 0.5), abs=1e-9)


def test_any_weights_bound_the_optimum():
    random, margins = np.random.default_rng(1), np.random.default_rng(2).normal(size=(12, 2, 3))
    task = Mixing(margins, np.full(12, 1 / 6))
    optimum = solved(margins, task.box).certificate.upper
    for _ in range(20):
        assert LP_BETA.lower(task, random.exponential(size=(12, 2))).value <= optimum + 1e-12
        assert LP_BETA.upper(task, random.exponential(size=3)).value >= optimum - 1e-12
    assert LP_BETA.lower(task, np.zeros((12, 2))).point.sum() == pytest.approx(1)


def test_bad_settings_of_lp_beta_are_refused():
    instance = CASES["wine"]
    with check_refused("parameter nu = 0 is outside the limits of lp_beta", "0 < ν ≤ 1"):
        lp_beta(instance, nu=0)
    with check_refused("folds = 1", "the size of the smallest class"):
        lp_beta(instance, folds=1)
    with check_refused("lp_beta needs y or classes"):
        lp_beta(Instance(instance.kernels, labels=np.eye(3)[instance.targets.values]))
