"""What does not fit into memory is refused before any of it is taken, in one line that says what to do."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem

import mklcvx
from mklcvx.errors import NotEnoughMemory, at_command_line
from mklcvx.estimators.cross_validation import cross_validate
from mklcvx.problem import memory
from mklcvx.problem.kernels import Gaussian, KernelBank
from mklcvx.problem.low_rank import dense
from mklcvx.problem.ownership import handed_over
from refusals import check_refused, refused_within

N = 20_000
X, Y = np.zeros((N, 3)), np.where(np.arange(N) % 2, 1.0, -1.0)
X[:, 0] = np.arange(N)
NOWHERE = np.broadcast_to(np.zeros(()), (9, N, N))  # no memory behind it


@pytest.fixture
def eight_gigabytes(monkeypatch):
    monkeypatch.setenv(memory.VARIABLE, "8GB")


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (lambda: mklcvx.Instance(writeable(9), Y), ("9 kernels of 20000 samples",)),
        (lambda: mklcvx.Instance(list(NOWHERE), Y), ("9 kernels of 20000 samples", "mmap_mode='r'", "float32")),
        (lambda: mklcvx.solve(list(NOWHERE), Y, "l1"), ("9 kernels of 20000 samples", "mklcvx.LowRank")),
        (lambda: mklcvx.MKLClassifier().fit(X, Y), ("7 kernels of 20000 samples", "35.2 GB", "7.2 GB are")),
        (lambda: mklcvx.MKLRegressor(kernels=["linear", "rbf"]).fit(X, Y), ("2 kernels", "[('name', Nystroem(")),
        (lambda: mklcvx.OneClassMKL(kernels={"kernel": "rbf", "features": "each"}).fit(X), ("3 kernels",)),
        (lambda: mklcvx.MKLClassifier(kernels=[("a", "rbf", [0]), Nystroem(n_components=9)]).fit(X, Y), ("2 kernels",)),
        (lambda: mklcvx.MKLClassifier(kernels="linear", centre=True).fit(X, Y), ("1 kernel of 20000", "centre=False")),
        (lambda: mklcvx.mkl_path(X, Y, {"C": [1.0]}), ("7 kernels of 20000 samples",)),
        (lambda: KernelBank([Gaussian(1.0)] * 4).fit(X).stack(), ("4 kernels of 20000 samples", "12.8 GB")),
        (lambda: KernelBank([Gaussian(1.0)] * 9).fit(X).stack(X[:9000]), ("9000 new and 20000 training samples",)),
        (lambda: dense(mklcvx.LowRank([X] * 3)), ("3 kernels of 20000 samples",)),
    ],
)  # fmt: skip
def test_too_much_is_refused_before_it_is_taken(eight_gigabytes, attempt, words):
    assert refused_within(attempt, *words, "memory", "MKLCVX_MEMORY=unlimited") < 2e7


def writeable(count):
    """An array that would be copied, without memory behind it."""
    return np.lib.stride_tricks.as_strided(np.zeros(1), (count, N, N), (0, 0, 0))


def test_it_is_an_input_error_and_a_memory_error(eight_gigabytes):
    with pytest.raises(MemoryError) as caught:
        mklcvx.MKLClassifier().fit(X, Y)
    assert isinstance(caught.value, NotEnoughMemory)
    assert isinstance(caught.value, mklcvx.InputError)


def test_a_solver_is_refused_by_what_it_needs_beside_the_kernels(monkeypatch):
    instance = mklcvx.zoo.by_hand()
    size = 8 * instance.samples**2
    monkeypatch.setattr(memory, "SMALL", 0.0)
    monkeypatch.setenv(memory.VARIABLE, f"{8 * size}")
    assert mklcvx.solve(instance, "l1").certified
    with check_refused("solutions for 4 samples by solver clarabel", "or solver 'interior'"):
        mklcvx.solve(instance, "l1", solver="clarabel")
    monkeypatch.setenv(memory.VARIABLE, f"{4 * size}")
    with check_refused("solutions for 4 samples by solver auto", "mklcvx.LowRank"):
        mklcvx.solve(instance, "l1")
    with check_refused("solutions for 4 samples by solver auto"):
        mklcvx.solve_path(instance, "l1", {"C": [1.0]})
    low = mklcvx.Instance(mklcvx.LowRank([instance.kernels[0][:, :1]]), instance.y)
    assert mklcvx.solve(low, "l1").certified  # its factors fit


def test_outputs_count(monkeypatch):
    rng = np.random.default_rng(0)
    low = mklcvx.LowRank([rng.normal(size=(30, 2)), rng.normal(size=(30, 1))])
    classes = mklcvx.Instance(low, classes=np.arange(30) % 5)
    responses = mklcvx.Instance(low, response=rng.normal(size=(30, 5)))
    monkeypatch.setattr(memory, "SMALL", 0.0)
    monkeypatch.setenv(memory.VARIABLE, f"{8 * 30**2 * 40}")
    for instance, given in ((classes, {"loss": "softmax"}), (responses, {"loss": "squared"})):
        with check_refused("solutions for 30 samples and 5 outputs by solver auto need about 0.36 MB"):
            mklcvx.solve(instance, "l1", **given)
    assert mklcvx.solve(classes, "ml_sum").certified  # no blocks for two outputs


def test_folds_at_once_count(monkeypatch):
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(3, 20, 25))
    instance = mklcvx.Instance(factor @ factor.transpose(0, 2, 1), np.where(np.arange(20) % 2, 1, -1))
    monkeypatch.setattr(memory, "SMALL", 0.0)
    monkeypatch.setenv(memory.VARIABLE, f"{1.5 * instance.kernels.nbytes}")
    with check_refused("training parts of 20 samples and 3 kernels", "run fewer folds at once than 4", "Dask"):
        cross_validate(instance, "l1", [{"C": 1.0}], folds=4, jobs=4)


def test_the_remedy_is_one_for_the_command_line_there(eight_gigabytes):
    with at_command_line(), check_refused("take fewer kernels (--kernels) or samples, or store float32"):
        mklcvx.Instance(list(NOWHERE), Y)


def test_kernels_that_need_no_copy_are_taken(monkeypatch):
    monkeypatch.setenv(memory.VARIABLE, "7.2GB")  # two matrices for the check
    memory.check_copy(np.broadcast_to(handed_over(np.zeros(())), (9, N, N)))  # read-only
    with check_refused("1 kernel of 20000 samples"):
        memory.check_copy([np.lib.stride_tricks.as_strided(np.zeros(1), (N, N), (0, 0))])


# ------------------------------------------------------------------------------------------------- what is available
@pytest.mark.parametrize(
    ("given", "size"), [("16GB", 16e9), ("1.5 g", 1.5e9), ("500MiB", 5e8), ("123", 123.0), ("unlimited", np.inf)]
)
def test_a_size_can_be_given(monkeypatch, given, size):
    monkeypatch.setenv(memory.VARIABLE, given)
    assert memory.available() == size


def test_what_is_no_size_is_refused(monkeypatch):
    monkeypatch.setenv(memory.VARIABLE, "plenty")
    with check_refused("MKLCVX_MEMORY=plenty is no size", "16GB"):
        memory.available()


@pytest.fixture
def group(tmp_path, monkeypatch):
    """Writes files of a control group, and of the process."""
    monkeypatch.delenv(memory.VARIABLE, raising=False)
    monkeypatch.setattr(memory, "GROUPS", tmp_path / "groups")
    monkeypatch.setattr(memory, "PROCESS", tmp_path)

    def write(lines, files):
        (tmp_path / "cgroup").write_text(lines, encoding="utf-8")
        for name, text in files.items():
            path = tmp_path / "groups" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    return write


@pytest.mark.parametrize(
    ("lines", "files", "left"),
    [
        ("0::/a\n", {"a/memory.max": "3000", "a/memory.current": "1000"}, 2000),
        ("0::/a\n", {"a/memory.max": "3000", "a/memory.current": "1000", "a/memory.stat": "inactive_file 40\n"}, 2040),
        ("0::/a/b\n", {"a/b/memory.max": "max", "a/memory.max": "900", "a/memory.current": "100"}, 800),
        ("4:cpu,memory:/c\n", {"memory/c/memory.limit_in_bytes": "50", "memory/c/memory.usage_in_bytes": "60"}, 0),
        ("7:cpu:/c\n", {"memory/c/memory.limit_in_bytes": "50", "memory/c/memory.usage_in_bytes": "10"}, None),
    ],
)  # fmt: skip
def test_limits_of_control_groups_count(group, lines, files, left):
    group(lines, files)
    found = memory.available()
    assert found == left if left is not None else found > 1e6


def test_limits_of_the_process_count(group, tmp_path, monkeypatch):
    resource = pytest.importorskip("resource")
    group("0::/\n", {})
    (tmp_path / "statm").write_text("2 1 1 1 0 1 0\n", encoding="utf-8")
    limited = SimpleNamespace(limit=10 * resource.getpagesize())
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limited.limit, limited.limit))
    assert memory.available() == 8 * resource.getpagesize()
    limited.limit = resource.RLIM_INFINITY
    assert memory.available() > 1e6


LIMITED = """
import resource, sys
import numpy as np, mklcvx
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]),) * 2)
try:
    print(mklcvx.solve(np.eye(300)[None] + 1, np.repeat([1, -1], 150), "l1").status)
except mklcvx.InputError as fault:
    print(type(fault).__name__, fault)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say what is used")
@pytest.mark.parametrize(("left", "words"), [(2e7, "NotEnoughMemory ulimit -v leaves"), (1e9, "certified")])
def test_numerical_libraries_are_loaded_where_there_is_room_for_them(left, words):
    """BLAS waits for ever, or ends the process, where it finds none."""
    child = [sys.executable, "-c", LIMITED, str(int(left))]
    done = subprocess.run(child, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(words)


@pytest.mark.parametrize(
    ("threads", "words"), [("1", "1 threads take about 140 MB"), ("two", "set OPENBLAS_NUM_THREADS=1")]
)
def test_too_few_addresses_are_refused_before_libraries_are_loaded(monkeypatch, threads, words):
    monkeypatch.setattr(memory, "_of_limits", lambda: iter([1e8]))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", threads)
    memory.load_libraries.cache_clear()
    with check_refused("ulimit -v leaves 100 MB of addresses", "raise the limit", words):
        mklcvx.Instance(np.eye(4)[None] + 1, [1, 1, -1, -1])
