"""The mistakes of every family."""
