"""Atomic output: files are written beside their target and moved into place."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..errors import InputError, clipped


def of_pickles(path: Path) -> str:
    """What to do with a pickled model."""
    return ", as mklcvx.save_model writes it" if path.suffix in (".joblib", ".pkl", ".pickle") else ""


def check_path(path: object, call: str) -> None:
    """Refuse arguments that are the wrong way round; `call` is how they are given."""
    if not isinstance(path, str | os.PathLike):
        name = call.partition("(")[0]
        raise InputError(f"{name}: the first argument is a {clipped(type(path).__name__, 40)}, not a file: give {call}")


def check_output(path: str | Path, endings: tuple[str, ...]) -> Path:
    """Refuse an output path before the work, not after it."""
    path = Path(path)
    if path.suffix not in endings:
        raise InputError(f"output {path}: unknown kind of file {path.suffix!r}: end the name in {' or '.join(endings)}")
    with _checked_place(path):
        if path.is_dir():
            raise InputError(f"output {path}: is a folder: give a file name")
    return path


def check_folder_output(path: str | Path) -> Path:
    """Refuse a folder that exists and is not empty: no file of the user is replaced."""
    path = Path(path)
    with _checked_place(path):
        if path.exists() and not (path.is_dir() and not any(path.iterdir())):
            raise InputError(f"output {path}: exists already: give the name of a new folder")
    return path


@contextmanager
def _checked_place(path: Path) -> Iterator[None]:
    """Check the folder that a path is in, before and after other checks of the path."""
    try:
        if not path.parent.is_dir():
            fault = f"{path.parent} is no folder" if path.parent.exists() else f"no folder {path.parent}"
            raise InputError(f"output {path}: {fault}: {'give another' if path.parent.exists() else 'create it first'}")
        yield
    except OSError as fault:
        raise InputError(f"output {str(path)[:80]}: not possible ({fault.strerror}): choose another name") from None
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"output {path}: the folder {path.parent} cannot be written to: choose another")


def check_apart(inputs: Iterable[Path], outputs: Iterable[Path | None]) -> None:
    """Refuse outputs that would replace an input, whatever name they are given by, before the work."""
    read = list(inputs)
    for output in (output for output in outputs if output is not None):
        files = (file for path in read for file in (path, *path.glob("*.csv"), *path.glob("*/*.csv")))
        if any(_is_one(file, output) for file in files):
            raise InputError(f"output {output}: is an input, and would be overwritten: choose another name")


def _is_one(file: Path, output: Path) -> bool:
    try:
        return os.path.samefile(file, output)
    except (OSError, ValueError):
        return False  # one of them does not exist


def write_whole(path: str | Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file beside the path and move it into place."""
    with _moved_into_place(Path(path)) as temporary, temporary.open("wb") as file:
        write(file)


def write_text(path: str | Path, text: str) -> None:
    """Write text in UTF-8; characters that UTF-8 lacks are written with backslashes."""
    write_whole(path, lambda file: file.write(text.encode("utf-8", "backslashreplace")))


def write_folder(path: str | Path, write: Callable[[Path], object]) -> None:
    """Fill a folder beside the path and move it into place."""
    with _moved_into_place(check_folder_output(path)) as temporary:
        temporary.mkdir()
        write(temporary)


@contextmanager
def _moved_into_place(path: Path) -> Iterator[Path]:
    """A path in a temporary folder beside the output; what is written there is moved to the output at the end."""
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".mklcvx.") as folder:
            yield Path(folder) / path.name
            os.replace(Path(folder) / path.name, path)
    except OSError as fault:
        raise InputError(f"output {path}: could not be written ({fault.strerror or fault}): choose another") from None
