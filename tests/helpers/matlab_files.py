"""MATLAB files as the tests write them, in both of MATLAB's formats, and what they write."""

import h5py
import numpy as np
import scipy.io

from stacks import FOR_MATLAB

N, M, T = 6, 3, 4
Y, K, TEST = FOR_MATLAB.y, FOR_MATLAB.kernels, FOR_MATLAB.test_kernels
IN_MATLAB, TEST_IN_MATLAB = np.moveaxis(K, 0, 2), np.moveaxis(TEST, 0, 2)
COLUMN = Y[:, None].astype(float)
LABELS = np.array([[1, 0], [1, 0], [1, 1], [0, 1], [0, 1], [0, 0]])


def cells(*items, row=True):
    """A cell array."""
    array = np.empty((1, len(items)) if row else (len(items), 1), dtype=object)
    array.ravel()[:] = items
    return array


class Version5:
    """Files of `save`, written with SciPy."""

    @staticmethod
    def write(path, variables):
        scipy.io.savemat(path, variables)


class Version73:
    """Files of `save -v7.3`: HDF5 behind a header of 512 bytes, axes reversed, cells as references, text as codes."""

    @classmethod
    def write(cls, path, variables):
        with h5py.File(path, "w", userblock_size=512) as file:
            for name, value in variables.items():
                cls.put(file, name, value)
        cls.head(path)

    @staticmethod
    def head(path):
        with path.open("r+b") as file:
            file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM")

    @classmethod
    def put(cls, file, name, value):
        if isinstance(value, str):
            codes = np.array([[ord(letter)] for letter in value] or [0, 0], dtype=np.uint16 if value else np.uint64)
            item = cls.store(file, name, codes, "char")
            if not value:
                item.attrs["MATLAB_empty"] = np.uint8(1)
        elif isinstance(value, dict):
            item = file.create_group(name)
            for field, content in value.items():
                cls.put(item, field, content)
        elif np.asarray(value).dtype == object:
            inside = [cls.put(file.require_group("#refs#"), f"{name}{i}", v).ref for i, v in enumerate(np.ravel(value))]
            item = file.create_dataset(name, np.shape(value)[::-1], dtype=h5py.ref_dtype)
            item[...] = np.array(inside, dtype=h5py.ref_dtype).reshape(np.shape(value)[::-1])
            item.attrs["MATLAB_class"] = np.bytes_("cell")
        elif np.asarray(value).dtype == bool:
            item = cls.store(file, name, np.atleast_2d(value).T.astype(np.uint8), "logical")
        else:
            item = cls.store(file, name, np.atleast_2d(value).T, "double")
        return item

    @staticmethod
    def store(file, name, values, kind):
        item = file.create_dataset(name, data=values)
        item.attrs["MATLAB_class"] = np.bytes_(kind)
        return item
