"""How much memory there is, and the refusal of what does not fit, before any of it is taken.

The memory that is available is the least of what the machine, the control group (a container, a batch job) and the
limits of the process leave. The environment variable MKLCVX_MEMORY, a size such as 16GB or "unlimited", takes its
place.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np

from ..errors import InputError, NotEnoughMemory, remedy
from .ownership import is_mapped, is_settled

VARIABLE = "MKLCVX_MEMORY"
UNITS = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
SHARE = 0.9  # of the memory that may be asked for: the rest is for what else a program needs
LIBRARIES, BUFFERS = 1.3e8, 1.4e8  # bytes of addresses that SciPy takes when it is loaded, and then BLAS and LIBSVM
LARGE = 300  # samples from which BLAS takes all its threads and buffers
PER_THREAD = 4.5e7  # of BLAS: its stack and its buffer
SMALL = 5e7  # bytes that are never asked about
GROUPS = Path("/sys/fs/cgroup")
PROCESS = Path("/proc/self")
SHELL = "take fewer kernels (--kernels) or samples, or store float32; in Python, mklcvx.LowRank takes factors"
FACTORS = "kernels=[('name', Nystroem(n_components=300))]"


def available() -> float:
    """Bytes of memory that can still be taken; infinite if unknown."""
    given = os.environ.get(VARIABLE)
    if given:
        return _as_bytes(given)
    return min((*_of_machine(), *_of_groups(), *_of_limits()), default=float("inf"))


def check_memory(needed: float, what: str, otherwise: str) -> None:
    """Refuse what needs more bytes than are available; `what` names it in the plural, `otherwise` is the remedy."""
    if needed <= SMALL or needed <= (free := SHARE * available()):
        return
    fault = f"{what} need about {as_size(needed)} of memory, {as_size(free)} are available"
    raise NotEnoughMemory(f"{fault}: {otherwise}; {VARIABLE}=unlimited tries all the same")


@cache
def load_libraries() -> None:
    """Under a limit of addresses (`ulimit -v`), load the numerical libraries while there is room for them: BLAS waits
    for ever, or ends the process, where it finds none."""
    for left in _of_limits():
        threads = _threads()
        more = 0.0 if "scipy.linalg" in sys.modules else LIBRARIES + PER_THREAD * (threads - 1)
        if left < more + BUFFERS:
            what = f"the numerical libraries with {threads} threads take about {as_size(more + BUFFERS)}"
            fault = f"ulimit -v leaves {as_size(left)} of addresses, {what}"
            raise NotEnoughMemory(f"{fault}: raise the limit, or set OPENBLAS_NUM_THREADS=1")
        from scipy.linalg.blas import dgemm

        square = np.eye(LARGE)
        dgemm(1.0, square @ square, square)  # NumPy has a BLAS of its own


def _threads() -> int:
    """How many threads BLAS has."""
    for name in ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"):
        if os.environ.get(name, "").isdigit() and int(os.environ[name]):
            return min(int(os.environ[name]), os.cpu_count() or 1)
    return os.cpu_count() or 1


def check_stack(
    count: int, rows: int, columns: int, *, passing: float = 0.0, itemsize: int = 8, otherwise: str | None = None
) -> None:
    """Refuse a stack of so many kernels (rows, columns); `passing` is the number of matrices needed beside it."""
    samples = f"{rows} samples" if rows == columns else f"{rows} new and {columns} training samples"
    python = f"approximate them by factors, {FACTORS} or mklcvx.LowRank, or take fewer samples"
    needed = (float(count) * itemsize + passing * 8) * rows * columns
    check_memory(needed, _kernels(count, samples), remedy(python, SHELL) if otherwise is None else otherwise)


def check_copy(kernels: object) -> None:
    """Refuse kernels, an array (M, n, n) or a list of matrices, for whose copy and check there is no room. Memory maps
    and arrays that are read-only are not copied."""
    listed = isinstance(kernels, list | tuple)
    first = kernels[0] if isinstance(kernels, list | tuple) and kernels else kernels
    if not isinstance(first, np.ndarray) or first.ndim < 2:
        return
    samples = max(first.shape[-2:]) if listed else first.shape[1]
    count = len(kernels) if isinstance(kernels, list | tuple) else first.size // max(1, samples**2)
    python = "give factors (mklcvx.LowRank), float32, a memory map (numpy.load(…, mmap_mode='r')), or fewer samples"
    copied = listed or not (is_mapped(first) or is_settled(first))
    needed = float(first.nbytes) * (count if listed else 1) * copied + 2 * 8.0 * samples**2
    check_memory(needed, _kernels(count, f"{samples} samples"), remedy(python, SHELL))


def _kernels(count: int, samples: str) -> str:
    return f"{count} {'kernel' if count == 1 else 'kernels'} of {samples}"


def as_size(size: float) -> str:
    """Bytes in words."""
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB"


def _as_bytes(given: str) -> float:
    if given.strip().lower() == "unlimited":
        return float("inf")
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([kmgt]?)i?b?\s*", given.lower())
    if match is None:
        raise InputError(f"{VARIABLE}={given[:40]} is no size: write for example 16GB, or unlimited")
    return float(match[1]) * UNITS[match[2].upper()]


def _of_machine() -> Iterator[float]:
    """What the kernel says can be taken without swapping; elsewhere the pages that are free, or all of them."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("MemAvailable:"):
                yield 1024.0 * int(line.split()[1])
                return
    except (OSError, ValueError, IndexError):
        pass
    try:
        yield float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return


def _of_groups() -> Iterator[float]:
    """What the limits of the control groups leave, those above included; files in memory are given up when needed."""
    try:
        lines = (PROCESS / "cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        number, controllers, place = line.split(":", 2)
        second = number == "0" and not controllers
        if not second and "memory" not in controllers.split(","):
            continue
        root = GROUPS if second else GROUPS / "memory"
        names = ("memory.max", "memory.current") if second else ("memory.limit_in_bytes", "memory.usage_in_bytes")
        group = root / place.strip("/")
        for folder in (group, *group.parents):
            if root not in (folder, *folder.parents):
                break
            most, used = (_number(folder / name) for name in names)
            if most is not None and used is not None:
                yield max(0.0, most - used + _given_up(folder / "memory.stat"))


def _number(path: Path) -> float | None:
    try:
        return float(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # no such file, or the word "max"
        return None


def _given_up(path: Path) -> float:
    try:
        words = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
        sizes = [int(word[1]) for word in words if word[0] in ("inactive_file", "total_inactive_file")]
        return float(max(sizes, default=0))
    except (OSError, ValueError):
        return 0.0


def _of_limits() -> Iterator[float]:
    """What `ulimit -v` leaves of the addresses."""
    if sys.platform == "win32":
        return
    import resource

    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return
    try:
        used = int((PROCESS / "statm").read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        used = 0
    yield max(0.0, float(limit - used))
