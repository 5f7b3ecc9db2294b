"""The commands of `validation/`, in small: they run, write what they promise, and can say no."""

import csv
import json
import math
import subprocess
import sys
import tomllib
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import hadamard

import claims_tables
from mklcvx import solve
from places import ROOT, modules_of

pytestmark = pytest.mark.slow

CLAIMS = ROOT / "validation" / "claims"
SIZES = [(1, "n"), (2, "n"), (3, "n"), (3, "M")]


def command(*arguments):
    done = subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def of_claims(name):
    return getattr(modules_of("validation/claims", name), name)


@pytest.fixture(scope="module")
def frame():
    """The module that judges claims."""
    return of_claims("claim")


def distance_from(truth, frame):
    return lambda version: frame.Measured(abs(version - truth), {"version": version})


@pytest.mark.parametrize(
    ("printed", "repaired", "mutated", "verdict", "sound"),
    [
        (3.0, None, 4.0, "holds", True),
        (3.0, None, 3.0, "holds", False),  # the measurement cannot tell the mutant from the statement
        (2.0, 3.0, 4.0, "holds after repair", True),
        (2.0, 2.5, 4.0, "fails", False),  # a repair that does not repair
        (2.0, None, 4.0, "fails", False),  # nothing that the measurement accepts is known
        (float("inf"), None, 4.0, "fails", False),
        (float("nan"), 3.0, 4.0, "holds after repair", True),
    ],
)
def test_a_verdict_is_computed(frame, printed, repaired, mutated, verdict, sound):
    about = {"paper": "p", "where": "w", "statement": "s", "quantity": "q", "mutation": "m", "tolerance": 0.1}
    values = {"printed": printed, "repaired": repaired, "mutated": mutated}
    statement = frame.Claim(**about, measure=distance_from(3.0, frame), **values)
    found = frame.judge(statement)
    assert (found.verdict, found.sound) == (verdict, sound)
    if verdict == "fails" and repaired is None:
        assert frame.judge(replace(statement, control=3.05)).sound
        assert not frame.judge(replace(statement, control=2.0)).sound
    unproved = frame.judge(replace(statement, unproved=True))
    words = {"holds": "not contradicted", "holds after repair": "not contradicted after repair", "fails": "fails"}
    assert (unproved.verdict, unproved.sound) == (words[verdict], sound)


def test_the_printed_bound_of_a_theorem_fails_on_a_small_game_and_the_proved_one_holds():
    games, theorem = of_claims("bucak_games"), of_claims("bucak_theorem")
    game = games.hadamard(8, 1.0, 1.0, 200_000)
    gaps = games.hadamard_gaps(game, runs=48)
    error = gaps.std(ddof=1) / math.sqrt(len(gaps))
    at = theorem.setting(game)
    assert gaps.mean() - 3 * error > theorem.printed(at, game.size, game.steps)
    bounds = [bound(at, game.size, game.steps) for bound in (theorem.proved, theorem.exchanged)]
    assert gaps.mean() + 3 * error < min(bounds)


def test_hadamard_classes_are_the_game_that_they_are_said_to_be():
    """α = C at any weights, losses nC (1 − ½ λ0 C p_k), and Δ at equal shares is 0."""
    forms, games = of_claims("bucak_forms"), of_claims("bucak_games")
    signs, reach = hadamard(8).astype(float), 0.7
    p = np.random.default_rng(0).dirichlet(np.ones(8))
    problem = forms.Classes(reach / 8 * np.einsum("ai,aj->aij", signs, signs), signs, 1.0)
    np.testing.assert_allclose(problem.machines(p), 1.0)
    np.testing.assert_allclose(problem.losses(p), 8 * (1 - reach / 2 * p))
    np.testing.assert_allclose(games.hadamard_gaps(games.Hadamard(8, reach, 0.5, 1, 0.1)), 0.0, atol=1e-12)


@pytest.mark.parametrize("author", ["bucak", "govindaraj", "ji", "kumar", "xu"])
def test_every_statement_has_its_row_word_for_word(author):
    with (CLAIMS / "statements" / f"{author}.toml").open("rb") as file:
        words = tomllib.load(file)
    paper = words.pop("paper")
    rows = json.loads((CLAIMS / "claims.json").read_text(encoding="utf-8"))["claims"]
    told = ("statement", "quantity", "repair", "mutation", "remark", "proof")
    found = {row["where"]: {name: row[name] for name in told} for row in rows if row["paper"] == paper}
    assert found == {where: {name: said.get(name) for name in told} for where, said in words.items()}
    unproved = {row["where"] for row in rows if row["paper"] == paper and row["verdict"].startswith("not contradicted")}
    assert unproved <= {where for where, said in words.items() if said.get("unproved")}


def test_the_claims_of_one_paper(tmp_path):
    done = command("validation/claims", "kumar", "--folder", tmp_path)
    assert done.returncode == 0, done.stderr
    record = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))
    assert record["schema"] == "mklcvx.claims/1"
    rows = record["claims"]
    assert {row["paper"] for row in rows} == {"Kumar et al. 2012"}
    assert all(row["sound"] for row in rows)
    verdicts = {row["where"]: row["verdict"] for row in rows}
    assert "fails" in verdicts.values()
    table = (tmp_path / "claims.md").read_text(encoding="utf-8")
    assert table.count("\n| ") == len(rows) + 1
    assert "## Kumar et al. 2012" in table


def test_the_committed_claims_are_of_all_papers_and_sound(frame):
    rows = json.loads((CLAIMS / "claims.json").read_text(encoding="utf-8"))["claims"]
    assert len({row["paper"] for row in rows}) == 5
    assert all(row["sound"] for row in rows)
    assert all(row["repair"] for row in rows if row["verdict"].endswith("after repair"))
    assert not any(row["proof"] for row in rows if row["verdict"].startswith("not contradicted"))
    assert {row["verdict"] for row in rows} <= set(frame.VERDICTS) == set(claims_tables.VERDICTS)


def test_a_part_of_the_claims_does_not_replace_the_table_of_all():
    done = command("validation/claims", "kumar")
    assert done.returncode == 2
    assert "give --folder" in done.stderr


def test_unknown_names_are_refused_by_the_table_of_solvers():
    assert "unknown solver 'nosuch'" in command("validation/solvers.py", "--only", "nosuch").stderr
    assert "unknown data set 'nosuch'" in command("validation/solvers.py", "--data", "nosuch").stderr


def test_the_table_of_solvers(tmp_path):
    options = ("--samples", 30, "--count", 10, "--data", "wine", "--only", "silp,alignment_nnls,ts_pegasos")
    done = command("validation/solvers.py", *options, "-o", tmp_path / "solvers.md")
    assert done.returncode == 0, done.stderr
    table = (tmp_path / "solvers.md").read_text(encoding="utf-8")
    assert table.count("| wine |") == 4
    assert table.count("| yes |") == 4


def test_two_methods_for_hypergraphs_in_small(tmp_path):
    done = command("validation/hypergraphs.py", "--quick", "-o", tmp_path / "h.md")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "h.png").stat().st_size > 10_000
    page = (tmp_path / "h.md").read_text(encoding="utf-8")
    assert page.count("\n| 0.") == 12
    assert "too small to be evidence" in page


# -------------------------------------------------------------------------------------------------- benchmarks
@pytest.fixture(scope="module")
def studies():
    """The modules of the benchmarks."""
    return modules_of("validation/bench", "beside", "growth", "jobs", "problems", "profiles")


def test_the_problem_that_peers_were_measured_on(studies):
    """Another choice of samples, features or scaling moves the optimum by 4e-4 and more; the recorded one is good to
    4e-10, by the certificate."""
    found = solve(studies.problems.peers(), "l1", C=1.0, solver="interior")
    assert found.certified
    assert found.objective == pytest.approx(studies.problems.PEERS_OPTIMUM, rel=1e-9)


def test_exponents_are_of_the_upper_half_of_the_range(studies):
    sizes = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    seconds = [1.0, 1.0, 1.0, 8.0**3, 16.0**3, 32.0**3]
    assert studies.growth.upper_half((sizes, seconds), sizes) == pytest.approx(3)
    assert studies.growth.upper_half((sizes[:5], seconds[:5]), sizes) is None


def test_who_is_cut_off_leaves_the_range(studies, monkeypatch):
    seen = []

    def compare(instance, formulation, entrants, **given):
        seen.append([entrant.name for entrant in entrants])
        statuses = {"level": "cut_off" if instance == 2 else "certified", "silp": "certified"}
        return SimpleNamespace(rows=[SimpleNamespace(name=e.name, status=statuses[e.name]) for e in entrants])

    monkeypatch.setattr(studies.jobs, "compare", compare)
    made = [studies.jobs.Job({"n": n}, lambda n=n: n, ["level", "silp"], lane=lane) for n, lane in SIZES]
    assert len(studies.jobs.run(made, lambda _: None, lambda: None)) == 4
    assert seen == [["level", "silp"], ["level", "silp"], ["silp"], ["level", "silp"]]


def test_shifted_means_and_profiles(studies):
    mean, infinite = studies.profiles.shifted_mean, float("inf")
    assert mean([10.0, 90.0], [1e3, 1e3]) == pytest.approx((20 * 100) ** 0.5 - 10)
    assert mean([10.0, infinite], [1e3, 90.0]) == pytest.approx((20 * 100) ** 0.5 - 10)
    times = {"a": [1.0, 4.0, infinite, infinite], "b": [2.0, 1.0, 5.0, infinite]}
    assert studies.profiles.profile(times, [1, 2, 4]) == {"a": [0.25, 0.25, 0.5], "b": [0.5, 0.75, 0.75]}


def test_a_study_in_small(tmp_path):
    done = command("validation/bench", "--study", "profiles", "--quick", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    with (tmp_path / "profiles.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {row["status"] for row in rows} == {"certified"}
    assert len(rows) == 6
    assert all(float(row["fits"]) > 0 for row in rows)
    assert (tmp_path / "profiles.png").stat().st_size > 10_000
    text = (tmp_path / "bench.md").read_text(encoding="utf-8")
    assert "python validation/bench --study profiles --quick" in text
    assert "| interior | 100% |" in text
    assert str(tmp_path) not in text


def test_programs_of_others_side_by_side(studies, tmp_path, monkeypatch):
    """Those that are not installed are named; a response has a unit as well."""
    monkeypatch.syspath_prepend(ROOT / "validation" / "bench")  # where the worker finds `peers`
    made = studies.beside.jobs(True, ())
    chosen = [job for job in made if job.labels["data"] != "digits" and job.formulation == "average"][::2]
    results = studies.jobs.run(chosen, lambda _: None, lambda: None)
    lines = studies.beside.study(results, tmp_path).lines
    cells = [[part.strip() for part in line.split("|")[1:6]] for line in lines if line.startswith("| ")]
    ours = [row for row in cells if row[0] == "mklcvx"]
    assert [row[1] for row in ours] == ["`average`", "`average`, squared loss"]
    assert all(float(row[4]) <= 1e-9 and float(row[3]) > 0 for row in ours)
    (svc,) = (row for row in cells if row[0] == "svc-average")
    assert 1e-9 < float(svc[4]) < 1e-2
    if not studies.beside.PEERS["mklpy-easymkl"].available():
        assert any("left out: mklpy-average" in line for line in lines)


def test_a_part_of_the_benchmarks_does_not_replace_the_results_of_all():
    done = command("validation/bench", "--study", "memory")
    assert done.returncode == 2
    assert "give -o DIR" in done.stderr


def test_the_engine_is_measured_and_its_exceptions_are_listed(tmp_path):
    done = command("validation/engine.py", "--quick", "--only", "l1", "ml_sum", "alignment", "-o", tmp_path / "e.md")
    assert done.returncode == 0, done.stderr
    table = (tmp_path / "e.md").read_text(encoding="utf-8")
    assert "| l1 | 5 | 5 |" in table
    assert "| ml_sum | 5 | 5 |" in table
    assert "0 exceptions in 15" in table
    assert table.count("5 of 5") == 3


def test_every_pair_of_regulariser_and_loss_has_witnesses_that_agree(tmp_path):
    """A sample of the whole run, then the same from its journal."""
    options = "--every", "97", "--journal", tmp_path / "pairs.jsonl", "-o", tmp_path / "pairs.md"
    for _ in range(2):
        done = command("validation/pairs.py", *options)
        assert done.returncode == 0, done.stderr
    text = (tmp_path / "pairs.md").read_text(encoding="utf-8")
    count = len((tmp_path / "pairs.jsonl").read_text(encoding="utf-8").splitlines())
    assert f"{count} of {count} problems" in text
    assert "Intervals without a common point: 0" in text
