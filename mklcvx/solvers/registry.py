"""The published algorithms, one per file, on one driver that stops on the certified gap."""

from __future__ import annotations

from .driver import Algorithm, Callback, Options, drive, with_options
from .interior.engine import InteriorPoint
from .published.alignment_nnls import AlignmentNNLS
from .published.analytic import Analytic
from .published.ckl_alternating import CKLAlternating
from .published.group_lasso_bcd import GroupLassoBCD
from .published.hypergraph_nesterov import HypergraphNesterov
from .published.hypergraph_silp import HypergraphSILP
from .published.level import Level
from .published.li_alternating import LiAlternating
from .published.mirror import Mirror
from .published.ml_mirror_prox import MLMirrorProx
from .published.ml_sa import MLSA
from .published.ml_sum_subgradient import MLSumSubgradient
from .published.silp import SILP
from .published.silp_exact import SILPExact
from .published.simplemkl import SimpleMKL
from .published.sm1_bcd import SM1BCD
from .published.sm2_projection import SM2Projection
from .published.spicymkl import SpicyMKL
from .published.ts_pegasos import TSPegasos

ALGORITHMS: tuple[type[Algorithm], ...] = (
    InteriorPoint, SILPExact, SILP, SimpleMKL, Level, Analytic, SM1BCD, SM2Projection, GroupLassoBCD, SpicyMKL,
    LiAlternating, CKLAlternating, Mirror, MLSumSubgradient, MLMirrorProx, MLSA, TSPegasos, AlignmentNNLS,
    HypergraphSILP, HypergraphNesterov,
)  # fmt: skip

__all__ = ["ALGORITHMS", "Algorithm", "Callback", "Options", "drive", "with_options"]
