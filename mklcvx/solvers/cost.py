"""Estimates of the cost of exact solving, fitted to the measurements of `validation/routes.py`."""

from __future__ import annotations

from .names import current_name


def estimate(samples: int, count: int, solver: str) -> tuple[float, float]:
    """Seconds and gigabytes for kernels of full rank, good to a factor of three or so."""
    solver, size = current_name(solver), samples * count
    seconds = 3.0 * (samples / 200) ** 2.6 * (count / 20) ** 1.2
    if solver in ("auto", "interior"):  # a dozen steps, each a pass over the kernels and a factorisation
        return 15 * (2e-9 * samples * size + 5e-11 * samples**3), 8e-9 * (samples * size + 6 * samples**2)
    if solver not in ("clarabel", "scs", "silp_exact"):  # a thousand SVMs at most, as a rule
        seconds = 1e-6 * samples**2 * count
    elif solver == "silp_exact":
        seconds = 0.1 * (samples / 100) ** 2.5 * 10 * count
    gigabytes = 0.1 + 8e-9 * (samples * size * 4 + samples**2 * 6)
    return seconds, gigabytes
