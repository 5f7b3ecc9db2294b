"""The claims of Govindaraj 2009, Multiple Kernel Learning for Object Categorization."""

from __future__ import annotations

import govindaraj_composite
import govindaraj_experiments
import govindaraj_norms

CLAIMS = (*govindaraj_norms.CLAIMS, *govindaraj_composite.CLAIMS, *govindaraj_experiments.CLAIMS)
