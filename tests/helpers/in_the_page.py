"""What the browser is asked, in JavaScript: functions that are evaluated in a page and return data."""

from pathlib import Path

_FOLDER = Path(__file__).with_suffix("")
LOOK, WIDER, CUT, POSITIONS, FIGURES = (
    (_FOLDER / f"{name}.js").read_text(encoding="utf-8") for name in ("look", "wider", "cut", "positions", "figures")
)
