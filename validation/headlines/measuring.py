"""What a headline is, and how thorough a run of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Headline:
    """What a headline found: Markdown, the numbers, the pictures, and the one sentence."""

    title: str
    lines: list[str]
    numbers: dict[str, Any]
    verdict: str
    pictures: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Setting:
    """How thorough a run is, and where its files go."""

    quick: bool
    folder: Path
    report: Callable[[str], None] = lambda _: None

    def choose(self, full: Any, quick: Any) -> Any:
        return quick if self.quick else full
