"""Estimates of the cost of exact solving, fitted to the measurements of `validation/routes.py`."""

from __future__ import annotations

from ..errors import remedy
from ..problem.instance import Instance
from ..problem.low_rank import LowRank
from ..problem.memory import check_memory
from .names import current_name

DECLARED = ("clarabel", "scs", "silp_exact")  # solvers of programmes that hold the kernels' factors


def estimate(samples: int, count: int, solver: str) -> tuple[float, float]:
    """Seconds and gigabytes for kernels of full rank, good to a factor of three or so."""
    solver, size = current_name(solver), samples * count
    seconds = 3.0 * (samples / 200) ** 2.6 * (count / 20) ** 1.2
    if solver in ("auto", "interior"):  # a dozen steps, each a pass over the kernels and a factorisation
        return 15 * (2e-9 * samples * size + 5e-11 * samples**3), 8e-9 * (samples * size + 6 * samples**2)
    if solver not in DECLARED:  # a thousand SVMs at most, as a rule
        seconds = 1e-6 * samples**2 * count
    elif solver == "silp_exact":
        seconds = 0.1 * (samples / 100) ** 2.5 * 10 * count
    gigabytes = 0.1 + 8e-9 * (samples * size * 4 + samples**2 * 6)
    return seconds, gigabytes


def check_size(instance: Instance, solver: str) -> None:
    """Refuse, before anything is computed, an instance whose solution needs more memory than is available: beside the
    kernels, six matrices (n, n), or (n, R) of factors, and three more of each kernel in a declared programme."""
    samples, stack = instance.samples, instance.kernels
    width = min(samples, stack.rank) if isinstance(stack, LowRank) else samples
    matrices = 6 + (3 * instance.count if current_name(solver) in DECLARED else 0)
    python = "give kernels of lower rank (mklcvx.LowRank)"
    shell = "use fewer samples; in Python, mklcvx.LowRank takes factors"
    other = ", or solver 'interior'" if matrices > 6 else ", or take fewer samples"
    words = remedy(python + other, shell)
    check_memory(8.0 * samples * width * matrices, f"solutions for {samples} samples by solver {solver}", words)
