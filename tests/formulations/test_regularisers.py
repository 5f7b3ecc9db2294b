"""The site's table of regularisers: each function that stands beside a formula is that of its formulation."""

import numpy as np
import pytest

from mklcvx.formulations import SINGLE_TASKS, get
from regularisers import BLOCKS, ROWS


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_is_what_the_formulation_declares(row):
    rng, formulation = np.random.default_rng(0), get(row.name)
    for _ in range(5):
        d, a = rng.uniform(0.1, 2.0, size=4), rng.uniform(0.1, 2.0, size=4)
        assert row.conjugate(d**2 / 2, **row.own) == pytest.approx(formulation.conjugate(d, **row.own), rel=1e-8)
        if row.norms is not None:
            assert row.norms(a, **row.own) == pytest.approx(formulation.penalty(a, **row.own), rel=1e-8)


def test_every_single_task_has_a_row():
    assert {row.name for row in ROWS} | {name for name, *_ in BLOCKS} == {f.name for f in SINGLE_TASKS} - {"svm"}
