"""Names: one noun is one class, and whatever has a name is called after what it is."""

import ast
from collections import defaultdict

import pytest

from places import ROOT, check_nobody_else

VAGUE = {"found", "one"}  # how it was come by, or that there is one of it: not what it is
FIELDS = ("id", "arg", "attr", "name", "asname")  # where nodes of a syntax tree have a name


def vague(text):
    """The lines of a file on which a variable, argument, attribute, keyword or function has a vague name."""
    for node in ast.walk(ast.parse(text)):
        if VAGUE & {getattr(node, field, None) for field in FIELDS}:
            yield node.lineno


def test_nothing_has_a_vague_name():
    check_nobody_else(vague, ())


@pytest.mark.parametrize(
    "line", ["found = 1", "lambda one: 0", "f(found=1)", "a.one", "def found(): 0", "import a as one"]
)
def test_a_vague_name_is_seen(line):
    assert [*vague(line)]


def test_prose_and_longer_names_are_not_vague():
    assert not [*vague("founds = 'one', f'{ones} found'  # one")]


def test_no_two_classes_have_one_name():
    places = defaultdict(list)
    for folder in ("mklcvx", "formulations"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            place = file.relative_to(ROOT)
            if "checker" not in place.parts:
                nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
                for name in (node.name for node in nodes if isinstance(node, ast.ClassDef)):
                    places[name].append(str(place))
    assert len(places) > 300
    assert {name: homes for name, homes in places.items() if len(homes) > 1} == {}
