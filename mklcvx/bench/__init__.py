"""Benchmarks of solvers, conformance and validation over the zoo, and the baselines of the papers."""
