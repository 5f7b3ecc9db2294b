"""The second stage: whose certificate stays true beside another machine, and whose does not."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from mklcvx import Instance, TwoStageMKL, second_stage, solve, zoo
from refusals import check_refused


@pytest.mark.parametrize(("name", "target"), [("l1", "y"), ("li", "y"), ("ml_sum", "classes")])
def test_what_has_a_machine_of_its_own_has_no_second_stage(name, target):
    """Its certificate is of that machine and its C, not of another."""
    problem = zoo.real("wine", target, samples=20, count=5)
    with check_refused(f"weights and machine of {name} are one optimum", "solve it with C = 0.5"):
        second_stage(problem, solve(problem, name, C=10.0), C=0.5)


def test_kernels_that_have_changed_in_their_file_are_refused(tmp_path):
    drawn, file = zoo.random(12, 2, seed=1), tmp_path / "kernels.npy"
    np.save(file, drawn.kernels)
    problem = Instance(np.load(file, mmap_mode="r"), drawn.y)
    found = solve(problem, "ts")
    np.load(file, mmap_mode="r+")[:] *= -1
    with check_refused("kernel 'K1' has changed since it was validated"):
        second_stage(problem, found)


def test_a_price_next_to_nothing_ends():
    """Weights of 1e308 made δ infinite, and half of it is no less."""
    model = TwoStageMKL(lam=1e-320)
    with pytest.warns(ConvergenceWarning, match="not certified"):
        model.fit(*make_classification(40, 5, random_state=0))
