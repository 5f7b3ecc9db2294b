"""Estimates of the cost of exact solving, fitted to the measurements of `validation/routes.py`."""

from __future__ import annotations

from ..errors import remedy
from ..formulations._formulation import Given
from ..formulations.losses import HINGE, KNOWN
from ..problem.instance import Instance
from ..problem.low_rank import LowRank
from ..problem.memory import check_memory
from ..problem.streamed import Streamed

DECLARED = ("clarabel", "scs", "silp_exact")  # solvers of programmes that hold the kernels' factors


def estimate(samples: int, count: int, solver: str) -> tuple[float, float]:
    """Seconds and gigabytes for kernels of full rank, good to a factor of three or so."""
    size = samples * count
    seconds = 3.0 * (samples / 200) ** 2.6 * (count / 20) ** 1.2
    if solver in ("auto", "interior"):  # a dozen steps, each a pass over the kernels and a factorisation
        return 15 * (2e-9 * samples * size + 5e-11 * samples**3), 8e-9 * (samples * size + 6 * samples**2)
    if solver not in DECLARED:  # a thousand SVMs at most, as a rule
        seconds = 1e-6 * samples**2 * count
    elif solver == "silp_exact":
        seconds = 0.1 * (samples / 100) ** 2.5 * 10 * count
    gigabytes = 0.1 + 8e-9 * (samples * size * 4 + samples**2 * 6)
    return seconds, gigabytes


def check_size(instance: Instance, solver: str, given: Given) -> None:
    """Refuse, before anything is computed, an instance whose solution needs more memory than is available beside the
    kernels; `given` are the parameters. Programmes that are declared hold three more matrices for each kernel."""
    samples, stack = instance.samples, instance.kernels
    if isinstance(stack, Streamed):
        return  # `streamed` asks for the memory of its working set
    outputs = _outputs(instance)
    matrices = 4.0 if outputs == 1 else 4.0 + outputs
    if outputs > 1 and (instance.targets.kind == "response" or KNOWN.get(str(given.get("loss")), HINGE).joint):
        matrices = max(matrices, 2.0 * outputs**2)  # a block for every two outputs
    declared = solver in DECLARED
    matrices += 3.0 * instance.count if declared else 0.0
    width = min(samples, stack.rank) if isinstance(stack, LowRank) and outputs == 1 else samples
    python = "take fewer samples" if isinstance(stack, LowRank) else "give kernels of lower rank (mklcvx.LowRank)"
    python += ", or solver 'interior'" if declared else "" if isinstance(stack, LowRank) else ", or take fewer samples"
    shell = "use fewer samples; in Python, mklcvx.LowRank takes factors"
    what = f"solutions for {samples} samples" + (f" and {outputs} outputs" if outputs > 1 else "")
    check_memory(8.0 * samples * width * matrices, f"{what} by solver {solver}", remedy(python, shell))


def _outputs(instance: Instance) -> int:
    targets = instance.targets
    return len(targets.names) if targets.kind == "classes" or targets.values.ndim == 2 else 1
