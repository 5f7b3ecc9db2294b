"""The kinds of mistakes that diagnoses name: stable words, dimension:which, listed in docs/verify.md.

A hypothesis has a name of its own; most names are one kind each. Those of parameters, formulations and losses say
which.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .remedies import remedy_of

UNKNOWN, CONVERGED = "unknown", "unknown:converged"
KINDS = {
    "objective_sign": "objective:sign",
    "objective_half": "objective:factor",
    "objective_units": "objective:units",
    "objective_terms": "objective:terms",
    "objective_value": "objective:value",
    "bounds_wrong": "bounds:value",
    "bias_sign": "bias:sign",
    "bias_wrong": "bias:value",
    "bias_omitted": "bias_term:omitted",
    "bias_added": "bias_term:added",
    "bias_penalised": "bias_term:penalised",
    "alpha_sign": "alpha:sign",
    "alpha_signed": "alpha:sign",
    "alpha_units": "alpha:scale",
    "alpha_clipped": "alpha:clipped",
    "alpha_support": "alpha:support",
    "alpha_stale": "alpha:stale",
    "alpha_beta": "alpha:beta",
    "samples_order": "alpha:order",
    "second_stage": "alpha:second_stage",
    "weights_norm": "weights:scale",
    "weights_order": "weights:order",
    "weights_cut": "weights:cut",
    "weights_power": "weights:power",
    "weights_reciprocal": "weights:reciprocal",
    "weights_norms": "weights:norms",
    "weights_groups": "weights:groups",
    "weights_even": "weights:uniform",
    "weights_clipped": "weights:clipped",
    "weights_of_classes": "weights:rule",
    "weights_rule": "weights:rule",
    "weights_stale": "weights:stale",
    "approximate": "weights:rule",
    "unconstrained": "weights:unconstrained",
    "coefficients_signed": "coefficients:sign",
    "function_sign": "coefficients:sign",
    "coefficients_weights": "coefficients:weights",
    "Z_half": "multipliers:scale",
    "outputs_swapped": "classes:order",
    "classes_order": "classes:order",
    "C_over_n": "parameter:C",
    "C_times_n": "parameter:C",
    "C_inverted": "parameter:C",
    "C_over_labels": "parameter:C",
    "epsilon_scaled": "parameter:epsilon",
    "epsilon_ignored": "parameter:epsilon",
    "delta_scaled": "parameter:delta",
    "delta_ignored": "parameter:delta",
    "half": "kernels:scale",
    "weights_radius": "kernels:scale",
    "kernels_scaled": "kernels:scale",
    "kernels_trace": "kernels:trace",
    "kernels_cosine": "kernels:cosine",
    "kernels_centred": "kernels:centred",
    "kernels_variance": "kernels:variance",
    "kernels_frobenius": "kernels:frobenius",
    "kernels_power": "kernels:power",
    "kernels_product": "kernels:product",
    "kernels_distance": "kernels:distance",
    "kernels_shifted": "kernels:shifted",
    "kernels_rounded": "kernels:rounded",
    "kernels_left_out": "kernels:dropped",
    "kernels_copied": "kernels:copied",
    "kernels_order": "kernels:order",
    "one_kernel": "kernels:one",
    "kernels_even": "kernels:average",
    "ridge": "kernels:ridge",
    "elastic_net": "norms:unsquared",
    "classes_swapped": "labels:swapped",
    "labels_zero_one": "labels:zero_one",
    "label_misread": "labels:misread",
    "labels_permuted": "labels:permuted",
    "labels_dropped": "labels:dropped",
    "response_centred": "labels:scaled",
    "labels_scaled": "labels:scaled",
    "response_standardised": "labels:scaled",
    "samples_left_out": "samples:dropped",
    "groups": "groups:other",
    "pairs": "pairs:other",
    "as_stated": "stated:other",
    "single_precision": "accuracy:single",
    "few_decimals": "accuracy:decimals",
    "stopped_early": "accuracy:early",
    "converged": CONVERGED,
    "unknown": UNKNOWN,
}


# Two mistakes are told in this order: those of the answer first.
DIMENSIONS = (
    "objective", "bounds", "coefficients", "classes", "bias", "alpha", "weights", "multipliers", "bias_term",
    "parameter", "loss", "formulation", "kernels", "norms", "groups", "pairs", "labels", "samples", "sample_weight",
    "stated",
)  # fmt: skip


def dimension_of(kind: str) -> str:
    return kind.partition(":")[0]


def order_of(kind: str) -> int:
    dimension = dimension_of(kind)
    return DIMENSIONS.index(dimension) if dimension in DIMENSIONS else len(DIMENSIONS)


def kind_of(name: str) -> str:
    """The kind of a hypothesis by its name: "formulation l2" is formulation:l2, "loss huber" loss:huber."""
    what, _, which = name.partition(" ")
    return f"{what}:{which}" if which else KINDS.get(name, f"{name}:other")


@dataclass(frozen=True)
class Explanation:
    """What explains a rejected answer: the `kinds` of one mistake or of two, a `sentence`, the `evidence` for it, and
    what is `left` unexplained, relative to the problem's scale; None where nothing was measured."""

    kinds: tuple[str, ...]
    sentence: str
    evidence: str = field(default="", compare=False)  # numbers that depend on rounding
    left: float | None = field(default=None, compare=False)

    @property
    def remedy(self) -> str:
        """What to change in the code that gave the answer."""
        return remedy_of(self.kinds)

    def as_dict(self) -> dict[str, object]:
        fields = {"kinds": list(self.kinds), "sentence": self.sentence, "evidence": self.evidence, "left": self.left}
        return {**fields, "remedy": self.remedy}
