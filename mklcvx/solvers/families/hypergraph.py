"""Hypergraphs: weights μ, Z, and the embedding of the kernel K(μ) into at most `dimensions`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from ...certificate import CertifiedPoint
from ...certificate.hypergraphs import ProvedHypergraph
from ...formulations.families.hypergraph import Embedding, Hypergraph, HypergraphBound, HyperTask, solved
from ...problem.instance import Instance
from ...problem.stack import Array
from .family import FamilyAssembler, Fields, Found, unweighted

Embedded = Found[Hypergraph, HyperTask, CertifiedPoint[HypergraphBound[Embedding], HypergraphBound[Array]]]


class HypergraphAssembler(FamilyAssembler[HyperTask, Embedded, ProvedHypergraph]):
    def attempts(self, result: Embedded) -> Iterator[Mapping[str, object]]:
        """One Z for both bounds, of the lower or of the upper one; the best Z for μ; a Z for each of them."""
        (weights, below), above = result.point.lower.point, result.point.upper.point
        apart = not np.array_equal(below, above)
        yield {"mu": weights, "z": below}
        if apart:
            yield {"mu": weights, "z": above}
        if result.polish:
            yield {"mu": weights, "z": solved(result.task, weights)}
        if apart:
            yield {"mu": weights, "z": above, "below": below}

    def fields(self, result: Embedded, proved: ProvedHypergraph) -> tuple[Fields, str]:
        task, instance = result.task, result.instance
        basis, values = embedding(task, proved.weights, result.parameters["dimensions"])
        multipliers = {"Z": proved.z, "B": basis, "eigenvalues": values, "trace": float(np.sum(task.h**2))}
        if proved.below is not None:
            multipliers["Z_lower"] = proved.below
        signs, notes = instance.targets.signs(result.formulation.name), _notes(instance, task.h.shape[1])
        return {"weights": proved.weights, "y": signs, "multipliers": multipliers, "notes": notes}, ""


def embedding(task: HyperTask, weights: Array, dimensions: int) -> tuple[Array, Array]:
    """B, and the eigenvalues that belong to it."""
    kernel = task.combined(weights)
    matrix = kernel + task.lam * np.eye(task.samples)
    try:
        ridge = np.linalg.solve(matrix, task.h)
    except np.linalg.LinAlgError:  # the least solution, where rounding leaves the matrix singular
        ridge = np.asarray(np.linalg.lstsq(matrix, task.h, rcond=None)[0], dtype=np.float64)
    seen_by_labels = task.h.T @ kernel @ ridge
    values, vectors = np.linalg.eigh((seen_by_labels + seen_by_labels.T) / 2)
    values, vectors = values[::-1], vectors[:, ::-1]
    seen = np.flatnonzero(values > len(kernel) * np.finfo(float).eps * max(values[0], 0.0))[:dimensions]
    return ridge @ vectors[:, seen] / np.sqrt(values[seen]), values


def _notes(instance: Instance, rank: int) -> tuple[str, ...]:
    members = instance.targets.indicators()
    alone, notes = int((members.sum(axis=1) == 0).sum()), unweighted(instance, "the hypergraph")
    if alone:
        notes.append(f"{alone} of {len(members)} samples have no label: they are in no edge, and H is zero for them")
    if rank < members.shape[1]:
        notes.append(f"the {members.shape[1]} labels are dependent: the hypergraph's matrix A has rank {rank}")
    return tuple(notes)
