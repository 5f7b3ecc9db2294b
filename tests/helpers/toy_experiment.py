"""An experiment of eight cells that leaves a trace of every cell it computes, for the tests of the harness."""

import csv
import sys
import time
from pathlib import Path

from places import ROOT

EXPERIMENTS = ROOT / "validation" / "experiments"
sys.path[:0] = [str(EXPERIMENTS), str(EXPERIMENTS.parent)]

from _harness import Experiment, Setting, run  # noqa: E402
from _reporting import Page, Table  # noqa: E402

PAUSE = 0.05


def check_table(file, columns):
    """It begins with these columns, and its lines have all of them."""
    with file.open(encoding="utf-8") as content:
        header, *lines = csv.reader(content)
    assert header[: len(columns)] == columns
    assert lines
    assert all(len(line) == len(header) for line in lines)


def cells(setting):
    return [{"set": name, "split": split} for name in ("a", "b") for split in range(4)]


def square(cell, setting):
    with (setting.folder / "computed.log").open("a", encoding="utf-8") as log:
        log.write(f"{cell['set']}{cell['split']}\n")
    time.sleep(PAUSE)
    if (cell["set"], setting.seed, cell["split"]) == ("b", 13, 2):
        raise ArithmeticError("two\nlines")
    drawn = setting.rng(cell["set"], cell["split"]).random()
    return {"value": cell["split"] ** 2, "drawn": drawn, "none": float("nan")}


def report(setting, rows):
    table = Table("values", "Values", ["set", "value"], [[row["set"], row["value"]] for row in rows])
    return Page("It holds.", ["nothing"], [table])


TOY = Experiment("toy", "A toy", cells, square, report, protocol=lambda setting: {"pause": PAUSE})


if __name__ == "__main__":
    run(TOY, Setting(folder=Path(sys.argv[1])))
