"""The folds of a cross-validation that did not end, in a file beside its output: the same command takes them up."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._version import __version__
from ..errors import InputError
from ..io.json_text import read_object
from ..io.writing import check_output, write_text

if TYPE_CHECKING:
    from ..estimators.cross_validation import FoldScore

SCHEMA = "mklcvx.folds/1"


class KeptFolds:
    """The file of a request: `asked` is all that decides a result. Without an output nothing is kept."""

    def __init__(self, output: Path | None, instance: Path, asked: object) -> None:
        self.path = None if output is None else _place_beside(output)
        files = sorted(filter(Path.is_file, instance.rglob("*.csv"))) if instance.is_dir() else [instance]
        known = [(str(file.resolve()), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        words = f"{__version__} {known!r} {asked!r}"
        self.request = hashlib.sha256(words.encode("utf-8", "backslashreplace")).hexdigest()

    def read(self, folds: int, points: int) -> dict[int, list[FoldScore]]:
        """The folds that are kept for the same request; none if there is no such file, or it is damaged."""
        from ..estimators.cross_validation import FoldScore

        if self.path is None or not self.path.exists():
            return {}
        try:
            record: Any = read_object(self.path, "folds")
            if record["schema"] != SCHEMA or record["request"] != self.request:
                return {}
            kept = {
                int(number): [
                    FoldScore(float(score), float(gap), sure is True, str(words)) for score, gap, sure, words in rows
                ]
                for number, rows in record["folds"].items()
            }
        except (InputError, ValueError, TypeError, KeyError, AttributeError):
            return {}
        fits = kept.keys() <= set(range(folds)) and {len(trials) for trials in kept.values()} <= {points}
        return kept if fits else {}

    def write(self, ended: Mapping[int, list[FoldScore]]) -> str:
        """Keep the folds, and say in words how they are taken up."""
        if self.path is None:
            return "none is kept: with -o FILE those that end are"
        if not ended:
            return "no other one has ended"
        folds = {str(number): [tuple(map(str, astuple(trial)[:2])) + astuple(trial)[2:] for trial in trials]
                 for number, trials in sorted(ended.items())}  # fmt: skip
        text = json.dumps({"schema": SCHEMA, "request": self.request, "folds": folds}, allow_nan=False)
        write_text(self.path, text)
        return f"{len(ended)} that ended are kept in {self.path}: the same command goes on from there"

    def remove(self) -> None:
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _place_beside(output: Path) -> Path:
    """The file beside the output. The user has not named it: a link there would lead to what is not to be replaced."""
    path = output.with_name(f"{output.name}.part")
    if path.is_symlink():
        raise InputError(f"output {path}: is a link, and folds that ended are kept there: remove it")
    return check_output(path, (".part",))
