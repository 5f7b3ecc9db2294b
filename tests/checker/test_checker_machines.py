"""The auditor and files of several machines: honest ones are confirmed machine by machine, false ones are not."""

import copy
import json
import subprocess
import sys

import numpy as np
import pytest

from joint_cases import classes
from mklcvx.checker.audit import point_multipliers
from mklcvx.checker.claims import audited, read_solution
from mklcvx.checker.joint import evaluated_file
from mklcvx.io.files import save_instance
from mklcvx.io.machine_files import save_machines
from mklcvx.problem.preprocessing import Preprocessing
from mklcvx.solvers.one_against import solve_by_machines
from mklcvx.solvers.solving import preprocessed

MULTI_CLASS = ("ovr", "ovo")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An instance with sample weights, and both kinds of machines in both kinds of files."""
    place = tmp_path_factory.mktemp("machines")
    instance = classes(12)
    instance = instance.with_kernels(instance.kernels, sample_weight=np.linspace(0.5, 1.5, instance.samples))
    save_instance(place / "problem.npz", instance)
    for multi_class in MULTI_CLASS:
        found = solve_by_machines(instance, "l1", multi_class, C=0.7)
        assert found.certified
        for ending in ("json", "npz"):
            save_machines(place / f"{multi_class}.{ending}", found)
    return place


def judged(folder, answer, capsys):
    status = audited([str(folder / "problem.npz"), str(answer)], evaluated_file, point_multipliers)
    out, err = capsys.readouterr()
    return status, (out or err).splitlines()


@pytest.mark.parametrize("ending", ["json", "npz"])
@pytest.mark.parametrize("multi_class", MULTI_CLASS)
def test_every_machine_is_audited(folder, capsys, multi_class, ending):
    status, lines = judged(folder, folder / f"{multi_class}.{ending}", capsys)
    assert (status, lines[-1]) == (0, "confirmed: all 3 machines")
    titles = [line for line in lines if line.startswith("machine ")]
    first = "0 against the rest" if multi_class == "ovr" else "1 against 0"
    assert titles[0] == f"machine 1 of 3, {first}:"
    assert lines.count("  confirmed") == len(titles) == 3


def test_the_command_is_the_one_for_solutions(folder):
    run = subprocess.run(
        [sys.executable, "-m", "mklcvx.checker", folder / "problem.npz", folder / "ovo.json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.endswith("confirmed: all 3 machines\n")


def changed(record, *path, to):
    spoilt = copy.deepcopy(record)
    place = spoilt
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to(place[path[-1]])
    return spoilt


FORGERIES = {
    "alpha": (("machines", 1, "solution", "alpha"), lambda a: [a[0] * 0.9, *a[1:]], "a machine is not confirmed"),
    "gap": (("machines", 2, "solution", "certificate", "gap"), lambda gap: gap / 2, "a machine is not confirmed"),
    "order": (("machines",), lambda machines: machines[::-1], "machines: not "),
    "one less": (("machines",), lambda machines: machines[:-1], "machines: not one for each"),
    "samples of one": (("machines", 0, "samples"), lambda _: [0, 1, 2], "machines: not the samples of"),
    "classes of one": (("machines", 0, "positive"), lambda _: "2", "machines: not "),
    "status": (("status",), lambda _: "not_certified", "status: not that of the worst machine"),
    "weights": (("weights", 0, 0), lambda weight: weight + 1e-9, "weights: not those of the machines"),
    "objective": (("objective", 1), lambda value: value * 1.01, "objective: not those of the machines"),
    "certificate": (("certificate", "relative_gap"), lambda gap: gap / 2, "certificate: not the one with the widest"),
    "parameters": (("parameters", "C"), lambda _: 1.0, "parameters: not that of every machine"),
    "names": (("label_names",), lambda names: names[::-1], "label_names: not those of the instance"),
    "classes": (("classes",), lambda names: names[::-1], "classes: not those of the instance"),
    "count": (("samples",), lambda n: n + 1, "samples: not those of the instance"),
    "kind": (("multi_class",), lambda _: "all", "multi_class: neither ovr nor ovo"),
}


@pytest.mark.parametrize("multi_class", MULTI_CLASS)
@pytest.mark.parametrize("what", FORGERIES)
def test_false_files_are_not_confirmed(folder, tmp_path, capsys, what, multi_class):
    path, to, words = FORGERIES[what]
    record = read_solution(folder / f"{multi_class}.json")
    (tmp_path / "forged.json").write_text(json.dumps(changed(record, *path, to=to)), encoding="utf-8")
    status, lines = judged(folder, tmp_path / "forged.json", capsys)
    assert status == 1
    assert lines[-1].startswith(f"NOT confirmed: {words}")


def test_machines_of_kernels_that_were_scaled_are_refused(folder, tmp_path, capsys):
    steps, instance = Preprocessing.from_options(normalise="trace"), classes(12)
    found = solve_by_machines(preprocessed(instance, steps), "average", preprocessing=steps)
    save_machines(tmp_path / "scaled.npz", found)
    status, lines = judged(folder, tmp_path / "scaled.npz", capsys)
    assert status == 2
    assert "kernels were centred or scaled before solving" in lines[-1]


def test_machines_need_classes(folder, tmp_path, capsys):
    with np.load(folder / "problem.npz") as file:
        arrays = {key: file[key] for key in file.files}
    codes = arrays.pop("classes")
    np.savez(tmp_path / "problem.npz", **arrays, y=np.where(codes == 0, 1.0, -1.0))
    status, lines = judged(tmp_path, folder / "ovr.json", capsys)
    assert (status, lines[-1]) == (1, "NOT confirmed: target: machines tell classes apart, which the instance has not")
