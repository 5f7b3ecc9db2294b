"""Read the files that are audited: arrays and JSON, nothing else. Needs NumPy and the standard library only.

An archive is believed as far as its bytes go: every member is an array, no two have one name, and together they are
packed into no more bytes than the file has, and unpack to no more than deflate can pack, and no more than `LARGEST`.
"""

import json
import os
import sys
import zipfile

import numpy as np

from .machines import SCHEMA as MACHINES
from .machines import in_one
from .numbers import Refused, require

LARGEST = 2**33  # bytes
OF_INSTANCE = ("kernels", "y", "classes", "labels", "response", "names", "label_names", "groups", "sample_weight")
KNOWN = (*OF_INSTANCE, "record", "weights", "alpha", "norms", "coefficients")
DENSEST = 1100  # deflate packs at most 1032 bytes into one


def arrays_of(path):
    """The arrays of a file .npz by name; others than those of instances and solutions are not unpacked."""
    require(os.path.isfile(path), f"{path}: not a regular file")
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
    names = [member.filename for member in members]
    packed, size = (sum(getattr(member, key) for member in members) for key in ("compress_size", "file_size"))
    require(all(name.endswith(".npy") for name in names), "a member of the archive is no array")
    require(len(set(names)) == len(names), "an array occurs twice")
    require(packed <= os.path.getsize(path) and size <= DENSEST * (packed + len(names)), "members of it overlap")
    require(size <= LARGEST, f"it unpacks to {size} bytes, too many to be audited")
    with np.load(path, allow_pickle=False) as file:
        arrays = {key: file[key] for key in file.files if is_known(key.rpartition("/")[2])}
    require(all(map(is_text, arrays.values())), "an array has characters that there are not")
    return arrays


def is_known(name):
    return name in KNOWN or name.startswith(("multiplier_", "members_"))


def is_text(array):
    """Whether an array, if it is one of texts, has Unicode's characters alone: Python breaks on others."""
    if array.dtype.kind != "U":
        return True
    codes = np.frombuffer(array.tobytes(), np.dtype("u4").newbyteorder(array.dtype.byteorder))
    return codes.max(initial=0) <= sys.maxunicode


def unrepeated(pairs):
    """A JSON object in which no name occurs twice."""
    require(len({key for key, _ in pairs}) == len(pairs), "a name occurs twice in an object")
    return dict(pairs)


def no_number(token):
    raise Refused(f"{token} is not a number")


def parsed(text):
    record = json.loads(text, object_pairs_hook=unrepeated, parse_constant=no_number)
    require(isinstance(record, dict), "not a record")
    return record


def read_solution(path):
    """The record of a solution file, .json or .npz."""
    require(os.path.isfile(path), f"{path}: not a regular file")
    if str(path).endswith(".npz"):
        return joined(arrays_of(path))
    require(os.path.getsize(path) <= LARGEST, "it is too large to be audited")
    with open(path, encoding="utf-8") as file:
        return parsed(file.read())


def joined(arrays):
    """The record of the arrays of a file .npz."""
    record = parsed(str(arrays.pop("record")))
    if record.get("schema") == MACHINES:
        return in_one(record, arrays, joined)
    for key, value in arrays.items():
        place, name = (record["multipliers"], key[11:]) if key.startswith("multiplier_") else (record, key)
        require(place.get(name) is None, f"{key} occurs twice")
        place[name] = value
    return {"coefficients": None, **record}
