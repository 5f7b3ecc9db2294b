"""The three corpora of wrong answers, each by another hand, with what the judge made of it when it was first tried."""

from __future__ import annotations

import blunders_answers
import blunders_kernels
import blunders_labels
import blunders_pairs
import blunders_parameters
import blunders_problems
import blunders_weights
import mistakes_families
import mistakes_handed_over
import mistakes_single
from blunders import BLUNDERS
from faults import FAULTS
from mistakes import MISTAKES
from wrong_answers import Corpus

MADE_BY = (
    blunders_answers, blunders_kernels, blunders_labels, blunders_pairs, blunders_parameters, blunders_problems,
    blunders_weights, mistakes_families, mistakes_handed_over, mistakes_single,
)  # fmt: skip
CORPORA = (
    Corpus("faults", FAULTS, blind=(90, 91)),  # by the author of the judge
    Corpus("mistakes", MISTAKES, blind=(58, 102)),
    Corpus("blunders", BLUNDERS, blind=(78, 112)),
)
