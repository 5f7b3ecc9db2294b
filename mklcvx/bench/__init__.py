"""Benchmarks of solvers, conformance, and the matrix of solvers and formulations over the zoo."""
