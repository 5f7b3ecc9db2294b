"""Ji et al. 2008, Tables 2 and 3: kernels integrated by hypergraphs against SVM1, even weights and single ones."""

from __future__ import annotations

from typing import Any

from _harness import Cell, Experiment, Setting
from ji_contest import FOLDS, GAP, Grids, contest
from ji_report import report
from label_views import digit_labels, emotions


def grids(setting: Setting) -> Grids:
    return setting.choose(
        Grids((1e-2,), (1e-2,), (1.0, 10.0)),
        Grids((1e-3, 1e-2, 1e-1), (1e-3, 1e-2, 1e-1), (0.1, 1.0, 10.0, 100.0)),
        Grids((1e-4, 1e-3, 1e-2, 1e-1, 1.0), (1e-4, 1e-3, 1e-2, 1e-1, 1.0), (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)),
    )


def columns(setting: Setting) -> list[tuple[str, int]]:
    """The bank and the number of samples, both halves together."""
    emotions_columns = [("groups", 200), ("groups", 400), ("groups", 593), ("groups and all", 593)]
    return setting.choose([("digits", 120)], emotions_columns, emotions_columns)


def cells(setting: Setting) -> list[Cell]:
    splits = setting.choose(2, 10, 10)
    return [{"bank": bank, "size": n, "split": split} for split in range(splits) for bank, n in columns(setting)]


def run(cell: Cell, setting: Setting) -> dict[str, Any]:
    data = digit_labels(setting) if cell["bank"] == "digits" else emotions(setting, cell["bank"])
    return contest(data, cell["size"], grids(setting), setting.rng("ji", cell["size"], cell["split"]))


def protocol(setting: Setting) -> dict[str, Any]:
    return {"grids": grids(setting)._asdict(), "folds": FOLDS, "gap": GAP}


def needs(setting: Setting) -> tuple[str, ...]:
    return setting.choose((), ("emotions",), ("emotions",))


TITLE = "Kernels integrated for all labels by hypergraphs (Ji et al. 2008, Tables 2 and 3)"
EXPERIMENT = Experiment("ji", TITLE, cells, run, report, protocol, needs)
