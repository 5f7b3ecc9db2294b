"""What δ costs a sample."""

from __future__ import annotations

import numpy as np
import pytest

from mklcvx.certificate.sample_terms import Ridge


def test_a_kernel_without_ridge_costs_nothing_even_where_alpha_is_unbounded():
    ridge = Ridge(np.array([[2.0], [0.0]]), np.array([[1.0, 1.0, 1.0], [5.0, 5.0, 5.0]]))
    assert ridge.at(np.array([1.0, 3.0, np.inf])) == pytest.approx([0.0, 4.0, np.inf], abs=1e-12)
