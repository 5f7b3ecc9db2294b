"""One noun is one class: outside of the checker, which shares nothing, no two classes have one name."""

import ast
from collections import defaultdict

from places import ROOT


def test_no_two_classes_have_one_name():
    found = defaultdict(list)
    for folder in ("mklcvx", "formulations"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            place = file.relative_to(ROOT)
            if "checker" not in place.parts:
                nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
                for name in (node.name for node in nodes if isinstance(node, ast.ClassDef)):
                    found[name].append(str(place))
    assert len(found) > 300
    assert {name: places for name, places in found.items() if len(places) > 1} == {}
