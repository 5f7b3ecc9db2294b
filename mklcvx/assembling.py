"""From a certified point to the fields of a solution, family by family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .certificate import CertifiedPoint, certify
from .formulations import Formulation, Points, SingleTask, Task
from .formulations._hypergraph import Hypergraph, HyperTask
from .formulations._multi_label import ClassDual, ClassPrimal, LabelTask, MultiLabel
from .instance import Instance
from .polish import sharpened
from .second_stage import machine, one_versus_rest

Array = NDArray[np.float64]
Assembled = tuple[CertifiedPoint, dict[str, Any]]

# K_m(α∘y) counts as zero below this share of the largest value that its trace allows.
UNSEEN = 1e-7


def assemble(
    formulation: Formulation,
    task: Any,
    point: CertifiedPoint,
    tolerance: float,
    instance: Instance,
    parameters: Mapping[str, Any],
    polish: bool = True,
) -> Assembled:
    """The point to report, and the fields of its solution. With `polish` α may be improved on the way; without, as for
    a published algorithm, the point that it certified is reported as it is."""
    if isinstance(formulation, SingleTask):
        return single_task(formulation, task, point, tolerance, polish)
    if isinstance(formulation, MultiLabel):
        return many_labels(formulation, task, point, tolerance) if polish else as_found(task, point)
    if isinstance(formulation, Hypergraph):
        return hypergraph(formulation, task, point, instance, parameters["dimensions"])
    return two_stages(formulation, point, instance, parameters["C"])


def single_task(
    formulation: SingleTask, task: Task, point: CertifiedPoint, tolerance: float, polish: bool
) -> Assembled:
    """The short form, weights and α, is taken where it certifies as well; else the coefficients stay."""
    lower, upper = point.lower, point.upper
    roots = np.where(_seen(task, lower.alpha, lower.roots), lower.roots, 0.0)
    weights = formulation.weights(upper.norms, roots, **task.own)
    kept: Array = upper.coefficients
    coefficients: Array | None = kept
    usable = np.isfinite(weights).all() and (polish or point.certificate.proves(tolerance))
    short = _short(formulation, task, point, weights, polish) if usable else None
    if short is not None and short.certificate.proves(max(tolerance, point.certificate.relative_gap)):
        point, lower, upper, coefficients = short, short.lower, short.upper, None
    else:  # to the last bit what the coefficients give, however they were made
        upper = formulation.upper(task, kept)
        point = CertifiedPoint(lower, upper)
    multipliers = formulation.multipliers(upper.norms, lower.roots, **task.own)
    if upper.risk.rho is not None:
        multipliers["rho"] = upper.risk.rho
    return point, {
        "objective": upper.value,
        "weights": weights,
        "y": task.y,
        "alpha": lower.alpha,
        "bias": upper.risk.bias,
        "bias_interval": upper.risk.bias_interval,
        "coefficients": coefficients,
        "multipliers": multipliers,
        "norms": upper.norms,
        "notes": _as_stored(formulation, task, point, tolerance),
    }


def _as_stored(formulation: SingleTask, task: Task, point: CertifiedPoint, tolerance: float) -> tuple[str, ...]:
    """What the lower bound owes to leaving out directions below rounding, where that decides what is certified."""
    lower, certificate = point.lower, point.certificate
    if formulation.between is None or not certificate.proves(tolerance):
        return ()
    literally, taken = (
        formulation.conjugate(roots, **task.own) for roots in (task.correlations(lower.alpha), lower.roots)
    )
    gap = certificate.relative_gap + (literally - taken) / certificate.scale
    if gap <= tolerance:
        return ()
    return (f"kernels that alpha does not see count up to rounding; with entries as stored the gap is {gap:.1e}",)


def _short(formulation: SingleTask, task: Task, point: CertifiedPoint, weights: Array, polish: bool) -> CertifiedPoint:
    """The better of the classifiers that these weights make with α as it is and, if asked for, with α sharpened."""
    alphas = [point.lower.alpha]
    if polish:
        alphas.append(task.feasible(sharpened(task, weights, point.lower.alpha, point.upper)))
    # From the outer product, as anybody recomputes it: w(Kα) and K(wα) round differently, and C multiplies that.
    points = [certify(formulation, task, Points([a], [np.outer(weights, a * task.y)])) for a in alphas]
    return min(points, key=lambda short: short.certificate.gap)


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
        return short, _label_fields(task, short, weights, alpha, None)
    return as_found(task, certify(formulation, task, candidates, point), alpha)


def as_found(task: LabelTask, point: CertifiedPoint, unseen: Array | None = None) -> Assembled:
    """The certified point itself: its coefficients, and α = β/γ; `unseen` is α for classes with γ = 0."""
    beta, gamma = point.lower.point
    alpha = np.zeros_like(beta) if unseen is None else unseen
    alpha = np.divide(beta, gamma[:, None], out=alpha, where=np.broadcast_to(gamma[:, None] > 0, beta.shape))
    return point, _label_fields(task, point, point.upper.point.weights, alpha, point.upper.point.coefficients)


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
    return point, {
        "objective": point.lower.value if maximum else point.upper.value,
        "weights": weights,
        "coefficients": None,
        "multipliers": multipliers,
        "norms": None,
        "notes": tuple(notes),
        **fields,
    }


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
    return point, {
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
