"""Schemas of files: one of each kind. A file with another one is refused.

Traces, proofs, reports and tables of runs are recognised by their fields; their schema is not checked.
"""

from __future__ import annotations

import json
from importlib.resources import files

from .errors import InputError

SOLUTION = "mklcvx.solution/2"
INSTANCE = "mklcvx.instance/1"
MODEL = "mklcvx.model/1"
MACHINES = "mklcvx.machines/1"
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


def check_schema(schema: object, wanted: str, where: str, remedy: str) -> None:
    """Refuse a file of another kind, or of another version."""
    if schema != wanted:
        raise InputError(f"{where}: schema {schema!r:.40} is not {wanted!r}: {remedy}")
