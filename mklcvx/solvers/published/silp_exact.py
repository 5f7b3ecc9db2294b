"""silp_exact — the declared semi-infinite programs of `l1`, `sm1` and `hypergraph` by column generation.

Master and oracle are those of `formulations._silp`, written in CVXPY and solved by Clarabel: a witness, and slow.
`silp` and `hypergraph_silp` are the same with HiGHS, LIBSVM and a linear system.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...certificate.run import Run
from ...formulations import Points, _silp
from ...formulations.families.hypergraph import HyperTask
from ..conic import CLARABEL, solve_program
from ..driver import Problem
from ._column_generation import Array, ColumnGeneration, Columns
from .hypergraph_silp import embedding_points
from .silp import alpha_points


@dataclass(frozen=True)
class SILPExact(ColumnGeneration):
    name: ClassVar[str] = "silp_exact"
    summary: ClassVar[str] = "the declared semi-infinite linear program by column generation"
    reference: ClassVar[str] = "Sonnenburg et al. 2006"
    serves: ClassVar[tuple[str, ...]] = ("l1", "sm1", "hypergraph")
    tolerance: ClassVar[float] = 1e-6

    def separate(self, problem: Problem, weights: Array) -> Array | None:
        if isinstance(problem.task, HyperTask):
            embedding = _silp.embedding_oracle(problem.task, weights)
            return np.asarray(embedding.z.value) if solve_program(embedding.problem, CLARABEL, Run()) else None
        problem.svm_solves += 1
        single, program = _silp.separation_oracle(problem.task, weights)
        return single.feasible(program.alpha.value) if solve_program(program.problem, CLARABEL, Run()) else None

    def scores(self, problem: Problem, cut: Array) -> Array:
        task = problem.task
        return -task.scores(cut) if isinstance(task, HyperTask) else _silp.scores(task, cut)

    def master(self, problem: Problem, rows: Array) -> tuple[Array, Array] | None:
        declared = _silp.restricted_master(rows, _silp.cap(getattr(problem.task, "own", {})))
        if not solve_program(declared.problem, CLARABEL, Run()):
            return None
        weights = np.maximum(declared.weights.value, 0.0)
        mix = np.maximum(np.ravel(declared.cuts.dual_value), 0.0)
        return weights / weights.sum(), mix / mix.sum()

    def points(self, problem: Problem, state: Columns) -> Points:
        return embedding_points(state) if isinstance(problem.task, HyperTask) else alpha_points(problem, state)
