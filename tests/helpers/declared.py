"""Answers with any loss from the programmes declared in CVXPY, without `solve`: a point, moved onto its constraints, in
the records of files."""

from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np

from honest import claimed, on_domain, ridge_for
from mklcvx import Instance
from mklcvx.formulations import get
from mklcvx.formulations.losses import COUNTS, EVERY, LABELS, REAL, Loss
from sample_sides import CORNER, LEVEL, SHARE, TUBE, WIDTH

OWN = {"width": WIDTH, "epsilon": TUBE, "delta": CORNER, "quantile": LEVEL, "nu": SHARE}
PENALTIES = {
    "sm1": {"theta": 0.6}, "sm2": {"theta": 0.7}, "smp": {"theta": 0.7, "p": 1.5}, "square": {"theta": 0.7},
    "lp": {"p": 1.5}, "elastic": {"l1_ratio": 0.4}, "vskl": {"s": 3.0},
}  # fmt: skip
Record = dict[str, Any]


def parameters(loss: Loss, bias: bool = True, price: float = 0.7) -> dict[str, Any]:
    """Of a loss, every one by name."""
    own = {parameter.name: OWN[parameter.name] for parameter in loss.own}
    number = {"nu": 0.5} if loss.free_margin else {"C": price}
    return {"loss": loss.name, **number, **own, **({"bias": bias} if loss.takes_bias else {})}


def instance_for(loss: Loss, n: int = 12, seed: int = 0, weighted: bool = True, kind: type = float) -> Instance:
    """Kernels of full rank and of rank three, in some type of numbers."""
    rng = np.random.default_rng(seed)
    factors = [rng.normal(size=(n, rank)) for rank in (n, 3, n)]
    kernels = np.stack([x @ x.T / x.shape[1] for x in factors]).astype(kind)
    targets: dict[str, Any] = {}
    if loss.targets == LABELS:
        targets["y"] = np.where(rng.permutation(n) < 2 * n // 5, 1, -1)
    elif loss.targets == REAL:
        targets["response"] = rng.normal(size=n) + 3.0
    elif loss.targets == COUNTS:
        targets["response"] = rng.poisson(3.0, n)
    weight = rng.uniform(0.8, 1.2, n) if weighted else None
    return Instance(kernels, groups=[0, 0, 1], sample_weight=weight, **targets)


def answered(name: str, formulation: str, bias: bool = True, kind: type = float) -> tuple[Instance, Record]:
    """An instance for a loss, and a record of its own of the answer, for which both programmes are solved once."""
    instance, record = _answered(name, formulation, bias, kind)
    return instance, deepcopy(record)


@cache
def _answered(name: str, formulation: str, bias: bool, kind: type) -> tuple[Instance, Record]:
    instance = instance_for(LOSSES[name], kind=kind)
    return instance, answer(instance, formulation, parameters(LOSSES[name], bias) | PENALTIES.get(formulation, {}))


def answer(instance: Instance, name: str, given: dict[str, Any]) -> Record:
    """The record of a point: α from the dual, weights from the norms of the primal, the bias that is best for them."""
    formulation = get(name)
    task, resolved = formulation.task(instance, given)
    dual, primal = formulation.declare_dual(task), formulation.declare_primal(task)
    for program in (dual, primal):
        program.problem.solve(solver="CLARABEL", use_quad_obj=False)
    alpha = task.feasible(formulation.from_dual(dual, task, 1.0).duals[0])
    functions = formulation.from_primal(primal, task, 1.0).primals[0]
    norms, roots = task.evaluate(functions)[1], task.root_q(alpha)
    record: Record = {
        "schema": "mklcvx.solution/2", "formulation": name, "parameters": resolved, "alpha": alpha.tolist(),
        "weights": np.nan_to_num(formulation.weights(norms, roots, **task.own)).tolist(),
        "multipliers": dict(formulation.multipliers(norms, roots, **task.own)),
        "target": instance.targets.kind, "y": task.signs.astype(int).tolist(), "names": list(instance.names),
        "label_names": list(instance.targets.names), "classes": None, "coefficients": None, "preprocessing": None,
        "tolerance": 1e-6, "bias_low": 0.0, "alpha_low": None, "bias_interval": None,
    }  # fmt: skip
    record["weights"] = on_domain(record, instance.count)
    if formulation.between is not None:  # a kernel that α does not see may be used all the same
        record["coefficients"] = np.asarray(functions).tolist()
    record["multipliers"] = {key: value for key, value in record["multipliers"].items() if np.ndim(value) == 0}
    outputs = np.tensordot(record["weights"], task.matvecs(alpha * task.signs), axes=1)
    risk = task.risk(outputs if formulation.between is None else task.evaluate(functions)[0])
    record["bias"] = risk.bias
    if level := task.loss_function.level_name:
        record["multipliers"][level] = risk.unknown
    record["certificate"] = {"ridge": ridge_for(instance, record), "stretch": 1.0}
    return claimed(instance, record)


LOSSES = {loss.name: loss for loss in EVERY}
