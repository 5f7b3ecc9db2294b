"""Published algorithms with losses other than the hinge: they stop on the certified gap, at the optimum."""

import numpy as np
import pytest

from checks import check_status
from mklcvx import Instance, formulations, solve
from mklcvx.formulations.losses import COUNTS, EVERY, LABELS, NONE, REAL
from mklcvx.formulations.svm import SVM
from mklcvx.solvers.svm import WeightedSVM
from mklcvx.zoo import regression

pytestmark = pytest.mark.slow

NOISY = regression.noisy(18, 3, 5)
K, R = NOISY.kernels, NOISY.targets.values
PRICES = 1 + np.arange(18) % 3 / 2
INSTANCES = {
    LABELS: Instance(K, np.where(np.median(R) < R, 1, -1), sample_weight=PRICES, groups=[0, 0, 1]),
    REAL: Instance(K, response=R, sample_weight=PRICES, groups=[0, 0, 1]),
    COUNTS: Instance(K, response=np.floor(2 * (R - R.min())), sample_weight=PRICES, groups=[0, 0, 1]),
    NONE: Instance(K, sample_weight=PRICES, groups=[0, 0, 1]),
}
PAIRS = [
    ("simplemkl", "l1"), ("silp", "sm1"), ("silp_exact", "l1"), ("level", "elastic"), ("analytic", "l2"),
    ("sm1_bcd", "sm1"), ("sm2_projection", "sm2"), ("li_alternating", "li"), ("mirror", "vskl"),
]  # fmt: skip


def fits(name: str, loss) -> bool:
    return not loss.free_margin or "nu" in formulations.get(name).losses


def named(value) -> str:
    return getattr(value, "name", str(value))


CASES = [(loss, bias) for loss in EVERY for bias in (True, False) if loss.takes_bias or not bias]
TASKS = [(*pair, *case) for pair in PAIRS for case in CASES if fits(pair[1], case[0])][::3]  # a sample
over_cases = pytest.mark.parametrize(("loss", "bias"), CASES, ids=named)


def parameters(loss, bias) -> dict[str, object]:
    price = {"nu": 0.4} if loss.free_margin else {"C": 1.5}
    return {"loss": loss.name, "bias": bias, **price}


@pytest.mark.parametrize(("solver", "name", "loss", "bias"), TASKS, ids=named)
def test_it_certifies_the_optimum_with_every_loss(solver, name, loss, bias):
    instance, given = INSTANCES[loss.targets], parameters(loss, bias)
    solution = solve(instance, name, solver=solver, **given)
    witness = solve(instance, name, solver="interior", **given)
    check_status(solution, 1e-2 if solver == "mirror" else 1e-4)
    assert solution.solver == solver
    assert solution.svm_solves > solution.iterations > 0
    slack = 1e-9 * witness.certificate.scale
    assert all(row.lower <= witness.certificate.upper + slack for row in solution.trace)
    assert all(row.upper >= witness.certificate.lower - slack for row in solution.trace)


@over_cases
def test_the_machine_of_one_kernel_is_the_optimum(loss, bias):
    """To a thousandth of what an algorithm's tolerance asks, whichever method serves the loss."""
    instance = INSTANCES[loss.targets]
    task, _ = formulations.get("l1").task(instance, parameters(loss, bias))
    single = task.alone(task.combined(np.array([0.6, 0.3, 0.1])))
    alpha = WeightedSVM(task, 1e-6)(single.kernels[0])
    assert ((alpha >= single.low) & (alpha <= single.limit)).all()
    lower = SVM.lower(single, alpha)
    upper = SVM.upper(single, (alpha * single.signs)[None])
    assert lower.value <= upper.value + 1e-12
    assert upper.value - lower.value <= 1e-7 * SVM.scale(lower, upper)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "huber", "absolute"])
def test_regression_by_simplemkl_in_other_units(loss):
    """LIBSVM's tolerance is in the units of the targets; ours is not."""
    for unit in (1e-4, 1e4):
        lengths = {"epsilon_insensitive": {"epsilon": 0.1 * unit}, "huber": {"delta": unit}}.get(loss, {})
        price = 1.0 if loss == "huber" else unit
        instance = Instance(K, response=unit * R)
        solution = solve(instance, "l1", solver="simplemkl", loss=loss, C=price, **lengths)
        check_status(solution, 1e-4)


@pytest.mark.parametrize(("loss", "bias"), [case for case in CASES if not case[0].free_margin], ids=named)
def test_choosing_the_best_kernel_of_each_group_cycles_with_every_loss(loss, bias):
    """Or stands still: what is wrong with it has nothing to do with the samples."""
    found = solve(INSTANCES[loss.targets], "ckl", solver="ckl_alternating", **parameters(loss, bias))
    assert not found.certified
    assert "cycles with period" in found.message or "stands still" in found.message
