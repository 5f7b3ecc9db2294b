"""From a certified point to the fields of a solution, family by family."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..certificate import Certificate, CertifiedPoint, alignment, hypergraphs, labels
from ..certificate import pairs as pair_bounds
from ..certificate.alignment import ProvedAlignment
from ..certificate.hypergraphs import ProvedHypergraph
from ..certificate.labels import ProvedLabels
from ..certificate.pairs import ProvedPairs
from ..certificate.proving import certified
from ..certificate.regularisers import Simplex, regulariser_of
from ..certificate.single import Proved
from ..formulations import Formulation, Implied, SingleTask, Task
from ..formulations.families.hypergraph import Hypergraph, HyperTask
from ..formulations.families.hypergraph import solved as best_z
from ..formulations.families.multi_label import LabelTask, MultiLabel
from ..formulations.families.pairs import Pairs
from ..problem.instance import Instance
from ..problem.stack import KernelStack
from .polish import balanced, refined, sharpened
from .second_stage import machine, one_versus_rest

Array = NDArray[np.float64]
T = TypeVar("T")


class Assembled(NamedTuple):
    """The certificate, the fields of the solution, what keeps the certificate from being tighter ("rounding",
    "entries", or nothing), and what else is not proved, in words."""

    certificate: Certificate
    fields: dict[str, Any]
    limit: str = ""
    failed: str = ""


# K_m(α∘y) counts as zero below this share of the largest value that its trace allows.
UNSEEN = 1e-7


def assemble(
    formulation: Formulation,
    task: Any,
    working: Any,
    point: CertifiedPoint,
    tolerance: float,
    instance: Instance,
    parameters: Mapping[str, Any],
    polish: bool = True,
    refine: bool = True,
) -> Assembled:
    """The certificate of the point found, and the fields of its solution. `working` is the task as the solver had it,
    in centred coordinates. With `polish` α may be improved on the way, and with `refine` in its last bits; without, as
    for a published algorithm, the point is reported as it was found, its equalities made exact."""
    if isinstance(formulation, SingleTask):
        return single_task(formulation, task, working, point, tolerance, polish, refine)
    if isinstance(formulation, MultiLabel):
        return many_labels(formulation, task, point, tolerance, polish)
    if isinstance(formulation, Hypergraph):
        return hypergraph(formulation, task, point, tolerance, instance, parameters["dimensions"], polish)
    return two_stages(formulation, task, point, tolerance, instance, parameters["C"])


def single_task(
    formulation: SingleTask, task: Task, working: Task, point: CertifiedPoint, tolerance: float, polish: bool,
    refine: bool,
) -> Assembled:  # fmt: skip
    """The short form, weights and α, is taken where it certifies as well; else the coefficients stay."""
    tried: list[Proved] = []
    for attempt in attempts(formulation, task, working, point, polish, refine):
        tried.append(certified(formulation, task, tolerance=tolerance, **attempt))
        if tried[-1].certificate.proves(tolerance):
            break
    found = _best(tried, tolerance)
    multipliers = formulation.multipliers(found.norms, found.roots, **task.own)
    if found.tau is not None:
        multipliers["tau"] = found.tau
    if found.rho is not None:
        multipliers["rho"] = found.rho
    fields = {
        "objective": found.certificate.upper,
        "weights": found.weights,
        "y": task.y,
        "alpha": found.alpha,
        "alpha_low": found.low,
        "bias": found.bias[0],
        "bias_low": found.bias[1],
        "bias_interval": found.bias_interval,
        "coefficients": found.coefficients,
        "multipliers": multipliers,
        "norms": found.norms,
        "notes": (),
    }
    return Assembled(found.certificate, fields, found.limit)


def attempts(
    formulation: SingleTask, stored: Task, task: Task, point: CertifiedPoint, polish: bool, refine: bool
) -> Iterator[dict[str, Any]]:
    """α and weights as they were found, sharpened, and in two parts; α of the functions found; these by themselves."""
    lower, upper = point.lower, point.upper
    functions = upper.coefficients
    roots = np.where(_seen(task, lower.alpha, lower.roots), lower.roots, 0.0)
    best = formulation.weights(upper.norms, roots, **task.own)
    weights = functions.weights if isinstance(functions, Implied) else best
    side = regulariser_of(formulation.name, task.count, task.own)
    best, weights = (best, weights) if side is None else (side.feasible(best), side.feasible(weights))
    if np.isfinite(weights).all():
        if polish:
            yield {"alpha": task.feasible(sharpened(task, weights, lower.alpha, upper)), "mu": weights}
        yield {"alpha": lower.alpha, "mu": weights}
        if refine and formulation.between is None:
            alpha, low = refined(stored, task, weights, lower.alpha)
            yield {"alpha": alpha, "mu": weights, "low": low}
    apart = not isinstance(functions, Implied) or not np.array_equal(functions.signed, lower.alpha * task.y)
    if isinstance(functions, Implied) and apart and np.isfinite(weights).all():
        yield {"alpha": task.feasible(functions.signed * task.y), "mu": weights}
    if apart or not np.array_equal(best, weights):  # functions are priced with the weights that fit them best
        coefficients = np.asarray(functions)
        if task is not stored:  # with Σ_i c_mi = 0 they make the same functions of both, up to a constant
            coefficients = np.stack([balanced(row, stored.reference) for row in coefficients])
        yield {"alpha": lower.alpha, "mu": best, "coefficients": coefficients}
    nothing = np.zeros(task.count) if side is None else side.feasible(np.zeros(task.count))
    yield {"alpha": np.zeros(task.samples), "mu": nothing}  # f = 0, or next to it, whatever the numbers are


def _seen(task: Task, alpha: Array, roots: Array) -> NDArray[np.bool_]:
    return np.asarray(roots > UNSEEN * np.sqrt(np.maximum(task.traces, 0.0)) * np.linalg.norm(alpha))


def many_labels(
    formulation: MultiLabel, task: LabelTask, point: CertifiedPoint, tolerance: float, polish: bool
) -> Assembled:
    """Weights and α say it all where that certifies; else the coefficients stay."""
    tried: list[ProvedLabels] = []
    for attempt in label_attempts(task, point, polish):
        tried.append(labels.certified(formulation.name, task, tolerance=tolerance, **attempt))
        if tried[-1].certificate.proves(tolerance):
            break
    found = _best(tried, tolerance)
    fields = {
        "objective": found.certificate.upper,
        "weights": found.weights,
        "y": task.signs,
        "alpha": found.alpha,
        "bias": np.zeros(task.classes),
        "bias_interval": None,
        "coefficients": found.coefficients,
        "multipliers": {"gamma": found.gamma, "class_values": found.class_values},
        "norms": found.norms,
    }
    return Assembled(found.certificate, fields, found.limit)


def label_attempts(task: LabelTask, point: CertifiedPoint, polish: bool) -> Iterator[dict[str, Any]]:
    """α = β/γ as it was found; every class's classifier at the weights found; the functions found."""
    beta, gamma = point.lower.point
    weights, functions = point.upper.point.weights, point.upper.point.coefficients
    counted = np.broadcast_to(gamma[:, None] > 0, beta.shape)
    alpha = np.divide(beta, gamma[:, None], out=np.zeros_like(beta), where=counted)
    if counted.all() or not polish:
        yield {"alpha": alpha, "p": weights, "gamma": gamma}
    if polish:
        kernel = task.combined(Simplex(task.count).feasible(weights))
        solved = np.stack([machine(kernel, signs, task.box, bias=False)[1] for signs in task.signs])
        yield {"alpha": solved, "p": weights, "gamma": gamma}
        alpha = np.where(counted, alpha, solved)
    yield {"alpha": alpha, "p": weights, "gamma": gamma, "coefficients": functions}


def two_stages(
    formulation: Formulation, task: Any, point: CertifiedPoint, tolerance: float, instance: Instance, price: float
) -> Assembled:
    """The learned weights, and an SVM with the kernel they make."""
    found: ProvedPairs | ProvedAlignment
    if formulation.maximises:
        pairs = Pairs(KernelStack(instance.kernels, symmetric=instance.symmetric))
        mu = point.lower.point
        longest = float(np.abs(mu).max())
        mu = mu / longest / np.linalg.norm(mu / longest) if longest > 0 else mu
        found = alignment.certified(pairs, instance.targets.together(), mu, point.upper.point, tolerance)
        multipliers: dict[str, Any] = {
            "normalised": found.certificate.lower / instance.samples,
            "witness": found.witness,
            "epsilon": found.epsilon,
        }
    else:
        found = pair_bounds.certified(formulation.name, task, point.lower.point, point.upper.point, tolerance)
        multipliers = {"beta": found.beta}
    certificate, weights = found.certificate, found.weights
    machines = one_versus_rest(instance, weights, price, tolerance)
    notes = _unweighted(instance, "the first stage")
    if not weights.any():
        notes.append("no kernel gets weight: no combination helps here")
    if machines.failed:
        notes.append(machines.failed)
    fields = {
        **machines.fields,
        "objective": certificate.lower if formulation.maximises else certificate.upper,
        "weights": weights,
        "coefficients": None,
        "multipliers": {**multipliers, "second_stage_gap": machines.gap},
        "norms": None,
        "notes": tuple(notes),
    }
    return Assembled(certificate, fields, found.limit, machines.failed)


def hypergraph(
    formulation: Hypergraph, task: HyperTask, point: CertifiedPoint, tolerance: float, instance: Instance,
    dimensions: int, polish: bool,
) -> Assembled:  # fmt: skip
    """θ, Z, and the embedding of the kernel that θ makes, into at most `dimensions`."""
    tried: list[ProvedHypergraph] = []
    for attempt in hypergraph_attempts(task, point, polish):
        tried.append(hypergraphs.certified(task, point.lower.point.weights, tolerance=tolerance, **attempt))
        if tried[-1].certificate.proves(tolerance):
            break
    found = _best(tried, tolerance)
    basis, values = embedding(task, found.weights, dimensions)
    multipliers = {"Z": found.z, "B": basis, "eigenvalues": values, "trace": float(np.sum(task.h**2))}
    if found.below is not None:
        multipliers["Z_lower"] = found.below
    fields = {
        "objective": found.certificate.upper,
        "weights": found.weights,
        "y": instance.targets.signs(formulation.name),
        "alpha": None,
        "bias": 0.0,
        "bias_interval": None,
        "coefficients": None,
        "multipliers": multipliers,
        "norms": None,
        "notes": _hypergraph_notes(instance, task.h.shape[1]),
    }
    return Assembled(found.certificate, fields, found.limit)


def hypergraph_attempts(task: HyperTask, point: CertifiedPoint, polish: bool) -> Iterator[dict[str, Any]]:
    """One Z for both bounds, of the lower or of the upper one; the best Z for θ; a Z for each of them."""
    below, above = point.lower.point.z, point.upper.point
    apart = not np.array_equal(below, above)
    yield {"z": below}
    if apart:
        yield {"z": above}
    if polish:
        yield {"z": best_z(task, point.lower.point.weights)}
    if apart:
        yield {"z": above, "below": below}


def embedding(task: HyperTask, theta: Array, dimensions: int) -> tuple[Array, Array]:
    """B, and the eigenvalues that belong to it."""
    kernel = task.combined(theta)
    ridge = _solved(kernel + task.lam * np.eye(task.samples), task.h)
    values, vectors = np.linalg.eigh(_symmetric(task.h.T @ kernel @ ridge))
    values, vectors = values[::-1], vectors[:, ::-1]
    seen = np.flatnonzero(values > len(kernel) * np.finfo(float).eps * max(values[0], 0.0))[:dimensions]
    return ridge @ vectors[:, seen] / np.sqrt(values[seen]), values


def _solved(matrix: Array, right: Array) -> Array:
    """The least solution where rounding leaves the matrix singular."""
    try:
        return np.asarray(np.linalg.solve(matrix, right))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(matrix, right, rcond=None)[0])


def _best(tried: list[T], tolerance: float) -> T:
    """The first that proves the tolerance, else the one with the least gap."""

    def rank(one: Any) -> tuple[bool, float]:
        certificate = one.certificate
        return not certificate.proves(tolerance), math.inf if math.isnan(certificate.gap) else certificate.gap

    return min(tried, key=rank)


def _unweighted(instance: Instance, what: str) -> list[str]:
    even = np.ptp(instance.sample_weight) == 0
    return [] if even else [f"the sample weights play no part in {what}"]


def _hypergraph_notes(instance: Instance, rank: int) -> tuple[str, ...]:
    members = instance.targets.indicators()
    alone, notes = int((members.sum(axis=1) == 0).sum()), _unweighted(instance, "the hypergraph")
    if alone:
        notes.append(f"{alone} of {len(members)} samples have no label: they are in no edge, and H is zero for them")
    if rank < members.shape[1]:
        notes.append(f"the {members.shape[1]} labels are dependent: the hypergraph's matrix C has rank {rank}")
    return tuple(notes)


def _symmetric(matrix: Array) -> Array:
    return (matrix + matrix.T) / 2
