"""The fields that files of instances and answers may have."""

from __future__ import annotations

STACKS = ("kernels", "test_kernels")
MATRICES = ("labels", "test_labels", "response", "test_response", "test_diagonals")
WORDS = ("names", "label_names")
CLASSES = ("classes", "test_classes")
INSTANCE_FIELDS = (*STACKS, *MATRICES, *WORDS, *CLASSES, "y", "test_y", "groups", "sample_weight")
ABOUT = ("schema", "dtype")  # of an instance, in one word; dtype is that of kernels in text, where it is not float64
ANSWER_FIELDS = ("weights", "alpha", "bias", "coefficients", "objective")
MULTIPLIER = "multiplier_"  # before the names of multipliers


def is_field(name: str, what: str) -> bool:
    """Whether an instance, or an answer, may have a field of this name."""
    if what == "instance":
        return name in (*INSTANCE_FIELDS, *ABOUT)
    return name in (*ANSWER_FIELDS, "formulation", "schema") or name.startswith(MULTIPLIER)
