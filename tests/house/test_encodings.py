"""Texts are UTF-8 wherever they are read and written, whatever the locale says."""

import ast

from places import ROOT

FOLDERS = ("mklcvx", "formulations", "tests", "validation", "docs", "examples")


def without_encoding(source):
    """Lines that leave the encoding to the locale."""
    if "read_text" not in source and "write_text" not in source:
        return  # most files: they need not be parsed
    for node in ast.walk(ast.parse(source)):
        name = getattr(node.func, "attr", "") if isinstance(node, ast.Call) else ""
        given = {word.arg for word in node.keywords} if name else set()
        texts = (name == "read_text" and not node.args) or (name == "write_text" and len(node.args) == 1)
        if texts and "encoding" not in given:
            yield node.lineno


def test_no_text_is_left_to_the_locale():
    assert list(without_encoding("path.read_text()\npath.write_text('α')")) == [1, 2]
    made = ROOT / "docs" / "chapters"  # copies of the course, which the site makes and may be making now
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py") if made not in file.parents]
    assert len(files) > 500
    left = {str(file.relative_to(ROOT)): list(without_encoding(file.read_text(encoding="utf-8"))) for file in files}
    assert {name: lines for name, lines in left.items() if lines} == {}
