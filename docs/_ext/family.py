"""The family tree of MKL: which formulation is another one at an end of its range. Data, which a test puts to the test.

An edge states, for one and the same instance and C,

    value of `of` at its settings  −  shift  =  factor · (value of `gives` at price · C)

exactly where it has one setting, in the limit where it has several. `shape` is what the instance must look like.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Settings = Callable[[int], Mapping[str, Any]]  # of the number of kernels


def fixed(**given: Any) -> Settings:
    return lambda count: given


@dataclass(frozen=True)
class Edge:
    of: str
    gives: str
    at: str  # in words and LaTeX, as Markdown
    sign: str  # the same in a few letters, for the picture
    settings: tuple[Settings, ...] = (fixed(),)
    target: Mapping[str, Any] = field(default_factory=dict)
    factor: float = 1.0
    price: float = 1.0
    shift: Callable[[int, Mapping[str, Any]], float] = lambda count, own: 0.0
    shape: str = "any"  # "one kernel", "own groups", "one group", "labels", "one label"

    @property
    def exact(self) -> bool:
        return len(self.settings) == 1


def thetas(*factors: float) -> tuple[Settings, ...]:
    return tuple(fixed(theta=factor) for factor in factors)


def at_equal_weights(count: int, own: Mapping[str, Any]) -> float:
    """What sm2's penalty ‖μ‖²/(2θ) adds at μ = 1/M."""
    return 1 / (2 * count * own["theta"])


def on_the_simplex(count: int, own: Mapping[str, Any]) -> float:
    """What smp's penalty (c/p) Σμ^p tends to as p → 1: c → 1, and Σμ = 1."""
    return 1.0


EDGES = (
    Edge("sum", "svm", "one kernel", "M = 1", shape="one kernel"),
    Edge("average", "svm", "one kernel", "M = 1", shape="one kernel"),
    Edge("l1", "svm", "one kernel", "M = 1", shape="one kernel"),
    Edge("l2", "svm", "one kernel", "M = 1", shape="one kernel"),
    Edge("li", "svm", "one kernel: $2\\,\\mathrm{svm}(C/2)$", "M = 1", factor=2.0, price=0.5, shape="one kernel"),
    Edge("sm1", "average", "$\\theta = 1/M$", "θ = 1/M", (lambda count: {"theta": 1 / count},)),
    Edge("sm1", "l1", "$\\theta \\ge 1$", "θ ≥ 1", (fixed(theta=1.0),)),
    Edge(
        "sm2", "average", "$\\theta \\to 0$, less $1/(2M\\theta)$", "θ → 0", thetas(1e-1, 1e-2, 1e-3),
        shift=at_equal_weights,
    ),
    Edge("sm2", "l1", "$\\theta \\to \\infty$", "θ → ∞", thetas(1e1, 1e3, 1e5)),
    Edge("smp", "sm2", "$p = 2$", "p = 2", (fixed(p=2.0, theta=1.5),), target={"theta": 1.5}),
    Edge(
        "smp", "l1", "$p \\to 1$, less 1", "p → 1", tuple(fixed(p=p, theta=1.5) for p in (1.1, 1.01, 1.001)),
        shift=on_the_simplex,
    ),
    Edge(
        "smp", "sm1", "$p \\to \\infty$: the box $\\theta/2\\ge1/M$", "p → ∞",
        tuple(fixed(p=p, theta=1.6) for p in (3.0, 12.0, 48.0)), target={"theta": 0.8},
    ),
    Edge("lp", "l1", "$p = 1$", "p = 1", (fixed(p=1.0),)),
    Edge("lp", "l2", "$p = 2$", "p = 2", (fixed(p=2.0),)),
    Edge("lp", "sum", "$p \\to \\infty$", "p → ∞", (fixed(p=1e1), fixed(p=1e2), fixed(p=1e3))),
    Edge("elastic", "l1", "$r = 1$", "r = 1", (fixed(l1_ratio=1.0),)),
    Edge("elastic", "l2", "$r = 0$", "r = 0", (fixed(l1_ratio=0.0),)),
    Edge("block_elastic", "l1", "$r = 1$", "r = 1", (fixed(l1_ratio=1.0),)),
    Edge("block_elastic", "sum", "$r = 0$", "r = 0", (fixed(l1_ratio=0.0),)),
    Edge("ckl", "li", "one kernel per group", "own groups", shape="own groups"),
    Edge("ckl", "l1", "a single group: $2\\,\\mathrm{l1}(C/2)$", "one group", factor=2.0, price=0.5, shape="one group"),
    Edge(
        "vskl", "ckl", "$s \\to \\infty$: $\\tfrac12\\,\\mathrm{ckl}(2C)$", "s → ∞",
        (fixed(s=8.0), fixed(s=64.0), fixed(s=512.0)), factor=0.5, price=2.0,
    ),
    Edge("vskl", "l1", "a single group", "one group", (fixed(s=3.0),), shape="one group"),
    Edge("vskl", "sum", "$s = 2$, one kernel per group", "s = 2", (fixed(s=2.0),), shape="own groups"),
    Edge("ml_sum", "l1", "one label, no bias", "k = 1", target={"bias": False}, shape="one label"),
    Edge("ml_minimax", "l1", "one label, no bias", "k = 1", target={"bias": False}, shape="one label"),
    Edge(
        "hypergraph_smooth", "hypergraph", "$\\mu \\to 0$", "μ → 0",
        (fixed(smoothing=1e-1), fixed(smoothing=1e-2), fixed(smoothing=1e-3)), shape="labels",
    ),
)  # fmt: skip

# Where each stands in the picture: column and row, from the left and from the top.
PLACES = {
    "smp": (0.4, 0), "ml_sum": (1.3, 0), "ml_minimax": (2.3, 0), "vskl": (6.4, 0),
    "sm2": (0, 1), "sm1": (0.75, 1), "elastic": (2.75, 1), "lp": (3.5, 1), "block_elastic": (4.3, 3),
    "ckl": (6.2, 1),
    "average": (0.2, 2), "l1": (2, 2), "l2": (3.3, 2), "sum": (4.6, 2), "li": (6.2, 2),
    "svm": (2.8, 3), "group_lasso": (5.9, 3),
    "square": (0, 4), "alignment": (1.1, 4), "ts": (2.1, 4), "ts_l1": (2.95, 4),
    "hypergraph_smooth": (4.25, 4), "hypergraph": (6.2, 4),
}  # fmt: skip
# Where an arrow has its words, as a share of its length, where they would meet others
SPOTS = {
    ("sm2", "average"): 0.35, ("sm2", "l1"): 0.72, ("sm1", "average"): 0.75, ("sm1", "l1"): 0.3,
    ("smp", "sm2"): 0.5, ("smp", "sm1"): 0.5, ("smp", "l1"): 0.42, ("elastic", "l1"): 0.35,
    ("elastic", "l2"): 0.78, ("lp", "l1"): 0.72, ("lp", "l2"): 0.3, ("ckl", "l1"): 0.22, ("vskl", "l1"): 0.3,
}  # fmt: skip
