"""The second list of wrong answers, with the diagnoses that would explain each.

    python validation/judge/second_list.py [PART OF A NAME]

makes every answer and says where it differs from the right one. It was written without knowledge of the judge's code.
The accepted diagnoses were thought through before anything was judged: each is a true explanation of what is handed
over. Where parts that are handed over cannot tell two problems from one another, both are accepted.
"""

from __future__ import annotations

import sys

import second_doubles
import second_families
import second_hinge
import second_pairs
import second_regression
import second_regularisers
from blind_tools import Wrong
from listing import check

MODULES = (second_hinge, second_regularisers, second_regression, second_families, second_pairs, second_doubles)
WRONG: list[Wrong] = [w for module in MODULES for w in module.WRONG]

if __name__ == "__main__":
    sys.exit(check(WRONG))
