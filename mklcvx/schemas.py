"""Schemas of files. Each kind has its schemas from the oldest to the newest: the last one is written (of models the
first, unless a pipeline's scalers are in the file), all of them are read, since old files must stay readable.

Fields that an older schema lacks get a default where the file is read (`solution_records.DEFAULTS`, and the defaults of
`Certificate`). Traces, proofs, reports and tables of runs are recognised by their fields; their schema is not checked.
"""

from __future__ import annotations

import json
from importlib.resources import files

from .errors import InputError

SOLUTION = ("mklcvx.solution/1", "mklcvx.solution/2")
INSTANCE = ("mklcvx.instance/1",)
MODEL = ("mklcvx.model/1", "mklcvx.model/2")
MACHINES = ("mklcvx.machines/1",)
FORMATS = ("instance", "answer", "certificate", "solution")


def json_schema(kind: str) -> dict[str, object]:
    """Return the JSON Schema (draft 2020-12) of a kind of file.

    Parameters
    ----------
    kind : {"instance", "answer", "certificate", "solution"}
        What a file holds.

    Returns
    -------
    dict
        The schema, with all definitions that it refers to.

    Examples
    --------
    >>> from mklcvx.schemas import json_schema
    >>> json_schema("certificate")["$ref"]
    '#/$defs/certificate'
    """
    if kind not in FORMATS:
        raise InputError(f"schema of {kind!r:.40}: there is none: give one of {', '.join(FORMATS)}")
    whole: dict[str, object] = json.loads((files(__package__) / "formats.json").read_text(encoding="utf-8"))
    return {**whole, "$id": f"{whole['$id']}:{kind}", "$ref": f"#/$defs/{kind}"}


def known(schema: object, readable: tuple[str, ...]) -> bool:
    """Whether a file with this schema, which may be any value, can be read."""
    return isinstance(schema, str) and schema in readable


def check_schema(schema: object, readable: tuple[str, ...], where: str, remedy: str) -> None:
    """Refuse a file of another kind, or one that is newer than this version."""
    if not known(schema, readable):
        wanted = " or ".join(repr(name) for name in readable)
        raise InputError(f"{where}: schema {schema!r:.40} is not {wanted}: {remedy}")
