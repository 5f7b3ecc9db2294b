"""`python -m mklcvx`."""

from .cli import main

main()
