"""Imports point one way only, from room to room and from file to file, those inside functions included."""

import ast
from graphlib import TopologicalSorter

import pytest

from places import ROOT

# A room may import from itself and from those before it.
ROOMS = (
    "problem", "formulations", "certificate", "io", "solvers", "zoo", "verification", "bench", "reports", "estimators",
    "exercises", "cli",
)  # fmt: skip
APART = "checker"  # imports nothing, and is imported by nothing but what `prove` consists of
ASKING = {"mklcvx.verification.polishing", "mklcvx.verification.proof"}
LOOSE = ("__init__", "__main__", "_version", "defaults", "errors", "schemas")


def modules():
    for folder, package in (("mklcvx", "mklcvx"), ("formulations", "mklcvx.formulations")):
        for file in (ROOT / folder).rglob("*.py"):
            parts = (package, *file.relative_to(ROOT / folder).with_suffix("").parts)
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file


MODULES = dict(modules())


def imported(name, file):
    """The modules of ours that a file imports."""
    package = name.split(".") if file.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*start, *([node.module] if node.module else [])])
            places = [f"{base}.{alias.name}" for alias in node.names]
            yield from (place if place in MODULES else base for place in places if base in MODULES)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)


@pytest.fixture(scope="module")
def imports():
    return {name: set(imported(name, file)) for name, file in MODULES.items()}


def room(name):
    return name.split(".")[1] if name.count(".") else ""


def test_every_file_is_in_a_room():
    assert {room(name) for name in MODULES} <= {"", *ROOMS, APART, *LOOSE}


def test_rooms_import_from_those_before_them(imports):
    rank = {place: i for i, place in enumerate(ROOMS)}
    wrong = [
        f"{name} imports {other}"
        for name, others in imports.items()
        for other in others
        if room(name) in rank and (other == "mklcvx" or rank.get(room(other), -1) > rank[room(name)])
    ]
    assert not wrong


def test_the_checker_stands_apart(imports):
    apart = {name for name in MODULES if room(name) == APART}
    assert all(imports[name] <= apart for name in apart)
    assert {name for name in set(MODULES) - apart if imports[name] & apart} == ASKING


def test_no_files_import_each_other(imports):
    assert set(TopologicalSorter(imports).static_order()) == set(MODULES)  # a circle raises an error that names it
