"""Cross-validation of a response: plain folds, their samples, and the scores, with a ridge regression for a solver."""

from types import SimpleNamespace

import numpy as np
import pytest

from mklcvx import Instance
from mklcvx.estimators import cross_validation as cv
from mklcvx.estimators.cross_validation import check_request, cross_validate, measure
from refusals import check_refused

# Of two points one is the best, and on the edge.
pytestmark = pytest.mark.filterwarnings("ignore::mklcvx.GridEdgeWarning")

N = 24
RNG = np.random.default_rng(4)
X = RNG.normal(size=(N, 2))
K = np.stack([X @ X.T, np.outer(X[:, 0], X[:, 0])])
R = X @ [1.0, -2.0]
WEIGHT = np.arange(1.0, N + 1)
POINTS = [{"lam": 1e-6}, {"lam": 1e3}]


@pytest.fixture
def parts(monkeypatch):
    """Solve by ridge regression with the first kernel; return the instances that were solved."""
    seen = []

    def each(part, formulation, points, **settings):
        seen.append(part)
        for point in points:
            regular = part.kernels[0] + point["lam"] * np.eye(part.samples)
            beta = np.linalg.solve(regular, part.response)
            yield SimpleNamespace(
                decision_function=lambda rows, diagonals, beta=beta: rows.formed()[0] @ beta,
                certificate=SimpleNamespace(relative_gap=0.0),
                labels_of=lambda values: values,
                certified=True,
                message="",
            )

    monkeypatch.setattr(cv, "each", each)
    return seen


@pytest.mark.parametrize("score", ["r2", "neg_mean_squared_error", "neg_mean_absolute_error"])
@pytest.mark.parametrize("response", [R, np.column_stack([R, -R])], ids=["one", "two"])
def test_the_better_point_is_chosen_by_every_score(parts, score, response):
    instance = Instance(K, response=response, sample_weight=WEIGHT)
    found = cross_validate(instance, "l1", POINTS, folds=4, score=score)
    assert found.best == 0
    assert found.rows[0].scores == pytest.approx(np.full(4, 1.0 if score == "r2" else 0.0), abs=1e-4)
    assert len(parts) == 4
    for part in parts:
        chosen = part.sample_weight.astype(int) - 1
        np.testing.assert_array_equal(part.response, response[chosen])
        assert part.targets.names == instance.targets.names
    left_out = [set(range(N)) - set(part.sample_weight.astype(int) - 1) for part in parts]
    assert sorted(i for out in left_out for i in out) == list(range(N))


def test_scores_fit_the_targets():
    instance = Instance(K, response=R)
    assert check_request(instance, "l1", 12, None) == "r2"
    assert check_request(instance, "l1", N, "neg_mean_absolute_error") == "neg_mean_absolute_error"
    with check_refused("folds = 13: there are 12 pairs of samples"):
        check_request(instance, "l1", 13, None)
    with check_refused("score r2 does not fit targets y"):
        check_request(Instance(K, np.sign(R)), "l1", 2, "r2")
    with check_refused("cross-validation compares predictions with targets, the instance has none"):
        check_request(Instance(K), "l1", 2, None)


def test_errors_are_negative_so_that_the_largest_is_best():
    truth, values = np.array([1.0, 2.0]), np.array([1.0, 4.0])
    assert measure("neg_mean_squared_error", truth, values, values) == -2.0
    assert measure("neg_root_mean_squared_error", truth, values, values) == pytest.approx(-np.sqrt(2))
    assert measure("neg_mean_absolute_error", truth, values, values) == -1.0
