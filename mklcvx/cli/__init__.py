"""The command line, and what the terminal shows."""
