"""What `solve` says with any loss, the auditor says too: from the file, and of the same optimum."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from declared import LOSSES, instance_for, parameters
from honest import written
from mklcvx import Instance, prove, solve
from mklcvx.checker import check
from mklcvx.checker.audit import evaluated, evaluated_file, point_multipliers
from mklcvx.checker.claims import audited
from mklcvx.checker.files import read_solution
from mklcvx.formulations.losses import COUNTS, REAL
from mklcvx.io.files import save_instance, save_solution
from mklcvx.verification.proof import enclose

pytestmark = pytest.mark.slow

PENALTIES = {
    "svm": {}, "sum": {}, "average": {}, "l1": {}, "l2": {}, "lp": {"p": 1.5}, "sm1": {"theta": 1.0},
    "sm2": {"theta": 0.7}, "smp": {"theta": 0.7, "p": 1.5}, "square": {"theta": 0.7}, "elastic": {"l1_ratio": 0.4},
    "li": {}, "ckl": {}, "vskl": {"s": 3.0},
}  # fmt: skip
BLOCKWISE = ("li", "ckl", "vskl")


def audit(folder: Path, instance: Instance, solution: Any, kind: str = "json") -> int:
    save_instance(folder / "problem.npz", instance)
    save_solution(folder / f"answer.{kind}", solution)
    return audited([str(folder / "problem.npz"), str(folder / f"answer.{kind}")], evaluated_file, point_multipliers)


def targets_of(instance: Instance) -> np.ndarray | None:
    return None if instance.targets.kind == "none" else instance.targets.values


@pytest.mark.parametrize("kind", ["json", "npz"])
@pytest.mark.parametrize("name", LOSSES)
def test_what_is_solved_and_saved_is_confirmed_and_proved(tmp_path, capsys, name, kind):
    instance, given = instance_for(LOSSES[name]), parameters(LOSSES[name])
    solution = solve(instance, "l1", **given)
    assert solution.certified
    assert audit(tmp_path, instance, solution, kind) == 0, capsys.readouterr()
    record = read_solution(tmp_path / f"answer.{kind}")
    lower, upper = check(instance.kernels, targets_of(instance), record, instance.sample_weight)
    proof = prove(instance, "l1", **given)
    assert proof.sharp
    assert proof.parameters == solution.parameters
    certificate = solution.certificate
    assert certificate.lower <= lower <= upper <= certificate.upper
    assert max(lower, proof.lower) <= min(upper, proof.upper)


@pytest.mark.parametrize("name", ["sm2", "smp", "square", "l1", "li"])
@pytest.mark.parametrize("loss", ["squared", "huber", "quantile", "absolute"])
def test_where_f_is_zero_the_price_of_the_weights_is_the_scale(tmp_path, capsys, loss, name):
    """A constant response: nothing depends on f, and what is claimed of R(μ) is not more than it is."""
    kernels = np.asarray(instance_for(LOSSES[loss], 7).kernels)
    instance = Instance(kernels, response=np.full(7, 0.3), groups=[0, 0, 1])
    solution = solve(instance, name, loss=loss, **PENALTIES[name])
    assert solution.certified
    assert not solution.alpha.any()
    assert audit(tmp_path, instance, solution) == 0, capsys.readouterr()


# ------------------------------------------------------------------------------------------------- at random, a sample
def problem(seed: int) -> tuple[Instance, str, dict[str, Any]]:
    """A small problem with any loss and penalty, whatever its kernels, prices and targets are like."""
    rng = np.random.default_rng([17, seed])
    loss = list(LOSSES.values())[seed % len(LOSSES)]
    names = [name for name in PENALTIES if not (loss.free_margin and name in BLOCKWISE)]
    name, n = names[rng.integers(len(names))], int(rng.integers(2, 13))
    count = 1 if name == "svm" else int(rng.integers(1, 5))
    factors = [rng.normal(size=(n, int(rng.choice([1, 2, n])))) for _ in range(count)]
    kernels, kind = np.stack([x @ x.T for x in factors]), rng.choice(["plain", "single", "scaled", "offset"])
    if kind == "single":
        kernels = kernels.astype(np.float32)
    elif kind == "scaled":
        kernels = kernels * 10.0 ** rng.integers(-4, 5, size=(count, 1, 1))
    elif kind == "offset":
        kernels = kernels + 10.0 ** rng.integers(0, 5)
    targets: dict[str, Any] = {}
    if loss.targets == "labels":
        targets["y"] = np.array([1, -1, *np.where(rng.random(n - 2) < 0.5, 1, -1)])
    elif loss.targets == COUNTS:
        targets["response"] = rng.poisson(10.0 ** rng.uniform(0, 2), size=n)
    elif loss.targets == REAL:
        targets["response"] = rng.normal(size=n) * 10.0 ** rng.integers(-2, 3) + rng.choice([0.0, 100.0])
    weight = rng.uniform(0.3, 3.0, n) if rng.random() < 0.5 and not loss.free_margin else None
    own = {"epsilon": rng.uniform(), "delta": 10.0 ** rng.uniform(-2, 2), "quantile": rng.uniform(0.02, 0.98),
           "width": 10.0 ** rng.uniform(-2, 2), "nu": (seed % 7 + 1) / 7}  # fmt: skip
    given = {"loss": loss.name, **PENALTIES[name], **{p.name: float(own[p.name]) for p in loss.own}}
    if loss.takes_bias:
        given["bias"] = bool(rng.random() < 0.6)
    if not loss.free_margin:
        given["C"] = float(10.0 ** rng.uniform(-3, 3))
    else:
        smaller = min((targets["y"] > 0).sum(), (targets["y"] < 0).sum()) / n if given.get("bias") else 0.5
        given["nu"] = float(rng.uniform(0.1, 1.0) * 2 * smaller)
    return Instance(kernels, groups=rng.integers(0, 2, count), sample_weight=weight, **targets), name, given


@pytest.mark.parametrize("first", range(0, 60, 12))
def test_three_witnesses_agree_about_random_problems(first):
    """Of li, ckl and vskl the auditor's kernels are lifted where a ridge is needed: those are other problems."""
    agreed = 0
    for seed in range(first, first + 12):
        instance, name, given = problem(seed)
        solution = solve(instance, name, **given)
        certificate, proof = solution.certificate, enclose(instance, solution)
        found = [(certificate.lower, certificate.upper)]
        found.append(check(instance.kernels, targets_of(instance), written(solution), instance.sample_weight,
                           instance.groups))  # fmt: skip
        if name not in BLOCKWISE or certificate.ridge == 0:
            found.append((proof.lower, proof.upper))
            agreed += 1
        assert max(lower for lower, _ in found) <= min(upper for _, upper in found), (seed, name, given)
    assert agreed >= 8


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", BLOCKWISE)
def test_single_precision_kernels_of_low_rank_are_confirmed_as_far_as_they_are_certified(tmp_path, capsys, name, seed):
    """δ is large there: what it adds to ‖f_m‖² is part of the scale."""
    rng, count = np.random.default_rng([9, seed]), 4
    factors = rng.normal(size=(count, 10, 2))
    kernels = (factors @ factors.transpose(0, 2, 1)).astype(np.float32)
    instance = Instance(kernels, np.where(rng.permutation(10) < 5, 1, -1), groups=[0, 0, 1, 1])
    solution = solve(instance, name, **PENALTIES[name])
    assert solution.certificate.ridge > 0
    assert audit(tmp_path, instance, solution) == 0, capsys.readouterr()


def test_alpha_of_zero_gains_nothing_and_nothing_less():
    """The logistic loss has c log 1 there, which is 0 exactly."""
    instance, given = instance_for(LOSSES["logistic"], kind=np.float32), parameters(LOSSES["logistic"])
    solution = solve(instance, "l1", **given)
    nothing = evaluated(instance.kernels, instance.y, written(solution) | {"alpha": [0.0] * 12}, instance.sample_weight)
    assert nothing.lower == 0
    assert nothing.gain == 0
