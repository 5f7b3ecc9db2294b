"""Reports: one page of HTML, complete in itself, about a solved problem, a judged answer, or the demonstration."""

from __future__ import annotations

from .documents import Gallery, chosen_solvers, demo_page, report_page, runs_of, verdict_page
from .kernels import kernels_page

__all__ = ["Gallery", "chosen_solvers", "demo_page", "kernels_page", "report_page", "runs_of", "verdict_page"]
