"""Somebody's solver over the zoo: right ones conform, wrong ones are diagnosed, broken ones are reported, on any
back end."""

import os
import subprocess
import sys
from collections import namedtuple

import numpy as np
import pytest

import misbehaving
from conforming import conformed
from mklcvx import Instance, conform, zoo
from mklcvx.bench.conformance import references
from mklcvx.bench.conformance.summary import Conformance, assignment, shifted_mean
from mklcvx.bench.conformance.trials import SpecimenResult, _judged
from mklcvx.bench.functions import arguments, found_by, named
from mklcvx.bench.process import Attempt
from mklcvx.verification.answers import Answer
from places import ROOT
from refusals import check_refused, strict

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("examples_to_conform")]

SMALL = ["by-hand", "two-samples", "three-samples"]


# ------------------------------------------------------------------------------------------------- three reports
def test_a_right_solver_conforms_at_every_level():
    found = conform(misbehaving.interior, "l1", specimens=[*SMALL, "imbalanced-weighted"], level="high")
    assert found.passed
    assert [trial.outcome for trial in found.trials] == ["judged"] * 4
    assert found.rate("high").accepted == found.rate("low").decided == 4
    assert all(trial.seconds > 0 and trial.off < 1e-9 for trial in found.trials)


def test_an_inexact_one_conforms_at_the_level_it_reaches(room):
    found = conformed(room, "solvers:simplemkl", "l1", SMALL)
    assert found.rate("low").share == 1
    assert not found.passed
    assert set(found.diagnoses) == {"stopped_early"}


def test_a_broken_copy_is_diagnosed(room):
    found = conformed(room, "solvers:broken", "l1", SMALL)
    assert found.rate("low").accepted == 0
    assert found.diagnoses == {"C_over_n": 3}
    assert "optimal for C divided by n" in found.failures[0].words
    assert [trial.off for trial in found.failures] == sorted((t.off for t in found.trials), reverse=True)


def test_a_third_partys_solver_that_lacks_a_parameter_skips_what_needs_it(room):
    found = conformed(room, "solvers:plain", "l1", ["identities", "by-hand", "imbalanced-weighted"], "low")
    assert found.passed
    assert [(trial.specimen, trial.words) for trial in found.skipped] == [
        ("imbalanced-weighted", "it takes no sample_weight")
    ]
    assert found.rate("low").decided == 2


# ---------------------------------------------------------------------------------------------------- misbehaviour
def tried(room, name, specimen, limit=20.0, **given):
    return room.trial(assignment(f"misbehaving:{name}", "l1", given, time_limit=limit), zoo.specimen(specimen))


@pytest.mark.parametrize(
    ("name", "outcome", "words"),
    [
        ("raises", "error", "RuntimeError: out of coffee"),
        ("leaves", "error", "its process died"),
        ("dies", "error", "its process died"),
        ("hangs", "timeout", "it did not stop at the time limit"),
        ("forges", "error", "its process wrote into the pipe that replies come through"),
        ("chatters", "error", "its process wrote into the pipe that replies come through"),
        ("murmurs", "timeout", "it did not stop at the time limit"),
        ("closes", "error", "its process died"),
        ("says_nothing", "error", "it returned none of weights, alpha"),
        ("words", "error", "weights is no array of real numbers"),
        ("too_long", "error", "weights has shape (3,): give (2,)"),
        ("undefined", "error", "weights has entries that are not finite"),
    ],
)
def test_misbehaviour_is_reported(room, name, outcome, words):
    found = tried(room, name, "by-hand", limit=0.2 if name in ("hangs", "murmurs") else 20.0)
    assert found.outcome == outcome
    assert words in found.words
    assert not any(found.accepted(level) for level in ("low", "mid", "high"))


def test_a_run_goes_on_after_misbehaviour():
    found = conform("misbehaving:moody", specimens=["two-samples", "by-hand", "three-samples"], level="low")
    assert [trial.outcome for trial in found.trials] == ["error", "judged", "error"]
    assert found.rate("low").accepted == 1
    assert not found.passed


def test_chatter_and_spoilt_copies_do_no_harm(room):
    assert all(tried(room, "positional", name).accepted("high") for name in SMALL)


def test_an_objective_alone_is_judged(room):
    assert tried(room, "value_alone", "by-hand").accepted("high")
    assert tried(room, "wrong_value", "by-hand").diagnosis == "objective_sign"


def test_parameters_that_are_given_come_first(room):
    assert tried(room, "interior", "by-hand", C=0.1).accepted("high")
    assert tried(room, "sharing", "by-hand", C=0.1).words == "optimal for C divided by n, that is C = 0.025"


# ------------------------------------------------------------------------------------------- what functions return
Named = namedtuple("Named", "alpha weights")


@pytest.mark.parametrize(
    "result",
    [
        {"weights": [0.25, 0.75], "alpha": (1, 2, 3), "other": "ignored"},
        ([0.25, 0.75], np.array([1, 2, 3])),
        ([0.25, 0.75], [1, 2, 3], None, None, None),
        Named([1, 2, 3], [0.25, 0.75]),
        type("Result", (), {"weights": np.array([0.25, 0.75]), "alpha": [1, 2, 3]}),
    ],
)
def test_answers_in_many_shapes(result):
    found = found_by(result)
    assert {name: value.tolist() for name, value in found.items() if name != "multipliers"} == {
        "weights": [0.25, 0.75],
        "alpha": [1, 2, 3],
    }


def test_bare_weights_and_multipliers():
    assert found_by(np.array([1.0]))["weights"] == [1.0]
    assert found_by([1.0, 2.0])["weights"].tolist() == [1.0, 2.0]
    found = found_by({"objective": 3, "multipliers": {"gamma": [1, 0], "beta": None}})
    assert found["objective"] == 3
    assert found["multipliers"]["gamma"].tolist() == [1, 0]
    assert "beta" not in found["multipliers"]


def test_parameters_with_their_default_value_may_be_left_out():
    instance, groups = zoo.specimen("by-hand").instance(), [0, 1]
    l1 = {"C": 1.0, "bias": True}
    assert arguments(lambda kernels, y: 0, instance, "l1", l1) == ({}, [])
    assert arguments(lambda kernels, y, C: 0, instance, "l1", {**l1, "C": 2.0}) == ({"C": 2.0}, [])
    assert arguments(lambda kernels, y, *, bias: 0, instance, "l1", {**l1, "C": 2.0}) == ({"bias": True}, ["C"])
    assert arguments(lambda kernels, y, **more: 0, instance, "l1", l1) == (l1, [])
    grouped = Instance(instance.kernels, instance.y, groups=groups)
    given, missing = arguments(lambda kernels, y, groups: 0, grouped, "ckl", l1)
    assert (given["groups"].tolist(), missing) == (groups, [])
    assert arguments(lambda kernels, y: 0, grouped, "ckl", l1) == ({}, ["groups"])


def test_functions_must_be_found_from_another_process():
    assert named(misbehaving.raises) == "misbehaving:raises"
    with check_refused("cannot be found from another process", "define it in a module's file"):
        named(lambda kernels, y: None)


# ------------------------------------------------------------------------------------------------------- summing up
def test_rates_leave_out_what_is_skipped_or_undecided_and_failures_cost_the_limit():
    verdicts = {"low": "accepted", "mid": "accepted", "high": "undecided"}
    trials = (
        SpecimenResult("a", "judged", 1.0, 1e-8, verdicts),
        SpecimenResult("b", "timeout"),
        SpecimenResult("c", "skipped"),
        SpecimenResult("d", "judged", 1.0, 0.5, dict.fromkeys(verdicts, "rejected")),
    )
    found = Conformance("x:y", "l1", {}, "mid", 8.0, trials)
    rate = found.rate("mid")
    assert (rate.accepted, rate.decided, rate.undecided) == (1, 3, 0)
    assert rate.seconds == pytest.approx((1.1 * 8.1 * 8.1) ** (1 / 3) - 0.1)
    assert (found.rate("high").decided, found.rate("high").undecided) == (2, 1)
    assert [trial.specimen for trial in found.failures] == ["b", "d"]
    assert shifted_mean([]) is None


def test_golden_enclosures_are_used_for_the_very_problem_they_are_of(tmp_path, monkeypatch):
    specimen = zoo.specimen("by-hand")
    entry = {
        "specimen": "by-hand", "formulation": "l1", "sha256": specimen.recorded["sha256"], "scale": 1.0,
        "parameters": {"C": 1.0, "bias": True}, "lower": "1.5", "upper": "1.75",
    }  # fmt: skip
    (tmp_path / "golden.json").write_text(references.json.dumps({"optima": [entry]}), encoding="utf-8")
    monkeypatch.setattr(references, "GOLDEN", tmp_path / "golden.json")
    case = references.case_of(specimen, "l1", {}, 1e-9)
    assert case.known == (1.5, 1.75, 1.0)
    assert references.case_of(specimen, "l1", {"C": 2.0}, 1e-9).proved is None
    assert references.case_of(specimen, "sm1", {}, 1e-9).proved is None
    judged = _judged(case, Attempt(seconds=1.0, answer=Answer(objective=1.6)), "by-hand", "high")
    assert judged.verdict("high") == "undecided"
    assert judged.off == pytest.approx(0.15)


def test_the_golden_enclosures_of_the_checkout_are_found():
    assert references.GOLDEN == ROOT / "validation" / "golden" / "golden.json"
    assert references.case_of(zoo.specimen("by-hand"), "l1", {}, 1e-9).proved is not None


# -------------------------------------------------------------------------------------------------- other languages
def test_a_command_takes_files_and_is_judged_alike():
    script = ROOT / "examples" / "handing_over" / "solve_l1.py"
    command = f"{sys.executable} {script} {{instance.csv}} {{answer}} {{C}}"
    found = conform(command=command, specimens=["by-hand", "three-samples"])
    assert found.passed, [trial.words for trial in found.trials]
    failing = conform(command=f"{sys.executable} -c 'import sys; sys.exit(4)' {{instance}} {{answer}}", specimens=SMALL)
    assert {trial.words for trial in failing.trials} == {"exit status 4"}


# -------------------------------------------------------------------------------------------------- command line
def test_a_report_is_printed_and_written(run, succeeds, tmp_path):
    names = ("--specimens", "by-hand,two-samples", "-o", tmp_path / "report.json")
    code, out, _ = run("conform", "misbehaving:sharing", *names)
    assert code == 1
    assert "does not conform to l1: 0 of 2 accepted at 1e-06, 2 rejected" in " ".join(out.split())
    assert "C_over_n" in out
    written = strict((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert written["schema"] == "mklcvx.conformance/1"
    assert written["rates"]["mid"]["share"] == 0
    out, _ = succeeds("conform", "misbehaving:interior", "--specimens", "by-hand", "--json", "--level", "high")
    assert strict(out)["rates"]["high"]["share"] == 1


def test_numbers_at_the_end_of_the_range_lose_no_report(run, tmp_path):
    names = ("--specimens", "by-hand,two-samples", "-o", tmp_path / "report.json", "--json")
    code, out, _ = run("conform", "misbehaving:boundless", *names)
    written = strict((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert (code, strict(out)["trials"]) == (1, written["trials"])
    assert [trial["verdicts"]["mid"] for trial in written["trials"]] == ["rejected"] * 2


# ---------------------------------------------------------------------------------------------------- pytest plugin
@pytest.fixture
def inside(tmp_path, monkeypatch, capfd):
    """pytest inside this process, in an empty folder: exit status and what it says."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        code = pytest.main(["-q", "-rA", "-p", "no:cacheprovider", "-p", "no:xdist", *arguments, str(tmp_path)])
        return int(code), "".join(capfd.readouterr())

    return call


def pytest_run(folder, *arguments):
    path = os.pathsep.join((str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")))
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", *arguments, str(folder)],
        capture_output=True, text=True, timeout=60, check=False, cwd=folder, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip


def test_the_plugin_makes_one_test_for_each_specimen(inside):
    chosen = "by-hand or two-samples or imbalanced-weighted"
    code, said = inside("--mklcvx-solver=misbehaving:picky", "-k", chosen)
    assert code == 1
    assert "1 failed, 1 passed, 1 skipped, 40 deselected" in said
    assert "two-samples: judged: alpha, objective off by" in said
    assert "optimal for C divided by n, that is C = 0.5" in said
    assert "it takes no sample_weight" in said
    assert "Traceback" not in said


def test_the_plugin_refuses_in_a_line(inside):
    code, said = inside("--mklcvx-solver=misbehaving:missing")
    assert code == 4
    assert "misbehaving has no 'missing'" in said
    assert "Traceback" not in said


def test_the_plugin_costs_nothing_when_it_is_not_used(tmp_path):
    (tmp_path / "test_nothing.py").write_text(
        "import sys\ndef test():\n    assert 'pytest_mklcvx' in sys.modules\n"
        "    assert not {'mklcvx', 'numpy', 'joblib'} & set(sys.modules)\n",
        encoding="utf-8",
    )
    done = pytest_run(tmp_path, "-p", "no:hypothesispytest")
    assert "1 passed" in done.stdout, done.stdout


# ---------------------------------------------------------------------------------------------------------- clusters
def outcome(found):
    return [(t.specimen, t.outcome, dict(t.verdicts), t.off, t.diagnosis, t.words) for t in found.trials]


TAKEN = [one.name for one in zoo.SPECIMENS if "l1" in one.suits and one.recorded["samples"] <= 48]
ELEVEN = list(dict.fromkeys([*SMALL, "imbalanced-weighted", *TAKEN]))[:11]  # two batches


@pytest.fixture(scope="module")
def serial(room):
    """Of a solver that is right, wrong where there are two samples, and takes no weights."""
    return outcome(conformed(room, "misbehaving:picky", "l1", ELEVEN))


@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_finds_what_one_process_finds(serial):
    import joblib
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        spread = outcome(conform("misbehaving:picky", specimens=ELEVEN))
    assert spread == serial
    assert [found for _, found, *_ in serial] == ["judged"] * 3 + ["skipped"] + ["judged"] * 7
    verdicts = [verdicts["mid"] for _, found, verdicts, *_ in serial if found == "judged"]
    assert verdicts == ["accepted", "rejected"] + ["accepted"] * 8


@pytest.mark.filterwarnings("ignore")
def test_two_processes_find_the_same(serial):
    assert outcome(conform("misbehaving:picky", specimens=ELEVEN, jobs=2)) == serial
