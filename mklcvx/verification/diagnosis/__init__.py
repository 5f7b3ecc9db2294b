"""What may have gone wrong: `mistakes.py` says what a mistake is, and there is one file for each kind."""
