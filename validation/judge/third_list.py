"""The third list of wrong answers, with the diagnoses that would explain each.

    python validation/judge/third_list.py [PART OF A NAME]

makes every answer and says where it differs from the right one. It was written without knowledge of the judge's code
or of what it says, as the lists before it were; their answers were not known either.
"""

from __future__ import annotations

import sys

import third_doubles
import third_families
import third_hinge
import third_pairs
import third_regression
import third_regularisers
from blind_tools import Wrong
from listing import check

MODULES = (third_hinge, third_regularisers, third_regression, third_families, third_pairs, third_doubles)
WRONG: list[Wrong] = [w for module in MODULES for w in module.WRONG]

if __name__ == "__main__":
    sys.exit(check(WRONG))
