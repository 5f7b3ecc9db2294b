"""What is done between two seams: small problems in every storage, solved once, along a path, in folds, in a search, by
an estimator, by a command. Every answer becomes a tree of plain values, which is compared with an undisturbed run's."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.validation import check_is_fitted

import mklcvx
from mklcvx import Instance, LowRank, MKLClassifier, Solution, kernel_importance
from mklcvx.estimators.cross_validation import cross_validate

SIZES = ((12, 2), (16, 3), (24, 4))  # samples and kernels
STACKS = ("dense", "fortran", "float32", "read-only", "mapped", "low-rank")
TABLES = ("dense", "fortran", "float32", "mapped")
FILES = ("npz", "json", "mat", "folder")
GRID = [0.1, 1.0, 10.0]
TIMES = {"seconds", "elapsed"}  # differ from run to run
EXACT, SINGLE = 1e-6, 1e-3  # how far answers from the same numbers may differ, and those from single precision


class Problem(NamedTuple):
    formulation: str
    parameters: dict[str, Any]
    solver: str = "auto"

    @property
    def words(self) -> list[str]:
        settings = [word for name, value in self.parameters.items() for word in ("--set", f"{name}={value}")]
        return ["-f", self.formulation, "--solver", self.solver, *settings]


HINGE = (
    Problem("l1", {"C": 1.0}), Problem("l1", {"C": 1.0}, "clarabel"), Problem("l1", {"C": 1.0}, "simplemkl"),
    Problem("lp", {"C": 1.0, "p": 1.5}), Problem("sm1", {"C": 1.0, "theta": 0.5}), Problem("square", {"C": 1.0}),
    Problem("l2", {"C": 1.0, "loss": "logistic"}), Problem("elastic", {"C": 1.0}), Problem("vskl", {"C": 1.0}),
    Problem("ts", {"lam": 0.1}), Problem("alignment", {}),
)  # fmt: skip
ALONG_C = tuple(one for one in HINGE if "C" in one.parameters)
FITTED = tuple(one for one in ALONG_C if one.solver == "auto" and one.formulation != "vskl")  # which needs groups
ONE = HINGE[:1]


class Posed:
    """A problem in a storage. `estimator` is what a work has begun to fit."""

    def __init__(self, problem: Problem, storage: str, size: int, folder: Path) -> None:
        self.problem, self.storage, self.size, self.folder = problem, storage, size, folder
        rng, (n, M) = np.random.default_rng(size), SIZES[size]
        self.y, self.groups = np.repeat([1, -1], n // 2), np.arange(M) // 2
        self.factors = rng.normal(size=(M, n, 5)) + rng.uniform(0.2, 0.8, size=(M, 1, 1)) * self.y[:, None]
        self.features = rng.normal(size=(n, 4)) + 0.6 * self.y[:, None]
        self.estimator: Any = None
        self.client: Any = None
        self.kernels: Any = None
        self.table: Any = None

    def beside(self) -> Posed:
        """The same arrays for another thread, with an estimator of its own."""
        other = copy.copy(self)
        other.estimator = None
        return other

    def store(self) -> None:
        """Put kernels and features where the storage has them: what comes before the work."""
        kernels = self.factors @ self.factors.transpose(0, 2, 1)
        if self.storage == "low-rank":
            self.kernels = LowRank(list(self.factors))
        elif self.storage == "dask":
            self.kernels = self._on_a_cluster(kernels)
        else:
            self.kernels = self._as_stored(kernels, "kernels")
        self.table = self._as_stored(self.features, "features")

    def _as_stored(self, array: np.ndarray[Any, Any], name: str) -> Any:
        if self.storage == "mapped":
            return np.load(self.folder / f"{name}{self.size}.npy", mmap_mode="r")
        if self.storage == "fortran":
            return np.asfortranarray(array)
        if self.storage == "float32":
            return array.astype(np.float32)
        array.flags.writeable = self.storage != "read-only"
        return array

    def _on_a_cluster(self, kernels: np.ndarray[Any, Any]) -> Any:
        import dask.array
        from distributed import Client

        alone = {"processes": False, "n_workers": 1, "threads_per_worker": 1, "dashboard_address": None}
        self.client = Client(**alone, set_as_default=True)
        return dask.array.from_array(kernels, chunks=(1, -1, -1))

    @property
    def file(self) -> str:
        return str(self.folder / f"problem{self.size}{'' if self.storage == 'folder' else '.' + self.storage}")

    def write(self) -> None:
        """The files of all storages."""
        kernels = self.factors @ self.factors.transpose(0, 2, 1)
        np.save(self.folder / f"kernels{self.size}.npy", kernels)
        np.save(self.folder / f"features{self.size}.npy", self.features)
        for storage in FILES:
            self.storage = storage
            mklcvx.save_instance(self.file, Instance(kernels, self.y, groups=self.groups))


# ------------------------------------------------------------------------------------------------------- in Python
def instance(posed: Posed) -> Instance:
    return Instance(posed.kernels, posed.y, groups=posed.groups)


def solved(posed: Posed) -> Any:
    f, parameters, solver = posed.problem
    return mklcvx.solve(instance(posed), f, solver=solver, **parameters)


def along_a_path(posed: Posed) -> Any:
    f, parameters, solver = posed.problem
    fixed = {name: value for name, value in parameters.items() if name != "C"}
    return mklcvx.solve_path(instance(posed), f, {"C": GRID}, solver=solver, **fixed)


def in_folds(posed: Posed) -> Any:
    f, parameters, solver = posed.problem
    points = [{**parameters, "C": C} for C in GRID[1:]]
    return cross_validate(instance(posed), f, points, folds=2, solver=solver)


def streamed(posed: Posed) -> Any:
    return mklcvx.solve_streamed(posed.table, posed.y, [0.1, 1.0], "l1", C=1.0, working_set=8)


def proved(posed: Posed) -> Any:
    return mklcvx.prove(instance(posed), posed.problem.formulation, **posed.problem.parameters)


def fitted(posed: Posed) -> Any:
    posed.estimator = MKLClassifier(posed.problem.formulation, **posed.problem.parameters)
    return posed.estimator.fit(posed.table, posed.y)


def searched(posed: Posed) -> Any:
    model = MKLClassifier(posed.problem.formulation, **posed.problem.parameters)
    posed.estimator = GridSearchCV(model, {"C": GRID[1:]}, cv=2, error_score="raise")
    return posed.estimator.fit(posed.table, posed.y)


def weighed(posed: Posed) -> Any:
    asked = {"cv": 2, "resamples": 2, "answers": ["alone", "stability"]}
    return kernel_importance(MKLClassifier(posed.problem.formulation, C=1.0), posed.table, posed.y, **asked)


# ----------------------------------------------------------------------------------------------------- by a command
class Output(NamedTuple):
    """Where a command leaves its answer: the kinds of text are json, jsonl, words; files have a name."""

    printed: str = ""
    written: str = ""


class Work(NamedTuple):
    """`run` is for Python, `words` for the command line; @ is the instance's file, % the problem."""

    name: str
    storages: tuple[str, ...]
    problems: tuple[Problem, ...]
    run: Callable[[Posed], Any] | None = None
    words: tuple[str, ...] = ()
    output: Output = Output()
    share: float = 1.0

    @property
    def at_command_line(self) -> bool:
        return self.run is None

    def command(self, posed: Posed) -> list[str]:
        parts = {"@": [posed.file], "%": posed.problem.words, "~": posed.problem.words[:2]}
        return [part for word in self.words for part in parts.get(word, [word])]


def command(name: str, words: str, share: float = 1.0, problems: Any = HINGE, files: Any = FILES, **out: str) -> Work:
    return Work(name, files, problems, None, tuple(words.split()), Output(**out), share)


LINE = ("npz",)
ALONG = "path @ ~ --grid C=0.1,1,10"
FOLDS = "cv @ ~ --grid C=1,10 --folds 2"
WORKS = (
    Work("solve", STACKS, HINGE, solved, share=4),
    Work("solve_path", STACKS, ALONG_C, along_a_path, share=2),
    Work("cross_validate", STACKS, ALONG_C, in_folds, share=2),
    Work("solve_streamed", TABLES, ONE, streamed, share=0.7),
    Work("prove", STACKS[:5], HINGE[3:6], proved, share=0.5),
    Work("fit", TABLES, FITTED, fitted, share=2),
    Work("GridSearchCV", TABLES, FITTED, searched, share=2),
    Work("kernel_importance", TABLES, ONE, weighed),
    Work("solve of Dask", ("dask",), ONE, solved, share=0.1),
    command("solve --json", "solve @ % --json", 2, printed="json"),
    command("solve in words", "solve @ %", printed="words"),
    command("solve -o .json", "solve @ % -q -o answer.json", 2, written="answer.json"),
    command("solve -o .npz", "solve @ % -q -o answer.npz", written="answer.npz"),
    command("path -o", f"{ALONG} -q -o path.jsonl", problems=ALONG_C, written="path.jsonl"),
    command("path", ALONG, problems=ALONG_C, printed="jsonl"),
    command("cv -o", f"{FOLDS} -o folds.jsonl", problems=ALONG_C, printed="words", written="folds.jsonl"),
    command("cv --json", f"{FOLDS} --json", problems=ALONG_C, printed="jsonl"),
    command("prove --json", "prove @ ~ --json", 0.5, HINGE[3:6], printed="json"),
    command("kernels --json", "kernels @ --json", 0.2, ONE, printed="json"),
    command("list --json", "list --json", 0.7, ONE, LINE, printed="json"),
    command("conventions --json", "conventions --json", 0.3, ONE, LINE, printed="json"),
    command("explain", "explain l1", 0.3, ONE, LINE, printed="words"),
    command("zoo export", "zoo export by-hand -o hand.npz", 0.3, ONE, LINE, printed="words", written="hand.npz"),
)


# ---------------------------------------------------------------------------------------------------------- answers
def tree_of(result: Any, posed: Posed) -> Any:
    """A result as plain values."""
    if isinstance(result, GridSearchCV):
        scores = result.cv_results_["mean_test_score"].tolist()
        return {"chosen": result.best_params_, "scores": scores, "model": tree_of(result.best_estimator_, posed)}
    if isinstance(result, MKLClassifier):
        return {"weights": result.weights_.tolist(), "values": result.decision_function(posed.features).tolist()}
    if hasattr(result, "as_dicts"):
        return plain(result.as_dicts())
    if hasattr(result, "solutions"):
        return [plain(one.as_dict()) for one in result.solutions]
    return plain(result.as_dict())


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=np.ndarray.tolist))


def printed_tree(kind: str, text: str) -> Any:
    if kind == "words":
        return re.sub(r"\d+(\.\d+)? s\b", "s", text)
    return [json.loads(line) for line in text.splitlines()] if kind == "jsonl" else json.loads(text)


def written_tree(file: Path) -> Any:
    """What a whole file says; a damaged one raises."""
    if file.name == "hand.npz":
        return np.asarray(mklcvx.load_instance(file).kernels).tolist()
    if file.suffix == ".npz":
        return plain(mklcvx.load_solution(file).as_dict())
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".json":
        mklcvx.load_solution(file)
    elif not text.endswith("\n"):
        raise ValueError("half a line")
    return printed_tree(file.suffix[1:], text)


def alike(a: Any, b: Any, tolerance: float = EXACT) -> bool:
    """Whether two answers are the same, but for rounding and the times that they took."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(k in TIMES or alike(v, b[k], tolerance) for k, v in a.items())
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(alike(v, w, tolerance) for v, w in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance) or (a != a and b != b)
    return bool(a == b)


def solutions_in(tree: Any) -> list[dict[str, Any]]:
    """The records of solutions in a tree."""
    if isinstance(tree, dict):
        found = [tree] if "certificate" in tree and "alpha" in tree else []
        return found + [one for value in tree.values() for one in solutions_in(value)]
    return [one for value in tree for one in solutions_in(value)] if isinstance(tree, list) else []


def same_problem(a: Any, b: Any, storage: str) -> bool:
    """Whether two storages have the same optima: what is chosen and the bounds, not the numbers' last digits."""
    tolerance = SINGLE if storage == "float32" else EXACT
    ours, others = solutions_in(a), solutions_in(b)
    if ours or others:
        bounds = partial(map, lambda one: [one["certificate"]["lower"], one["certificate"]["upper"]])
        return alike(list(bounds(ours)), list(bounds(others)), tolerance)
    return True


def half_fitted(estimator: Any) -> bool:
    """Whether an estimator of ours is fitted; a search sets attributes as it goes on."""
    if not isinstance(estimator, MKLClassifier):
        return False
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def carried(fault: BaseException) -> list[Any] | None:
    """The solutions that an interrupt carries; None where it says nothing of them."""
    held = getattr(fault, "solution", None)
    if held is None:
        return None
    solutions = [held] if isinstance(held, Solution) else list(getattr(held, "solutions", ()))
    return [{**plain(one.as_dict()), "zero": not np.any(one.all_coefficients)} for one in solutions]
