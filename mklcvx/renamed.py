"""Old names of modules and objects. They still work, and warn.

Old modules are found by an importer of their own, so that no files have to remain in their place.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib import import_module
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import CodeType, ModuleType
from typing import Any, ParamSpec, TypeVar, cast

# The rooms that modules have moved to; "old=new" where the name in the room is another one now, and "package.old=new"
# where a module of a package is now part of another one.
ROOMS = {
    "problem": "factors given=numbers instance kernels ownership preprocess=preprocessing stack_checks=validation "
    "targets",
    "certificate": "residuals run solution",
    "io": "files folders hdf5=matlab json_text matlab solution_records trace=files writing",
    "solvers": "assembling cost exact=conic measures paths polish second_stage solving",
    "verification": "answers proved_answers rigorous=proof submissions judging.blockwise=multipliers "
    "judging.diagnosis=diagnosis.diagnose judging.parts=case judging.single=families.single_task "
    "judging.together=families.single_task judging.trial=diagnosis.mistakes judging.uniqueness_families=uniqueness "
    "judging.wrong_answers=diagnosis.mistakes_in_answers judging.wrong_classifiers=diagnosis.families.single_task "
    "judging.wrong_data=diagnosis.mistakes_in_data judging.wrong_kernels=diagnosis.mistakes_in_data "
    "judging.wrong_objectives=diagnosis.mistakes_in_answers judging.wrong_problems=diagnosis.mistakes_in_problems "
    "judging.wrong_rules=diagnosis.mistakes_in_answers judging.wrong_scales=diagnosis.mistakes_in_problems "
    "judging.wrong_subsets=diagnosis.mistakes_in_data judging.wrong_weights=diagnosis.mistakes_in_answers "
    "conventions._parameters=conventions._convention",
    "reports": "explain latex theorem reporting=pages reporting.demonstration=pages.documents "
    "reporting.judgement=pages.documents reporting.solved=pages.documents reporting.drawn=pages.sections "
    "reporting.numbers=pages.html reporting.svg=pages.page plot.bars=plot.charts plot.conditions=plot.charts "
    "plot.lines=plot.charts plot.planes=plot.weight_space plot.simplex=plot.weight_space",
    "estimators": "cross_validation metrics prediction estimators.parts=bank estimators.restoring=saving "
    "estimators.serving=prediction estimators.calibration=classifier",
    "bench": "baselines bench_external=external bench_process=process bench_standing=comparison bench_worker=worker "
    "conformance peers validating=matrix",
    "checker": "checker_claims=claims checker_families=families checker_numbers=numbers checker_prices=prices",
    "cli": "demo display",
    "zoo": "data data._dataset=data.records zoo.catalogue=specimens zoo.draws=grid zoo.planting=plans "
    "zoo.real_data=banks zoo.variations=constructions",
}
PACKAGES = {"conventions": "verification.conventions", "judging": "verification", "plot": "reports.plot"}
PAIRS = [(room, *pair.partition("=")) for room, names in ROOMS.items() for pair in names.split()]
PLACES = {old: f"{room}.{new or old}" for room, old, _, new in PAIRS} | PACKAGES


def place_of(name: str) -> str | None:
    """The present place of the module with this old name."""
    old = name.partition(".")[2]
    top, _, rest = old.partition(".")
    if old in PLACES:
        return f"mklcvx.{PLACES[old]}"
    return f"mklcvx.{PLACES[top]}.{rest}" if top in PLACES else None


class _Moved(MetaPathFinder, InspectLoader):
    """Finds modules by their old names."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        place = place_of(fullname) if fullname.startswith("mklcvx.") else None
        found = find_spec(place) if place is not None else None
        if found is None:
            return None
        return ModuleSpec(fullname, self, is_package=found.submodule_search_locations is not None)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        place = place_of(spec.name) or ""
        warnings.warn(f"{spec.name} is now {place}: use that name", FutureWarning, stacklevel=2)
        module = import_module(place)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to execute: the module was executed under its new name, which it keeps."""
        if module.__spec__ is not None:
            module.__spec__ = module.__spec__.loader_state

    def get_code(self, fullname: str) -> CodeType:
        """For `python -m`: the module runs under its new name, so that its relative imports work."""
        text = f"import runpy; runpy.run_module({place_of(fullname)!r}, run_name='__main__', alter_sys=True)"
        return compile(text, fullname, "exec")

    def get_source(self, fullname: str) -> str | None:
        return None


def install() -> None:
    if not any(isinstance(finder, _Moved) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Moved())


def warn(message: str) -> None:
    """A FutureWarning that points to the first caller outside the package."""
    level = 1
    while sys._getframe(level).f_globals.get("__name__", "").partition(".")[0] == "mklcvx":
        if sys._getframe(level).f_back is None:
            break
        level += 1
    warnings.warn(message, FutureWarning, stacklevel=level + 1)


Finder = Callable[[str], Any]
Options = ParamSpec("Options")
Result = TypeVar("Result")


def keywords_now(*names: str, after: int) -> Callable[[Callable[Options, Result]], Callable[Options, Result]]:
    """Let a function accept as positional arguments, after `after` others, options that are keyword-only now."""

    def keep(function: Callable[Options, Result]) -> Callable[Options, Result]:
        @wraps(function)
        def call(*args: Any, **options: Any) -> Result:
            extra = dict(zip(names, args[after:], strict=False))
            if extra and len(args) <= after + len(names) and not set(extra) & set(options):
                given = ", ".join(f"{name}={value!r}" for name, value in extra.items())
                warn(f"{function.__name__}: options are given by name: write {given}")
                args, options = args[:after], {**options, **extra}
            return function(*args, **options)

        return cast("Callable[Options, Result]", call)

    return keep


class OldName:
    """A method's old name in its class: it warns, and leads to the method."""

    def __init__(self, new: str) -> None:
        self.new = new

    def __set_name__(self, owner: type, name: str) -> None:
        self.message = f"{owner.__name__}.{name} is now {owner.__name__}.{self.new}: use that name"

    def __get__(self, thing: Any, owner: type) -> Any:
        if thing is None:  # somebody looks at the class, such as a tool that documents it
            return self
        warn(self.message)
        return getattr(thing, self.new)


def renamed(module: str, names: Mapping[str, str], otherwise: Finder | None = None) -> Finder:
    """A module's `__getattr__` for old names, each with its present place: {"old": "mklcvx.place:new"}.

    `otherwise` is the `__getattr__` that the module had before.
    """

    def find(name: str) -> Any:
        if name not in names:
            if otherwise is not None:
                return otherwise(name)
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        place, _, new = names[name].partition(":")
        warnings.warn(f"{module}.{name} is now {place}.{new}: use that name", FutureWarning, stacklevel=2)
        return getattr(import_module(place), new)

    return find
