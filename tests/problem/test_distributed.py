"""Kernels on the workers of a cluster: the same answers, whoever holds them, and whoever is lost."""

import importlib
import os
import pickle
import signal
import subprocess
import sys
import textwrap

import dask
import dask.array as da
import distributed
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from mklcvx import InputError, Instance, prove, save_instance, solve, solve_path
from mklcvx.certificate.passes import own_seen, seen
from mklcvx.problem.preprocessing import Preprocessing
from mklcvx.problem.stack import KernelStack
from mklcvx.solvers.grids import default_grid
from places import ROOT
from refusals import check_refused

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # Dask's own

RNG = np.random.default_rng(3)
N = 270  # above the size from which on LIBSVM takes part
FEATURES = RNG.normal(size=(N, 5))
Y = np.where(FEATURES[:, 0] + FEATURES[:, 1] ** 2 + 0.3 * RNG.normal(size=N) > 0.7, 1, -1)
CLASSES = np.digitize(FEATURES[:, 0] + 0.3 * FEATURES[:, 2], [-0.5, 0.5])
GAPS = (FEATURES.T[:, :, None] - FEATURES.T[:, None]) ** 2
KERNELS = np.stack([*np.exp(-0.3 * GAPS), *np.exp(-2.0 * GAPS), FEATURES @ FEATURES.T])
SERIAL = Instance(KERNELS, Y)
CHOSEN = [("l1", {}), ("lp", {"p": 1.5}), ("sum", {}), ("sm1", {}), ("elastic", {})]


@pytest.fixture(scope="module")
def client():
    """Two processes, with one BLAS thread each, as here: with others the last bits are others."""
    workers = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    importlib.import_module("scipy.linalg")  # so that its BLAS is limited, too
    with pytest.MonkeyPatch.context() as patched, threadpool_limits(1, "blas"):
        patched.setenv("OPENBLAS_NUM_THREADS", "1")
        with distributed.LocalCluster(**workers, silence_logs=50) as cluster, distributed.Client(cluster) as found:
            yield found


def from_files(folder, stack, chunk=6):
    """A Dask array whose graph reads a file for each chunk."""
    each = []
    for start in range(0, len(stack), chunk):
        path, part = folder / f"{start}.npy", stack[start : start + chunk]
        np.save(path, part)
        each.append(da.from_delayed(dask.delayed(np.load)(str(path), pure=False), part.shape, part.dtype))
    return da.concatenate(each)


@pytest.fixture(scope="module")
def there(client, tmp_path_factory):
    return Instance(from_files(tmp_path_factory.mktemp("kernels"), KERNELS), Y)


def distances(one, other):
    """How far two solutions are apart: values, weights, α and bounds, each as a share of its size."""
    for name in ("objective", "weights", "alpha"):
        mine, theirs = (np.asarray(getattr(solution, name)) for solution in (one, other))
        yield float(np.abs(mine - theirs).max() / np.abs(mine).max())
    bounds = [(one.certificate.lower, other.certificate.lower), (one.certificate.upper, other.certificate.upper)]
    yield from (abs(mine - theirs) / abs(mine) for mine, theirs in bounds)


def test_the_package_does_not_import_dask_and_wants_a_cluster():
    code = """
        import sys, mklcvx
        mklcvx.solve, mklcvx.Instance
        print({"dask", "distributed"} & set(sys.modules))
        import dask.array
        try:
            mklcvx.Instance(dask.array.ones((1, 2, 2)), [1, -1])
        except mklcvx.InputError as fault:
            print(fault)
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    none, fault = ran.stdout.splitlines()
    assert none == "set()"
    assert fault.endswith("no cluster to hold them: make a distributed.Client first, or give kernels.compute()")


def test_kernels_stay_with_the_workers(client, there):
    holders = client.who_has(there.kernels.chunks).values()
    assert [bool(holder) for holder in holders] == [True, True]
    assert there.kernels.shape == KERNELS.shape
    assert there.kernels.nbytes == KERNELS.nbytes
    assert "11 float64 kernels on a cluster" in repr(there)
    assert there.sizes == pytest.approx(SERIAL.sizes, abs=0)


def test_what_a_stack_is_asked_has_the_same_bits(there):
    """Sums too: in the order of the kernels, whatever the number of workers and strips."""
    here, far, vector = KernelStack(KERNELS), KernelStack(there.kernels), RNG.normal(size=N)
    weights = np.where(np.arange(11) % 3 == 1, 0.0, RNG.uniform(size=11))
    some = np.array([3, 1, 200])
    for asked in (
        lambda stack: stack.combined(weights),
        lambda stack: stack.matvecs(vector),
        lambda stack: stack.matvecs_of(weights > 0, vector),
        lambda stack: stack.matvecs_each(np.outer(weights, vector)),
        lambda stack: stack.accurate_quad_forms(vector),
        lambda stack: stack.traces,
        lambda stack: stack.largest_entries,
        lambda stack: stack.reference,
        lambda stack: stack.low_rank_factor(10, True).factor,
        lambda stack: stack.factor(2).columns,
        lambda stack: stack.kernels[4],
        lambda stack: stack.of_some(some),
    ):
        assert np.array_equal(asked(here), asked(far))


@pytest.mark.parametrize("block", [1, 1 << 10, 5000, 1 << 13])
def test_strips_make_the_same_sum(there, monkeypatch, block):
    """In blocks that fill the strips or not, and end with a row's odd entries or with the last row."""
    monkeypatch.setattr("mklcvx.problem.distributed.BLOCK", block)
    weights = RNG.uniform(size=11)
    one, far = (KernelStack(kernels).combined(weights) for kernels in (KERNELS, there.kernels))
    assert np.array_equal(np.tril(one), np.tril(far))
    units = 11 * 2.0**-53  # a product and ten sums, each rounded or fused with another
    rounding = 2 * units / (1 - units) * np.einsum("m,mij->ij", weights, np.abs(KERNELS))
    assert (np.abs(one - far) <= rounding * (1 + 1e-12)).all()


@pytest.mark.parametrize("sliced", [False, True])
def test_the_proofs_of_a_pass_are_the_same(there, sliced):
    here, far, beta = KernelStack(KERNELS), KernelStack(there.kernels), np.repeat([1.5, -1.5], N // 2)
    own = np.outer(np.arange(11.0), beta)
    for mine, theirs in (
        (seen(here, beta, True, sliced), seen(far, beta, True, sliced)),
        (own_seen(here, own, True, sliced), own_seen(far, own, True, sliced)),
    ):
        for name in ("z", "error", "shift", "low", "high"):
            assert np.array_equal(getattr(mine, name), getattr(theirs, name))


@pytest.mark.parametrize(("formulation", "own"), CHOSEN)
def test_solutions_are_those_of_one_process(there, formulation, own):
    one, other = (solve(instance, formulation, C=1.0, **own) for instance in (SERIAL, there))
    assert other.certified
    assert max(distances(one, other)) < 1e-12


def test_several_outputs_too(there):
    few, classes = np.arange(40), {"y": None, "classes": CLASSES[:40]}
    parts = [instance.select([0, 1, 10]).of_samples(few) for instance in (SERIAL, there)]
    joint = [part.with_kernels(part.kernels, **classes) for part in parts]
    one, other = (solve(instance, "l1", C=1.0, loss="softmax") for instance in joint)
    assert other.certified
    assert max(distances(one, other)) < 1e-12


def test_constants_are_taken_away_on_the_workers(client):
    """Entries of a thousand million, of which only differences count: offsets, and factors of few columns."""
    stack, few = KERNELS[:3, :80, :80] + 1e9, Y[:80]
    here, far = Instance(stack, few), Instance(da.from_array(stack, chunks=(2, 80, 80)), few)
    assert KernelStack(far.kernels).without_constants().offsets is not None
    one, other = (solve(instance, "l1", C=1.0, tol=1e-6) for instance in (here, far))
    assert max(distances(one, other)) < 1e-12


def test_paths_parts_and_selections(there):
    grid = default_grid(there.kernels, "l1", {})
    assert grid == default_grid(KERNELS, "l1", {})
    picked, few = [4, 0, 7], np.arange(0, N, 3)
    parts = [instance.select(picked).of_samples(few) for instance in (SERIAL, there)]
    one, other = (solve_path(part, "l1", {"C": [0.1, 0.2]}) for part in parts)
    for mine, theirs in zip(one.solutions, other.solutions, strict=True):
        assert max(distances(mine, theirs)) < 1e-12


def test_a_worker_that_is_killed_changes_nothing(client, tmp_path):
    """In the middle of a solution; its chunks are loaded again."""
    far, killed = Instance(from_files(tmp_path, KERNELS), Y), []

    def kill(row):
        if not killed:
            (holder,) = client.who_has(far.kernels.chunks[:1])[far.kernels.chunks[0].key]
            killed.append(client.run(os.getpid, workers=[holder])[holder])
            os.kill(killed[0], signal.SIGKILL)

    one, other = solve(SERIAL, "lp", C=1.0, p=1.5), solve(far, "lp", C=1.0, p=1.5, callback=kill)
    assert killed
    assert killed[0] not in client.run(os.getpid).values()
    assert max(distances(one, other)) < 1e-12
    assert np.array_equal(far.kernels[0], KERNELS[0])


def killed_holder(client, chunk):
    (holder,) = client.who_has([chunk])[chunk.key]
    os.kill(client.run(os.getpid, workers=[holder])[holder], signal.SIGKILL)


def test_kernels_that_changed_before_they_were_loaded_again_are_refused(client, tmp_path):
    far = Instance(from_files(tmp_path, KERNELS[:2], chunk=2), Y)
    np.save(tmp_path / "0.npy", KERNELS[[0, 2]])
    killed_holder(client, far.kernels.chunks[0])
    with pytest.raises(InputError, match="not the ones that were validated: leave their source"):
        solve(far, "l1", C=1.0)


def test_kernels_that_nothing_can_load_again_are_named(client):
    scattered = client.scatter(KERNELS[:2])
    far = Instance(da.from_delayed(dask.delayed(scattered), (2, N, N), float), Y)
    killed_holder(client, far.kernels.chunks[0])
    with pytest.raises(InputError, match="no longer gives the kernels"):
        solve(far, "l1", C=1.0)


def test_the_page_of_measurements_in_small(client, tmp_path, monkeypatch):
    """Here, where there is a cluster."""
    monkeypatch.syspath_prepend(str(ROOT / "validation"))
    page = importlib.import_module("cluster").study(client, tmp_path, 60, 4, 1, True)
    assert "**A smoke run" in page
    assert "| a task there and back |" in page
    (row,) = (line.split("|") for line in page.splitlines() if line.startswith("| `l1`"))
    assert float(row[-2]) < 1e-12
    (killed,) = (line for line in page.splitlines() if line.startswith("With a worker killed"))
    assert "certified" in killed
    assert float(killed.split()[-1].rstrip(".")) < 1e-12
    assert len([line for line in page.splitlines() if line.startswith(("| 1 |", "| 1024 |"))]) == 2


def test_workers_refuse_what_one_process_refuses(client):
    bad = KERNELS[:3].copy()
    bad[2, 4, 5] = np.nan
    wrong = {"has the entry nan at": bad, "is not symmetric": np.triu(KERNELS[:3]), "smallest eigenvalue": -KERNELS[:3]}
    for words, stack in wrong.items():
        with pytest.raises(InputError, match=words) as here:
            Instance(stack, Y)
        with pytest.raises(InputError) as far:
            Instance(da.from_array(stack, chunks=(2, N, N)), Y)
        assert str(here.value) == str(far.value)


def test_asymmetric_and_indefinite_kernels_are_kept_as_one_process_keeps_them(client):
    stack = np.stack([KERNELS[0] + np.triu(1e-12 * np.ones((N, N)), 1), KERNELS[1] - 0.1 * np.eye(N)])
    here = Instance(stack, Y, repair="shift")
    far = Instance(da.from_array(stack, chunks=(1, 100, N)), Y, repair="shift")
    assert far.repairs == here.repairs
    assert np.array_equal(np.stack(list(far.kernels)), here.kernels)


def test_what_needs_the_whole_stack_refuses(there, tmp_path):
    for asked in (
        lambda: solve(there, "l1", C=1.0, solver="clarabel"),
        lambda: Preprocessing.from_options(True, "trace").fit(there.kernels),
        lambda: solve(there, "ts", C=1.0),
        lambda: save_instance(tmp_path / "problem.npz", there),
        lambda: prove(there, "sum", C=1.0),
        lambda: pickle.dumps(there),
    ):
        with pytest.raises(InputError, match=r"kernels are on a cluster \(11 kernels of 270 samples, 0.00642 GB\)"):
            asked()
    assert not list(tmp_path.iterdir())


def test_dask_arrays_that_cannot_be_kernels(client):
    array = da.from_array(KERNELS[:2], chunks=(1, N, N))
    for given, words in (
        (array[0], "three-dimensional"),
        (array + 1j, "dtype complex128"),
        (array[array.sum(axis=(1, 2)) > 0], "unknown shape"),
        ([array[0], array[1]], "stack"),
    ):
        with pytest.raises(InputError, match=words):
            Instance(given, Y)
    with pytest.raises(InputError, match=r"test_kernels\.compute\(\)"):
        Instance(KERNELS[:2], Y, test_kernels=array)
    with pytest.warns(UserWarning, match="kernel index last"):
        turned = Instance(da.moveaxis(array, 0, -1), Y)
    assert np.array_equal(turned.kernels[1], KERNELS[1])


def boom():
    raise RuntimeError("boom\nin two lines")


LIES = {
    "smaller": lambda: KERNELS[:1, :5, :5],
    "one kernel": lambda: KERNELS[0],
    "more of them": lambda: KERNELS[:3],
    "none": lambda: KERNELS[:0],
}


@pytest.mark.parametrize("lie", LIES)
def test_chunks_that_are_not_what_the_array_says_are_named(client, lie):
    array = da.concatenate([da.from_array(KERNELS[:2]), da.from_delayed(dask.delayed(LIES[lie])(), (1, N, N), float)])
    with check_refused("the chunk from kernel 'K3' (index 2) has shape", f"the Dask array says (1, {N}, {N}): give"):
        Instance(array, Y)


def test_a_chunk_that_raises_is_told_in_a_line(client):
    with check_refused("a chunk of the Dask array cannot be loaded (RuntimeError: boom in two lines): try kernels."):
        Instance(da.from_delayed(dask.delayed(boom)(), (3, N, N), float), Y)


def test_faults_of_our_own_on_workers_stay_what_they_are(there):
    with pytest.raises(TypeError, match="exponent must be an integer"):
        there.kernels.each(np.linalg.matrix_power, [0.5] * len(there.kernels), of=[0])


def test_a_client_that_was_closed_is_named(client):
    with distributed.Client(client.scheduler.address, set_as_default=False) as other, other.as_current():
        far = Instance(da.from_array(KERNELS[:2], chunks=(2, N, N)), Y)
    for asked in (lambda: solve(far, "l1", C=1.0), lambda: far.kernels[0], lambda: solve(far.select([0]), "l1")):
        with check_refused("the cluster no longer gives the kernels (ClosedClientError", "make the Instance again"):
            asked()
