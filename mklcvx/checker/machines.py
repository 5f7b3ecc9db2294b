"""Files of several machines, each of which tells two classes apart: what the machines are about, and what they share.

With k classes, "ovr" has k machines, each class against the rest; "ovo" has one for every pair of classes i < j, on the
samples of these two, with j positive. Two classes have one machine, the second class against the first. The file holds
one solution for each; its summary must follow from them. Needs NumPy and the standard library only.
"""

import numpy as np

from .numbers import require

SCHEMA = "mklcvx.machines/1"
SHARED = ("formulation", "parameters", "tolerance", "names")


def problems(data, record, words):
    """Of every machine: its title, the instance that it is about, and its solution. `words` are the classes' names, and
    the classes themselves, as the instance has them."""
    require("classes" in data, "target: machines tell classes apart, which the instance has not")
    values = np.ravel(np.asarray(data["classes"]))
    codes = np.unique(values, return_inverse=True)[1].ravel()
    names, classes = words
    require(record["label_names"] == names, "label_names: not those of the instance")
    require(record["classes"] == classes, "classes: not those of the instance")
    require(record["samples"] == len(codes), "samples: not those of the instance")
    require(record["multi_class"] in ("ovr", "ovo"), "multi_class: neither ovr nor ovo")
    pairs = pairs_of(len(names), record["multi_class"])
    require(len(record["machines"]) == len(pairs), "machines: not one for each of the classes, or pairs of classes")
    each = zip(pairs, record["machines"], strict=True)
    return [_problem(data, names, codes, pair, machine) for pair, machine in each]


def pairs_of(count, multi_class):
    """The class of every machine, and the one that it is against, None for the rest."""
    if multi_class == "ovr" and count > 2:
        return [(k, None) for k in range(count)]
    return [(j, i) for i in range(count) for j in range(i + 1, count)]


def _problem(data, names, codes, pair, machine):
    positive, negative = pair
    title = f"{names[positive]} against {'the rest' if negative is None else names[negative]}"
    said = {"positive": names[positive], "negative": None if negative is None else names[negative]}
    require(all(machine.get(key, word) == word for key, word in said.items()), f"machines: not {title}")
    everybody = np.arange(len(codes))
    own = everybody if negative is None else np.flatnonzero(np.isin(codes, (positive, negative)))
    given = everybody if machine["samples"] is None else np.asarray(machine["samples"])
    require(np.array_equal(given, own), f"machines: not the samples of {title}")
    kept = {key: data[key] for key in ("names", "groups") if key in data}
    if np.size(data.get("sample_weight", 1.0)) > 1:
        kept["sample_weight"] = np.ravel(data["sample_weight"])[own]
    kernels = np.asarray(data["kernels"])[:, own][:, :, own]
    return title, {**kept, "kernels": kernels, "y": np.where(codes[own] == positive, 1, -1)}, machine["solution"]


def same_summary(record):
    """Require what the machines share, and the worst of their certificates."""
    solutions = [machine["solution"] for machine in record["machines"]]
    of_each = lambda key: [solution[key] for solution in solutions]  # noqa: E731
    for key in SHARED:
        require(all(value == record[key] for value in of_each(key)), f"{key}: not that of every machine")
    whole = all(value is None for value in of_each("preprocessing"))
    require(whole, "preprocessing: of the whole, not of a machine")
    for key in ("weights", "objective"):
        same = np.array_equal(np.array(of_each(key), dtype=float), np.asarray(record[key], dtype=float), equal_nan=True)
        require(same, f"{key}: not those of the machines")
    missed = [solution for solution in solutions if solution["status"] != "certified"]
    require(record["status"] == ("not_certified" if missed else "certified"), "status: not that of the worst machine")
    known = [solution["certificate"] for solution in missed or solutions]
    gaps = [np.inf if said["relative_gap"] is None else said["relative_gap"] for said in known]
    worst = [said for said, gap in zip(known, gaps, strict=True) if gap == max(gaps)]
    require(record["certificate"] in worst, "certificate: not the one with the widest gap")


def in_one(record, arrays, read):
    """The record of a file `.npz`, with its machines; `read` makes a solution of the arrays of one."""
    count = sum(key.startswith("members_") for key in arrays)
    machines = []
    for i in range(count):
        own = {key.removeprefix(f"machine_{i}/"): x for key, x in arrays.items() if key.startswith(f"machine_{i}/")}
        machines.append({"samples": arrays[f"members_{i}"], "solution": read(own)})
    return {**record, "machines": machines}
