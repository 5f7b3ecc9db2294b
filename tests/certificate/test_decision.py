"""What predictions evaluate is the certified function, as accurately as `decision_error` states: against fractions."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from mklcvx import Instance, LowRank, solve, zoo
from mklcvx.io.files import load_solution, save_solution
from mklcvx.problem.cross_kernels import CrossKernels
from mklcvx.solvers.one_against import solve_by_machines

TRAINING, NEW = 20, 6


def features(seed):
    """Features like years or prices: spreads that are small beside their offsets."""
    rng = np.random.default_rng(seed)
    offset, spread = 10.0 ** rng.integers(2, 5), 10.0 ** rng.integers(-1, 2)
    noise = rng.standard_normal((TRAINING + NEW, 4))
    signs = np.where(noise[:, 0] + 0.6 * rng.standard_normal(len(noise)) > 0, 1.0, -1.0)
    return offset + spread * noise, signs


def linear(X):
    return np.stack([(part + part.T) / 2 for part in (X[:, :2] @ X[:, :2].T, X[:, 2:] @ X[:, 2:].T, X @ X.T)])


def exact(solution, kernel):
    """t(Σ_m Σ_i c_mi k_m(x_i, x) + b + b̃) for every row of kernels (M, t, n) of numbers that are exact."""
    fraction, shape = np.vectorize(Fraction, otypes=[object]), np.shape(solution.bias)
    signed = fraction(solution.alpha * solution.y)
    if solution.alpha_low is not None:
        signed = signed + fraction(solution.alpha_low)
    if solution.coefficients is None:
        coefficients = (
            fraction(np.where(np.isnan(solution.weights), 0, solution.weights))[:, None] * signed[..., None, :]
        )
    else:
        coefficients = fraction(solution.coefficients)
    stretch = fraction(solution.multipliers.get("second_stage_stretch", solution.certificate.stretch))
    constant = fraction(solution.bias) + fraction(solution.bias_low)
    values = np.stack(
        [np.tensordot(coefficients, kernel[:, i], axes=([-2, -1], [0, 1])) for i in range(kernel.shape[1])]
    )
    found = stretch * (values + constant)
    assert found.shape == (kernel.shape[1], *shape)
    return found


def off(solution, kernels, exact_kernels=None):
    """How far predictions are from the certified function, and from where they may be."""
    values, bound = solution.decision_function(kernels), solution.decision_error(kernels)
    given = np.vectorize(Fraction, otypes=[object])(kernels) if exact_kernels is None else exact_kernels
    distance = np.vectorize(lambda one, other: float(abs(Fraction(one) - other)))(values, exact(solution, given))
    assert (distance <= bound).all()
    return float(distance.max()), float(bound.max())


OFFSET = [("l1", 1, 1.0), ("l1", 2, 1.0), ("svm", 5, 1.0), ("l1", 14, 1.0), ("sm2", 23, 1.0), ("li", 9, 1.0)]


def posed(name, seed):
    X, y = features(seed)
    kernels = linear(X)[: 1 if name == "svm" else 3]
    return Instance(kernels[:, :TRAINING, :TRAINING], y[:TRAINING]), kernels[:, TRAINING:, :TRAINING]


@pytest.mark.parametrize(("name", "seed", "price"), OFFSET)
def test_predictions_are_those_of_the_certified_function(name, seed, price):
    instance, new = posed(name, seed)
    solution = solve(instance, name, C=price)
    for kernels in (new, instance.kernels):
        distance, bound = off(solution, kernels)
        assert distance < (1e-5 if solution.coefficients is not None else 1e-9)
        if solution.alpha_low is not None:
            assert bound < 1e-12


def test_the_problems_have_low_parts_and_stretches():
    found = [solve(posed(name, seed)[0], name, C=price) for name, seed, price in OFFSET]
    assert any(one.alpha_low is not None for one in found)
    assert any(one.certificate.stretch > 1 for one in found)


def test_the_low_part_is_a_part_of_the_function():
    """β̃ that are not small at all: leaving them out would be seen anywhere."""
    instance, new = posed("l1", 1)
    rng = np.random.default_rng(0)
    solution = solve(instance, "l1", C=1.0)
    low = rng.integers(-8, 8, TRAINING) / 1024
    low[0] -= low.sum()
    changed = replace(solution, alpha_low=low, bias_low=0.25, certificate=replace(solution.certificate, stretch=1.5))
    assert off(changed, new)[0] < 1e-8
    assert not np.allclose(changed.decision_function(new), solution.decision_function(new), rtol=0.1)
    whole = np.einsum("mi,mti->t", changed.all_coefficients, new - new[:, :, :1]) + changed.offset
    np.testing.assert_allclose(whole, changed.decision_function(new), atol=1e-6)


@pytest.mark.parametrize("seed", [0, 9])
@pytest.mark.parametrize("with_low", [False, True])
def test_factors_that_are_never_multiplied(seed, with_low):
    X, y = features(seed)
    factors = [X[:, :2], X[:, 2:], X]
    train, every = LowRank([part[:TRAINING] for part in factors]), LowRank(factors)
    solution = solve(Instance(train, y[:TRAINING]), "l1", C=1.0)
    if with_low:
        low = np.zeros(TRAINING)
        low[:2] = 2.0**-40, -(2.0**-40)
        solution = replace(solution, alpha_low=low)
    kernels = CrossKernels.among(every, np.arange(TRAINING, TRAINING + NEW), np.arange(TRAINING))
    fraction = np.vectorize(Fraction, otypes=[object])
    products = np.stack([fraction(part[TRAINING:]) @ fraction(part[:TRAINING]).T for part in factors])
    distance, bound = off(solution, kernels, products)
    assert distance < 1e-7
    if with_low:
        assert bound < 1e-12


@pytest.mark.parametrize(
    ("name", "targets"),
    [("ml_sum", "labels"), ("ml_minimax", "labels"), ("ts", "classes"), ("ts", "y"), ("l1", "response")],
)
def test_several_outputs_and_second_stages(name, targets):
    X, y = features(9)
    whole = linear(X)
    rng = np.random.default_rng(1)
    given = {
        "labels": {"labels": rng.integers(0, 2, (TRAINING, 2))},
        "classes": {"classes": np.arange(TRAINING) % 3},
        "y": {"y": y[:TRAINING]},
        "response": {"response": rng.standard_normal((TRAINING, 2))},
    }[targets]
    instance = Instance(whole[:, :TRAINING, :TRAINING], **given)
    solution = solve(instance, name, C=1.0)
    assert off(solution, whole[:, TRAINING:, :TRAINING])[0] < 1e-8
    stretched = replace(
        solution,
        certificate=replace(solution.certificate, stretch=1.25),
        multipliers={k: v if k != "second_stage_stretch" else v + 0.25 for k, v in solution.multipliers.items()},
    )
    assert off(stretched, whole[:, TRAINING:, :TRAINING])[0] < 1e-8


def test_machines_of_several_classes_are_certified_functions_each():
    X, _ = features(1)
    whole = linear(X)
    instance = Instance(whole[:, :TRAINING, :TRAINING], classes=np.arange(TRAINING) % 3)
    machines = solve_by_machines(instance, "l1", C=1e3)
    new = whole[:, TRAINING:, :TRAINING]
    values, bound = machines.decision_function(new), machines.decision_error(new)
    assert bound.shape == (NEW, 3)
    for i, (one, members) in enumerate(zip(machines.solutions, machines.members, strict=True)):
        part = np.vectorize(Fraction, otypes=[object])(new[:, :, members])
        distance = [float(abs(Fraction(a) - b)) for a, b in zip(values[:, i], exact(one, part), strict=True)]
        assert (np.array(distance) <= bound[:, i]).all()


def test_at_training_samples_li_is_certified_with_its_ridges():
    """f of the kernels K_m + δ_mI: the error says how much of that predictions leave out."""
    problem = zoo.random(20, 4, seed=5)
    rounded = np.stack([(one[:, :3] @ one[:, :3].T + (one[:, :3] @ one[:, :3].T).T) / 2 for one in problem.kernels])
    solution = solve(Instance(rounded, problem.y, groups=[0, 0, 1, 1]), "li", C=1.0)
    delta = np.array(solution.certificate.ridges)
    assert delta.any()
    lifted = rounded + delta[:, None, None] * np.eye(20)
    apart = np.abs(solution.decision_function(lifted) - solution.decision_function(rounded))
    assert (apart <= 1.01 * solution.decision_error(rounded)).all()


@pytest.mark.parametrize("ending", ["npz", "json"])
@pytest.mark.parametrize(("name", "seed", "price"), OFFSET)
def test_what_a_file_brings_back_predicts_the_same_to_the_last_bit(tmp_path, name, seed, price, ending):
    instance, new = posed(name, seed)
    solution = solve(instance, name, C=price)
    save_solution(tmp_path / f"s.{ending}", solution)
    back = load_solution(tmp_path / f"s.{ending}")
    for kernels in (new, instance.kernels):
        assert np.array_equal(back.decision_function(kernels), solution.decision_function(kernels))
        assert np.array_equal(back.decision_error(kernels), solution.decision_error(kernels))
