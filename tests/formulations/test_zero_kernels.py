"""Kernels that are zero, or nearly: no formulation divides by their norms."""

import itertools

import numpy as np
import pytest

from covering import covering
from mklcvx import Instance, solve
from mklcvx.formulations import SINGLE_TASKS

pytestmark = pytest.mark.slow

N = 12
OWN = {
    "lp": [{"p": p} for p in (1.0, 1.5, 2.0, 10.0)],
    "smp": [{"p": p} for p in (1.2, 1.5, 4.0)],
    "vskl": [{"s": s} for s in (2.0, 3.0, 50.0)],
    "elastic": [{"l1_ratio": r} for r in (0.0, 0.5, 1.0)],
    "block_elastic": [{"l1_ratio": r} for r in (0.0, 0.5, 1.0)],
    "group_lasso": [{"lam": lam} for lam in (1.0, 10.0)],
    "sm1": [{"theta": theta} for theta in (1.0, 2.0)],
}
CASES = [(f, own) for f in SINGLE_TASKS for own in OWN.get(f.name, [{}])]


@pytest.mark.parametrize(("formulation", "given"), CASES, ids=lambda one: getattr(one, "name", str(one)))
@pytest.mark.parametrize("size", [1.0, 1e-160, 1e-300, 5e-324])
def test_bounds_and_weights_are_numbers_where_norms_vanish(formulation, given, size):
    count = 1 if formulation.name == "svm" else 3
    instance = Instance(np.stack([np.eye(4)] * count), [1, 1, -1, -1], groups=np.arange(count) // 2)
    own = formulation.task(instance, given)[0].own
    norms = [np.array(values) for values in itertools.product((0.0, size), repeat=count)]
    with np.errstate(all="raise", under="ignore"):
        for a, d in itertools.product(norms, norms):
            values = formulation.penalty(a, **own), formulation.conjugate(d, **own)
            assert np.isfinite(values).all()
            assert min(values) >= min(0.0, formulation.conjugate(0 * d, **own))
            undefined = formulation.between is not None and ((d == 0) & (a > 0)).any()
            assert undefined or np.isfinite(formulation.weights(a, d, **own)).all()
            assert all(np.isfinite(value).all() for value in formulation.multipliers(a, d, **own).values())


@pytest.mark.parametrize(
    ("zero", "bias", "name"),
    covering([[0, 1, 2], [0], [2]], [True, False], [f.name for f in SINGLE_TASKS if f.name != "svm"]),
    ids=str,
)
def test_zero_kernels_are_solved(name, bias, zero):
    losses = next(f.losses for f in SINGLE_TASKS if f.name == name)
    for seed, loss in enumerate(losses):
        rng = np.random.default_rng(seed)
        features = np.round(rng.normal(size=(3, N, 2)) * 2**10) / 2**10  # so that products are exact
        kernels = features @ features.transpose(0, 2, 1)
        kernels[zero] = 0
        y = np.where(np.arange(N) % 2 == 0, 1, -1)
        given = {"nu": 0.3} if loss == "nu" else {}
        found = solve(Instance(kernels, y, groups=[0, 0, 1]), name, bias=bias, **given)
        assert found.certified or "hulls meet" in found.message, found.message
