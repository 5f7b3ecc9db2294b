"""Defaults that Python and the command line share. Those of parameters are with the formulations."""

from __future__ import annotations

FORMULATION = "l1"
SOLVER = "auto"
NORMALISE = "diagonal"  # of the estimators: validation/defaults.md has the evidence
SCALE = "scale"  # the word for a C of 1/(mean k(x, x))
TOLERANCE = 1e-8  # relative gap that a solution must prove, unless its solver has a tolerance of its own
VERDICT_TOLERANCE = 1e-6  # relative tolerance of a verdict
FOLDS = 5  # of cross-validation
SEED = 0
ANSWERS = ("alone", "without", "permuted", "stability")  # about kernels
REPEATS = 5  # permutations of a kernel in a fold
RESAMPLES = 20  # bootstrap samples
SELECTED = 0.01  # share of the weights from which on a kernel is selected
ROUNDS = 5  # of a benchmark
BENCH_TIME_LIMIT = 60.0  # seconds for a contestant
CONFORM_LEVEL = "mid"
CONFORM_TIME_LIMIT = 20.0  # seconds for an instance
VALIDATE_TIME_LIMIT = 3.0  # seconds for a run
VALIDATE_LARGEST = 15_000.0  # n²M of an instance
REPORT_TIME_LIMIT = 5.0  # seconds for a solver whose convergence is drawn
SECOND_STAGE_C = 1.0  # price of the second stage's SVMs
