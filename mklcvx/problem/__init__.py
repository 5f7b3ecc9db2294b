"""What is solved: kernels and targets, checked once, and what can be done to kernels beforehand."""
