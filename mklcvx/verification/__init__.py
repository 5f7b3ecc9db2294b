"""Judge answers of other solvers, and find what went wrong."""
