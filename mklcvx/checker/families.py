"""Audit a solution file of many labels, two stages or hypergraphs, as `audit.py` does for single tasks:

    python -m mklcvx.checker.families INSTANCE.npz SOLUTION.json|.npz

The weights μ lie exactly on their set. The theorems are in `labels.py`, `pairs.py` and `hypergraphs.py`.
"""

import sys

import numpy as np

from .claims import PAIRS, audited, number, numbers, parameters_of, targets_of
from .hypergraphs import hypergraph
from .labels import many_labels, second_stage, share
from .numbers import require, stack_of
from .outputs import biases
from .pairs import alignment, belonging, pairs
from .prices import domain

HYPERGRAPH = {"lam": "lam", "dimensions": "dimensions", "expansion": "word"}
PARAMETERS = {
    "ml_sum": {"C": "C", "bias": "flag"},
    "ml_minimax": {"C": "C", "bias": "flag"},
    "ts": {"C": "C", "lam": "lam", "balanced": "flag"},
    "ts_l1": {"C": "C", "lam": "lam", "balanced": "flag"},
    "alignment": {"C": "C", "approximate": "flag"},
    "hypergraph": HYPERGRAPH,
    "hypergraph_smooth": HYPERGRAPH | {"smoothing": "smoothing"},
}


def check(kernels, labels, record, weight=1.0):
    """(lower, upper) as this solution's point proves them, rounded outward; `labels` (n, k) in {0, 1}, one column for
    labels ±1."""
    return evaluated(kernels, np.asarray(labels), record, weight).interval()


def evaluated(kernels, labels, record, weight=1.0):
    """Both bounds at the record's point, exactly."""
    stack, name = stack_of(kernels), record["formulation"]
    require(name in PARAMETERS, f"formulation: {name!r:.40} is not one of {', '.join(PARAMETERS)}")
    second = "second_stage_gap" in record["multipliers"]
    given = parameters_of(record, PARAMETERS[name] | ({"C": "C"} if second else {}), len(stack))
    on_simplex = name.startswith(("ml_", "hypergraph"))
    mu = domain("l1" if on_simplex else name, numbers(record["weights"], (len(stack),), "weights"), given)
    signs = np.where(labels.T > 0, 1, -1)
    if name.startswith("ml_"):
        return many_labels(stack, signs, mu, record, given, weight)
    stretch = record["certificate"].get("stretch")
    require(stretch is None or number(stretch, "certificate.stretch") == 1, "certificate.stretch: must be 1 here")
    require(record["coefficients"] is None, "coefficients: there are none in this family")
    if name.startswith("hypergraph"):
        point = hypergraph(stack, (labels > 0).astype(int), mu, record, given)
    elif name == "alignment":
        point = alignment(stack, belonging(labels, record["target"]), mu, record)
    else:
        point = pairs(stack, belonging(labels, record["target"]), mu, record, given)
    if second:
        stages = list(second_stage(stack, signs, mu, record, given, weight))
        return point._replace(second=max(map(share, stages)), stages=stages)
    alone = name.startswith("hypergraph") and record["alpha"] is None
    require(alone and record.get("alpha_low") is None, "multipliers.second_stage_gap: missing")
    require(not any(biases(record, ())), "bias: there is none in this family")
    return point


# ------------------------------------------------------------------------------------------------------------ files
def evaluated_file(data, record):
    kind, signs, _, _ = targets_of(data)
    require(kind not in ("response", "none"), "target: the instance needs one of y, classes and labels")
    labels = np.atleast_2d(signs).T > 0
    return evaluated(data["kernels"], labels.astype(int), record, data.get("sample_weight", 1.0))


def point_multipliers(record):
    """The multipliers that are part of the point, and the fields that are not checked here."""
    name = record["formulation"]
    used = {"ml_minimax": ["gamma"], "ts": ["beta"], "ts_l1": ["beta"], "hypergraph": ["Z"], "hypergraph_smooth": ["Z"]}
    second = ["second_stage_gap", "second_stage_stretch", "second_stage_ridge"]
    return [*used.get(name, []), *second], ["certificate.ridge"] if name in PAIRS else []


if __name__ == "__main__":
    sys.exit(audited(sys.argv[1:], evaluated_file, point_multipliers))
