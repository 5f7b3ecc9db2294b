"""The claims of Xu, Tsang and Xu 2013, Soft Margin Multiple Kernel Learning."""

from __future__ import annotations

import xu_duals
import xu_relatives
import xu_tables
import xu_updates

CLAIMS = (*xu_duals.CLAIMS, *xu_relatives.CLAIMS, *xu_updates.CLAIMS, *xu_tables.CLAIMS)
