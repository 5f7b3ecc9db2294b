"""What the studies share: printed tables, algorithms stepped against a clock, numbers in tables, pictures."""
