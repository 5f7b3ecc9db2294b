"""`python -m mklcvx.checker INSTANCE SOLUTION`."""

import sys

from .audit import evaluated_file, point_multipliers
from .claims import audited

sys.exit(audited(sys.argv[1:], evaluated_file, point_multipliers))
