"""The published algorithms, one per file."""
