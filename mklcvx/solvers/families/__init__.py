"""What solving asks of a family, and every family's answer."""
