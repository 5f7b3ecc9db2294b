"""The readers of the package, each with files that it reads, from which damage starts."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple
from unittest import mock

import numpy as np

import mklcvx
from mklcvx import Instance, solve
from mklcvx.checker import audit, claims, families, joint
from mklcvx.cli.kept_folds import KeptFolds
from mklcvx.estimators.cross_validation import FoldScore
from mklcvx.estimators.saving import is_model
from mklcvx.io import files, folders, machine_files, matlab_apart, traces
from mklcvx.solvers.one_against import solve_by_machines
from mklcvx.verification.submissions import read_submission
from mutating import CANARY, FOLDER_MARK, LINK_MARK


class Reader(NamedTuple):
    """`read` takes a path of this ending; `seeds` are files that it reads, or refuses for a reason worth keeping."""

    name: str
    ending: str
    read: Callable[[Path], object]
    seeds: list[bytes]


class Refusal(ValueError):
    """What a reader that prints has said in place of an answer."""


# ------------------------------------------------------------------------------------------------ what is read
_rng = np.random.default_rng(3)
_features = _rng.normal(size=(2, 6, 2))
KERNELS = np.round(_features @ _features.transpose(0, 2, 1) + np.eye(6), 3)
Y = np.array([1, 1, 1, -1, -1, -1])
PROBLEM = Instance(KERNELS, Y, groups=[0, 1], test_kernels=KERNELS[:, :2], test_y=[1, -1], names=["one", "two"])
CLASSES = Instance(KERNELS, classes=["a", "a", "b", "b", "c", "c"])
LABELS = Instance(KERNELS, labels=[[1, 0], [1, 1], [0, 1], [0, 1], [1, 0], [0, 0]])
RESPONSE = Instance(KERNELS, response=np.linspace(-1, 2, 6))


def seeds(folder: Path) -> dict[str, bytes]:
    """Small files of every kind by name, written by the package."""
    for name, instance in (("y", PROBLEM), ("classes", CLASSES), ("labels", LABELS), ("response", RESPONSE)):
        for ending in (".npz", ".json", ".mat", ""):
            files.save_instance(folder / f"{name}{ending}", instance)
    solution = solve(PROBLEM, "l1", solver="simplemkl")
    for ending in (".json", ".npz"):
        files.save_solution(folder / f"solution{ending}", solution)
        files.save_solution(folder / f"embedding{ending}", solve(LABELS, "hypergraph"))
        machine_files.save_machines(folder / f"machines{ending}", solve_by_machines(CLASSES, "l1", "ovr"))
    for ending in (".json", ".csv"):
        traces.save_trace(folder / f"trace{ending}", solution)
    answer = {name: getattr(solution, name) for name in ("weights", "alpha", "bias", "objective")}
    for ending in (".json", ".npz", ".mat", ""):
        files.save_answer(folder / f"answer{ending}", **answer)
    X = _features[0]
    mklcvx.save_model(folder / "model.npz", mklcvx.MKLClassifier(kernels="linear").fit(X, Y))
    found = {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}
    return found | {one.name: folded(one) for one in folder.iterdir() if one.is_dir()}


def folded(folder: Path) -> bytes:
    """A folder as one text."""
    files_in = sorted(folder.rglob("*.csv"))
    parts = (f"{FOLDER_MARK}{one.relative_to(folder)}\n{one.read_text(encoding='utf-8')}" for one in files_in)
    return "".join(parts).encode()


def unfolded(data: bytes, folder: Path) -> None:
    """Write the files of a folder; names that no system takes, or that lead out of it, are left out."""
    folder.mkdir()
    for part in data.decode("utf-8", "surrogateescape").split(FOLDER_MARK)[1:]:
        name, _, text = part.partition("\n")
        place = folder / name
        with contextlib.suppress(OSError, ValueError):
            if folder in place.resolve().parents:
                place.parent.mkdir(parents=True, exist_ok=True)
                if text.startswith(LINK_MARK):
                    place.symlink_to(folder.parents[1] / CANARY)
                    continue
                place.write_bytes(text.encode("utf-8", "surrogateescape"))


def hdf5_answers(folder: Path) -> Iterator[bytes]:
    """Answers of version 7.3."""
    import h5py

    place = folder / "answer of 7.3.mat"
    with h5py.File(place, "w", userblock_size=512) as file:
        file["weights"], file["alpha"] = np.array([[0.25, 0.75]]), np.full((1, 6), 0.5)
        file["objective"], file["bias"] = np.array([[1.5]]), np.array([[0.0]])
    yield as_matlab(place)


def as_matlab(place: Path) -> bytes:
    with place.open("r+b") as out:
        out.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")
    return place.read_bytes()


def hdf5_seeds(folder: Path) -> Iterator[bytes]:
    """Files of version 7.3, and the traps that HDF5 has."""
    import h5py

    canary = folder / "canary.h5"
    with h5py.File(canary, "w") as file:
        file["kernels"] = KERNELS.T

    def put(file: h5py.File, kind: str) -> None:
        file["y"] = Y[None].astype(float)
        if kind == "cells":
            refs = [file.create_dataset(f"#refs#/{i}", data=kernel) for i, kernel in enumerate(KERNELS)]
            cell = file.create_dataset("kernels", (2, 1), h5py.ref_dtype)
            cell[...] = np.array([one.ref for one in refs], h5py.ref_dtype)[:, None]
            cell.attrs["MATLAB_class"] = np.bytes_("cell")
        elif kind == "link":
            file["kernels"] = h5py.ExternalLink(str(canary), "/kernels")
        elif kind == "circle":
            file["kernels"], file["other"] = h5py.SoftLink("/other"), h5py.SoftLink("/kernels")
        elif kind == "packed":
            packing = {"compression": "gzip", "shuffle": True, "fletcher32": True, "chunks": True}
            file.create_dataset("kernels", data=KERNELS.T, **packing)
        elif kind == "elsewhere":
            file.create_dataset("kernels", (6, 6, 2), "f8", external=[(str(canary), 0, 576)])
        elif kind == "virtual":
            layout = h5py.VirtualLayout((6, 6, 2), "f8")
            layout[...] = h5py.VirtualSource(str(canary), "kernels", (6, 6, 2))
            file.create_virtual_dataset("kernels", layout)
        elif kind == "filled":
            file.create_dataset("kernels", (6, 6, 2), "f8", fillvalue=1.0, chunks=(6, 6, 2))
        else:
            file["kernels"] = KERNELS.T

    for kind in ("plain", "cells", "link", "circle", "packed", "elsewhere", "virtual", "filled"):
        place = folder / f"{kind}.mat"
        with h5py.File(place, "w", userblock_size=512) as file:
            put(file, kind)
        yield as_matlab(place)


@contextlib.contextmanager
def forked(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """The process that reads MATLAB files, as a copy of this one: a hundred times as fast to start."""
    (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(theirs_in, 0)
            os.dup2(theirs_out, 1)
            os.closerange(3, 256)
            sys.stdin, sys.stdout = open(0, encoding="utf-8"), open(1, "w", encoding="utf-8")  # noqa: SIM115
            sys.argv = ["", "", os.path.abspath(path)]
            matlab_apart.serve()
        finally:
            os._exit(0)
    os.close(theirs_in)
    os.close(theirs_out)
    with open(ours_out, "wb") as say, open(ours_in, "rb") as hear:
        try:
            yield say, hear
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            with contextlib.suppress(BrokenPipeError):
                say.flush()


def in_a_copy(read: Callable[[Path], object]) -> Callable[[Path], object]:
    def through(path: Path) -> object:
        import h5py  # noqa: F401
        import scipy.io  # noqa: F401

        with mock.patch.object(matlab_apart, "_process", forked):
            return read(path)

    return through


# --------------------------------------------------------------------------------------------------- the readers
def checked(path: Path, problem: Path, evaluate: Callable[..., object], used_by: Callable[..., object]) -> object:
    """What the checker says of a solution, or of an instance with a fixed solution: a status; one line if it is 2."""
    said, out = io.StringIO(), io.StringIO()
    pair = (path, problem.with_name("solution.json")) if path.stem == "instance" else (problem, path)
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(out):
        status = claims.audited([*map(str, pair)], evaluate, used_by)
    if status == 2:
        raise Refusal(said.getvalue().removesuffix("\n"))
    return status


def readers(place: Path) -> list[Reader]:
    """All of them; `place` is a folder for their seeds, and for what some readers need beside a file."""
    known = seeds(place)
    (place / CANARY).write_text("1,2\n2,1\n", encoding="utf-8")

    def like(ending: str, *words: str) -> list[bytes]:
        return [data for name, data in known.items() if Path(name).suffix == ending and any(w in name for w in words)]

    of_instances = ("y", "classes", "labels", "response", "problem", "instance")
    of_answers = ("answer", "solution", "trace", "embedding", "machines")
    table = b"a,b\n1,2\n3,x\n"
    problem = place / "y.npz"

    def submitted(path: Path) -> object:
        return read_submission(path, PROBLEM, "l1")

    def folds_kept(path: Path) -> object:
        return KeptFolds(path.with_suffix(""), problem, 0).read(3, 1)

    trials = {number: [FoldScore(0.5, 1e-9, True, "")] for number in (0, 2)}
    KeptFolds(place / "cv.jsonl", problem, 0).write(trials)

    def of_endings(name: str, endings: Sequence[str], read: Callable[[Path], object], *words: str) -> list[Reader]:
        return [Reader(f"{name} {ending or 'folder'}", ending, read, like(ending, *words)) for ending in endings]

    found = of_endings("instance", (".npz", ".json", "", ".mat"), files.load_instance, *of_instances)
    found += of_endings("test", (".npz", ""), files.load_test, *of_instances)
    of_hdf5 = list(hdf5_seeds(place))
    found += [Reader("instance v7.3", ".h5.mat", files.load_instance, of_hdf5)]
    found += [Reader("instance v7.3, in a copy", ".h5.mat", in_a_copy(files.load_instance), of_hdf5)]
    found += [Reader("answer v7.3, in a copy", ".h5.mat", in_a_copy(submitted), [*of_hdf5, *hdf5_answers(place)])]
    found += of_endings("solution", (".json", ".npz"), machine_files.load_answer, *of_answers)
    found += of_endings("answer", (".json", ".npz", ".csv", "", ".mat"), submitted, *of_answers)
    found += [Reader("model .npz", ".npz", mklcvx.load_model, like(".npz", "model", "classifier", "regressor"))]
    found += [Reader("kind of model", ".npz", is_model, like(".npz", "model", "solution"))]
    found += [Reader("table .csv", ".csv", folders.table, [table, b"1,2\n3,4\n"])]
    found += [Reader("kept folds", ".jsonl.part", folds_kept, [(place / "cv.jsonl.part").read_bytes()])]
    single = (joint.evaluated_file, audit.point_multipliers)
    others = (families.evaluated_file, families.point_multipliers)
    for name, ways in (("checker", single), ("checker of families", others)):
        for ending in (".json", ".npz"):
            seen = like(ending, "solution", "embedding", "machines")
            found.append(Reader(f"{name}, solution {ending}", ending, lambda p, w=ways: checked(p, problem, *w), seen))

    def of_instance(path: Path) -> object:
        return checked(path.rename(path.with_name("instance.npz")), problem, *single)

    found.append(Reader("checker, instance .npz", ".npz", of_instance, like(".npz", *of_instances)))
    return found
