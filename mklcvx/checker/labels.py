"""Many labels for the auditor, and the second of two stages: one machine for every label, all with the weights μ.

ml_sum, ml_minimax   k classifiers without bias, α^k in [0, box]. With h_k the upper bound of `outputs.py` for class k
                     alone at the weights μ, and γ = 1 for ml_sum, on the simplex for ml_minimax,
                     Σ_k γ_k 1'α^k − max_m ½Σ_k γ_k q_m^k ≤ v ≤ Σ_k h_k, or max_k h_k for ml_minimax.

The second stage of ts, ts_l1 and alignment, SVMs with a bias and the kernel K(μ), is audited like `sum`, with the
stretch t and the ridge δ that the file has for each of them.
"""

from fractions import Fraction

import numpy as np

from .claims import NOTHING, VANISHING, Point, number, numbers
from .losses import feasible, samples_of
from .numbers import dot, fractions, is_semidefinite, least_ridge, positive, require
from .outputs import output_by_output, point_of, ridged, stretch_of, two_sides


def machines_of(at, given, weight, bias):
    """Every output alone, as the SVM of its label, whose α is required to be feasible."""
    for j, signs in enumerate(at.signs):
        losses, row = samples_of("hinge", given, None, signs, weight, bias), slice(j, j + 1)
        feasible(at.alpha[j], signs, losses, bias, False)
        stored = {key: getattr(at, key) for key in ("signs", "alpha", "coefficients", "bias", "low")}
        rows = {key: values if values is None else values[row] for key, values in stored.items()}
        yield at._replace(samples=output_by_output([losses], at.signs[row]), **rows)


# ----------------------------------------------------------------------------------------------------- many labels
def many_labels(stack, signs, mu, record, given, weight):
    require(not record["parameters"]["bias"], "parameters.bias: there is none in this family")
    at = point_of(record, stack, signs, False, stretch_of(record, record["coefficients"] is None))
    classes = len(signs)
    gamma = [Fraction(1)] * classes
    if record["formulation"] == "ml_minimax":
        gamma = list(fractions(numbers(record["multipliers"].get("gamma"), (classes,), "multipliers.gamma")))
        require(min(gamma) >= 0 and sum(gamma) == 1, "multipliers.gamma: they do not sum to one")
    machines = list(machines_of(ridged(record, at._replace(mu=mu), False), given, weight, False))
    sides = [two_sides(machine) for machine in machines]
    gain = dot(gamma, [machine.gain() for machine in machines])
    slopes = [dot(gamma, each) / 2 for each in np.transpose([side.q for side in sides])]
    squares = np.transpose([side.functions.squares for side in sides])
    norms = [(sum(map(positive, each)), w) for each, w in zip(squares, mu, strict=True)]
    uppers = [side.upper for side in sides]
    upper = sum(uppers) if record["formulation"] == "ml_sum" else max(uppers)
    scale = dot(mu, slopes) + dot(gamma, [side.functions.penalty for side in sides]) / 2
    terms = gain + abs(upper) + sum(side.terms + side.gains for side in sides)
    products, ridge = sum(machine.products() for machine in machines), max(machines[0].ridges)
    return Point(gain - max(slopes), upper, scale, terms, ridge, norms, slopes, products=products)


# ------------------------------------------------------------------------------------------------ the second stage
def second_stage(stack, signs, mu, record, given, weight):
    """Of every SVM with the kernel K(μ): both bounds, and what their gap is divided by."""
    single, count = record["target"] == "y", len(signs)
    at = point_of(record, stack, signs[0] if single else signs, True, low=True)._replace(mu=mu)
    stretches = of_machines(record, "second_stage_stretch", count, single)
    require(min(stretches, default=1) >= 1, "multipliers.second_stage_stretch: below 1")
    stretches = stretches or [Fraction(1)] * count
    ridges = of_machines(record, "second_stage_ridge", count, single)
    for delta in set(ridges):
        proved = is_semidefinite(stack, [float(w) for w in mu], delta, True)
        require(proved, "multipliers.second_stage_ridge: ridge is not proved")
    ridges = ridges or [smaller_ridge(record, stack, mu)] * count
    require(all(set(y) == {-1, 1} for y in signs), "y: the instance's labels are not −1 and +1")
    for machine, t, ridge in zip(machines_of(at, given, weight, True), stretches, ridges, strict=True):
        sides, gain = two_sides(machine._replace(stretch=t, ridges=[ridge])), machine.gain()
        energy = (dot(mu, sides.q) + sides.functions.penalty) / 2
        lower = gain - dot(mu, sides.q) / 2
        base = energy if energy > VANISHING * gain else gain
        require(base > 0 or sides.upper - lower <= NOTHING, "multipliers.second_stage_gap: the SVMs prove nothing")
        yield lower, sides.upper, base


def smaller_ridge(record, kernels, mu):
    """δ of Σ μ_m K_m for vectors that sum to zero: the file's, if it is proved and smaller than ours."""
    weights, said = [float(w) for w in mu], record["certificate"].get("ridge")
    own = least_ridge(kernels, weights, True)
    given = own if said is None else number(said, "certificate.ridge")
    return given if given < own and is_semidefinite(kernels, weights, given, True) else own


def share(stage):
    """The relative gap of an SVM."""
    lower, upper, base = stage
    return (upper - lower) / base if upper - lower > NOTHING else Fraction(0)


def of_machines(record, name, count, single):
    """A number of every SVM, or one alone; none in files that do not have it."""
    if name not in record["multipliers"]:
        return []
    said = numbers(record["multipliers"][name], () if single else (count,), f"multipliers.{name}")
    return list(fractions(np.atleast_1d(said)))
