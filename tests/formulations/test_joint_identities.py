"""What joint outputs come to in special cases, and what others compute."""

import numpy as np
import pytest

from joint_cases import FOR_RESPONSES, classes, posed, responses
from mklcvx import Instance, solve
from mklcvx.formulations._formulation import demonstration


def declared(instance, name, **given):
    """The optimal value of the declared problem."""
    formulation, _ = posed(instance, name, **given)
    return demonstration(formulation, instance, **given).upper


def each_output(many):
    return [Instance(many.kernels, response=one, sample_weight=many.sample_weight) for one in many.targets.values.T]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", ["sum", "l1", "l2", "elastic"])
@pytest.mark.parametrize(("joint", "single"), [("softmax", "logistic"), ("crammer_singer", "hinge")])
def test_two_classes_are_one_function_at_twice_the_price(joint, single, name, bias):
    """With f = f_1 − f_2, ‖f‖² = 2(‖f_1‖² + ‖f_2‖²) where f_1 = −f_2, which is best: U is half of what it is for f."""
    two = classes(outputs=2)
    y = np.where(two.targets.values == 0, 1, -1)
    one = Instance(two.kernels, y, sample_weight=two.sample_weight)
    expected = declared(one, name, loss=single, C=2.4, bias=bias) / 2
    assert declared(two, name, loss=joint, C=1.2, bias=bias) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("name", ["l1", "l2"])
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_equal_outputs_are_one_with_a_value_times_as_large(name, loss):
    many = responses()
    column = many.targets.values[:, 0]
    one = Instance(many.kernels, response=column, sample_weight=many.sample_weight)
    three = Instance(many.kernels, response=np.tile(column[:, None], 3), sample_weight=many.sample_weight)
    single, joint = (solve(instance, name, loss=loss, solver="clarabel") for instance in (one, three))
    assert joint.objective == pytest.approx(3 * single.objective, rel=1e-7)
    np.testing.assert_allclose(joint.weights, single.weights, atol=1e-5)
    np.testing.assert_allclose(joint.alpha, np.tile(single.alpha, (3, 1)), atol=1e-4)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("loss", FOR_RESPONSES)
def test_fixed_weights_leave_a_problem_for_every_output(loss, bias):
    many, given = responses(), {"loss": loss, "bias": bias, "tol": 1e-7}
    joint = solve(many, "sum", **given)
    apart = [solve(one, "sum", **given) for one in each_output(many)]
    assert joint.certified
    assert joint.objective == pytest.approx(sum(one.objective for one in apart), rel=1e-6)
