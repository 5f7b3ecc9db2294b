"""A fit that does not arrive at its end, be it by a fault or an interrupt, leaves the model unfitted."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Forgetful(Protocol):
    """A model that can drop what a fit has left."""

    def _forget(self, *names: str) -> None: ...


Model = TypeVar("Model", bound=Forgetful)


def to_its_end(fit: Callable[Concatenate[Model, Given], Result]) -> Callable[Concatenate[Model, Given], Result]:
    """The method; an interrupt of what follows the solve, such as a warning or a calibration, is no fitted model."""

    @functools.wraps(fit)
    def run(self: Model, *given: Given.args, **named: Given.kwargs) -> Result:
        try:
            return fit(self, *given, **named)
        except BaseException:
            self._forget()
            raise

    return run
