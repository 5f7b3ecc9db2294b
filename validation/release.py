"""Build what would be released, twice, and look at it as a distribution would.

    python validation/release.py [-o FOLDER] [--tests]

Builds sdist and wheel with `build`, makes the sdist's dates and owners plain, and compares both with a second build
byte for byte. `twine check --strict` reads the metadata, and every file must belong. With `--tests` the sdist is
unpacked outside the checkout, installed from there into an empty environment, and its quick tests run.
The files stay in FOLDER (dist unless given).
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What the archives may hold below their first folder.
SDIST = re.compile(
    r"(mklcvx|formulations|tests|docs|validation|examples|mklcvx\.egg-info)/.*"
    r"|[A-Z]+(\.md|\.in|\.cff)?|Makefile|pyproject\.toml|constraints\.txt|pytest_mklcvx\.py|PKG-INFO|setup\.cfg"
)
WHEEL = re.compile(r"mklcvx/.*|pytest_mklcvx\.py|mklcvx-[^/]*\.dist-info/.*")
STRAY = re.compile(r"(^|/)(\.git|\.venv|build|__pycache__|\.[a-z]+_cache|\.hypothesis)(/|$)|\.(pyc|orig|rej|swp)$")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "dist", help="where sdist and wheel go")
    parser.add_argument("--tests", action="store_true", help="run the quick tests of the unpacked sdist")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        again = Path(folder)
        first, second = build(options.output), build(again)
        different = [one.name for one, other in zip(first, second, strict=True) if digest(one) != digest(other)]
        subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *map(str, first)], check=True)
        stray = [f"{path.name}: {name}" for path in first for name in strays(path)]
        print("\n".join([f"{path.name} {path.stat().st_size} bytes, sha256 {digest(path)}" for path in first]))
        print("\n".join([f"does not belong: {name}" for name in stray]))
        print(f"two builds differ: {', '.join(different)}" if different else "two builds are equal to the last byte")
        failed = run_tests(first[0], again) if options.tests else False
    return int(bool(different or stray or failed))


def build(folder: Path) -> list[Path]:
    """The sdist, and the wheel that `build` makes of it."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in [*folder.glob("mklcvx-*.tar.gz"), *folder.glob("mklcvx-*.whl")]:
        old.unlink()
    moment = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True)
    epoch = moment.stdout.strip()
    command = [sys.executable, "-m", "build", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"SOURCE_DATE_EPOCH": epoch})
    (sdist,), (wheel,) = folder.glob("mklcvx-*.tar.gz"), folder.glob("mklcvx-*.whl")
    sdist.write_bytes(reproducible(sdist.read_bytes(), int(epoch)))
    return [sdist, wheel]


def reproducible(archive: bytes, epoch: int) -> bytes:
    """The same files in the order of their names, with one date, no owner and plain modes: setuptools writes an sdist
    with the dates and the user of the checkout."""
    content = io.BytesIO()
    with tarfile.open(fileobj=io.BytesIO(archive)) as old, tarfile.open(fileobj=content, mode="w") as new:
        for member in sorted(old.getmembers(), key=lambda member: member.name):
            executable = member.isdir() or bool(member.mode & 0o100)
            member.mtime, member.uid, member.gid, member.uname, member.gname = epoch, 0, 0, "", ""
            member.mode, member.pax_headers = 0o755 if executable else 0o644, {}
            new.addfile(member, old.extractfile(member) if member.isfile() else None)
    return gzip.compress(content.getvalue(), mtime=epoch)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def strays(path: Path) -> list[str]:
    """Names in an archive that do not belong there."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return [name for name in wheel.namelist() if STRAY.search(name) or not WHEEL.fullmatch(name)]
    with tarfile.open(path) as sdist:
        names = [member.name.partition("/")[2] for member in sdist.getmembers() if not member.isdir()]
    return [name for name in names if STRAY.search(name) or not SDIST.fullmatch(name)]


def run_tests(sdist: Path, work: Path) -> bool:
    """Whether the quick tests fail, run in the unpacked sdist with what was installed from it."""
    with tarfile.open(sdist) as archive:
        archive.extractall(work / "source", filter="data")
    (tree,) = (work / "source").iterdir()
    venv.create(work / "empty", with_pip=True)
    python = str(work / "empty" / "bin" / "python")
    # Editable: in the tree, `mklcvx` is what lies there, and finds its formulations only so.
    wanted = ["-e", f"{tree}[test]", "-c", str(ROOT / "constraints.txt")]
    subprocess.run([python, "-m", "pip", "install", "-q", *wanted], check=True)
    command = [python, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", "-m", "not slow"]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=tree, env=environment).returncode != 0


if __name__ == "__main__":
    raise SystemExit(main())
