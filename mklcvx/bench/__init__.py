"""Solvers against each other, against the zoo, and the baselines of the papers."""
