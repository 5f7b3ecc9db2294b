"""The search for what was solved and handed over, in a space of hypotheses.

Every hypothesis is a step from a case and an answer to others. One step is screened by the conditions of optimality at
the handed point, which costs no solution where the answer has both sides; what they cannot decide is solved. Steps are
not accepted in turn: all are measured, and those that leave least are named. Two steps are tried from where one step
mends a condition that fails, or leaves less, the most promising first.

What a hypothesis must leave is at most the accuracy that the rest of the answer shows, far less than without it. One
that answers at random meet as well is none.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ... import formulations
from ...errors import InputError
from ...formulations._formulation import Parameters
from ...problem.stack import Array
from ..answers import Answer
from ..case import FITS, Altered, Case, pose
from ..families import judged_parts
from .families.conditions import Conditions, conditions
from .fits import FITTED
from .kinds import dimension_of, order_of
from .mistakes import DiagnosticTrial, Hypotheses, Trials
from .mistakes_in_kernels import SMALL

BETTER = 0.01  # share of what is wrong that an explanation may leave
LOOSE = 1e-3  # what the best explanation of an inexact answer may leave, and the share of what is wrong
SCREEN = 1e-3  # residual beyond which nothing is solved
WIDE = 1e-2  # gap of a whole point up to which its parts are judged one by one
FLOOR = 1e-8  # explanations that leave no more are equally good
NEAR = 10.0  # and so are those within this factor of the best
FAR = 3.0  # times as far from the optimum random answers must be for one to be near it
STRANGERS = 4  # random answers that must not meet a hypothesis
SECONDS = 2.0  # of single steps
AFTERWARDS = 78  # steps after one that explains: a number, so that no diagnosis depends on the machine's load
PAIR_SECONDS = 2.0
CLAIMED = ("bias", "objective")
ALIKE = 2  # of one kind
MOST = 3  # explanations that are listed
FREE = 2  # numbers that two steps may fit to an answer
MORE = 2  # first steps that are tried after one that explains, for others that do as well
INTERCHANGED = ({"kernels:scale", "parameter:C"}, {"kernels:scale", "parameter:lam"})
MANY = 10  # numbers that tell for sure
SHARP_FEW, SHARP_ONE = 1e-5, 1e-7  # what two mistakes may leave, and of one number
UNUSABLE = (InputError, ArithmeticError, np.linalg.LinAlgError, ValueError)


class Scored(NamedTuple):
    """Steps, the case and the answer that they lead to, and what is left there."""

    trials: tuple[DiagnosticTrial, ...]
    case: Case | None
    left: float
    conditions: Conditions | None

    @property
    def kinds(self) -> tuple[str, ...]:
        return tuple(kind for trial in self.told for kind in trial.mistake.split("+"))

    @property
    def told(self) -> list[DiagnosticTrial]:
        """The steps in the order in which they are told."""
        return sorted(self.trials, key=lambda trial: order_of(trial.mistake))

    @property
    def fitted(self) -> int:
        """How many numbers were fitted to the answer."""
        return sum(trial.fitted for trial in self.trials)

    @property
    def answer(self) -> Answer:
        return self.trials[-1].answer


@dataclass
class Search:
    """The search for one answer; `limit` is what an explanation may leave. Problems that were posed are kept, with
    their optima, for many answers may be tried on them."""

    case: Case
    answer: Answer
    off: float
    limit: float
    only: str = ""  # the dimension that is searched; all of them if empty
    posed: dict[object, tuple[object, Case | None]] = field(default_factory=dict)
    started: float = field(default_factory=time.process_time)

    # ---------------------------------------------------------------------------------------------------- measuring
    def pose(self, base: Case, trial: DiagnosticTrial) -> Case | None:
        if trial.task is not None:
            return Altered(base.instance, base.formulation, base.parameters, trial.task, FITS)
        instance, name = trial.instance or base.instance, trial.formulation or base.formulation.name
        given: Parameters = dict(base.parameters if trial.parameters is None else trial.parameters)
        key = id(instance), name, repr(sorted(given.items()))
        if key in self.posed:
            return self.posed[key][1]
        try:
            posed = pose(instance, name, given, FITS)
        except UNUSABLE:
            posed = None
        if instance is self.case.instance:  # others would fill the memory
            self.posed[key] = instance, posed
        return posed

    def score(self, base: Case, trial: DiagnosticTrial, before: tuple[DiagnosticTrial, ...] = ()) -> Scored:
        changed = base if _same_problem(trial) else self.pose(base, trial)
        trials = (*before, trial)
        if changed is None:
            return Scored(trials, None, np.inf, None)
        left, left_over = self.measured(changed, replace(trial.answer, bounds=None))
        if left <= LOOSE:
            left = max([left, *(self.score(base, other).left for other in trial.also)])
        return Scored(trials, changed, left, left_over)

    def measured(self, case: Case, answer: Answer) -> tuple[float, Conditions | None]:
        """What is left of an answer to a problem: by its conditions, or by solving where they do not decide."""
        try:
            residual = conditions(case, answer)
            undecided = not residual.complete or bool(answer.multipliers)
            if residual.worst <= (SCREEN if undecided else WIDE) and (undecided or residual.worst > self.limit):
                # At most the gap, often far less.
                return max(part.off for part in judged_parts(case, answer)[0]), residual
            return residual.worst, residual
        except UNUSABLE:  # what cannot be judged explains nothing
            return np.inf, None

    def strange(self, scored: Scored) -> bool:
        """Whether answers at random meet the hypothesis, too."""
        case, limit = scored.case, NEAR * max(scored.left, self.limit)
        assert case is not None
        if scored.answer.given == ["weights"] and case.task.count == 1:
            return False  # one kernel has one weight, and that no other was used is what the hypothesis asked
        rng, given = np.random.default_rng(0), [scored.answer]
        if scored.answer.bias is not None and len(scored.answer.given) > 1:
            given.append(replace(scored.answer, bias=None))  # where the rest may be anything, a bias tells nothing
        return any(
            self.measured(case, at_random(case, part, rng))[0] <= limit for part in given for _ in range(STRANGERS)
        )

    def no_better_than_chance(self, off: float) -> bool:
        """Whether answers at random are not much farther from the optimum than this one is."""
        rng = np.random.default_rng(0)
        strangers = (at_random(self.case, self.answer, rng) for _ in range(STRANGERS))
        try:
            judged = (judged_parts(self.case, stranger)[0] for stranger in strangers)
            return any(max(part.off for part in parts) <= FAR * off for parts in judged)
        except UNUSABLE:  # multipliers alone have no others at random
            return False

    def light(self, step: Scored, second: bool = False) -> Scored:
        """What explains nothing is kept without its problem, where no second step starts from it or it is large."""
        large = self.case.instance.kernels.nbytes > SMALL
        return step if step.left <= LOOSE or not (second or large) else Scored((), None, step.left, None)

    def of_the_family(self, step: Scored) -> bool:
        return step.case is not None and step.case.formulation.family == self.case.formulation.family

    # ---------------------------------------------------------------------------------------------------- single steps
    def trials(self, base: Case, answer: Answer, hypotheses: Hypotheses) -> Trials:
        for hypothesis in hypotheses:
            try:
                tried = hypothesis(base, answer)
                while True:
                    with np.errstate(all="ignore"):
                        trial = next(tried, None)
                    if trial is None:
                        break
                    yield trial
            except UNUSABLE:  # a hypothesis that has no meaning here
                continue

    def single(self, hypotheses: Hypotheses, first: Sequence[DiagnosticTrial] = ()) -> list[Scored]:
        """Every step, measured; after one that explains every part only a few more."""
        scored: list[Scored] = []
        more = None
        for trial in itertools.chain(first, self.trials(self.case, self.answer, hypotheses)):
            if self.only and dimension_of(trial.mistake) != self.only:
                continue
            scored.append(self.light(self.score(self.case, trial)))
            if self.exact(scored[-1]) and not self.discarded(scored[-1]):
                more = AFTERWARDS if more is None else more
            more = None if more is None else more - 1
            if more == 0 or time.process_time() > self.started + SECONDS:
                break
        return scored

    # ------------------------------------------------------------------------------------------------------- two steps
    def double(
        self, singles: list[Scored], hypotheses: Hypotheses, base: Conditions | None, told: Hypotheses = ()
    ) -> list[Scored]:
        """Two steps, from the most promising first ones on: those whose number a closed form tells after every one,
        then the others, and after another problem a fit, after two first ones of a kind at most."""
        began, pairs, kinds, more = time.process_time(), [], Counter[str](), MORE
        firsts = list(promising([step for step in singles if self.of_the_family(step)], base, self.limit))
        steps = [(step, told, PAIR_SECONDS / 2) for step in firsts if told]
        for step in firsts:
            trial = step.trials[0]
            kinds[trial.mistake] += 1
            if kinds[trial.mistake] <= ALIKE:
                fits = () if trial.fitted or trial.read_off else FITTED
                steps.append((step, (*fits, *hypotheses), PAIR_SECONDS))
        for first, tried, seconds in steps:
            pairs += self.second(first, tried, began + seconds)
            more -= any(self.exact(step) for step in pairs)
            if more < 0:
                break
        return pairs

    def second(self, first: Scored, hypotheses: Hypotheses, until: float) -> list[Scored]:
        assert first.case is not None
        pairs: list[Scored] = []
        for trial in self.trials(first.case, first.answer, hypotheses) if time.process_time() < until else ():
            if self.combines(first.trials[0], trial):
                both = self.score(first.case, trial, first.trials)
                pairs += [self.light(both, second=True)] if self.telling(both) else []
            if time.process_time() > until:
                break
        return pairs

    def exact(self, step: Scored) -> bool:
        """Whether it leaves so little that no other can be much better."""
        return step.left <= min(self.limit, FLOOR)

    def preferred(self, pair: Scored, step: Scored) -> bool:
        """Whether two mistakes are the better explanation: of more parts, within the family, or of every part and so
        much more exact that the one is a coincidence, where there are numbers enough to tell."""
        telling = self.spare(pair.trials) >= MANY and not self.discarded(pair)
        exact = telling and pair.left <= BETTER * step.left
        return exact or not self.of_the_family(step) or self.discarded(pair) < self.discarded(step)

    def discarded(self, step: Scored) -> int:
        """How many parts of the answer the hypothesis leaves out: what can be explained with them is better so."""
        return len(set(self.answer.given) - set(step.answer.given) - {"bias", *self.answer.multipliers})

    def combines(self, first: DiagnosticTrial, second: DiagnosticTrial) -> bool:
        """Whether two steps are two mistakes: of different dimensions, within the family."""
        other = formulations.get(second.formulation or self.case.formulation.name)
        family = other.posed_for(self.case.instance, self.case.parameters).family
        dimensions = {dimension_of(first.mistake), dimension_of(second.mistake)}
        # A few numbers are met by many pairs: one of the two must be in the form of the answer then, and none fitted.
        plain = bool(dimensions & {"objective", "weights", "bias"}) and not first.fitted and not second.fitted
        different = len(dimensions) == 2 or (dimensions == {"parameter"} and first.mistake != second.mistake)
        told = plain or (self.spare((first, second)) > 0 and first.fitted + second.fitted <= FREE)
        kinds = {first.mistake, second.mistake}
        if kinds in INTERCHANGED or ("kernels:copied" in kinds and self.spare(()) < MANY):
            return False  # two numbers for one; weights of copies may be anything
        return told and different and family == self.case.formulation.family

    def spare(self, trials: tuple[DiagnosticTrial, ...]) -> int:
        """How many numbers of the answer the steps explain beyond those that were fitted to it."""
        many = self.answer.alpha is not None or self.answer.coefficients is not None
        return MANY if many else self.numbers - sum(trial.fitted for trial in trials)

    def telling(self, step: Scored) -> bool:
        """Whether two steps explain more than chance does: the fewer numbers, the more exactly they must be met."""
        spare = self.spare(step.trials)
        exact = SHARP_FEW if spare > 1 else SHARP_ONE
        return spare >= MANY or (step.conditions is not None and step.conditions.worst <= exact)

    @property
    def numbers(self) -> int:
        """What weights and value have to tell where no α is handed over: a weight that vanishes is no number."""
        weights = np.abs(np.ravel([] if self.answer.weights is None else self.answer.weights))
        used = int(np.sum(weights > FITS * weights.max(initial=0.0)))
        return max(used - 1, 0) + (self.answer.objective is not None)

    # --------------------------------------------------------------------------------------------------------- ranking
    def best(self, scored: list[Scored]) -> list[Scored]:
        """Those that explain the answer, the best and those that are as good as it, each kind once; of another family
        only if no nearer one does."""
        for limit in (self.limit, min(LOOSE, LOOSE * self.off)):
            loose = limit > self.limit
            fitting = [step for step in scored if step.left <= limit and not (loose and step.fitted)]
            fitting = [step for step in fitting if len(step.trials) == 1 or step.left <= SHARP_FEW]
            near = [step for step in fitting if self.of_the_family(step)]
            least = min((self.discarded(step) for step in near or fitting), default=0)
            fitting = [step for step in near or fitting if self.discarded(step) == least]
            fitting.sort(key=lambda step: step.left)
            chosen: list[Scored] = []
            for step in fitting:
                good = not chosen or step.left <= max(NEAR * chosen[0].left, FLOOR)
                if good and not self.strange(step):
                    chosen.append(step)
            simple = min((step.fitted for step in chosen), default=0)
            chosen = [step for step in chosen if step.fitted <= simple + 1]
            if chosen and not (loose and len({step.kinds for step in chosen}) > 1):
                places = {id(step): place for place, step in enumerate(scored)}
                return _each_kind_once(sorted(chosen, key=lambda step: (step.fitted, places[id(step)])))
        return []


def promising(singles: list[Scored], base: Conditions | None, limit: float) -> Iterator[Scored]:
    """First steps in the order in which they promise most: those that the answer itself shows, then by the orders of
    magnitude by which the conditions fail less, that of claims left out, which follow the rest."""
    before = {} if base is None else base.residuals
    usable = [
        step
        for step in singles
        if step.case is not None and step.conditions is not None and type(step.case) is Case and step.left > limit
    ]

    def promise(step: Scored) -> tuple[bool, float]:
        after = {} if step.conditions is None else step.conditions.residuals
        # Conditions of a part that is left out are gone, which is half as good as being met.
        gained = sum(
            np.log10(max(was, FITS) / max(after.get(name, FITS), FITS)) * (1.0 if name in after else 0.5)
            for name, was in before.items()
            if name not in CLAIMED
        )
        gained -= step.fitted  # a fit gains by itself
        return not step.trials[0].read_off, -float(np.nan_to_num(gained, posinf=0.0, neginf=-np.inf))

    seen: set[object] = set()
    for step in sorted(usable, key=promise):
        key, left = (id(step.case), id(step.answer)), {} if step.conditions is None else step.conditions.residuals
        if key not in seen and left != before:  # what changes nothing is no step
            seen.add(key)
            yield step


def at_random(case: Case, answer: Answer, rng: np.random.Generator) -> Answer:
    """An answer of the same form without meaning: weights at random, α of other samples, another objective."""
    changed: dict[str, object] = {"multipliers": {}, "bounds": None}
    if answer.weights is not None:
        total = float(np.nansum(np.abs(answer.weights))) or 1.0
        changed["weights"] = rng.dirichlet(np.ones(answer.weights.size)).reshape(answer.weights.shape) * total
    if answer.alpha is not None:
        changed["alpha"] = _among_like(answer.alpha, getattr(case.task, "signs", None), rng)
    if answer.coefficients is not None:
        changed["coefficients"] = rng.permuted(answer.coefficients, axis=-1)
    if answer.objective is not None:
        changed["objective"] = answer.objective * rng.uniform(1.05, 1.5)
    if answer.bias is not None:
        changed["bias"] = np.asarray(answer.bias) + rng.uniform(0.5, 2.0)
    return replace(answer, **changed)  # type: ignore[arg-type]


def _among_like(alpha: Array, signs: Array | None, rng: np.random.Generator) -> Array:
    """α of other samples of the same class: bounds and sums stay as they are."""
    moved = np.array(alpha)
    if signs is None or signs.shape != alpha.shape:
        return np.asarray(rng.permuted(moved, axis=-1))
    for sign in (-1.0, 1.0):
        for row, own in zip(np.atleast_2d(moved), np.atleast_2d(signs), strict=True):
            row[own == sign] = rng.permutation(row[own == sign])
    return moved


def _same_problem(trial: DiagnosticTrial) -> bool:
    return all(changed is None for changed in (trial.instance, trial.formulation, trial.parameters, trial.task))


def _each_kind_once(scored: list[Scored]) -> list[Scored]:
    kept: dict[frozenset[str], Scored] = {}
    for step in scored:
        kept.setdefault(frozenset(step.kinds), step)
    return list(kept.values())[:MOST]
