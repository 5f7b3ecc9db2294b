"""Reports: one page of HTML, complete in itself, about a solved problem, a judged answer, or the demonstration."""

from __future__ import annotations

from .demonstration import Gallery, demo_page
from .judgement import verdict_page
from .page import save
from .solved import chosen_solvers, report_page, runs_of

__all__ = ["Gallery", "chosen_solvers", "demo_page", "report_page", "runs_of", "save", "verdict_page"]
