"""Output, whole or not at all: written beside its target and moved into place."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from ..errors import InputError


def check_output(path: str | Path, endings: tuple[str, ...]) -> Path:
    """Refuse an output path before the work, not after it."""
    path = Path(path)
    if path.suffix not in endings:
        raise InputError(f"output {path}: unknown kind of file {path.suffix!r}: end the name in {' or '.join(endings)}")
    try:
        if not path.parent.is_dir():
            raise InputError(f"output {path}: no folder {path.parent}: create it first")
        if path.is_dir():
            raise InputError(f"output {path}: is a folder: give a file name")
    except OSError as fault:
        raise InputError(f"output {str(path)[:80]}: not possible ({fault.strerror}): choose another name") from None
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"output {path}: the folder {path.parent} cannot be written to: choose another")
    return path


def check_apart(inputs: Iterable[Path], outputs: Iterable[Path | None]) -> None:
    """Refuse outputs that would replace an input, by whatever name they are called, before the work."""
    read = list(inputs)
    for output in outputs:
        if output is not None and any(_is_one(file, output) for path in read for file in _files(path)):
            raise InputError(f"output {output}: is what is read, and would be replaced: choose another name")


def _files(path: Path) -> Iterator[Path]:
    """A file itself; of a folder, the tables that are read from it."""
    yield path
    yield from (file for pattern in ("*.csv", "*/*.csv") for file in path.glob(pattern))


def _is_one(file: Path, output: Path) -> bool:
    try:
        return os.path.samefile(file, output)
    except (OSError, ValueError):
        return False  # one of them is not there


def write_whole(path: str | Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Write to a neighbour and move it into place; a full disk and the like are said in a line."""
    path = Path(path)
    try:
        _write_and_move(path, write)
    except OSError as fault:
        raise InputError(f"output {path}: could not be written ({fault.strerror or fault}): choose another") from None


def _write_and_move(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".mklcvx.")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def check_folder_output(path: str | Path) -> Path:
    """Refuse a folder that is there already with something in it: nobody's files are replaced."""
    path = Path(path)
    try:
        if not path.parent.is_dir():
            raise InputError(f"output {path}: no folder {path.parent}: create it first")
        if path.exists() and not (path.is_dir() and not any(path.iterdir())):
            raise InputError(f"output {path}: is there already: give the name of a new folder")
    except OSError as fault:
        raise InputError(f"output {str(path)[:80]}: not possible ({fault.strerror}): choose another name") from None
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"output {path}: the folder {path.parent} cannot be written to: choose another")
    return path


def write_folder(path: str | Path, write: Callable[[Path], Any]) -> None:
    """Fill a neighbouring folder and move it into place."""
    path = check_folder_output(path)
    try:
        temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=".mklcvx."))
        try:
            write(temporary)
            os.chmod(temporary, 0o777 & ~_umask())
            os.replace(temporary, path)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
    except OSError as fault:
        raise InputError(f"output {path}: could not be written ({fault.strerror or fault}): choose another") from None
