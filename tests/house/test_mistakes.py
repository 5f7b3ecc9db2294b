"""Mistakes that a new user makes in Python: one line that names the argument, the fault and a remedy in Python."""

import numpy as np
import pytest

from mklcvx import InputError, Instance, solve

N, M = 12, 3
CODES = np.repeat([1, 2, 3], 4)
Y = np.where(CODES == 1, 1, -1)
X = np.random.default_rng(2).normal(size=(N, 6)) + CODES[:, None]
K = np.stack([np.exp(-0.2 * ((v[:, None] - v) ** 2).sum(axis=2)) for v in (X[:, :2], X[:, 2:4], X[:, 4:])])
WORDS = np.array(["a very long name of the class number one", "a very long name of the class number two", "cat"])
COLUMNS = np.eye(3)[CODES - 1]
GOOD = Instance(K, Y)

MISTAKES = {
    "one matrix": (lambda: Instance(K[0], Y), ("kernels have shape (12, 12)", "kernels[None] for one kernel")),
    "zero and one": (lambda: Instance(K, Y > 0), ("y has labels False, True", "give them as classes, or map them")),
    "columns": (lambda: Instance(K, classes=COLUMNS), ("classes has shape (12, 3)", "by argmax(axis=1)")),
    "vector": (lambda: Instance(K, labels=CODES), ("labels has shape (12,)", "is given as classes")),
    "both": (lambda: solve(GOOD, "l1", C=1, nu=0.5), ("C sets loss hinge, nu sets loss nu", "keep one")),
    "classes": (
        lambda: solve(Instance(K, classes=CODES), "l1"),
        ("the instance has classes", "MKLClassifier does so for every class", "crammer_singer, softmax"),
    ),
    "one label each": (
        lambda: solve(Instance(K, labels=COLUMNS), "l1"),
        ("one label for each sample makes classes: give classes=labels.argmax(axis=1)",),
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_gets_one_line_with_a_remedy_in_python(mistake):
    made, words = MISTAKES[mistake]
    with pytest.raises(InputError) as caught:
        made()
    message = str(caught.value)
    assert [word for word in words if word not in message] == []
    assert "\n" not in message
    assert "--" not in message  # options of the command line
    assert len(message) < 400
