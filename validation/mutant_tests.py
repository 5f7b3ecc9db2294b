"""Which tests a mutant meets: by room, and in `formulations` by topic."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Tests of the other rooms whose files are mutated; patterns in tests/.
ROOMS = {
    "certificate/": ("certificate/test_*", "verification/test_proved_answers"),
    "checker/": ("checker/test_*",),
    "solvers/interior/": ("solvers/test_interior*", "solvers/test_[oqvw]*", "solvers/test_losses_solved"),
}
# By topic; every other file of formulations/ is a single task's theorem, and meets the tests that name it.
THEOREM = (
    "roots", "bounds", "regulariser_sides", "declarations", "identities", "task", "parameters", "zoo", "group_lasso",
    "interior",
)  # fmt: skip
TOPICS = {
    "_cvxpy": ("demonstrations",),
    "_dual": ("losses", "declarations", "losses_declared"), "_primal": ("losses", "declarations", "losses_declared"),
    "_formulation": ("parameters", "demonstrations"), "_groups": ("bounds", "declarations"),
    "_roots": ("roots", "bounds"), "_regulariser": ("regulariser_sides", "bounds", "interior"),
    "_silp": ("silp", "hypergraph"), "_entropy": ("entropy", "hypergraph"),
    **dict.fromkeys(("ml_sum", "ml_minimax", "families/multi_label"), ("multi_label", "parameters")),
    **dict.fromkeys(("ts", "ts_l1", "alignment", "families/two_stage"), ("two_stage", "parameters")),
    **dict.fromkeys(("hypergraph", "hypergraph_smooth", "families/hypergraph"), ("hypergraph", "parameters")),
    "__init__": ("parameters", "demonstrations"),
    "families/single_task": ("bounds", "task", "parameters", "losses_parameters", "declarations", "joint"),
    "families/task": ("task", "bounds", "declarations", "losses_parameters"),
    "families/pairs": ("interior_pairs", "two_stage"),
    "losses/_exact": ("exact", "task", "losses"), "losses/_loss": ("losses", "task", "parameters", "losses_parameters"),
    "losses/hinge": ("losses", "exact", "task", "parameters"),
    "losses/nu": ("losses", "exact", "task", "parameters", "losses_declared", "declarations"),
    **{f"losses/{name}": ("losses", "exact", "losses_declared", "losses_parameters", "sample_terms") for name in (
        "_quadratic", "squared_hinge", "smoothed_hinge", "logistic", "squared", "epsilon_insensitive",
        "squared_epsilon_insensitive", "huber", "quantile", "one_class",
    )},
    "losses/poisson": ("losses", "poisson", "losses_declared", "sample_terms"),
    "losses/nu_svr": ("nu_svr", "losses", "losses_declared", "losses_parameters"),
    "losses/__init__": ("losses", "losses_parameters"),
    **dict.fromkeys(
        ("families/joint", "losses/_joint", "losses/crammer_singer", "losses/softmax"),
        ("joint", "joint_rounding", "joint_identities", "joint_certificate", "interior_joint"),
    ),
}  # fmt: skip


def selection_of(file: str) -> tuple[list[str], str]:
    """The test files that a mutant of this file meets, in their order, and the name that selects from them."""
    for room, patterns in ROOMS.items():
        if file.startswith(room):
            return _test_files(patterns), ""
    name = file.removesuffix(".py")
    return _test_files([f"*/test_{topic}" for topic in TOPICS.get(name, THEOREM)]), "" if name in TOPICS else name


def _test_files(patterns: Sequence[str]) -> list[str]:
    paths = [path for pattern in patterns for path in sorted((ROOT / "tests").glob(f"{pattern}.py"))]
    return [str(path.relative_to(ROOT)) for path in paths]
