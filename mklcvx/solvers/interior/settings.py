"""Every constant of the interior-point engine, in one record.

Values are relative to what the comment names. A comment says what a value trades off, so that one can tell in which
direction to change it; the tests hold the engine to its numbers of steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

TINY = float(np.finfo(float).tiny)  # stands for zero in a denominator,
NEARLY_ZERO = 1e-300  # and this where the quotient is divided again


@dataclass(frozen=True)
class Settings:
    """The constants of all families. Use `dataclasses.replace` for a variant."""

    # The step rule of every family (`loop`).
    boundary_fraction: float = 0.995  # of the way to the boundary: 1 would leave the interior
    final_boundary_fraction: float = 0.9999  # near the optimum, where Newton's model is exact: fast convergence
    centring_exponent: int = 3  # centring = (τ after the predictor / τ)^exponent, as in Mehrotra's method
    max_error_growth: float = 2.0  # in one step, where α has no multipliers that take up what Newton's model leaves
    step_halvings: int = 6  # of such a step, until its error grows by no more
    max_residual: float = 10.0  # times the complementarity: with larger residuals a step only centres
    share_min_centring: float = 0.02  # block-∞ norms: Newton's model of 1/t asks for less ambitious targets
    share_max_shrink: float = 0.7  # of t in one step, for the same reason

    # Factorisations and refinement.
    cholesky_ridge: float = 1e-13  # of the diagonal: keeps a singular matrix from stopping the factorisation
    hessian_ridge: float = 1e-14  # the same for K(μ) + diagonal, where refinement makes up for it
    pair_ridge: float = 1e-16  # the same for pairs: kernels that are nearly alike differ in little else
    pair_distance: float = 1e-4  # of a kernel from combinations of others: below it they need a basis
    ridge_growth: float = 100.0  # after a factorisation that failed
    max_refinements: int = 8  # of a step of single tasks; fewer where they stall
    predictor_accuracy: float = 1e-3  # of the right-hand side: the predictor only chooses the target
    corrector_accuracy: float = 1e-8  # of the right-hand side: each refinement costs a product with H
    refinement_stall: float = 0.5  # of the last residual: refinement that gains less ends
    singular_cutoff: float = 1e-15  # of the largest singular value, where kernels that do the same leave none
    refinements: int = 2  # of pairs: they make up for the ridge
    settled_diagonal: float = 30.0  # times the trace of K(μ): from there H is as good as its diagonal
    weight_change: float = 1e-3  # of a weight: K(μ) is not updated for less,
    kernel_change: float = 1e-6  # nor for less than this part of the trace of K(μ)

    # Starting points.
    first_mu: float = 0.3  # single tasks: of the mean product of gradient and value
    warm_mu: float = 0.1  # the same, from a neighbouring optimum
    max_start: float = 0.9  # of the box: the largest α at the start
    start_power: float = 200.0  # of 2: the weights at the start, where targets set their size, are within it
    spare_share: float = 0.1  # of p or n in α = p − n, by which both are larger than α asks for
    min_start_slack: float = 1e-2  # of a norm's constraint, whose bound is 1
    min_cap_slack: float = 1e-3  # of a cap
    label_start: float = 0.7  # of the α that a single task starts from: less than twice as far as is best
    label_product_spread: float = 1e4  # largest product in the smallest: larger products cost steps and digits
    min_gradient: float = 1e-3  # of α, which may be optimal at the start by chance
    pair_first_complementarity: float = 0.1  # of all pairs together, for a loss of about one

    # Warm starts along a path of parameters.
    warm_start_gap: float = 0.1  # relative complementarity of the point that is kept: later ones are near bounds
    warm_start_max_ratio: float = 3.0  # of two boxes: beyond it a start of one's own is nearer

    # The active-set finish.
    active_set_steps: int = 4  # of Newton's method on the bounds that hold, from a neighbouring optimum
    active_set_max_gap: float = 0.05  # a larger gap: the wrong bounds, and no use to go on
    held_diagonal: float = 1e12  # times the trace: a variable that is held at its bound
    bound_tolerance: float = 1e-6  # of the box: what counts as at the bound

    # Newton's method for the weights, with an SVM inside.
    newton_min_samples: int = 200  # with fewer, the interior point costs no more,
    svm_min_samples: int = 100  # and the same where weights are given,
    path_min_samples: int = 60  # and where the last point of a path is the start
    first_samples: int = 100  # at least as many give the first weights,
    first_share: int = 8  # or every eighth
    first_gap: float = 0.06  # relative, of these samples: their optimum is another one
    first_cutoff: float = 1e-2  # of the largest weight there: smaller ones start at zero
    neighbour_ratio: float = 0.05  # of the logarithms of prices: beyond it, an SVM finds the bounds anew
    path_accuracy: float = 1e-5  # of LIBSVM at the first weights of such a point: its samples at bounds are known then
    path_share: float = 0.7  # of the change that the last two points promise for the weights: paths have kinks,
    path_reach: float = 2.0  # times the last step of a path: and how far it is believed at all
    size_change: float = 0.02  # of all weights together, where nothing sets their size: for less, Newton's step will do
    newton_growth: float = 4.0  # times the largest weight: what one may grow by in one step in the same case
    newton_gain: float = 0.5  # of the gap: an α that was predicted is kept if it comes so much nearer
    newton_patience: int = 5  # steps without a smaller gap, before the interior point takes over
    far_patience: int = 4  # the same,
    newton_far: float = 0.1  # at a gap that has never been below this
    newton_max_svms: int = 12  # before the interior point takes over in any case,
    far_max_svms: int = 6  # and at such a gap
    newton_halvings: int = 2  # SVMs at one step: shorter ones where the upper bound grows
    idle_multiplier: float = 0.25  # of the largest slope: a kernel at zero with a larger multiplier is not visited
    check_gap: float = 0.02  # relative: all kernels are visited once it is reached, not only at the end
    max_active_sets: int = 12  # that are tried for the weights in one step, before
    newton_qp_accuracy: float = 1e-12  # relative, of the interior-point method that solves for them
    newton_reach: float = 100.0  # times the largest weight: how far one step may go there
    shrink: float = 0.02  # of a weight in one step, where it may not be zero
    svm_accuracy: float = 1e-3  # of LIBSVM, in margins, at first;
    svm_finest: float = 1e-6  # its kernels have single precision
    svm_max_steps: int = 100  # of LIBSVM, times n: nine of ten need less than 30, and the others take most of the time
    svm_share: float = 0.3  # of the gap: what the SVM may leave before it is solved more accurately
    svm_best_gap: float = 1e-2  # relative: from here on an α that was predicted is kept every other time, too

    # Elimination of groups of kernels that α does not see (block-∞ norms).
    elimination_gap: float = 0.1  # relative complementarity from which groups may seem to vanish
    tube_elimination_gap: float = 1e-4  # the same where a tube is an unknown: a wrong elimination is noticed late there
    elimination_threshold: float = 1e-4  # of the largest q_m/trace: a group below it seems to vanish
    early_elimination_threshold: float = 1e-20  # the same at any time: a constant kernel beside a bias
    elimination_tightening: float = 1e-8  # of the threshold, after every elimination that was wrong: hardly ever twice
    elimination_rounding_gap: float = 1e-6  # √q of a kernel that vanishes has half the digits
    elimination_norm_excess: float = 1e-6  # a group that left is longer than the others by more than rounding
    basis_tolerance: float = 1e-8  # of a unit vector: what still counts as another direction
    function_cutoff: float = 1e-14  # of the largest singular value, where Bw is shared among kernels
    free_sample_margin: float = 1e-4  # of the largest α, and of the box: samples that are near no bound

    # When to certify, and when rounding is all that is left.
    proof_margin: float = 0.5  # of the tolerance: what must be proved, so that rounding elsewhere does no harm
    certify_gap: float = 1e3  # times the tolerance: a gap that is worth a certificate
    converged: float = 1e-2  # of the tolerance: a complementarity that ought to be enough
    pair_converged: float = 1e-9  # the same for pairs: a complementarity that rounding swallows
    hypergraph_converged: float = 1e-6  # the same for hypergraphs, of the tolerance
    vanished_scale: float = 1e-4  # of the gain, where f vanishes: at 1e-8 of it the certificate's 2⁻⁴⁰ is reached
    progress: float = 0.9  # of the best residual: what counts as progress,
    patience: int = 25  # and for how many steps to wait for it
    hypergraph_patience: int = 10  # the same for hypergraphs
    exhausted: float = 1e-22  # of the first τ: rounding is all that is left
    label_certify: float = 1e-6  # of the tolerance: many labels whose complementarity is less have rounding left only
    label_progress: float = 0.5  # of the last error: what counts as progress for many labels that have converged,
    label_patience: int = 1  # and how many steps without it are no end, since rounding makes errors jump
    creeping_step: float = 0.1  # many labels: shorter steps,
    creeping_gap: float = 0.5  # at a larger complementarity,
    creeping_patience: int = 5  # more often than this in a row: start again with larger products

    # What is offered to the certificate.
    max_lengthening: float = 1e-3  # of f: it is made longer by what the margins lack, never by more
    min_lengthening: float = 5e-14  # of f: more than the rounding of margins, on any processor
    lengthening_cost: float = 1e-12  # of the value: what that may cost

    # Pairs: centring, and memory.
    centring_decrement: float = 0.5  # Newton's decrement per pair that is centred enough
    line_search_slope: float = 0.3  # of the first slope: where the line search ends
    line_search_trials: int = 12  # evaluations, each without a kernel
    line_search_max: float = 16.0  # times Newton's step
    line_search_boundary: float = 0.99  # of the way to μ = 0
    pair_multiplier_floor: float = 4 * float(np.finfo(float).eps)  # of Σ β |z|: what is below it is rounding
    pair_chunk: int = 2**15  # pairs at a time where no kernel is read

    # The quadratic program.
    qp_max_steps: int = 60  # the best point is kept, so that a limit loses nothing
    alignment_accuracy: float = 0.01  # of the tolerance: its certificate comes after one step
    alignment_box: float = 1.5  # in units of ‖a₊‖, which bounds every weight


SETTINGS = Settings()
