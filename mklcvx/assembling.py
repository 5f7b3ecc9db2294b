"""From a certified point to the fields of a solution, family by family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .certificate import Certificate, CertifiedPoint, certify
from .certificate.regularisers import regulariser_of
from .certificate.single import Proved, certified
from .formulations import Formulation, Implied, Points, SingleTask, Task
from .formulations._hypergraph import Hypergraph, HyperTask
from .formulations._multi_label import ClassDual, ClassPrimal, LabelTask, MultiLabel
from .instance import Instance
from .polish import balanced, refined, sharpened
from .second_stage import machine, one_versus_rest

Array = NDArray[np.float64]


class Assembled(NamedTuple):
    """The certificate, the fields of the solution, and what keeps the certificate from being tighter ("rounding",
    "entries", or nothing)."""

    certificate: Certificate
    fields: dict[str, Any]
    limit: str = ""


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
) -> Assembled:
    """The certificate of the point found, and the fields of its solution. `working` is the task as the solver had it,
    in centred coordinates. With `polish` α may be improved on the way; without, as for a published algorithm, the
    point is reported as it was found, but for its place on the grid."""
    if isinstance(formulation, SingleTask):
        return single_task(formulation, task, working, point, tolerance, polish)
    if isinstance(formulation, MultiLabel):
        return many_labels(formulation, task, point, tolerance) if polish else as_found(task, point)
    if isinstance(formulation, Hypergraph):
        return hypergraph(formulation, task, point, instance, parameters["dimensions"])
    return two_stages(formulation, point, instance, parameters["C"])


def single_task(
    formulation: SingleTask, task: Task, working: Task, point: CertifiedPoint, tolerance: float, polish: bool
) -> Assembled:
    """The short form, weights and α, is taken where it certifies as well; else the coefficients stay."""
    tried: list[Proved] = []
    for attempt in attempts(formulation, task, working, point, polish):
        tried.append(certified(formulation, task, tolerance=tolerance, **attempt))
        if tried[-1].certificate.proves(tolerance):
            break
    found = min(tried, key=lambda one: (not one.certificate.proves(tolerance), one.certificate.gap))
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
    formulation: SingleTask, stored: Task, task: Task, point: CertifiedPoint, polish: bool
) -> Iterator[dict[str, Any]]:
    """α and weights as they were found, sharpened, and in two parts; α of the functions found; these by themselves."""
    lower, upper = point.lower, point.upper
    functions = upper.coefficients
    roots = np.where(_seen(task, lower.alpha, lower.roots), lower.roots, 0.0)
    weights = formulation.weights(upper.norms, roots, **task.own)
    if isinstance(functions, Implied):
        weights = functions.weights
    side = regulariser_of(formulation.name, task.count, task.own)
    weights = weights if side is None else side.feasible(weights)
    if np.isfinite(weights).all():
        if polish:
            yield {"alpha": task.feasible(sharpened(task, weights, lower.alpha, upper)), "mu": weights}
        yield {"alpha": lower.alpha, "mu": weights}
        if formulation.between is None:
            alpha, low = refined(stored, task, weights, lower.alpha)
            yield {"alpha": alpha, "mu": weights, "low": low}
        if isinstance(functions, Implied) and not np.array_equal(functions.signed, lower.alpha * task.y):
            yield {"alpha": task.feasible(functions.signed * task.y), "mu": weights}
    if not isinstance(functions, Implied) or not np.isfinite(weights).all():
        coefficients = np.asarray(functions)
        if task is not stored:  # with Σ_i c_mi = 0 they make the same functions of both, up to a constant
            coefficients = np.stack([balanced(row, stored.reference) for row in coefficients])
        yield {"alpha": lower.alpha, "mu": weights, "coefficients": coefficients}


def _seen(task: Task, alpha: Array, roots: Array) -> NDArray[np.bool_]:
    return np.asarray(roots > UNSEEN * np.sqrt(np.maximum(task.traces, 0.0)) * np.linalg.norm(alpha))


def many_labels(formulation: MultiLabel, task: LabelTask, point: CertifiedPoint, tolerance: float) -> Assembled:
    """Every class's classifier at the weights found, so that weights and α say it all where that certifies."""
    weights, gamma = point.upper.point.weights, point.lower.point.gamma
    kernel = task.combined(weights)
    alpha = np.stack([machine(kernel, signs, task.box, bias=False)[1] for signs in task.signs])
    implied = weights[None, :, None] * (alpha * task.signs)[:, None, :]
    candidates = Points([ClassDual(gamma[:, None] * alpha, gamma)], [ClassPrimal(implied, weights)])
    short = certify(formulation, task, candidates)
    if short.certificate.proves(max(tolerance, point.certificate.relative_gap)):
        # The weights that made these functions: those that are best for them would make others.
        return Assembled(short.certificate, _label_fields(task, short, weights, alpha, None))
    return as_found(task, certify(formulation, task, candidates, point), alpha)


def as_found(task: LabelTask, point: CertifiedPoint, unseen: Array | None = None) -> Assembled:
    """The certified point itself: its coefficients, and α = β/γ; `unseen` is α for classes with γ = 0."""
    beta, gamma = point.lower.point
    alpha = np.zeros_like(beta) if unseen is None else unseen
    alpha = np.divide(beta, gamma[:, None], out=alpha, where=np.broadcast_to(gamma[:, None] > 0, beta.shape))
    fields = _label_fields(task, point, point.upper.point.weights, alpha, point.upper.point.coefficients)
    return Assembled(point.certificate, fields)


def _label_fields(
    task: LabelTask, point: CertifiedPoint, weights: Array, alpha: Array, coefficients: Array | None
) -> dict[str, Any]:
    penalties = point.upper.squares @ np.divide(1.0, weights, out=np.zeros_like(weights), where=weights > 0) / 2
    return {
        "objective": point.upper.value,
        "weights": weights,
        "y": task.signs,
        "alpha": alpha,
        "bias": np.zeros(task.classes),
        "bias_interval": None,
        "coefficients": coefficients,
        "multipliers": {"gamma": point.lower.point.gamma, "class_values": penalties + point.upper.risks},
        "norms": np.sqrt(point.upper.squares.sum(axis=0)),
    }


def two_stages(formulation: Formulation, point: CertifiedPoint, instance: Instance, price: float) -> Assembled:
    """The learned weights, and an SVM with the kernel they make."""
    maximum = formulation.maximises
    weights = point.lower.point if maximum else point.upper.point
    multipliers: dict[str, Any] = {} if maximum else {"beta": point.lower.point}
    if maximum:
        length = np.linalg.norm(weights)
        weights = weights / length if length > 0 else weights
        multipliers["normalised"] = point.lower.value / instance.samples
    notes = _unweighted(instance, "the first stage")
    if not weights.any():
        notes.append("no kernel gets weight: no combination helps here")
    fields = one_versus_rest(instance, weights, price)
    multipliers["second_stage_gap"] = fields.pop("gap")
    fields |= {
        "objective": point.lower.value if maximum else point.upper.value,
        "weights": weights,
        "coefficients": None,
        "multipliers": multipliers,
        "norms": None,
        "notes": tuple(notes),
    }
    return Assembled(point.certificate, fields)


def hypergraph(
    formulation: Hypergraph, task: HyperTask, point: CertifiedPoint, instance: Instance, dimensions: int
) -> Assembled:
    """θ, Z, and the embedding of the kernel that θ makes, into at most `dimensions`."""
    theta, z = point.lower.point.weights, point.upper.point
    kernel = task.combined(theta)
    ridge = np.linalg.solve(kernel + task.lam * np.eye(task.samples), task.h)
    values, vectors = np.linalg.eigh(_symmetric(task.h.T @ kernel @ ridge))
    values, vectors = values[::-1], vectors[:, ::-1]
    seen = np.flatnonzero(values > len(kernel) * np.finfo(float).eps * max(values[0], 0.0))[:dimensions]
    basis = ridge @ vectors[:, seen] / np.sqrt(values[seen])
    fields = {
        "objective": point.upper.value,
        "weights": theta,
        "y": instance.targets.signs(formulation.name),
        "alpha": None,
        "bias": 0.0,
        "bias_interval": None,
        "coefficients": None,
        "multipliers": {"Z": z, "B": basis, "eigenvalues": values, "trace": float(np.sum(task.h**2))},
        "norms": None,
        "notes": _hypergraph_notes(instance, task.h.shape[1]),
    }
    return Assembled(point.certificate, fields)


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
