"""Kernels against their formulas, banks against the papers, and every refusal against its words."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import mklcvx.problem.kernels as kinds
from mklcvx.problem.kernels import ChiSquare, Gaussian, KernelBank, Laplacian, Linear, MeanDistance, Polynomial
from refusals import check_refused, peak_of

RNG = np.random.default_rng(20130)
TRAIN, TEST = RNG.random((17, 4)), RNG.random((6, 4))
DISTANCE_KINDS = (Gaussian, Laplacian, kinds.InverseSquareDistance, kinds.InverseDistance)
EVERY_KERNEL = [Linear(), Polynomial(3, coef0=0.5, scale=2.0), ChiSquare(0.7), *(k(0.7) for k in DISTANCE_KINDS)]


def euclidean(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    return np.sqrt(((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2))


def chi_square(X: np.ndarray, Z: np.ndarray) -> np.ndarray:
    return ((X[:, None, :] - Z[None, :, :]) ** 2 / (X[:, None, :] + Z[None, :, :])).sum(axis=2)


FORMULAS = {
    "linear": (Linear(), lambda X, Z: X @ Z.T),
    "polynomial(degree=3, coef0=0.5, scale=2)": (EVERY_KERNEL[1], lambda X, Z: (2 * X @ Z.T + 0.5) ** 3),
    "polynomial(degree=2)": (Polynomial(2), lambda X, Z: (X @ Z.T + 1) ** 2),
    "gaussian(γ=0.7)": (Gaussian(0.7), lambda X, Z: np.exp(-0.7 * euclidean(X, Z) ** 2)),
    "gaussian(γ=0.125)": (Gaussian.from_sigma(2), lambda X, Z: np.exp(-(euclidean(X, Z) ** 2) / (2 * 2**2))),
    "laplacian(γ=0.7)": (Laplacian(0.7), lambda X, Z: np.exp(-np.sqrt(0.7) * euclidean(X, Z))),
    "chi-square(γ=0.7)": (ChiSquare(0.7), lambda X, Z: np.exp(-0.7 * chi_square(X, Z))),
    "inverse-square-distance(γ=0.7)": (DISTANCE_KINDS[2](0.7), lambda X, Z: 1 / (0.7 * euclidean(X, Z) ** 2 + 1)),
    "inverse-distance(γ=0.7)": (kinds.InverseDistance(0.7), lambda X, Z: 1 / (np.sqrt(0.7) * euclidean(X, Z) + 1)),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_kernel_equals_its_formula_on_train_and_test(name: str) -> None:
    kernel, formula = FORMULAS[name]
    bank = KernelBank([kernel]).fit(TRAIN)
    assert bank.names == [name]
    np.testing.assert_allclose(bank.stack()[0], formula(TRAIN, TRAIN), rtol=1e-12)
    np.testing.assert_allclose(bank.stack(TEST)[0], formula(TEST, TRAIN), rtol=1e-12)
    np.testing.assert_allclose(bank.diagonal(TEST)[0], formula(TEST, TEST).diagonal(), rtol=1e-12)
    np.testing.assert_allclose(bank.diagonal()[0], bank.stack()[0].diagonal(), rtol=1e-12)


@pytest.mark.parametrize("features", ["all", "each", "all+each"])
def test_stack_is_complete_symmetric_and_the_same_for_train_met_as_test(features: str) -> None:
    bank = KernelBank(EVERY_KERNEL, features).fit(TRAIN)
    count = len(EVERY_KERNEL) * {"all": 1, "each": 4, "all+each": 5}[features]
    stack = bank.stack()
    assert stack.shape == (count, 17, 17)
    assert bank.stack(TEST).shape == (count, 6, 17)
    assert bank.diagonal(TEST).shape == (count, 6)
    assert len(bank.names) == len(bank.gammas) == count
    assert stack.dtype == np.float64
    assert stack.flags.c_contiguous
    assert np.array_equal(stack, stack.transpose(0, 2, 1))
    np.testing.assert_allclose(bank.stack(TRAIN.copy()), stack, rtol=1e-12)


def test_each_feature_has_its_own_kernels_after_those_of_all_features() -> None:
    bank = KernelBank([Linear(), Gaussian(0.5)], "all+each").fit(TRAIN)
    assert bank.names[:4] == ["linear", "gaussian(γ=0.5)", "linear[x0]", "gaussian(γ=0.5)[x0]"]
    assert bank.names[-1] == "gaussian(γ=0.5)[x3]"
    third = np.subtract.outer(TEST[:, 3], TRAIN[:, 3])
    np.testing.assert_allclose(bank.stack(TEST)[-1], np.exp(-0.5 * third**2), rtol=1e-12)
    np.testing.assert_allclose(bank.stack(TEST)[0], sum(bank.stack(TEST)[2::2]), rtol=1e-12)
    np.testing.assert_allclose(bank.diagonal(TEST)[2::2], TEST.T**2, rtol=1e-12)


def test_training_sample_is_at_distance_zero_from_itself_even_far_from_the_origin() -> None:
    far = TRAIN + 1e6
    for stack in (KernelBank([Laplacian(1.0)]).fit(far).stack(), KernelBank([Laplacian(1.0)]).fit(far).stack(far)):
        assert np.array_equal(stack[0].diagonal(), np.ones(17))
        np.testing.assert_allclose(stack[0], np.exp(-euclidean(TRAIN, TRAIN)), rtol=1e-8)


def test_stack_is_filled_without_a_second_copy() -> None:
    bank = KernelBank([*EVERY_KERNEL] * 10).fit(np.tile(TRAIN, (6, 1)))
    bank.stack()
    assert peak_of(bank.stack) < 1.2 * bank.stack().nbytes


def test_bank_keeps_its_own_training_samples() -> None:
    X = TRAIN.copy()
    bank = KernelBank([Linear()]).fit(X)
    X[:] = 0.0
    np.testing.assert_allclose(bank.stack()[0], TRAIN @ TRAIN.T, rtol=1e-12)


def test_mean_distance_counts_the_zero_diagonal_and_every_view_has_its_own() -> None:
    kernels = [Gaussian(MeanDistance(0.25)), ChiSquare(MeanDistance(4.0)), Linear()]
    bank = KernelBank(kernels, "all+each").fit(TRAIN)
    assert bank.names[:3] == ["gaussian(γ=0.25/A)", "chi-square(γ=4/A)", "linear"]
    views = [TRAIN, *(TRAIN[:, [j]] for j in range(4))]
    np.testing.assert_allclose(bank.gammas[0::3], [0.25 / np.mean(euclidean(X, X) ** 2) for X in views])
    np.testing.assert_allclose(bank.gammas[1::3], [4.0 / np.mean(chi_square(X, X)) for X in views])
    assert bank.gammas[2::3] == [None] * 5
    np.testing.assert_allclose(bank.gammas[0], 0.25 / (2 * TRAIN.var(axis=0).sum()))
    np.testing.assert_allclose(bank.stack(TEST)[0], np.exp(-bank.gammas[0] * euclidean(TEST, TRAIN) ** 2), rtol=1e-12)


def test_kumar_bank() -> None:
    bank = kinds.kumar_bank().fit(TRAIN)
    assert bank.gammas == [2.0**power for power in range(-10, -1)] + [None] * 4
    assert bank.names[8:] == ["gaussian(γ=0.25)", *(f"polynomial(degree={d})" for d in (2, 3, 4)), "linear"]
    assert bank.names[0] == "gaussian(γ=0.000976562)"
    augmented = kinds.kumar_bank("all+each").fit(TRAIN)
    assert len(augmented.names) == len(augmented.stack(TEST)) == 13 + 13 * 4
    assert augmented.names[:13] == bank.names


def test_xu_bank() -> None:
    bank = kinds.xu_bank().fit(TRAIN)
    assert len(bank.names) == len(bank.stack(TEST)) == 13 + 13 * 4
    assert bank.gammas[:10] == [1 / (2 * sigma**2) for sigma in (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16, 32, 64)]
    assert bank.names[10:13] == [f"polynomial(degree={degree})" for degree in (1, 2, 3)]
    assert bank.names[-1] == "polynomial(degree=3)[x3]"


@pytest.mark.parametrize("gamma", [0, -1.0, np.nan, np.inf, "0.5", None, True])
def test_gamma_must_be_a_positive_number(gamma: object) -> None:
    for kind in (ChiSquare, *DISTANCE_KINDS):
        with check_refused(kind.__name__, f"gamma is {gamma!r}", "give gamma > 0"):
            kind(gamma)
    with check_refused("MeanDistance", "factor", "give factor > 0"):
        MeanDistance(gamma)
    with check_refused("from_sigma", "sigma", "give sigma > 0"):
        Gaussian.from_sigma(gamma)


REFUSED = [
    *(
        (lambda degree=degree: Polynomial(degree), "Polynomial", f"degree is {degree!r}", "give degree")
        for degree in (0, -2, 2.0, 1.5, "2", True, None)
    ),
    (lambda: Polynomial(2, coef0=-1.0), "coef0 is -1.0", "≥ 0"),
    (lambda: Polynomial(2, scale=0), "scale is 0", "> 0"),
    (lambda: KernelBank([]), "KernelBank", "kernels is empty", "give at least one"),
    (lambda: KernelBank([Linear]), "kernel = ", "give a Kernel"),
    (lambda: KernelBank([Linear()], "eachh"), "unknown features 'eachh'", "did you mean 'each'?"),
    (lambda: kinds.kumar_bank(None), "unknown features None", "known: all, all+each, each"),
    (lambda: KernelBank([Linear()]).fit(TRAIN).stack(TEST[:, :3]), "X has 3 features", "fitted on 4", "give"),
    (lambda: KernelBank([Linear()]).fit(TRAIN).diagonal(TEST[:, :3]), "X has 3 features", "fitted on 4", "give"),
    *(
        (lambda X=X: KernelBank([Linear(), ChiSquare(1.0)]).fit(X), "negative features", "ChiSquare", "shift them")
        for X in (TRAIN - 0.5, -TRAIN)
    ),
    (lambda: KernelBank([ChiSquare(1.0)]).fit(TRAIN).stack(-TEST), "X has negative features"),
    (lambda: KernelBank([Linear(), Polynomial(9)], "each").fit(TRAIN * 1e50).stack(),
     "kernel polynomial(degree=9)[x0] overflows", "rescale"),
    (lambda: KernelBank([Gaussian(MeanDistance(1.0))]).fit(TRAIN * 1e200), "squared distance is inf"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), [(call, words) for call, *words in REFUSED], ids=range(len(REFUSED)))
def test_what_makes_no_kernel_is_refused(call, words) -> None:
    with check_refused(*words):
        call()


def test_nothing_comes_before_fit() -> None:
    bank = KernelBank([Linear()])
    for use in (lambda b: b.names, lambda b: b.gammas, lambda b: b.stack(), lambda b: b.diagonal()):
        with check_refused("KernelBank", "is not fitted", "call fit"):
            use(bank)


BAD_SAMPLES = {
    "has 1 dimensions, not 2": TRAIN[:, 0],
    "has 3 dimensions, not 2": TRAIN[None],
    "is empty": np.empty((0, 4)),
    "NaN or infinite": np.where(np.arange(4) == 2, np.nan, TRAIN),
    "is not an array of real numbers": [["a", "b"]],
    "X is ragged": [[1.0, 2.0], [3.0]],
    "not an array of real numbers": TRAIN * 1j,
    "not an array of real": csr_array(TRAIN),
}


@pytest.mark.parametrize("fault", BAD_SAMPLES)
def test_bad_samples_are_refused_at_fit_and_at_test(fault: str) -> None:
    bank = KernelBank([Linear()])
    with check_refused("X ", fault, ": "):
        bank.fit(BAD_SAMPLES[fault])
    bank.fit(TRAIN)
    for use in (bank.stack, bank.diagonal):
        with check_refused("X ", fault, ": "):
            use(BAD_SAMPLES[fault])


def test_what_is_at_the_limit_is_a_kernel() -> None:
    assert Polynomial(2, coef0=0).name == "polynomial(degree=2, coef0=0)"
    assert KernelBank([ChiSquare(1.0)]).fit(np.zeros((3, 2))).stack().tolist() == [np.ones((3, 3)).tolist()]


def test_mean_distance_of_coinciding_samples_is_refused_by_feature() -> None:
    X = TRAIN.copy()
    X[:, 2] = 1.0
    bank = KernelBank([Gaussian(MeanDistance(1.0))], "each")
    with check_refused("MeanDistance", "squared distance[x2] is 0", "give gamma"):
        bank.fit(X)
    with check_refused("is not fitted"):
        bank.stack()
    enormous = KernelBank([Gaussian(MeanDistance(1e300))]).fit(TRAIN)
    with check_refused("gamma is inf"):
        enormous.fit(TRAIN * 1e-10)
    with check_refused("is not fitted"):
        enormous.stack()
