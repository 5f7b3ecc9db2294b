"""Solvers of l1 by people who were in a hurry, and a good one that says as little as possible."""

import contextlib
import os
import sys
import time

from mklcvx import Instance, solve


def interior(kernels, y, C=1.0, sample_weight=None):
    return solve(Instance(kernels, y, sample_weight=sample_weight), "l1", C=C, solver="interior")


def sharing(kernels, y, C=1.0, sample_weight=None):
    return interior(kernels, y, C / len(y), sample_weight)


def value_alone(kernels, y, C=1.0):
    return {"objective": interior(kernels, y, C).objective}


def wrong_value(kernels, y, C=1.0):
    return {"objective": -interior(kernels, y, C).objective}


def raises(kernels, y, **parameters):
    raise RuntimeError("out of\ncoffee")


def leaves(kernels, y, **parameters):
    sys.exit(3)


def dies(kernels, y, **parameters):
    os._exit(1)


def hangs(kernels, y, **parameters):
    time.sleep(60)


def _to_inherited(text):
    """Write to every descriptor that is open, the pipe for replies among them."""
    for descriptor in range(64):
        with contextlib.suppress(OSError):
            os.write(descriptor, text)


def forges(kernels, y, **parameters):
    _to_inherited(b'{"seconds": 0.0, "elapsed": 0.0}\n')
    return interior(kernels, y)


def chatters(kernels, y, **parameters):
    _to_inherited(b"solving ...\nsolved\n")
    return interior(kernels, y)


def murmurs(kernels, y, **parameters):
    _to_inherited(b"half a line")
    time.sleep(60)


def closes(kernels, y, **parameters):
    os.closerange(0, 64)
    return interior(kernels, y)


def moody(kernels, y, **parameters):
    """Fails but where n = 4, in two ways."""
    if len(y) == 2:
        raise ValueError("too few")
    return dies(kernels, y) if len(y) == 3 else interior(kernels, y)


def picky(kernels, y, C=1.0):
    return sharing(kernels, y, C) if len(y) == 2 else interior(kernels, y, C)


def says_nothing(kernels, y, **parameters):
    return None


def words(kernels, y, **parameters):
    return {"weights": ["a lot", "a little"]}


def too_long(kernels, y, **parameters):
    return {"weights": [1.0] * (len(kernels) + 1)}


def undefined(kernels, y, **parameters):
    return {"weights": [float("nan")] * len(kernels)}


def positional(kernels, y, C):
    print("chatter on standard output")
    found = interior(kernels, y, C)
    kernels[:] = 0  # its own copy
    return found.weights, found.alpha, found.bias


NUMBER = 3


def boundless(kernels, y, **parameters):
    return {"objective": 1e308, "weights": [1e308] * len(kernels), "alpha": [-1e308] * len(y), "bias": 1e308}
