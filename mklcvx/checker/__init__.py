"""Auditor of solution files, which imports nothing from the rest of the package.

python -m mklcvx.checker INSTANCE SOLUTION               single tasks, with one output or several; machines of classes
python -m mklcvx.checker.families INSTANCE SOLUTION      the other families
"""

from .audit import check, read_solution

__all__ = ["check", "read_solution"]
