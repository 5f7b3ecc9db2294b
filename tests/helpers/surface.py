"""What is public: names and their parts, commands and their options, fields of JSON.

    python tests/helpers/surface.py

adds what is new to public_surface.json, and takes nothing away.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import re
import warnings
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from mklcvx import Instance, solve
from mklcvx.bench.matrix import validate
from mklcvx.cli import main as cli
from places import ROOT, TESTS

HERE = Path(__file__).resolve().parent
SNAPSHOT = HERE / "public_surface.json"
OLD = TESTS / "old_files" / "0.1.0"
NAMED = re.compile(r"automodule:: (mklcvx[\w.]*)")
ALSO = {
    "mklcvx.estimators": None,
    "mklcvx.judging.uniqueness": ("Range",),
    "mklcvx.checker": ("check", "read_solution"),
    "mklcvx.checker_families": ("check",),
}
FREE = ("diagnoses", "semidefinite", "perturbations", "violations")  # keys that are words, or depend on the data
ROUTING = re.compile(r"set_\w+_request")  # what scikit-learn gives every estimator
PROBLEM = str(OLD / "instances" / "two-classes.npz")
COMMANDS: dict[str, list[list[str]]] = {
    "solve": [["solve", PROBLEM, "--json"]],
    "verify": [
        ["verify", PROBLEM, str(OLD / "solutions" / "l1.json"), "--json"],
        ["verify", PROBLEM, str(OLD / "answers" / "l1.json"), "-f", "l1", "--set", "C=1", "--json"],
        ["verify", PROBLEM, str(OLD / "traces" / "l1.json"), "--json"],
    ],
    "prove": [["prove", PROBLEM, "--json"]],
    "list": [["list", "--json"]],
    "conventions": [["conventions", "--json"]],
    "zoo": [["zoo", "--json"]],
    "conform": [["conform", "surface:by_solving", "--specimens", "by-hand", "--json"]],
    "cv": [["cv", PROBLEM, "--grid", "C=1", "--folds", "2", "--json"]],
    "kernels": [["kernels", PROBLEM, "--folds", "2", "--resamples", "2", "--json"]],
    "path": [["path", PROBLEM, "--grid", "C=1"]],
}


# ------------------------------------------------------------------------------------------------------------- names
def modules() -> dict[str, tuple[str, ...]]:
    """Those that the pages of the API name, each with its public names."""
    pages = sorted((ROOT / "docs" / "api").glob("*.md"))
    said = {name: None for page in pages for name in NAMED.findall(page.read_text(encoding="utf-8"))}
    return {place: names or names_of(place) for place, names in {"mklcvx": None, **said, **ALSO}.items()}


def names_of(place: str) -> tuple[str, ...]:
    module = import_module(place)
    own = [name for name, thing in vars(module).items() if getattr(thing, "__module__", None) == place]
    return tuple(sorted(getattr(module, "__all__", [name for name in own if not name.startswith("_")])))


def thing_at(place: str, name: str) -> Any:
    """What a name leads to, be it an old one; None where there is nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return getattr(import_module(place), name, None)
        except ImportError:
            return None


def parts_of(thing: Any) -> list[str]:
    """Parameters of a function; of a class also what it has, what scikit-learn gives it left out."""
    if inspect.ismodule(thing) or not callable(thing):
        return []
    found = set(parameters_of(thing))
    if inspect.isclass(thing):
        ours = [one for one in thing.__mro__ if one.__module__.startswith("mklcvx")]
        found |= {name for one in ours for name in vars(one)}
        found |= {field.name for field in fields(thing)} if is_dataclass(thing) else set()
    return sorted(name for name in found if not name.startswith("_") and not ROUTING.fullmatch(name))


def parameters_of(thing: Any) -> list[str]:
    try:
        given = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return []
    return [one.name for one in given if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]


def public_names() -> dict[str, list[str]]:
    return {
        f"{place}:{name}": parts_of(thing_at(place, name))
        for place, names in modules().items()
        for name in names
    }  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- commands
def public_commands() -> dict[str, list[str]]:
    """Options by all their names, arguments by their place."""
    found: dict[str, list[str]] = {}

    def visit(command: Any, words: str) -> None:
        options = [name for one in command.params if one.param_type_name == "option" for name in one.opts]
        arguments = sum(one.param_type_name == "argument" for one in command.params)
        found[words] = sorted([*options, *(f"argument {place + 1}" for place in range(arguments))])
        for name, inner in getattr(command, "commands", {}).items():
            visit(inner, f"{words} {name}")

    visit(typer.main.get_command(cli.app), "mklcvx")
    return found


# -------------------------------------------------------------------------------------------------------------- JSON
def by_solving(kernels: Any, y: Any, C: float = 1.0) -> dict[str, Any]:
    """A solver for `mklcvx conform`."""
    found = solve(Instance(kernels, y), "l1", C=C)
    return {"weights": found.weights, "alpha": found.alpha, "bias": found.bias, "objective": found.objective}


def said_by(arguments: list[str]) -> str:
    """What a command of this process prints; it is run in this folder, where it finds `by_solving`."""
    out = io.StringIO()
    quiet = contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO())
    with contextlib.chdir(HERE), quiet[0], quiet[1], contextlib.suppress(SystemExit):
        cli.main(arguments)
    return out.getvalue()


def json_fields(name: str) -> list[str]:
    if name == "validate":
        return sorted(fields_of(validate([("ts", "two-samples")]).as_dict()))
    texts = [said_by(arguments) for arguments in COMMANDS[name]]
    lines = [part for text in texts for part in (text.splitlines() if name in ("cv", "path") else [text])]
    return sorted({field for line in lines for field in fields_of(json.loads(line))})


def fields_of(value: Any, where: str = "") -> set[str]:
    """Every way to a value: certificate.lower, parts[].verdict."""
    if isinstance(value, list):
        return set().union(*(fields_of(item, f"{where}[]") for item in value)) if value else set()
    if not isinstance(value, dict):
        return set()
    found = {f"{where}.{key}".lstrip(".") for key in value}
    inner = [fields_of(item, f"{where}.{key}".lstrip(".")) for key, item in value.items() if key not in FREE]
    return found.union(*inner)


# ---------------------------------------------------------------------------------------------------------- snapshot
def snapshot() -> dict[str, dict[str, list[str]]]:
    return dict(json.loads(SNAPSHOT.read_text(encoding="utf-8"))) if SNAPSHOT.exists() else {}


def renew() -> None:
    kept = snapshot()
    now = {
        "names": public_names(),
        "commands": public_commands(),
        "json": {name: json_fields(name) for name in [*COMMANDS, "validate"]},
    }
    for kind, entries in now.items():
        old = kept.setdefault(kind, {})
        for name, parts in entries.items():
            old[name] = sorted({*old.get(name, []), *parts})
    texts = [f"{json.dumps(kind)}: {{\n{_lines(entries)}\n}}" for kind, entries in kept.items()]
    SNAPSHOT.write_text("{\n" + ",\n".join(texts) + "\n}\n", encoding="utf-8")


def _lines(entries: dict[str, list[str]]) -> str:
    return ",\n".join(f"{json.dumps(name)}: {json.dumps(parts, ensure_ascii=False)}" for name, parts in entries.items())


if __name__ == "__main__":
    renew()
