"""The mistakes that are looked for in a family's answers. As it stands the row serves any family."""

from __future__ import annotations

from dataclasses import dataclass

from .trial import Hypothesis
from .wrong_answers import ANSWERS
from .wrong_data import sample_weights
from .wrong_kernels import KERNELS
from .wrong_objectives import objective_units
from .wrong_problems import PROBLEMS
from .wrong_subsets import SUBSETS
from .wrong_weights import WEIGHTS

Hypotheses = tuple[Hypothesis, ...]


@dataclass(frozen=True)
class Mistakes:
    """Hypotheses, in the order in which they are tried: first those that change the answer, which cost no solution,
    then those that change the problem. `answers` and `problems` are tried in pairs, too. `machines` says that weights
    are worth what an SVM makes of them; `staged`, that α belongs to a second stage."""

    answers: Hypotheses = ANSWERS
    objectives: Hypotheses = (objective_units(),)
    rules: Hypotheses = ()
    weights: Hypotheses = WEIGHTS
    problems: Hypotheses = PROBLEMS
    subsets: Hypotheses = SUBSETS
    data: Hypotheses = (sample_weights,)
    kernels: Hypotheses = KERNELS
    last: Hypotheses = ()
    machines: bool = False
    staged: bool = False

    @property
    def alone(self) -> Hypotheses:
        answered = (*self.answers, *self.objectives, *self.rules, *self.weights)
        return (*answered, *self.problems, *self.subsets, *self.data, *self.kernels, *self.last)
