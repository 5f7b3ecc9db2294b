"""`python -m mklcvx`."""

from .cli.main import main

main()
