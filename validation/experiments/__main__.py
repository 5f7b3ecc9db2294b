"""The papers' experiments, one command each.

    python validation/experiments xu [kumar …] [--quick | --full] [--data FOLDER] [--jobs N] [--seed S] [--folder OUT]

Without a name, all of them. The data sets come from --data, else from the folder that MKLCVX_DATA names, else from
OpenML. Results go to results/NAME: a page, tables as CSV, pictures, and the finished cells, from which an
interrupted run is taken up. --report writes the page of what is finished and computes nothing.
"""

from __future__ import annotations

import argparse
import importlib
import shlex
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))  # where `shared` is
# Those that define one; other files are parts of them. Nothing is imported to answer --help.
EXPERIMENTS = sorted(f.stem for f in HERE.glob("[a-z]*.py") if "\nEXPERIMENT = " in f.read_text(encoding="utf-8"))


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    asked = parser().parse_args(given)
    from rich.console import Console

    from _harness import FOLDER, Setting, finished, run
    from _reporting import write_page
    from mklcvx.errors import InputError

    console, status = Console(stderr=True), 0
    size = "quick" if asked.quick else "full" if asked.full else "reduced"
    setting = Setting(size, asked.seed, asked.data, asked.folder or FOLDER, asked.jobs)
    for name in asked.experiments or EXPERIMENTS:
        experiment = importlib.import_module(name).EXPERIMENT
        try:
            outcome = finished(experiment, setting) if asked.report else run(experiment, setting, console)
            if outcome.rows:
                page = experiment.report(setting, outcome.rows)
                file = write_page(experiment, setting, outcome, command(name, asked), page)
                console.print(f"{file}: {page.verdict}", highlight=False)
        except InputError as fault:
            print(f"{name}: {fault}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            print(f"{name}: interrupted; the same command goes on with the cells that are missing", file=sys.stderr)
            return 130
        status = max(status, int(not outcome.complete))
    return status


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("experiments", nargs="*", choices=[[], *EXPERIMENTS], metavar="NAME", help=", ".join(EXPERIMENTS))
    sizes = made.add_mutually_exclusive_group()
    sizes.add_argument("--quick", action="store_true", help="seconds, on bundled data: a smoke run, no evidence")
    sizes.add_argument("--full", action="store_true", help="the paper's own protocol instead of the reduced one")
    made.add_argument("--data", type=Path, help="the folder of the CSV files")
    made.add_argument("--jobs", type=processes, help="processes; one if not given")
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--folder", type=Path, help="where results go")
    made.add_argument("--report", action="store_true", help="only write the page of what is finished")
    return made


def processes(word: str) -> int:
    count = int(word)
    if count < 1:
        raise argparse.ArgumentTypeError(f"{count} is below 1: give a number of processes, such as 2")
    return count


def command(name: str, asked: argparse.Namespace) -> str:
    """The command without the places of one machine."""
    words = ["python", "validation/experiments", name]
    words += ["--quick"] if asked.quick else ["--full"] if asked.full else []
    words += ["--seed", str(asked.seed)] if asked.seed else []
    return shlex.join(words)


if __name__ == "__main__":
    sys.exit(main())
