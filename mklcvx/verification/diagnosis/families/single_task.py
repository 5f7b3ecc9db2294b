"""Single tasks: weights and α make the classifier, and every one of them can be mistaken."""

from __future__ import annotations

from ..mistakes import Mistakes
from ..wrong_answers import ANSWERS, samples_order
from ..wrong_classifiers import bias_wrong, coefficients
from ..wrong_data import least_squares, sample_weights, squared_hinge
from ..wrong_kernels import KERNELS, constant_added, kernels_rescaled
from ..wrong_objectives import objective_terms, objective_units, single_task_terms
from ..wrong_problems import bias_setting, defaults, other_formulation, own_parameters, price_scaled
from ..wrong_rules import weights_capped
from ..wrong_scales import elastic_net, half, radius
from ..wrong_subsets import SUBSETS, label_misread, samples_left_out
from ..wrong_weights import (
    weights_cut,
    weights_norms,
    weights_of_the_start,
    weights_order,
    weights_power,
    weights_reciprocal,
    weights_within_groups,
)  # fmt: skip

SINGLE_TASKS = Mistakes(
    answers=(*ANSWERS, weights_reciprocal),
    objectives=(objective_units(), objective_terms(single_task_terms)),
    rules=(samples_order, weights_capped),
    weights=(
        weights_order, weights_cut, weights_within_groups, weights_norms, weights_power, weights_of_the_start,
        coefficients,
    ),
    problems=(bias_setting, kernels_rescaled, price_scaled, half, other_formulation, own_parameters, defaults),
    subsets=(radius, elastic_net, *SUBSETS, samples_left_out, label_misread),
    data=(sample_weights, squared_hinge, least_squares),
    kernels=(constant_added, *KERNELS),
    last=(bias_wrong,),
    machines=True,
)  # fmt: skip
