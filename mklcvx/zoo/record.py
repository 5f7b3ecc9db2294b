"""Record sizes and checksums of all specimens: run `python -m mklcvx.zoo.record` when the catalogue changes."""

from __future__ import annotations

import json

from ..io.writing import write_whole
from .specimens import RECORD, SPECIMENS, measured


def main() -> None:
    found = {specimen.name: measured(specimen) for specimen in SPECIMENS}
    text = json.dumps(found, indent=1, allow_nan=False) + "\n"
    write_whole(RECORD, lambda file: file.write(text.encode()))


if __name__ == "__main__":
    main()
