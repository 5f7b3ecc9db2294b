"""Record sizes and checksums of all specimens: run `python -m mklcvx.zoo.record` when the catalogue changes."""

from __future__ import annotations

import json

from ..io.writing import write_text
from .specimens import RECORD, SPECIMENS, measured


def main() -> None:
    record = {specimen.name: measured(specimen) for specimen in SPECIMENS}
    write_text(RECORD, json.dumps(record, indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()
