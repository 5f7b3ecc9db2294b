"""Specimens: instances with a name and a provenance, the same on every machine, and proved to be so by a checksum."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from .. import formulations
from ..errors import InputError, InternalError, nearest
from ..formulations import losses
from ..problem.checks import check_type
from ..problem.instance import Instance
from . import banks, regression
from . import constructions as v
from .generators import by_hand
from .grid import checksum
from .plans import PLANS, Optimum, Plan, built

RECORD = Path(__file__).with_name("recorded.json")
GROUPED = (
    "sum", "average", "l1", "sm1", "sm2", "smp", "square", "l2", "lp", "elastic", "block_elastic", "group_lasso", "li",
    "ckl", "vskl",
)  # fmt: skip
PAIRS = ("ts", "ts_l1", "alignment")
LABELLED = ("ml_sum", "ml_minimax", *PAIRS, "hypergraph", "hypergraph_smooth")
EVERYTHING = (*GROUPED, *PAIRS)
WITHOUT_NU = ("group_lasso", "li", "ckl", "vskl")
WITH_NU = tuple(name for name in GROUPED if name not in WITHOUT_NU)
NOTHING: tuple[str, ...] = ()  # losses take one output
LABELS: dict[str, Any] = {"suits": LABELLED, "parameters": {"C": 1.0, "lam": 1.0}}


@dataclass(frozen=True)
class Specimen:
    """A named instance: what is special, where it comes from, what it suits, and parameters to solve it with.

    A specimen that suits nothing is left out where formulations are tried.

    `parameters` are recommended to every formulation that has them, `own` ones to those that they are listed for.
    `optimum`, where there is one, is known without any solver.
    """

    name: str
    kind: str
    special: str
    source: str
    build: Callable[[], Instance] = field(repr=False)
    seed: int | None = None
    suits: tuple[str, ...] = GROUPED
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"C": 1.0})
    optimum: Callable[[], Optimum] | None = field(default=None, repr=False)
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def instance(self) -> Instance:
        """Build the instance; it is an error if its checksum differs from the recorded one."""
        made = self.build()
        if checksum(made) != self.recorded["sha256"]:
            raise InternalError(
                f"specimen {self.name} is not the one on record: its source ({self.source}) or NumPy has changed"
            )
        return made

    def parameters_for(self, formulation: str, loss: str | None = None) -> dict[str, Any]:
        """The recommended parameters that the formulation has, and the loss, if another than the usual is named."""
        known = (*formulations.get(formulation).parameter_names, *self.loss_parameters)
        shared = {name: value for name, value in self.parameters.items() if name in known}
        parameters = {**shared, **self.own.get(formulation, {})}
        if loss not in losses.LOSSES:
            return parameters
        taken = [parameter.name for parameter in losses.LOSSES[loss].parameters]
        foreign = [name for name in ("C", "nu", *losses.OWN) if name not in taken]
        return {**{name: value for name, value in parameters.items() if name not in foreign}, "loss": loss}

    @property
    def loss_parameters(self) -> tuple[str, ...]:
        """Names that parameters of the loss have, where formulations do not have them."""
        return ("loss", *losses.OWN) if self.losses else ()

    @property
    def losses(self) -> tuple[str, ...]:
        """Names of the losses that take its targets; none for several labels or outputs."""
        if self.suits == NOTHING:
            return ()
        kind = {"y": losses.LABELS, "response": losses.REAL, "none": losses.NONE}.get(self.recorded["targets"])
        kinds = (kind, losses.COUNTS) if self.kind == COUNTS else (kind,)
        return tuple(loss.name for loss in losses.EVERY if loss.targets in kinds)

    @property
    def recorded(self) -> Mapping[str, Any]:
        """Numbers of kernels and samples, kind of targets, checksum."""
        return recorded()[self.name]

    def as_dict(self) -> dict[str, Any]:
        """Everything but the instance, in plain words and numbers."""
        return {
            **{name: getattr(self, name) for name in ("name", "kind", "special", "source", "seed")},
            "suits": list(self.suits),
            "losses": list(self.losses),
            "parameters": dict(self.parameters),
            "own_parameters": {name: dict(given) for name, given in self.own.items()},
            "optimum": self.optimum is not None,
            **self.recorded,
        }


@cache
def recorded() -> Mapping[str, Mapping[str, Any]]:
    return dict(json.loads(RECORD.read_text(encoding="utf-8")))


def measured(specimen: Specimen) -> dict[str, Any]:
    """Build a specimen and return its record."""
    made = specimen.build()
    return {"kernels": made.count, "samples": made.samples, "targets": made.targets.kind, "sha256": checksum(made)}


# ------------------------------------------------------------------------------------------------------ the catalogue
HOUSE = "whole-numbered features drawn from the seed, mklcvx.zoo.constructions"
GOVINDARAJ = "Govindaraj 2009, section 6.2.1, with l = n = 12, m = 60, τ = 4 (there 30, 30, 450, 4)"
XU = "Xu et al. 2013, Fig. 2, on five features of scikit-learn's breast cancer data in place of Diabetes"
RESPONSES = "whole-numbered features drawn from the seed, mklcvx.zoo.regression"
COUNTS = "counts"  # the kind of specimens whose responses are whole numbers from 0 on
PLANNED = "built around the optimum in whole numbers, mklcvx.zoo.plans"


def _planted(plan: Plan, seed: int) -> Specimen:
    build, optimum = lambda: built(plan, seed)[0], lambda: built(plan, seed)[1]
    given = {"C": 1.0, **plan.parameters}
    return Specimen(plan.name, "planted", plan.special, PLANNED, build, seed, GROUPED, given, optimum)


def _house(name: str, kind: str, special: str, seed: int, build: Callable[..., Instance], **more: Any) -> Specimen:
    return Specimen(name, kind, special, HOUSE, partial(build, seed=seed), seed, **more)


def _varied(name: str, kind: str, special: str, size: tuple[int, int, int], change: Any, **more: Any) -> Specimen:
    """A specimen of clouds: n samples, M kernels, a seed, and a change of kernels and labels."""
    n, count, seed = size
    options = {key: more.pop(key) for key in ("apart", "positive") if key in more}
    return _house(name, kind, special, seed, partial(v.clouds_with, change, n, count, **options), **more)


def _labelled(name: str, special: str, size: tuple[int, int, int, int], change: Any) -> Specimen:
    """A specimen with label sets: n samples, M kernels, k labels, a seed, and a change of the labels."""
    n, count, k, seed = size
    return _house(name, "labels", special, seed, partial(v.labelled_with, change, n, count, k), **LABELS)


def _response(name: str, special: str, seed: int, build: Callable[..., Instance]) -> Specimen:
    return Specimen(name, "regression", special, RESPONSES, partial(build, seed=seed), seed)


def _counts(name: str, special: str, seed: int, most: float) -> Specimen:
    build = partial(regression.counts, 40, 3, seed, most)
    return Specimen(name, COUNTS, special, RESPONSES, build, seed, parameters={"loss": "poisson", "C": 1.0})


def _planted_response(loss: str, special: str, seed: int) -> Specimen:
    built_response = partial(regression.planted_response, loss)
    given = {"loss": loss, "C": 1.0, **regression.LOSSES[loss].parameters}
    plain = _response(f"planted-{loss}", special, seed, lambda seed: built_response(seed)[0])
    return replace(plain, parameters=given, optimum=lambda: built_response(seed)[1])


def _one_class(name: str, special: str, seed: int, far: int) -> Specimen:
    build = partial(regression.one_cloud, 40, 3, seed, far)
    return Specimen(name, "one class", special, RESPONSES, build, seed, WITH_NU, {"nu": 0.25})


def _real(name: str, special: str, build: Callable[..., Instance], seed: int, **more: Any) -> Specimen:
    source = f"scikit-learn's {name.split('-')[0]} data, standardised, in sixteenths; seed chooses the samples"
    return Specimen(name, "real", special, source, partial(build, seed=seed), seed, **more)


def _sized(*powers: int) -> Callable[[Any, Any], Any]:
    """Return a change that multiplies kernels by powers of two."""
    return lambda kernels, y: (np.ldexp(kernels, np.reshape(powers, (-1, 1, 1))), y)


def _in_units(power: int) -> dict[str, Any]:
    """Parameters with which kernels of size 2^power make the problem that kernels of size 1 make with C = θ = 1."""
    size = 2.0**power
    own = {"sm2": {"theta": size}, "square": {"theta": size}, "smp": {"theta": size**2, "p": 1.5}}
    return {"parameters": {"C": 1 / size}, "own": own}


SPECIMENS: tuple[Specimen, ...] = (
    *(_planted(plan, 1) for plan in PLANS),
    Specimen(
        "by-hand", "planted", "four points, two kernels, solved on paper", "docs/by-hand.md",
        by_hand, suits=EVERYTHING, optimum=v.worked_out,
    ),
    # ------------------------------------------------------------------------------------------------- published
    *(
        Specimen(f"redundancy-{parts}", "published", special, GOVINDARAJ, partial(v.redundancy, parts, seed=3), 3)
        for parts, special in (
            (1, "ρ = 1/12: every kernel sees all features, at its most redundant"),
            (4, "ρ = 1/3: four disjoint sets of three features, and copies"),
            (12, "ρ = 1: one feature per kernel, no redundancy, rank one; li may have undefined weights"),
        )
    ),
    *(
        Specimen(f"noise-{round(100 * share)}", "published", special, XU, partial(banks.noisy, share, 60, 5, 2), 2)
        for share, special in (
            (0.0, "no noise: 18 kernels on real features"),
            (0.6, "three features of noise: 9 of 27 kernels know nothing"),
            (1.2, "six features of noise: 18 of 36 kernels know nothing"),
        )
    ),
    # ---------------------------------------------------------------------------------------------- conditioning
    _varied("clouds", "ordinary", "two clouds, five views", (60, 5, 1), v.unchanged, suits=EVERYTHING),
    _varied("mixed", "ordinary", "labels and views independent: nothing to learn", (40, 4, 2), v.unchanged, apart=0.0),
    _house("conditioned-1e6", "conditioning", "condition numbers exactly 2^10, 2^15, 2^20", 3,
           partial(v.hadamard, 32, (10, 15, 20))),
    _house("conditioned-1e12", "conditioning", "condition numbers exactly 2^20, 2^30, 2^40", 4,
           partial(v.hadamard, 32, (20, 30, 40))),
    _house("nearly-equal", "conditioning", "kernels equal up to 1e-6: the value is sharp, the weights are not", 5,
           partial(v.nearly_equal, 40, 4, 20)),
    # ----------------------------------------------------------------------------------------------------- sizes
    _varied("two-samples", "tiny", "n = 2, three kernels", (2, 3, 6), v.unchanged, suits=EVERYTHING),
    _varied("three-samples", "tiny", "n = 3, two kernels", (3, 2, 7), v.unchanged, suits=EVERYTHING),
    _varied("one-kernel", "tiny", "M = 1: every formulation is an SVM, or one with a constant more", (30, 1, 8),
            v.unchanged, suits=("svm", *GROUPED)),
    _varied("many-kernels", "ordinary", "more kernels than samples: 40 and 16", (16, 40, 9), v.unchanged),
    _varied("imbalanced", "imbalance", "two positive samples in forty", (40, 4, 10), v.unchanged, positive=2),
    _house("imbalanced-weighted", "imbalance", "the same, positive samples with weight 19", 10,
           partial(v.weighted, 40, 4, positive=2)),
    # ------------------------------------------------------------------------------------------------ duplicates
    _varied("duplicated-kernels", "duplicates", "every kernel twice: their split is open", (40, 3, 11),
            lambda kernels, y: (np.tile(kernels, (2, 1, 1)), y)),
    _varied("equal-kernels", "duplicates", "four times the same kernel: any weights of the same sum", (30, 1, 12),
            lambda kernels, y: (np.tile(kernels, (4, 1, 1)), y)),
    _varied("repeated-samples", "duplicates", "every sample three times: rank n/3, α not unique", (15, 4, 13),
            lambda kernels, y: (kernels.repeat(3, axis=1).repeat(3, axis=2), y.repeat(3))),
    _varied("contradictions", "duplicates", "every sample with both labels: f = 0, value nC", (15, 4, 14),
            lambda kernels, y: (np.tile(kernels, (2, 2)), v.signs(2 * len(y))), optimum=partial(v.hopeless, 30)),
    # ---------------------------------------------------------------------------------------------------- scales
    _varied("huge", "scales", "kernels of size 2^60", (30, 4, 15), _sized(60), **_in_units(60)),
    _varied("minute", "scales", "kernels of size 2^-60", (30, 4, 16), _sized(-60), **_in_units(-60)),
    _varied("scales-apart", "scales", "kernels of sizes from 2^-15 to 2^15", (40, 4, 17),
            _sized(-15, -5, 5, 15)),
    # ---------------------------------------------------------------------------------------------------- corners
    _house("tied-by-symmetry", "ties", "one kernel in three arrangements alike to the labels: all tied",
           18, partial(v.cyclic, 3, 12)),
    _varied("all-at-the-bound", "corners", "C so small that α = C for every sample", (40, 4, 19), v.unchanged,
            parameters={"C": v.SMALL_PRICE}, optimum=partial(v.at_the_bound, 40, 4, 19)),
    _house("separable", "corners", "classes far apart, C = 2^20: no slack, few support vectors", 20,
           partial(v.separated, 40, 4), parameters={"C": 2.0**20}),
    _house("single-features", "low rank", "rank-one kernels, most of them noise: li has undefined weights", 21,
           partial(v.single_features, 40, 8, informative=3), suits=EVERYTHING),
    _varied("with-zero", "low rank", "one kernel is zero", (30, 3, 22),
            partial(v.with_extra, np.zeros)),
    _varied("with-constant", "low rank", "one kernel is constant: with a bias it adds nothing, and li cannot weigh it",
            (30, 3, 23), partial(v.with_extra, np.ones)),
    Specimen("identities", "low rank", "three identity matrices: all tied, nothing generalises", HOUSE,
             lambda: Instance(np.stack([np.eye(12)] * 3), v.signs(12), groups=[0, 0, 1]), 0),
    # ----------------------------------------------------------------------------------------------------- labels
    _labelled("labels-overlapping", "three labels, about a third of the samples has each", (40, 6, 3, 24), np.copy),
    _labelled("labels-dependent", "four labels, the last a copy: the hypergraph loses rank", (36, 5, 3, 25),
              lambda members: np.column_stack([members, members[:, 0]])),
    _labelled("labels-missing", "a quarter of the samples has no label", (40, 5, 3, 26),
              lambda members: members * (np.arange(40) < 30)[:, None]),
    _labelled("labels-rare", "one label has a single member", (30, 4, 3, 27),
              lambda members: np.column_stack([members[:, :-1], np.arange(30) == 29])),
    _house("four-classes", "labels", "classes instead of labels", 28, partial(v.classes, 40, 5, 4), **LABELS),
    # -------------------------------------------------------------------------------------------------- regression
    _planted_response("squared", "the optimum of l1 with the squared loss is known", 1),
    _planted_response("epsilon_insensitive", "the same with ε = ¼: residuals inside the tube, on it and outside", 1),
    _planted_response("huber", "the same with δ = 1: a third of the residuals is beyond the corner", 1),
    _response("response", "a function of two kernels, with noise; two more know nothing", 29,
              partial(regression.noisy, 40, 4)),
    _response("response-exact", "the same without noise: interpolation is possible", 29,
              partial(regression.noisy, 40, 4, noise=0.0)),
    _response("response-outliers", "one response in eight is 64 off", 30, partial(regression.outliers, 40, 4)),
    _response("response-heteroscedastic", "noise that grows with a feature", 31,
              partial(regression.heteroscedastic, 60, 3)),
    _response("response-ties", "whole numbers, most of them several times", 32, partial(regression.tied, 40, 3)),
    _response("response-constant", "all responses are 3: f = 0", 33, partial(regression.constant, 30, 3)),
    _response("response-one-feature", "x² − x with noise; kernels of rank one and two, and Gaussians", 34,
              partial(regression.one_feature, 50)),
    replace(_response("response-outputs", "three outputs, one of them constant", 35,
                      partial(regression.outputs, 40, 4)), suits=NOTHING),
    _counts("counts", "whole numbers from 0 to 4, a quarter of them 0", 38, 8.0),
    _counts("counts-large", "whole numbers up to hundreds", 39, 512.0),
    # --------------------------------------------------------------------------------------------------- one class
    _one_class("one-cloud", "one cloud, no targets", 36, 0),
    _one_class("one-cloud-outliers", "the same, and four samples far away", 37, 4),
    # ------------------------------------------------------------------------------------------------------- real
    _real("breast_cancer-kumar", "the bank of Kumar et al., centred, unit variance",
          partial(banks.kumar, "breast_cancer", 80), 1, suits=EVERYTHING, parameters={"C": 1.0, "lam": 0.01}),
    _real("breast_cancer-features", "twelve single features, rank one: li has undefined weights",
          partial(banks.features_alone, "breast_cancer", 80, 12), 1),
    _real("breast_cancer-300", "the problem of the peers' table: n = 300, 20 Gaussians", partial(banks.peers, 300), 1),
    _real("wine-xu", "the bank of Xu et al. on four features: 65 kernels in five groups, trace n",
          partial(banks.xu, "wine", 60, 4), 1),
    _real("wine-kumar", "three classes, the bank of Kumar et al.",
          partial(banks.kumar, "wine", 60, target="classes"), 1, **LABELS),
    _real("digits-kumar", "ten classes, the bank of Kumar et al.",
          partial(banks.kumar, "digits", 80, target="classes"), 1, **LABELS),
)  # fmt: skip


def specimen(name: str) -> Specimen:
    """The specimen of that name."""
    check_type(str, "the name of an instance", name=name)
    for known in SPECIMENS:
        if known.name == name:
            return known
    close = nearest(name[:60], [known.name for known in SPECIMENS])
    remedy = close if close.startswith("did") else "see 'mklcvx zoo'"
    raise InputError(f"unknown instance {name[:60]!r} of the zoo: {remedy}")
