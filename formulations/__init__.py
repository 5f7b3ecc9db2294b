"""The formulations: one theorem per file, declared in CVXPY, with its two bounds in NumPy.

Notation, the same in every file: n samples x_i with labels y_i ∈ {−1,+1}; M kernels with Gram matrices K_m;
f_m a function in kernel m's space and ‖f_m‖ its norm there; f = Σ_m f_m + b the decision function; α the
multipliers of the samples; q_m(α) = (α∘y)'K_m(α∘y); μ the weights of the kernels; (x)₊ = max(0, x).
risk, gain and the feasible sets of the hinge and its ν-form are stated in `families.task`; in `losses`, those of all;
the common shape of the single-task theorems in `families.single_task`; what many labels, two stages and hypergraphs
add in `families.multi_label`, `families.two_stage` and `families.hypergraph`.
Every file runs: python -m mklcvx.formulations.l1 prints its statement and what it comes to on a small problem.
"""

from __future__ import annotations

import sys
import warnings

from ..problem.checks import check_name
from ._formulation import Formulation, Parameter, Points
from .alignment import ALIGNMENT
from .average import AVERAGE
from .block_elastic import BLOCK_ELASTIC
from .ckl import CKL
from .elastic import ELASTIC
from .families import joint as _joint  # noqa: F401  # single tasks have a form for several outputs
from .families.single_task import LowerBound, SingleTask, UpperBound
from .families.task import RankOneCoefficients, Task
from .group_lasso import GROUP_LASSO
from .hypergraph import HYPERGRAPH
from .hypergraph_smooth import HYPERGRAPH_SMOOTH
from .l1 import L1
from .l2 import L2
from .li import LI
from .lp import LP
from .ml_minimax import ML_MINIMAX
from .ml_sum import ML_SUM
from .sm1 import SM1
from .sm2 import SM2
from .smp import SMP
from .square import SQUARE
from .sum import SUM
from .svm import SVM
from .ts import TS
from .ts_l1 import TS_L1
from .vskl import VSKL

SINGLE_TASKS: tuple[SingleTask, ...] = (
    SVM, SUM, AVERAGE, L1, SM1, SM2, SMP, SQUARE, L2, LP, ELASTIC, BLOCK_ELASTIC, GROUP_LASSO, LI, CKL, VSKL,
)  # fmt: skip

FORMULATIONS: tuple[Formulation, ...] = (
    *SINGLE_TASKS, ML_SUM, ML_MINIMAX, TS, TS_L1, ALIGNMENT, HYPERGRAPH, HYPERGRAPH_SMOOTH,
)  # fmt: skip

if sys.argv[:1] == ["-m"]:  # python -m mklcvx.formulations.NAME runs a file that was imported above, and that is meant
    warnings.filterwarnings("ignore", ".*found in sys.modules after import of package", RuntimeWarning)

_BY_NAME = {formulation.name: formulation for formulation in FORMULATIONS}


def get(name: str) -> Formulation:
    """The formulation of that name; an unknown name is refused with the nearest known one."""
    check_name("formulation", name, _BY_NAME)
    return _BY_NAME[name]


__all__ = [
    "FORMULATIONS", "SINGLE_TASKS", "Formulation", "LowerBound", "Parameter", "Points", "RankOneCoefficients",
    "SingleTask", "Task", "UpperBound", "get",
]  # fmt: skip
