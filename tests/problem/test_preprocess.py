"""Preprocessing against explicit feature maps: what a step does to kernels, it does to features."""

import json
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from mklcvx import Instance, solve
from mklcvx.problem.cross_kernels import CrossKernels
from mklcvx.problem.kernels import Gaussian, KernelBank, Linear, Polynomial
from mklcvx.problem.preprocessing import Centre, Cosine, Preprocessing, Step, UnitTrace, UnitVariance
from refusals import check_refused, peak_of

RNG = np.random.default_rng(2012)
TRAIN, TEST = RNG.normal(0.7, 1.0, (15, 3)), RNG.normal(0.7, 1.0, (6, 3))
BANK = KernelBank([Linear(), Polynomial(2), Gaussian(0.3)], "all+each").fit(TRAIN)
KERNELS, TEST_KERNELS, DIAGONALS = BANK.stack(), BANK.stack(TEST), BANK.diagonal(TEST)
for array in (KERNELS, TEST_KERNELS, DIAGONALS):  # no step may change what it is given
    array.setflags(write=False)

STEPS = (Centre(), UnitTrace(), UnitVariance(), Cosine())
CHAINS = [chain for length in range(4) for chain in permutations(STEPS, length)]
# Two feature spaces whose samples can be written down: the features themselves, and one of them alone.
FEATURE_SPACES = KernelBank([Linear()], "all+each").fit(TRAIN)


def features_after(steps: tuple[Step, ...], train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same steps on explicit features."""
    for step in steps:
        if step == Centre():
            train, test = train - train.mean(axis=0), test - train.mean(axis=0)
        if step == UnitTrace():
            length = np.sqrt((train**2).sum())
            train, test = train / length, test / length
        if step == UnitVariance():
            deviation = np.sqrt(train.var(axis=0).sum())
            train, test = train / deviation, test / deviation
        if step == Cosine():
            train, test = (X / np.linalg.norm(X, axis=1, keepdims=True) for X in (train, test))
    return train, test


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: "+".join(step.name for step in chain) or "none")
def test_chain_on_kernels_is_the_chain_on_features(chain: tuple[Step, ...]) -> None:
    kernels, test_kernels = FEATURE_SPACES.stack(), FEATURE_SPACES.stack(TEST)
    fitted = Preprocessing(chain).fit(kernels)
    trained = fitted.train(kernels)
    tested = fitted.test(test_kernels, FEATURE_SPACES.diagonal(TEST))
    assert np.array_equal(trained, trained.transpose(0, 2, 1))
    for m, columns in enumerate([slice(0, 3), slice(0, 1), slice(1, 2), slice(2, 3)]):
        train, test = features_after(chain, TRAIN[:, columns], TEST[:, columns])
        np.testing.assert_allclose(trained[m], train @ train.T, atol=1e-10)
        np.testing.assert_allclose(tested[m], test @ train.T, atol=1e-10)


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: "+".join(step.name for step in chain) or "none")
def test_training_samples_met_as_test_samples_give_the_training_kernels(chain: tuple[Step, ...]) -> None:
    fitted = Preprocessing(chain).fit(KERNELS)
    np.testing.assert_allclose(fitted.test(KERNELS, BANK.diagonal()), fitted.train(KERNELS), atol=1e-10)


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        ({}, ()),
        ({"centre": True}, (Centre(),)),
        ({"normalise": "trace"}, (UnitTrace(),)),
        ({"centre": True, "normalise": "cosine"}, (Centre(), Cosine())),
        ({"centre": True, "normalise": "variance"}, (Centre(), UnitVariance())),
    ],
)
def test_options_centre_first(options: dict[str, Any], steps: tuple[Step, ...]) -> None:
    assert Preprocessing.from_options(**options).steps == steps


def test_other_real_types_are_computed_in_double_precision() -> None:
    single = KERNELS.astype(np.float32)
    trained = Preprocessing([UnitTrace()]).fit(single).train(single)
    assert trained.dtype == np.float64
    np.testing.assert_allclose(np.trace(trained, axis1=1, axis2=2), 1.0, rtol=1e-12)
    counts = Preprocessing([UnitTrace()]).fit(2 * np.eye(4, dtype=int)[None])
    assert counts.train(2 * np.eye(4, dtype=int)[None])[0].tolist() == (np.eye(4) / 4).tolist()


def test_one_extra_stack_is_all_the_memory_it_takes() -> None:
    big = np.broadcast_to(np.eye(100) + 0.5, (40, 100, 100)).copy()
    chain = Preprocessing([Centre(), Cosine()]).fit(big)
    for work in (lambda: chain.train(big), lambda: chain.test(big, np.full((40, 100), 1.5))):
        assert peak_of(work) < 1.5 * big.nbytes


def test_the_new_stack_may_take_the_place_of_the_old_one() -> None:
    chain = Preprocessing([Centre(), UnitTrace()]).fit(KERNELS)
    wanted, given = chain.train(KERNELS), KERNELS.copy()
    assert chain.train(given, in_place=True) is given
    np.testing.assert_array_equal(given, wanted)
    single, frozen = KERNELS.astype(np.float32), KERNELS.copy()
    frozen.flags.writeable = False
    for other in (single, frozen):  # these cannot be written to, or not in double precision
        before = other.copy()
        assert chain.train(other, in_place=True) is not other
        np.testing.assert_array_equal(other, before)


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: "+".join(step.name for step in chain) or "none")
def test_state_travels_exactly_through_json(chain: tuple[Step, ...]) -> None:
    fitted = Preprocessing(chain).fit(KERNELS, BANK.names)
    loaded = Preprocessing.from_dict(json.loads(json.dumps(fitted.to_dict(), allow_nan=False)))
    assert loaded.steps == chain
    assert np.array_equal(loaded.train(KERNELS), fitted.train(KERNELS))
    assert np.array_equal(loaded.test(TEST_KERNELS, DIAGONALS), fitted.test(TEST_KERNELS, DIAGONALS))


def test_cosine_asks_for_the_test_diagonals() -> None:
    fitted = Preprocessing.from_options(centre=True, normalise="cosine").fit(KERNELS)
    with check_refused("test_diagonals is missing", "'cosine'", "give test_diagonals of shape (12, 6)"):
        fitted.test(TEST_KERNELS)
    with check_refused("test_diagonals has shape (12, 5)", "shape (12, 6)"):
        fitted.test(TEST_KERNELS, DIAGONALS[:, :5])
    with check_refused("test_diagonals has NaN or infinite"):
        fitted.test(TEST_KERNELS, DIAGONALS * np.nan)
    with check_refused("test_diagonals is not an array of real numbers"):
        fitted.test(TEST_KERNELS, [["a"]])


def test_unknown_normalisation_is_refused_with_the_nearest() -> None:
    with check_refused("unknown normalisation 'cosin'", "did you mean 'cosine'?"):
        Preprocessing.from_options(normalise="cosin")
    with check_refused("unknown normalisation 'centre'", "known: cosine, diagonal, trace, variance"):
        Preprocessing.from_options(normalise="centre")


def test_what_is_no_step_is_refused() -> None:
    with check_refused("step = 'centre' is a str", "give a step of Preprocessing, such as Centre()"):
        Preprocessing(["centre"])  # type: ignore[list-item]


def test_nothing_comes_before_fit() -> None:
    chain = Preprocessing([UnitTrace()])
    for use in (lambda: chain.train(KERNELS), lambda: chain.test(TEST_KERNELS), chain.to_dict):
        with check_refused("before fit", "call fit on the training kernels first"):
            use()


def with_bad_second_kernel(kernel: np.ndarray) -> np.ndarray:
    return np.stack([KERNELS[0], kernel])


CONSTANT = np.full((15, 15), 0.1)
ORIGIN = np.diag([1.0] * 4 + [0.0] + [1.0] * 10)
DEGENERATE = {
    "'trace': its trace is zero or negative": ([UnitTrace()], np.zeros((15, 15))),
    "'variance': its variance is zero": ([UnitVariance()], CONSTANT),
    "'cosine': k(x, x) is zero or negative for sample 4": ([Cosine()], ORIGIN),
    "'centre': it is constant": ([Centre()], CONSTANT),
    "'centre': it is constant,": ([Centre(), UnitVariance()], np.zeros((15, 15))),
    "'trace': its trace is zero or negative;": ([UnitTrace()], -np.eye(15)),
    "'variance': overflow": ([UnitVariance()], np.eye(15) * 1e308),
}


@pytest.mark.parametrize("fault", DEGENERATE)
def test_degenerate_kernel_is_refused_by_index_or_name(fault: str) -> None:
    steps, kernel = DEGENERATE[fault]
    with check_refused(f"kernel 1 cannot pass {fault}", "leave out"):
        Preprocessing(steps).fit(with_bad_second_kernel(kernel))
    with check_refused("kernel 1 (flat) cannot pass"):
        Preprocessing(steps).fit(with_bad_second_kernel(kernel), names=["linear", "flat"])


def test_failed_fit_leaves_nothing_fitted() -> None:
    chain = Preprocessing([UnitTrace()]).fit(KERNELS)
    with check_refused("zero"):
        chain.fit(np.zeros((2, 3, 3)))
    with check_refused("before fit"):
        chain.train(KERNELS)


def test_sample_at_the_centre_has_no_direction() -> None:
    X = np.vstack([TRAIN, TRAIN.mean(axis=0)])
    bank = KernelBank([Linear()]).fit(X)
    chain = Preprocessing([Centre(), Cosine()])
    with check_refused("kernel 0 cannot pass 'cosine'", "for sample 15", "leave out that sample"):
        chain.fit(bank.stack())
    bank = KernelBank([Linear()]).fit(TRAIN)
    centre = TRAIN.mean(axis=0)[None]
    with check_refused("kernel 0 cannot pass 'cosine'", "for sample 0"):
        chain.fit(bank.stack()).test(bank.stack(centre), bank.diagonal(centre))


BAD_STACKS = {
    "kernels has shape (15, 15): give a stack": KERNELS[0],
    "kernels has shape (12, 6, 15): fit on training kernels": TEST_KERNELS,
    "kernels has shape (0, 3, 3)": np.empty((0, 3, 3)),
    "kernel 0 has NaN or infinite": KERNELS * np.inf,
    "kernel 0 is not symmetric": np.tril(KERNELS),
    "kernels is not an array of real numbers": KERNELS * 1j,
    "kernels is ragged": [KERNELS[0], KERNELS[0][:3]],
}


@pytest.mark.parametrize("fault", BAD_STACKS)
def test_bad_stack_is_refused(fault: str) -> None:
    with np.errstate(invalid="ignore"), check_refused(fault, ": "):
        Preprocessing([UnitTrace()]).fit(BAD_STACKS[fault])


def test_stacks_must_fit_the_fitted_one() -> None:
    chain = Preprocessing([UnitTrace()]).fit(KERNELS)
    with check_refused("kernels has shape (11, 15, 15)", "give a stack of kernels of shape (12, 15, 15)"):
        chain.train(KERNELS[:11])
    with check_refused("test_kernels has shape (12, 6, 14)", "of shape (12, t, 15)"):
        chain.test(TEST_KERNELS[:, :, 1:])
    with check_refused("test_kernels: kernel 0 has NaN"):
        chain.test(TEST_KERNELS * np.nan)
    with check_refused("names: 1 names for 12 kernels", "one per kernel"):
        chain.fit(KERNELS, names=["linear"])


def broken(**changes: Any) -> dict[str, Any]:
    """A valid record but for its first entries, or for those of its one step, `scale` and `step`."""
    record = Preprocessing([UnitTrace()]).fit(KERNELS[:2]).to_dict()
    for key, value in changes.items():
        (record if key in record else record["steps"][0])[key] = value
    return record


BAD_RECORDS: dict[str, Any] = {
    "the entry does not hold exactly kernels, samples, steps": {"kernels": 2, "samples": 15},
    "the entry does not hold exactly": [1, 2],
    "kernels is 0, not a count": broken(kernels=0),
    "kernels is True, not a count": broken(kernels=True),
    "samples is '15', not a count": broken(samples="15"),
    "steps is not a list": broken(steps="trace"),
    "step 'tracee' is unknown: did you mean 'trace'?": broken(step="tracee"),
    "step ['trace'] is unknown": broken(step=["trace"]),
    "step 3 is unknown": broken(steps=[3]),
    "step 'trace' does not hold exactly scale, step": broken(extra=1),
    "scale of step 'trace' is not 3 finite numbers": broken(kernels=3),
    "scale of step 'trace' is not 2 finite numbers": broken(scale=[1.0, float("nan")]),
    "scale of step 'trace' is not 2 finite": broken(scale=["1.0", "2.0"]),
    "scale of step 'trace' is not 2": broken(scale=[[1.0], [2.0, 3.0]]),
    "scale of step 'trace' is not": broken(scale=[10**400, 1.0]),
    "scale of step 'trace'": broken(scale=None),
    "scale of step 'trace' is not positive": broken(scale=[1.0, 0.0]),
    "is not positive": broken(scale=[1.0, -2.0]),
}


@pytest.mark.parametrize("fault", BAD_RECORDS)
def test_record_is_not_trusted(fault: str) -> None:
    with check_refused(f"preprocessing: {fault}" if not fault.startswith("is") else fault, ": "):
        Preprocessing.from_dict(BAD_RECORDS[fault])


def test_record_of_centring_is_checked_for_its_shape() -> None:
    record = Preprocessing([Centre()]).fit(KERNELS[:2]).to_dict()
    record["steps"][0]["offsets"][1].pop()
    with check_refused("preprocessing: offsets of step 'centre' is not 2 × 15 finite numbers", "to_dict"):
        Preprocessing.from_dict(record)


def test_tampered_scale_that_overflows_is_refused() -> None:
    chain = Preprocessing.from_dict(broken(scale=[1e-307, 1.0]))
    with check_refused("kernel 0 cannot pass 'trace': overflow"):
        chain.test(1e10 * TEST_KERNELS[:2])


# ------------------------------------------------------------------------------------------------- with a solution
SOLVED = Instance(KERNELS[:2], np.where(TRAIN[:, 0] > 0.7, 1, -1))


def test_a_solution_keeps_the_steps_that_it_was_solved_with() -> None:
    steps = Preprocessing([Centre()]).fit(KERNELS[:2])
    found = solve(SOLVED, "average", preprocessing=steps)
    before = found.decision_function(TEST_KERNELS[:2])
    steps.fit(5 * KERNELS[1:4])
    np.testing.assert_array_equal(found.decision_function(TEST_KERNELS[:2]), before)


@pytest.mark.parametrize(
    ("steps", "fault"),
    [
        ("centre", "preprocessing = 'centre' is a str: give a fitted Preprocessing"),
        (Preprocessing([Centre()]), "preprocessing is not fitted"),
        (Preprocessing([Centre()]).fit(KERNELS[:3]), "preprocessing is fitted on 3 kernels of 15 samples"),
    ],
)
def test_steps_of_other_kernels_do_not_go_with_a_solution(steps: Any, fault: str) -> None:
    with check_refused(fault):
        solve(SOLVED, "average", preprocessing=steps)


def test_steps_of_other_kernels_are_not_applied() -> None:
    with check_refused("preprocessing: it was fitted on kernels of shape (3, 15, 15), not on those of (2, 6, 15)"):
        Preprocessing([Centre()]).fit(KERNELS[:3]).cross(CrossKernels.of_stack(TEST_KERNELS[:2]))
