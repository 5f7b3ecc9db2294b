"""What a process has only once stays as it was, in one thread or many; few files may change it at all."""

import ast
import pickle
import re
import sys
import threading
import warnings
from contextlib import ExitStack

import pytest
from joblib import parallel_config
from threadpoolctl import threadpool_info

from mklcvx import solve, zoo
from mklcvx.certificate.ridge import Successive
from mklcvx.errors import unheard
from mklcvx.estimators.chunks import in_chunks
from places import ROOT, check_nobody_else

# Who may change it, and why. A command and a worker have their process to themselves.
MAY = {
    "mklcvx/__main__.py": "a command's process",
    "mklcvx/cli/main.py": "a command's process",
    "mklcvx/cli/interrupts.py": "a command's process",
    "mklcvx/cli/streams.py": "a command's process",
    "mklcvx/solvers/interrupts.py": "takes back what SCS has taken, at the command line alone",
    "mklcvx/solvers/silence.py": "standard output, counted and locked",
    "mklcvx/estimators/chunks.py": "threads of linear algebra, counted and locked",
    "mklcvx/checker/claims.py": "a command's process",
    "mklcvx/bench/worker.py": "a process of its own",
    "mklcvx/io/matlab_apart.py": "a process of its own",
    "mklcvx/reports/pages/page.py": "matplotlib's settings, which have no other place",
    "mklcvx/bench/matrix/picture.py": "the same",
    "formulations/__init__.py": "python -m alone",
}
CALLS = {
    "catch_warnings", "simplefilter", "filterwarnings", "resetwarnings", "seterr", "seterrcall", "set_printoptions",
    "set_wakeup_fd", "setitimer", "sigprocmask", "pthread_sigmask", "siginterrupt", "putenv", "unsetenv", "dup2",
    "redirect_stdout", "redirect_stderr", "threadpool_limits", "chdir", "umask", "setlocale", "setrecursionlimit",
    "setswitchinterval", "settrace", "setprofile", "setrlimit", "set_start_method", "setcontext",
    "rc_context", "set_config", "set_backend", "register_parallel_backend", "addaudithook",
}  # fmt: skip
OF_MODULES = {
    **{name: re.compile(f"os\\.environ\\.{name}") for name in ("update", "pop", "setdefault", "clear", "popitem")},
    **{name: re.compile(f"signal\\.{name}") for name in ("signal", "alarm")},
    **{name: re.compile(f"gc\\.{name}") for name in ("enable", "disable", "freeze")},
    "seed": re.compile(r"(np\.)?random\.seed"),
    "context": re.compile(r"style\.context"),
}
TOLD = re.compile("|".join([*CALLS, *OF_MODULES, "environ", "sys\\.", "warnings\\."]))
ASSIGNED = re.compile(r"(sys\.(stdout|stderr|stdin|excepthook|path)|warnings\.\w+|os\.environ)\b.*")


def changes(text):
    """The lines of a file on which something of the process is changed."""
    for node in ast.walk(ast.parse(text if TOLD.search(text) else "")):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            called = getattr(node.func, "id", None) or node.func.attr
            if called in CALLS or (called in OF_MODULES and OF_MODULES[called].fullmatch(ast.unparse(node.func))):
                yield node.lineno
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.Delete):
            targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets
            places = [one for one in targets if isinstance(one, ast.Attribute | ast.Subscript)]
            if any(ASSIGNED.fullmatch(ast.unparse(one)) for one in places):
                yield node.lineno


def test_nobody_else_changes_the_process():
    check_nobody_else(changes, MAY)


def test_the_test_sees_changes():
    seen = ("warnings.catch_warnings()", "simplefilter('ignore')", "np.seterr(all='ignore')", "os.environ['A'] = 'b'",
            "os.environ.pop('A')", "signal.signal(2, f)", "sys.stdout = x", "del os.environ['A']", "os.dup2(1, 2)",
            "warnings.showwarning = f", "with threadpool_limits(1): pass", "np.random.seed(0)",
            "sys.path[:] = []")  # fmt: skip
    fine = ("os.environ.get('A')", "np.errstate(all='ignore')", "warnings.warn('x')", "signal.getsignal(2)",
            "stdout = sys.stdout", "rng.seed", "print(sys.path)")  # fmt: skip
    assert [text for text in seen if not list(changes(text))] == []
    assert [text for text in fine if list(changes(text))] == []


def test_json_is_read_in_one_place():
    """Elsewhere are only files of the package itself, and what its own processes say to each other."""
    own = {"mklcvx/schemas.py", "mklcvx/zoo/specimens.py", "mklcvx/bench/conformance/references.py"}
    spoken = {"mklcvx/io/matlab_apart.py", "mklcvx/bench/worker.py", "mklcvx/bench/process.py"}
    readers = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "mklcvx").rglob("*.py")
        if re.search(r"\bjson\.loads?\(|JSONDecoder", file.read_text(encoding="utf-8"))
    }
    assert readers == {"mklcvx/io/json_text.py", "mklcvx/checker/files.py"} | own | spoken


# ----------------------------------------------------------------------------------------------------------- warnings
class Other(threading.Thread):
    """A thread that enters a context when it is told to, warns, and leaves when it is told to."""

    def __init__(self, context):
        super().__init__()
        self.context, self.heard = context, None
        self.inside, self.leave, self.out = threading.Event(), threading.Event(), threading.Event()

    def run(self):
        with self.context:
            self.heard = hears()
            self.inside.set()
            self.leave.wait(30)
        self.out.set()


def hears(text="loud"):
    """Whether a warning raises, as pytest has it."""
    try:
        warnings.warn(text, UserWarning, stacklevel=1)
    except UserWarning:
        return True
    return False


def begun(*contexts):
    others = [Other(context) for context in contexts]
    for one in others:
        one.start()
        assert one.inside.wait(30)
    return others


def ended(*others):
    for one in others:
        one.leave.set()
        assert one.out.wait(30)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (2, 0, 1)])
@pytest.mark.parametrize("users", [(), (0,), (1,), (2,)])
def test_threads_that_silence_warnings_leave_the_filters_as_they_were(order, users):
    """Also where a thread of the caller's changes filters meanwhile."""
    before, filters = list(warnings.filters), warnings.filters
    others = begun(*(warnings.catch_warnings() if k in users else unheard() for k in range(3)))
    assert [one.heard for one in others] == [k in users for k in range(3)]
    assert hears()
    ended(*(others[k] for k in order))
    assert list(warnings.filters) == before
    assert warnings.filters is filters
    assert hears()


def test_a_thread_that_silences_warnings_hears_the_others():
    with unheard(UserWarning, "Loud"):
        assert not hears("loud")
        assert hears("silent")
        with pytest.raises(DeprecationWarning):
            warnings.warn("loud", DeprecationWarning, stacklevel=1)
        kept, sent = list(warnings.filters), pickle.dumps(warnings.filters[0][1])
    assert pickle.loads(sent).match("Loud")
    with warnings.catch_warnings():
        warnings.filters[:] = kept  # as somebody has copied them
        assert hears("loud")


# ------------------------------------------------------------------------------------------------ libraries, memories
def test_threads_of_linear_algebra_are_as_before_after_fits_that_overlap():
    def blas_threads(numbers=()):
        limits = {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}
        return [limits for _ in numbers] or limits

    found, before = [], blas_threads()
    fits = [threading.Thread(target=chunks, args=(blas_threads, found)) for _ in range(6)]
    for one in fits:
        one.start()
    for one in fits:
        one.join()
    assert found == [{1}] * 24
    assert blas_threads() == before


def chunks(work, found):
    with parallel_config("threading"):
        found += in_chunks(work, range(4), 2)


def test_bounds_that_are_remembered_can_be_asked_for_by_two_threads():
    waiting, go = threading.Event(), threading.Event()

    def bounds():
        waiting.set()
        go.wait(30)
        yield 1.0
        yield 0.5

    shared, found = Successive(bounds()), []
    threads = [threading.Thread(target=lambda: found.append(shared.until(0.5))) for _ in range(2)]
    threads[0].start()
    assert waiting.wait(30)
    threads[1].start()
    go.set()
    for one in threads:
        one.join(30)
    assert found == [0.5, 0.5]


@pytest.mark.parametrize("solver", ["clarabel", "scs", "interior"])
def test_solves_in_eight_threads_are_those_of_one(solver):
    instance = zoo.random(12, 3, seed=1).remembering()
    right, before = solve(instance, "l1", solver=solver), list(warnings.filters)
    found, interval = [], sys.getswitchinterval()
    threads = [threading.Thread(target=lambda: found.append(solve(instance, "l1", solver=solver))) for _ in range(8)]
    with ExitStack() as stack:
        stack.callback(sys.setswitchinterval, interval)
        sys.setswitchinterval(1e-5)
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert [{**one.as_dict(), "seconds": 0} for one in found] == [{**right.as_dict(), "seconds": 0}] * 8
    assert list(warnings.filters) == before
