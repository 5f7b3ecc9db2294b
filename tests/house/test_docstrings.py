"""Docstrings of the public names: numpydoc's own validation, and examples that run."""

import doctest
import inspect
import warnings

import pytest
from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

import mklcvx

pytestmark = pytest.mark.slow

# Not checked: GL01 and GL02 (where the quotes stand; ours begin with the text), ES01, SA01 and EX01 of methods (a
# longer summary, references to other names and an example for every method, where the class has them), SS05 (a verb
# first: records and properties are named, not done), YD01 (nothing yields).
CHECKED = {
    "GL03", "GL05", "GL06", "GL07", "GL08", "GL09", "GL10",  # layout: blank lines, sections and their order
    "SS01", "SS02", "SS03", "SS04", "SS06",  # the summary: one line, a capital, a full stop
    "PR01", "PR02", "PR03", "PR04", "PR05", "PR06", "PR07", "PR08", "PR09", "PR10",  # every parameter, with its type
    "RT01", "RT02", "RT03", "RT04", "RT05",  # what is returned
    "SA02", "SA03", "SA04",  # of "See Also", where there is one
}  # fmt: skip
EXAMPLE = "EX01"  # functions and classes have one
WITHOUT_EXAMPLE = {"GridEdgeWarning", "InputError", "OneClassWarning", "ScaleWarning"}


def callables():
    found = {name: getattr(mklcvx, name) for name in mklcvx.__all__}
    return {name: thing for name, thing in found.items() if callable(thing)}


def methods(thing):
    """Public methods and properties that are ours."""
    ours = [one for one in reversed(thing.__mro__) if one.__module__.startswith("mklcvx")]
    names = {name for one in ours for name, value in vars(one).items() if is_part(value)}
    return sorted(name for name in names if not name.startswith("_"))


def is_part(value):
    return inspect.isfunction(value) or isinstance(value, property | classmethod | staticmethod)


def places():
    for thing in callables().values():
        yield f"{thing.__module__}.{thing.__qualname__}"
        if inspect.isclass(thing):
            yield from (f"{thing.__module__}.{thing.__qualname__}.{part}" for part in methods(thing))


PLACES = sorted(set(places()))


def test_the_names_are_found():
    assert {"mklcvx.solvers.solving.solve", "mklcvx.certificate.record.Certificate.proves"} <= set(PLACES)
    assert len(PLACES) > 60


@pytest.mark.parametrize("place", PLACES)
def test_docstrings_are_complete(place):
    faults = [f"{code}: {words}" for code, words in validate(place)["errors"] if code in CHECKED]
    assert not faults


@pytest.mark.parametrize("name", sorted(callables()))
def test_every_attribute_has_a_type_and_a_text(name):
    attributes = NumpyDocString(inspect.getdoc(callables()[name]))["Attributes"]
    assert all(attribute.type and attribute.desc for attribute in attributes)


def test_an_estimator_takes_texts_from_its_bases():
    class Sparse(mklcvx.MKLClassifier):
        """Classifier of few kernels.

        max_iter, tol,
        solutions_

        kernels, weights
        """

    class Silent(mklcvx.MKLClassifier):
        pass

    summary, texts, prose = inspect.getdoc(Sparse).split("\n\n")
    assert [line.split(" :")[0] for line in texts.split("\n")[::2]] == ["max_iter", "tol", "solutions_"]
    assert all(text in inspect.getdoc(mklcvx.MKLClassifier) for text in texts.split("\n"))
    assert (summary, prose) == ("Classifier of few kernels.", "kernels, weights")
    assert inspect.getdoc(Silent) == inspect.getdoc(mklcvx.MKLClassifier)


@pytest.mark.parametrize("name", sorted(callables()))
def test_every_name_has_an_example_that_runs(name, tmp_path, monkeypatch):
    thing = callables()[name]
    monkeypatch.chdir(tmp_path)
    finder = doctest.DocTestFinder(recurse=inspect.isclass(thing))
    found = [one for one in finder.find(thing, name, globs={}) if one.examples]
    assert found or name in WITHOUT_EXAMPLE
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for one in found:
            assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(one).failed == 0


def test_a_missing_part_is_noticed():
    def vague(instance, tol):
        """does something"""

    vague.__module__, vague.__qualname__ = __name__, "vague"
    globals()["vague"] = vague
    try:
        codes = {code for code, _ in validate(f"{__name__}.vague")["errors"]}
    finally:
        del globals()["vague"]
    assert {"SS02", "SS03", "PR01"} <= codes & CHECKED
    assert EXAMPLE in codes


# ----------------------------------------------------------------------------------------------------------- types
# Any is right where values are of many kinds: parameters by name, and records of JSON.
BY_NAME = {"parameters", "others", "changes"}


@pytest.mark.parametrize("name", sorted({*callables()} - WITHOUT_EXAMPLE))
def test_no_parameter_is_of_any_type(name):
    thing = callables()[name]
    parts = [thing]
    if inspect.isclass(thing):
        parts += [getattr(thing, part) for part in methods(thing) if inspect.isfunction(getattr(thing, part))]
    for part in parts:
        signature = inspect.signature(part)
        found = {one.name for one in signature.parameters.values() if one.annotation == "Any"}
        assert found <= BY_NAME
        assert signature.return_annotation != "Any"
