"""What to change in the code that gave a wrong answer: one sentence for every kind of mistake.

Kinds that say which (`parameter:C`, `loss:huber`) share the sentence of their dimension. Where nothing was found the
sentence says how to look further.
"""

from __future__ import annotations

from collections.abc import Sequence

BY_DIMENSION = {
    "parameter": "Pass the value that was asked for, and look where it is multiplied or divided on its way.",
    "formulation": "Replace the constraint or penalty on the weights by that of the formulation asked for.",
    "loss": "Replace the loss, its dual term and the bounds of α by those of the loss asked for.",
    "sample_weight": "Multiply the price of every sample by its own weight, as it was handed in.",
    "objective": "Report the value of the formulation as it is stated, with every term and factor.",
    "kernels": "Use the kernels as they were handed in.",
    "labels": "Use the labels or targets as they were handed in.",
    "weights": "Report the weights of the formulation as it is stated, for the α that is reported beside them.",
    "alpha": "Report α of the dual as it is stated, one number for each sample in the samples' order.",
}
BY_KIND = {
    "objective:sign": "Report the value itself, not its negative, whichever way the solver optimises.",
    "objective:factor": "Look for a ½ that is missing or doubled where the value is put together.",
    "objective:units": "Report the sum that the formulation states, not divided by n, C or the number of classes.",
    "objective:terms": "Add up the value again, term by term, as the formulation states it.",
    "bounds:value": "Compute both bounds from the points handed over, and pay for rounding.",
    "bias:sign": "Change the sign of the bias: f(x) + b is meant.",
    "bias:missing": "Compute the bias from samples whose α lies between its bounds, and report it.",
    "bias:value": "Compute the bias from samples with 0 < α < C alone, not from all support vectors.",
    "bias_term:omitted": "Add the bias to the function, and with it the constraint that α∘y sums to zero.",
    "bias_term:added": "Remove the bias, and with it the constraint that α∘y sums to zero.",
    "bias_term:penalised": "Leave the bias out of the norm: no column of ones, no constant in the kernels.",
    "alpha:sign": "Change the sign: α ≥ 0 is meant for labels, without y; for real targets α > 0 where y lies above f.",
    "alpha:scale": "Undo the factor of α: it lies between 0 and C, and is neither divided by C nor normalised.",
    "alpha:clipped": "Report α before it is cut off or small values are set to zero.",
    "alpha:order": "Put α back into the order in which the samples were handed in.",
    "alpha:support": "Fill in zeros for the samples that are no support vectors.",
    "alpha:stale": "Train the machine once more with the last weights, and report that α.",
    "alpha:beta": "Divide by the price γ of the class: α is meant, not β = γα.",
    "alpha:second_stage": "Train the second stage's machine with the weighted sum of the kernels.",
    "weights:scale": "Report the weights before they are normalised, or scale them to the formulation's constraint.",
    "weights:order": "Put the weights back into the order in which the kernels were handed in.",
    "weights:cut": "Report the weights before small ones are set to zero.",
    "weights:power": "Report the weights themselves: they multiply kernels, and their roots multiply features.",
    "weights:reciprocal": "Report μ and not its reciprocal, which stands in the penalty Σ‖f‖²/μ.",
    "weights:norms": "Compute the weights from the norms ‖f_m‖: they are not the norms themselves.",
    "weights:groups": "Multiply the shares within a group by the weight of the group.",
    "weights:uniform": "Report the weights after the last update: these are those of the start.",
    "weights:clipped": "Solve with the constraint on the weights: clipping the answer without it is no optimum.",
    "weights:unconstrained": "Add the constraint that no weight is negative.",
    "weights:rule": "Compare the exponent and the terms of the update of the weights with the theorem's.",
    "weights:stale": "Update the weights once more for the last α, and report those.",
    "coefficients:sign": "Multiply by the labels: coefficients are μ_m α_i y_i.",
    "coefficients:weights": "Multiply by the weights once: coefficients are μ_m α_i y_i.",
    "multipliers:scale": "Report the multiplier of the constraint as the theorem states it, without another factor.",
    "classes:order": "Put the classes or outputs back into the order of their sorted labels or columns.",
    "kernels:scale": "Look for a ½, an n or a trace by which all kernels, or the term of the norms, are multiplied.",
    "kernels:trace": "Leave out the division by the trace: kernels are used as they were handed in.",
    "kernels:cosine": "Leave out the division by √(K_ii K_jj): kernels are used as they were handed in.",
    "kernels:centred": "Leave out centring: kernels are used as they were handed in.",
    "kernels:variance": "Leave out the scaling to unit variance: kernels are used as they were handed in.",
    "kernels:frobenius": "Leave out the division by a norm: kernels are used as they were handed in.",
    "kernels:power": "Use K itself, neither K² nor its entries squared or rooted.",
    "kernels:product": "Add the weighted kernels: they are not multiplied.",
    "kernels:distance": "Use similarities, not distances or Laplacians.",
    "kernels:ridge": "Leave the diagonals as they are: no ridge for stability, no zeros.",
    "kernels:shifted": "Leave out the constant that is added to every entry.",
    "kernels:rounded": "Read and keep the kernels in double precision, with all their digits.",
    "kernels:dropped": "Look for a loop over the kernels that begins or ends one too early.",
    "kernels:copied": "Look for an index that picks the same kernel twice.",
    "kernels:order": "Put kernels and samples into the order in which they were handed in.",
    "kernels:one": "Use all kernels: one alone was trained.",
    "kernels:average": "Learn the weights: the machine of the plain sum or average was handed over.",
    "labels:swapped": "Take +1 for the positive class: the two were swapped.",
    "labels:zero_one": "Code the labels as −1 and +1, not as 0 and 1.",
    "labels:misread": "Compare the labels that your code sees with those handed in, one by one.",
    "labels:permuted": "Keep samples and labels in one order: they were moved against each other.",
    "labels:dropped": "Look for a loop over classes or labels that leaves one out.",
    "labels:scaled": "Use the targets as they are: not centred, standardised or coded otherwise.",
    "samples:dropped": "Train on all samples: some were held out or left over.",
    "sample_weight:ignored": "Multiply the price of every sample by its weight.",
    "groups:other": "Compare the groups that your code sees with those handed in.",
    "pairs:other": "Count the pairs i ≤ j, each sample with itself included, each pair once.",
    "norms:unsquared": "Square the norm in the penalty, or leave the square out, as the formulation states it.",
    "stated:other": "Ask for the problem that the file states, or solve the one that is asked for.",
    "accuracy:single": "Compute and write in double precision.",
    "accuracy:decimals": "Write all digits: repr in Python, %.17g elsewhere.",
    "accuracy:early": "Let it run longer: stop on the duality gap, not on the number of steps.",
    "unknown:converged": "Compare the problem that your code states, term by term, with the theorem.",
    "unknown": "Hand over more parts (weights, α, bias, objective): each narrows the search.",
}


def remedy_of(kinds: Sequence[str]) -> str:
    """The sentences for these kinds, each once."""
    sentences = (BY_KIND.get(kind) or BY_DIMENSION[kind.partition(":")[0]] for kind in kinds)
    return " ".join(dict.fromkeys(sentences))
