"""The published algorithms, one per file, on one driver that stops on the certified gap."""

from __future__ import annotations

from typing import Any

from ._driver import Algorithm, Callback, drive, with_options
from .alignment_nnls import AlignmentNNLS
from .analytic import Analytic
from .ckl_alternating import CKLAlternating
from .hypergraph_nesterov import HypergraphNesterov
from .hypergraph_silp import HypergraphSILP
from .interior import InteriorPoint
from .level import Level
from .li_alternating import LiAlternating
from .mirror import Mirror
from .ml_mirror_prox import MLMirrorProx
from .ml_sa import MLSA
from .ml_sum_subgradient import MLSumSubgradient
from .silp import SILP
from .silp_exact import SILPExact
from .simplemkl import SimpleMKL
from .sm1_bcd import SM1BCD
from .sm2_projection import SM2Projection
from .ts_pegasos import TSPegasos

ALGORITHMS: tuple[type[Algorithm[Any]], ...] = (
    InteriorPoint, SILPExact, SILP, SimpleMKL, Level, Analytic, SM1BCD, SM2Projection, LiAlternating, CKLAlternating,
    Mirror, MLSumSubgradient, MLMirrorProx, MLSA, TSPegasos, AlignmentNNLS, HypergraphSILP, HypergraphNesterov,
)  # fmt: skip

__all__ = ["ALGORITHMS", "Algorithm", "Callback", "drive", "with_options"]
