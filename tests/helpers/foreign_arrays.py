"""Arrays of the array API that are not NumPy's."""

import numpy as np


class Foreign:
    """An array of the array API that has no way to NumPy, such as one on another device."""

    def __init__(self, values):
        self.values, self.shape, self.ndim = values, values.shape, values.ndim

    def __array_namespace__(self, api_version=None):
        return np

    def __len__(self):
        return len(self.values)


class Readable(Foreign):
    """One that NumPy can read."""

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()
