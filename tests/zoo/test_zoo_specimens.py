"""The named instances: the same everywhere, what they say they are, and certified."""

import os
import re
import subprocess
import sys
from functools import cache

import numpy as np
import pytest

from mklcvx import InputError, Instance, formulations, solve, zoo
from mklcvx.errors import InternalError
from mklcvx.io.files import load_instance
from mklcvx.problem.targets import LABELLED
from mklcvx.zoo import grid
from mklcvx.zoo.grid import Draws
from mklcvx.zoo.specimens import measured
from refusals import check_refused, strict

pytestmark = pytest.mark.slow

NAMES = [specimen.name for specimen in zoo.SPECIMENS]
LARGE = [name for name in NAMES if zoo.specimen(name).recorded["samples"] > 120]
SOLVED = [name for name in NAMES if zoo.specimen(name).suits]
KNOWN = [name for name in NAMES if zoo.specimen(name).optimum is not None]
FIRST_WHOLE, FIRST_BELL = [1, -2, -1, 2, -1, 0, 1, -2], [-0.5625, -1.125, -0.375, -0.625]
RECOMPUTE = """
from mklcvx.zoo import SPECIMENS
from mklcvx.zoo.specimens import measured
print([s.name for s in SPECIMENS if measured(s) != s.recorded])
"""


@cache
def instance_of(name: str) -> Instance:
    return zoo.specimen(name).instance()


# ---------------------------------------------------------------------------------------------------------- checksums
@pytest.mark.parametrize("name", NAMES)
def test_every_specimen_is_the_one_on_record(name):
    assert measured(zoo.specimen(name)) == zoo.specimen(name).recorded


def test_checksums_hold_with_the_oldest_blas_and_without_vector_instructions():
    """The same library with other inner loops is as good as another machine: exponentials differ in their last bits."""
    found = np.show_config("dicts")["SIMD Extensions"].get("found", [])
    other = {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1", "NPY_DISABLE_CPU_FEATURES": " ".join(found)}
    command = [sys.executable, "-c", RECOMPUTE]
    done = subprocess.run(command, env={**os.environ, **other}, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_there_are_enough_and_nearly_all_are_small():
    assert len(NAMES) == len(set(NAMES)) >= 30
    assert len({zoo.specimen(name).recorded["sha256"] for name in NAMES}) == len(NAMES)
    assert len(LARGE) <= 3


def test_the_checksum_sees_everything_but_names():
    base = instance_of("clouds")
    known = zoo.checksum(base)
    assert zoo.checksum(base.with_kernels(base.kernels, names=list("abcde"))) == known
    changed = base.kernels.copy()
    changed[3, 5, 7] += 2.0**-23
    changed[3, 7, 5] += 2.0**-23
    others = [
        base.with_kernels(changed),
        base.with_kernels(2 * base.kernels),
        base.with_kernels(base.kernels[::-1]),
        base.with_kernels(base.kernels, y=-base.y),
        base.with_kernels(base.kernels, groups=[0] * 5),
        base.with_kernels(base.kernels, groups=None),
        base.with_kernels(base.kernels, sample_weight=np.full(60, 2.0)),
        Instance(base.kernels, classes=base.y.astype(int), groups=base.groups),
    ]
    real = instance_of("response-outputs")
    for change in (real.response, 2 * real.response, real.response[:, :1], real.response[:, ::-1], None):
        others.append(real.with_kernels(real.kernels, response=change, label_names=None))
    found = {zoo.checksum(other) for other in others}
    assert len(found) == len(others)
    assert known not in found


def test_numbers_on_no_common_grid_have_no_checksum():
    with check_refused("the kernels lie on no common grid"):
        zoo.checksum(Instance([[[1.0, 2.0**-80], [2.0**-80, 1.0]]], [1, -1]))


def test_a_specimen_that_comes_out_differently_is_refused():
    other = zoo.specimen("mixed").build
    specimen = zoo.Specimen("clouds", "ordinary", "", "nowhere", other)
    with pytest.raises(InternalError, match="specimen clouds is not the one on record"):
        specimen.instance()


# --------------------------------------------------------------------------------------------------------- quantising
def test_rounding_keeps_kernels_semidefinite_and_near():
    """A kernel of rank one, where any rounding makes negative eigenvalues unless they are lifted."""
    x = np.random.default_rng(3).normal(size=40)
    kernel = np.outer(x, x)
    (found,) = zoo.quantised(kernel[None])
    step = 2.0 ** (np.frexp(np.abs(kernel).max())[1] - grid.BITS)
    assert np.linalg.eigvalsh(found)[0] > 0
    assert np.linalg.eigvalsh(np.rint(kernel / step) * step)[0] < -step
    assert np.abs(found - kernel).max() <= 22 * step
    assert np.array_equal(found, found.T)
    assert np.array_equal(found, found.astype(np.float32))


def test_a_kernel_on_the_grid_stays_as_it_is():
    x = Draws(1).bell(30, 2, step=0.25)
    kernel = x @ x.T
    assert np.array_equal(zoo.quantised(kernel[None])[0], kernel)
    assert np.linalg.matrix_rank(kernel) == 2
    assert not zoo.quantised(np.zeros((1, 3, 3))).any()


def test_entries_that_the_last_bits_would_decide_are_refused():
    for half in (2.0**-24, 2.0**-24 * (1 + 2.0**-30), 2.0**-24 * (1 - 2.0**-30)):  # the step is 2^-23
        with pytest.raises(InternalError, match="steps from the middle"):
            zoo.quantised(np.array([[[0.9375, half], [half, 0.9375]]]))
    zoo.quantised(np.array([[[0.9375, 2.0**-24 * (1 + 2.0**-18)], [2.0**-24 * (1 + 2.0**-18), 0.9375]]]))
    with pytest.raises(InternalError, match="too near to a power of two"):
        zoo.quantised((np.eye(2) * (1 - 2.0**-53))[None])


@pytest.mark.parametrize(
    ("kernels", "bits", "words"),
    [
        (np.ones(3), 23, "kernels has shape (3,)"),
        (np.ones((1, 2, 3)), 23, "give square"),
        (np.eye(2)[None], 2**63, "52"),
    ],
)
def test_what_cannot_be_quantised_is_refused(kernels, bits, words):
    with pytest.raises(InputError, match=re.escape(words)):
        zoo.quantised(kernels, bits)


def test_draws_are_what_they_always_were():
    draws = Draws(7)
    assert draws.whole(-2, 2, 8).tolist() == FIRST_WHOLE
    assert draws.bell(4).tolist() == FIRST_BELL
    assert sorted(draws.order(9)) == list(range(9))
    bell = Draws(0).bell(20000)
    assert abs(bell.mean()) < 0.05
    assert bell.std() == pytest.approx(1, abs=0.02)


# ------------------------------------------------------------------------------------------------------------- optima
@pytest.mark.parametrize("name", SOLVED)
def test_every_specimen_is_certified(name):
    """By `interior`, or what takes the loss, for the formulation whose optimum is known, or else l1 or hypergraph."""
    specimen = zoo.specimen(name)
    instance = instance_of(name)
    for formulation in specimen.suits:
        formulations.get(formulation).task(instance, specimen.parameters_for(formulation))
    known = specimen.optimum() if specimen.optimum else None
    formulation = known.formulation if known else "l1" if "l1" in specimen.suits else "hypergraph"
    given = known.parameters if known else specimen.parameters_for(formulation)
    solver = "interior" if specimen.recorded["targets"] in LABELLED else "auto"
    solution = solve(instance, formulation, solver=solver, tol=1e-8, **given)
    assert solution.status == "certified", solution.message
    if known is None:
        return
    slack = 1e-13 * max(1.0, abs(known.value))
    assert solution.certificate.lower <= known.value + slack
    assert known.value <= solution.certificate.upper + slack
    if known.weights is not None:
        # R is strongly convex there: ‖μ − μ*‖² ≤ 2θ·gap. A ball is: with v = ½q both lie within √(2 gap/‖v‖) of v/‖v‖.
        gap, apart = solution.certificate.gap, 0.0
        if formulation == "square":
            apart = np.sqrt(2 * given["theta"] * gap)
        elif formulation == "l2":
            apart = 2 * np.sqrt(2 * gap / np.linalg.norm(solution.slopes))
        assert solution.weights == pytest.approx(known.weights, abs=max(1e-4, apart))
    if known.bias is not None:
        assert solution.bias == pytest.approx(known.bias, abs=1e-4)


@pytest.mark.parametrize("name", [name for name in KNOWN if zoo.specimen(name).kind == "planted" and name != "by-hand"])
def test_planted_optima_are_exact(name):
    """Both bounds, in floating point without a rounding: dual value and primal value are the value that is stated."""
    specimen = zoo.specimen(name)
    instance, known = instance_of(name), specimen.optimum()
    formulation = formulations.get(known.formulation)
    task, _ = formulation.task(instance, known.parameters)
    beta = known.alpha * instance.y
    assert known.alpha @ instance.y == 0
    f = sum(weight * kernel @ beta for weight, kernel in zip(known.weights, instance.kernels, strict=True)) + known.bias
    margins = instance.y * f
    assert (margins[known.alpha == 0.5] == 1).all()
    assert (margins[known.alpha == 0] > 1).all()
    assert (margins[known.alpha == 1] < 1).all()
    lower = formulation.lower(task, known.alpha).value
    upper = formulation.upper(task, known.weights[:, None] * beta).value
    assert lower == pytest.approx(known.value, rel=1e-14)
    assert upper == pytest.approx(known.value, rel=1e-14)


# ------------------------------------------------------------------------------------------- what the specimens claim


@pytest.mark.parametrize(("name", "solver"), [("single-features", "auto"), ("single-features", "clarabel")])
def test_low_rank_leaves_weights_of_li_undefined(name, solver):
    specimen = zoo.specimen(name)
    solution = solve(instance_of(name), "li", solver=solver, **specimen.parameters_for("li"))
    assert solution.status == "certified"
    assert np.isnan(solution.weights).any()


# ----------------------------------------------------------------------------------------------------------- commands
def test_the_zoo_is_listed(quiet):
    out = quiet("zoo", "--json")
    listed = strict(out)
    assert listed["schema"] == "mklcvx.zoo/1"
    assert [entry["name"] for entry in listed["instances"]] == NAMES
    for entry in listed["instances"]:
        assert all(entry[key] for key in ("kind", "special", "source", "kernels", "samples", "sha256"))
        assert bool(entry["suits"]) == (entry["name"] != "response-outputs")
        assert bool(entry["losses"]) == (
            entry["name"] != "response-outputs" and entry["targets"] not in ("classes", "labels")
        )
    out = quiet("zoo")
    assert all(name in out for name in NAMES)


@pytest.mark.parametrize("output", ["one.npz", "one.mat", "one.json", "one"])
@pytest.mark.parametrize("name", ["labels-rare", "imbalanced-weighted", "four-classes", "response-outputs"])
def test_an_exported_specimen_is_the_same_in_every_format(quiet, tmp_path, output, name):
    out = quiet("zoo", "export", name, "-o", tmp_path / output)
    assert out.startswith(f"{name}: ")
    assert zoo.checksum(load_instance(tmp_path / output)) == zoo.specimen(name).recorded["sha256"]


def test_all_are_exported_with_their_provenance(quiet, tmp_path, monkeypatch):
    few = [specimen for specimen in zoo.SPECIMENS if specimen.name in ("by-hand", "two-samples")]
    monkeypatch.setattr(zoo, "SPECIMENS", few)
    out = quiet("zoo", "export", "all", "-o", tmp_path / "all", "--as", "csv")
    assert out.startswith("2 instances and zoo.json written")
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["by-hand", "two-samples", "zoo.json"]
    index = strict((tmp_path / "all" / "zoo.json").read_text(encoding="utf-8"))
    for entry in index["instances"]:
        assert zoo.checksum(load_instance(tmp_path / "all" / entry["name"])) == entry["sha256"]


def test_a_folder_with_something_in_it_is_not_touched(refusal, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "mine.txt").write_text("mine", encoding="utf-8")
    assert "exists already" in refusal("zoo", "export", "by-hand", "-o", tmp_path / "there")
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["mine.txt"]
    with pytest.raises(InputError):
        zoo.specimen("")


@pytest.mark.parametrize(
    ("name", "power", "formulation"),
    [
        (*(("huge", 60), ("minute", -60))[place % 2], name)
        for place, name in enumerate(("l1", "sm1", "sm2", "smp", "square", "elastic", "block_elastic", "l1"))
    ],
)
def test_scales_change_nothing_but_the_units(name, power, formulation):
    specimen, scaled = zoo.specimen(name), instance_of(name)
    plain = scaled.with_kernels(np.ldexp(scaled.kernels, -power))
    one = solve(scaled, formulation, solver="interior", tol=1e-8, **specimen.parameters_for(formulation))
    other = solve(plain, formulation, solver="interior", tol=1e-8, C=1.0)
    assert (one.status, other.status) == ("certified", "certified")
    assert one.objective == pytest.approx(np.ldexp(other.objective, -power), rel=3e-8)
