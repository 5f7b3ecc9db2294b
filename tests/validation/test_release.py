"""What would be released, without building it: `make release-check` does that."""

import io
import sys
import tarfile

import pytest

from places import ROOT

sys.path.insert(0, str(ROOT / "validation"))

import release


def _sdist(*names: str, mtime: int = 0, reverse: bool = False) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name in sorted(names, reverse=reverse):
            member = tarfile.TarInfo(f"mklcvx-1.0/{name}")
            member.size, member.mtime, member.uname = 3, mtime, f"user{mtime}"
            archive.addfile(member, io.BytesIO(b"abc"))
    return content.getvalue()


def test_dates_owners_and_order_do_not_reach_the_sdist():
    one = release.reproducible(_sdist("README.md", "mklcvx/a.py", mtime=5), 77)
    other = release.reproducible(_sdist("README.md", "mklcvx/a.py", mtime=9, reverse=True), 77)
    assert one == other
    assert one != release.reproducible(_sdist("README.md", "mklcvx/b.py"), 77)
    with tarfile.open(fileobj=io.BytesIO(one)) as archive:
        assert [(m.name[11:], m.mtime, m.uname) for m in archive] == [("README.md", 77, ""), ("mklcvx/a.py", 77, "")]


STRAYS = ".git/config", "mklcvx/__pycache__/a.pyc", "notes.txt", "tests/.hypothesis/x", "a.orig"


@pytest.mark.parametrize("name", STRAYS)
def test_a_file_that_does_not_belong_is_named(tmp_path, name):
    path = tmp_path / "mklcvx-1.0.tar.gz"
    path.write_bytes(_sdist("README.md", "formulations/l1.py", "MANIFEST.in", "LICENSE", name))
    assert release.strays(path) == [name]
