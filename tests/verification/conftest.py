"""The judge's reference of a problem is solved once for all answers to it."""

from functools import cached_property

import pytest

from mklcvx.solvers import solving
from mklcvx.verification.case import Case
from solved_once import remembered


@pytest.fixture(scope="session", autouse=True)
def _shared_references():
    found = Case.reference.func

    def reference(case):
        asked = type(case), case.formulation.name, repr(sorted(case.parameters.items())), case.tolerance, solving.solve
        return remembered(case.instance, asked, lambda: found(case))

    shared = cached_property(reference)
    shared.__set_name__(Case, "reference")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Case, "reference", shared)
        yield
