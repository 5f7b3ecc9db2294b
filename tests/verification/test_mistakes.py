"""The judge is judged once more, by mistakes that somebody else thought of: none is accepted, nearly all are named."""

from __future__ import annotations

import pytest

from mistakes import Mistake, check
from mistakes_families import FAMILIES
from mistakes_handed_over import HANDED_OVER
from mistakes_single import SINGLE
from mklcvx import formulations

pytestmark = pytest.mark.slow

MISTAKES = [*HANDED_OVER, *SINGLE, *FAMILIES]
# Said in other words that are as true: with kernels of trace n, λ times n is their unit trace; where the heavy class is
# never at its bound, its weight does not matter.
EQUIVALENT = ("ridge-times-n", "weights-of-the-other-class")


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_rejected_and_named(mistake: Mistake):
    check(mistake.report(), mistake.named)


def test_the_mistakes_are_many_and_of_every_formulation():
    assert len(MISTAKES) >= 100
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES)
    assert {mistake.formulation for mistake in MISTAKES} == {one.name for one in formulations.FORMULATIONS}
    unnamed = [mistake.name for mistake in MISTAKES if mistake.named is None]
    assert len(unnamed) + len(EQUIVALENT) <= 0.1 * len(MISTAKES)
