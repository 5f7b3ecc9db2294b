"""Old names lead to the new objects, and warn whoever uses them."""

from __future__ import annotations

import sys
import types
import warnings

import pytest

import mklcvx
from mklcvx.renamed import renamed


@pytest.fixture
def old(monkeypatch):
    module = types.ModuleType("old_place")
    module.kept = 1
    module.__getattr__ = renamed("old_place", {"resolve": "mklcvx.solvers.solving:solve"})
    monkeypatch.setitem(sys.modules, "old_place", module)
    return module


def test_an_old_name_warns_and_is_the_new_object(old):
    with pytest.warns(
        FutureWarning, match="old_place.resolve is now mklcvx.solvers.solving.solve: use that name"
    ) as caught:
        found = old.resolve
    assert found is mklcvx.solve
    assert caught[0].filename == __file__


def test_an_old_name_can_be_imported(old):
    with pytest.warns(FutureWarning, match="is now"):
        from old_place import resolve
    assert resolve is mklcvx.solve


def test_other_names_are_as_before(old):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert old.kept == 1
        with pytest.raises(AttributeError, match="module 'old_place' has no attribute 'nothing'"):
            _ = old.nothing


def test_what_the_module_did_before_is_asked_for_the_rest(old):
    old.__getattr__ = renamed(
        "old_place", {"resolve": "mklcvx.solvers.solving:solve"}, otherwise=lambda name: name.upper()
    )
    assert old.anything == "ANYTHING"
    with pytest.warns(FutureWarning, match="is now"):
        assert old.resolve is mklcvx.solve
