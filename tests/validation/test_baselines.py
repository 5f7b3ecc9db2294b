"""The baselines: AdaBoost over single kernels, and what all of them share."""

import numpy as np
import pytest

from baselines import adaboost, knn, lp_beta
from baselines.adaboost import mistakes
from baselines.lp_beta import LP_BETA
from mklcvx import Instance, zoo
from mklcvx.reports.explain import as_latex, as_text
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
