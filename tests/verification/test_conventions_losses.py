"""Machines that scikit-learn has fitted with other losses than the hinge: accepted at the accuracy that they reach, and
our optimum in their words is theirs."""

from typing import Any

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, PoissonRegressor
from sklearn.metrics import mean_poisson_deviance
from sklearn.svm import SVR, NuSVR, OneClassSVM

from features import features, group_lasso, linear
from mklcvx import Instance, verify, zoo
from mklcvx.verification.conventions import get

pytestmark = pytest.mark.slow

RESPONSES = ("response", "response-one-feature", "response-heteroscedastic")
LIBSVM = 1e-5  # its kernels are in single precision, and so is the bias that it finds


def combined(name: str, how: str = "sum") -> tuple[Instance, np.ndarray]:
    instance = zoo.specimen(name).instance()
    return instance, getattr(np.asarray(instance.kernels), how)(axis=0)


def priced(instance: Instance, weighted: bool) -> tuple[Instance, np.ndarray]:
    """With unequal weights or even ones, and these."""
    price = 0.5 + np.arange(instance.samples) % 3 if weighted else np.ones(instance.samples)
    return instance.with_kernels(instance.kernels, sample_weight=price), price


def roots_of(kernel: np.ndarray) -> np.ndarray:
    """Features of which it is the linear kernel."""
    values, vectors = np.linalg.eigh(kernel)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def support_vectors(model: Any) -> dict[str, Any]:
    return {"alpha": model.dual_coef_, "multipliers": {"support": model.support_}}


@pytest.mark.parametrize("name", RESPONSES)
def test_svr(name):
    instance, kernel = combined(name)
    model = SVR(kernel="precomputed", C=2.0, epsilon=0.2, tol=1e-10).fit(kernel, instance.response)
    left = np.maximum(np.abs(instance.response - model.predict(kernel)) - 0.2, 0.0)
    among = kernel[np.ix_(model.support_, model.support_)]
    value = (model.dual_coef_ @ among @ model.dual_coef_.T).item() / 2 + 2 * left.sum()
    parts = {**support_vectors(model), "bias": model.intercept_, "objective": value}
    given = {"convention": "sklearn_svr", "tol": LIBSVM, "C": 2.0}
    assert verify(instance, epsilon=0.2, **given, **parts).accepted
    wrong = verify(instance, epsilon=0.1, **given, **parts)
    assert wrong.diagnosis.name == "epsilon_scaled"


@pytest.mark.parametrize(
    ("name", "nu", "weighted"),
    [(RESPONSES[0], 0.2, False), (RESPONSES[1], 0.7, False), (RESPONSES[2], 0.2, True), (RESPONSES[0], 0.7, True)],
)
def test_nu_svr(name, nu, weighted):
    """One kernel of three, and their mean, as NuSVR fits them: α, bias, tube and value."""
    instance, mean = combined(name, "mean")
    (instance, price), r = priced(instance, weighted), instance.response
    for kernel, posed in ((np.asarray(instance.kernels[0]), instance.select([0])), (mean, instance)):
        model = NuSVR(kernel="precomputed", C=2.0, nu=nu, tol=1e-10).fit(kernel, r, sample_weight=price)
        held, left = np.abs(model.dual_coef_[0]), np.abs(r - model.predict(kernel))
        width = float(left[model.support_][held < 2 * price[model.support_] * (1 - 1e-6)].mean())
        lost = 2 * price @ np.maximum(left - width, 0.0) + nu * 2 * price.sum() * width
        among = kernel[np.ix_(model.support_, model.support_)]
        value = (model.dual_coef_ @ among @ model.dual_coef_.T).item() / 2 + lost
        parts = {"alpha": model.dual_coef_, "bias": model.intercept_, "objective": value}
        parts["multipliers"] = {"support": model.support_, "epsilon": width}
        given = {"convention": "sklearn_nu_svr", "combination": "average", "tol": LIBSVM, "C": 2.0}
        report = verify(posed, nu=nu, **given, **parts)
        assert report.accepted, report
        assert not verify(posed, nu=nu / 2, diagnosis=False, **given, **parts).accepted


@pytest.mark.parametrize(("name", "weighted"), [*zip(RESPONSES, (False, True, True), strict=True)])
def test_kernel_ridge(name, weighted):
    instance, kernel = combined(name)
    instance, price = priced(instance, weighted)
    model = KernelRidge(alpha=0.3, kernel="precomputed").fit(kernel, instance.response, sample_weight=price)
    beta = model.dual_coef_
    value = price @ (instance.response - model.predict(kernel)) ** 2 + 0.3 * beta @ kernel @ beta
    given = {"convention": "sklearn_kernel_ridge", "alpha": beta, "objective": value}
    assert verify(instance, lam=0.3, **given).accepted
    assert verify(instance, lam=0.3, tol=1e-9, **given).accepted
    assert not verify(instance, lam=1 / 0.3, diagnosis=False, **given).accepted


@pytest.mark.parametrize("name", ["clouds", "mixed"])
def test_logistic_regression_on_features(name):
    instance, kernel = combined(name)
    features = roots_of(kernel)
    model = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000).fit(features, instance.y)
    chance = model.predict_proba(features)[np.arange(instance.samples), (instance.y > 0).astype(int)]
    losses = np.logaddexp(0, -instance.y * model.decision_function(features))
    value = float(np.sum(model.coef_**2) / 2 + 2 * losses.sum())
    parts = {"alpha": 1 - chance, "bias": model.intercept_, "objective": value}
    assert verify(instance, convention="sklearn_logistic", C=2.0, **parts).accepted
    assert not verify(instance, convention="sklearn_logistic", C=1.0, diagnosis=False, **parts).accepted


@pytest.mark.parametrize("weighted", [False, True])
def test_poisson_regression_on_features(weighted):
    instance, kernel = combined("counts")
    (instance, price), features = priced(instance, weighted), roots_of(kernel)
    model = PoissonRegressor(alpha=0.02, tol=1e-12, max_iter=1000, solver="newton-cholesky")
    mean = model.fit(features, instance.response, sample_weight=price).predict(features)
    deviance = mean_poisson_deviance(instance.response, mean, sample_weight=price)
    value = deviance / 2 + 0.01 * np.sum(model.coef_**2)
    parts = {"alpha": instance.response - mean, "bias": model.intercept_, "objective": value}
    assert verify(instance, convention="sklearn_poisson", lam=0.02, **parts).accepted
    assert not verify(instance, convention="sklearn_poisson", lam=0.01, diagnosis=False, **parts).accepted


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["one-cloud", "one-cloud-outliers"])
def test_one_class(name, weighted):
    instance, kernel = combined(name, "mean")
    instance, price = priced(instance, weighted)
    model = OneClassSVM(kernel="precomputed", nu=0.3, tol=1e-10).fit(kernel, sample_weight=price)
    value = (model.dual_coef_ @ kernel[np.ix_(model.support_, model.support_)] @ model.dual_coef_.T).item() / 2
    given = {"convention": "sklearn_one_class", "combination": "average", "nu": 0.3, "objective": value}
    report = verify(instance, tol=LIBSVM, **given, **support_vectors(model))
    assert report.accepted, report


@pytest.mark.parametrize(
    ("convention", "name", "given"),
    [
        ("sklearn_svr", "response", {"C": 2.0, "epsilon": 0.2}),
        ("sklearn_kernel_ridge", "response", {"lam": 0.3}),
        ("sklearn_logistic", "mixed", {"C": 2.0}),
        ("sklearn_poisson", "counts", {"lam": 0.1}),
        ("sklearn_nu_svr", "response", {"C": 2.0, "nu": 0.3}),
        ("sklearn_one_class", "one-cloud", {"nu": 0.3}),
    ],
)
def test_our_optimum_in_their_words_comes_back(convention, name, given):
    spoken = get(convention)
    problem = spoken.to_ours(zoo.specimen(name).instance(), given)
    ours = problem.solve(tol=1e-9)
    theirs = spoken.answer_from_ours(ours, problem)
    back = spoken.answer_to_ours(theirs, problem)
    assert back.alpha == pytest.approx(ours.alpha, rel=1e-12, abs=1e-15)
    assert back.objective == pytest.approx(ours.objective, rel=1e-12)
    parts = {"alpha": theirs.alpha, "objective": theirs.objective}
    assert verify(problem.instance, convention=convention, **given, **parts).accepted


# ------------------------------------------------------------------------------------------------------- group lassos
def test_a_group_lasso_on_features_is_accepted_and_a_price_of_the_sum_is_not():
    """By accelerated proximal gradients, in the words of celer; kernels are those of the groups."""
    (x, y), lam = features(), 0.05
    n, instance = len(y), Instance(linear(x), response=y)
    value, norms, w = group_lasso(x, y, n * lam)
    bias = float((y - x @ w).mean())
    parts = {"alpha": y - x @ w - bias, "weights": norms, "bias": bias, "objective": value / n}
    assert verify(instance, convention="celer", lam=lam, tol=1e-7, **parts).accepted
    assert not verify(instance, convention="celer", lam=n * lam, tol=1e-7, diagnosis=False, **parts).accepted


def test_our_group_lasso_with_the_logistic_loss_is_theirs():
    instance, convention = zoo.random(20, 3, seed=1), get("dalmkl")
    problem = convention.to_ours(instance, {"lam": 0.4})
    solution = problem.solve()
    theirs = convention.answer_from_ours(solution, problem)
    f = solution.decision_function(instance.kernels)
    np.testing.assert_allclose(theirs.alpha, 1 / (1 + np.exp(instance.y * f)), atol=1e-6)
    norms = np.asarray(theirs.weights)
    assert theirs.objective == pytest.approx(np.log1p(np.exp(-instance.y * f)).sum() + 0.4 * norms.sum(), rel=1e-7)
