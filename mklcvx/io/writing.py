"""The one door for output: files are written beside their target, to the disk, and moved into place.

A link is followed: what it leads to is replaced, not the link. A writer that is killed leaves a file behind, under a
name that the next writer in the folder knows; an hour later it is removed.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ..errors import InputError, clipped

TEMPORARY = ".mklcvx."  # before the names of files that are being written
LEFT_BEHIND = re.compile(re.escape(TEMPORARY) + "[0-9a-f]{16}")
OLD = 3600  # seconds without a change after which nobody writes to a file any more


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
        real = Path(os.path.realpath(path))
        if real.is_symlink() or not real.parent.is_dir():
            raise InputError(f"output {path}: is a link that leads nowhere: choose another name")
        if real.exists() and not real.is_file():
            raise InputError(f"output {path}: is not an ordinary file: choose another name")
        if real.exists() and not os.access(real, os.W_OK):
            raise InputError(f"output {path}: is write-protected: choose another name")
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
        if not os.access(path.parent, os.W_OK):
            raise InputError(f"output {path}: the folder {path.parent} cannot be written to: choose another")
        os.access(path, os.F_OK)  # raises where no file can have that name
    except InputError:
        raise
    except ValueError:  # a surrogate, or a zero byte
        raise InputError(f"output {ascii(str(path))[:80]}: is no name that a file can have: choose another") from None
    except OSError as fault:
        raise InputError(f"output {str(path)[:80]}: not possible ({fault.strerror}): choose another name") from None


def check_apart(inputs: Iterable[Path], output: Path) -> None:
    """Refuse an output that would replace an input, whatever name it is given by, before the work."""
    files = (file for path in inputs for file in (path, *path.glob("*.csv"), *path.glob("*/*.csv")))
    if any(_is_one(file, output) for file in files):
        raise InputError(f"output {output}: is an input, and would be overwritten: choose another name")


def _is_one(file: Path, output: Path) -> bool:
    try:
        return os.path.samefile(file, output)
    except (OSError, ValueError):
        return False  # one of them does not exist


def write_whole(path: str | Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file beside the path and move it into place; it takes over the mode of a file that it replaces."""
    with _moved_into_place(Path(path)) as (temporary, target), temporary.open("xb") as file:
        write(file)
        file.flush()
        _take_over(target, file.fileno())
        os.fsync(file.fileno())


def write_text(path: str | Path, text: str) -> None:
    """Write text in UTF-8; characters that UTF-8 lacks are written with backslashes."""
    write_whole(path, lambda file: file.write(text.encode("utf-8", "backslashreplace")))


def write_folder(path: str | Path, write: Callable[[Path], object]) -> None:
    """Fill a folder beside the path and move it into place."""
    with _moved_into_place(check_folder_output(path)) as (temporary, _):
        temporary.mkdir()
        write(temporary)
        for place in (*(file for file in temporary.rglob("*") if file.is_file()), temporary):
            _to_disk(place)


@contextmanager
def _moved_into_place(path: Path) -> Iterator[tuple[Path, Path]]:
    """A path beside the output, and the output that links lead to; what is written is moved there at the end."""
    try:
        target = Path(os.path.realpath(path))
        _clear_left_behind(target.parent)
        temporary = target.parent / f"{TEMPORARY}{secrets.token_hex(8)}"
        try:
            yield temporary, target
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                _remove(temporary)
            raise
        _to_disk(target.parent)
    except OSError as fault:
        raise InputError(f"output {path}: could not be written ({fault.strerror or fault}): choose another") from None


def _take_over(target: Path, descriptor: int) -> None:
    """Give a new file the mode, and as far as is allowed the owner, of the one that it replaces."""
    if sys.platform == "win32" or not target.exists():
        return
    old, new = target.stat(), os.fstat(descriptor)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with suppress(PermissionError):
            os.fchown(descriptor, old.st_uid, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & 0o777)


def _to_disk(place: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk; some systems have no such thing for folders."""
    if sys.platform == "win32":
        return
    descriptor = os.open(place, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as fault:
        if fault.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):
            raise
    finally:
        os.close(descriptor)


def _clear_left_behind(folder: Path) -> None:
    """Remove what writers that were killed have left in a folder. What has changed of late may be still written."""
    with suppress(OSError):
        for place in folder.glob(f"{TEMPORARY}*"):
            is_ours = LEFT_BEHIND.fullmatch(place.name) is not None and not place.is_symlink()
            if is_ours and time.time() - place.stat().st_mtime > OLD:
                _remove(place)


def _remove(place: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
