"""`python -m mklcvx.checker INSTANCE SOLUTION`."""

import sys

from .audit import point_multipliers
from .claims import audited
from .joint import evaluated_file

sys.exit(audited(sys.argv[1:], evaluated_file, point_multipliers))
