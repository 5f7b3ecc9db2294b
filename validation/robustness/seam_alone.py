"""A command in a process of its own, which says when it begins: seam_alone.py DESCRIPTOR WORDS..."""

import os
import signal
import sys

from mklcvx.__main__ import _leave, main

signal.signal(signal.SIGINT, _leave)  # as main will do: the interpreter's own start is not looked at
os.write(int(sys.argv.pop(1)), b"b")  # and stays open until the end
main()
