"""A stack is validated once: parts of it inherit that, and kernels of our own functions are semidefinite anyway."""

import numpy as np
import pytest

from mklcvx import InputError, Instance, LowRank, MKLClassifier, kernel_importance, solve, solve_path
from mklcvx.estimators.cross_validation import cross_validate
from mklcvx.problem import preprocessing, validation
from mklcvx.problem.kernels import Gaussian
from mklcvx.problem.stack import Memory
from mklcvx.problem.targets import Targets
from mklcvx.problem.validation import KnownStack
from mklcvx.solvers.one_against import parts_of, solve_by_machines

RNG = np.random.default_rng(0)
N, M = 24, 3
X = RNG.normal(size=(N, 4))
CLASSES = np.arange(N) % 4
STACK = np.stack([np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=-1)) for gamma in (0.1, 0.5, 2.0)])
INDEFINITE = STACK - 0.5 * np.eye(N)


@pytest.fixture
def tests_made(monkeypatch):
    """How many kernels have been tested for being semidefinite."""
    made, test = [], validation.smallest_eigenvalue

    def counted(kernel, *given):
        made.append(len(kernel))
        return test(kernel, *given)

    monkeypatch.setattr(validation, "smallest_eigenvalue", counted)
    monkeypatch.setattr(preprocessing, "smallest_eigenvalue", counted)
    return made


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("normalise", [None, "diagonal", "trace"])
def test_one_fit_tests_every_kernel_of_a_stack_once(tests_made, multi_class, normalise):
    kernels = np.moveaxis(STACK * np.array([1.0, 2.0, 3.0])[:, None, None], 0, -1)
    MKLClassifier("l1", "precomputed", multi_class=multi_class, normalise=normalise, C=1.0).fit(kernels, CLASSES)
    assert tests_made == [N] * M


@pytest.mark.parametrize("normalise", [None, "diagonal", "cosine"])
def test_kernels_of_our_own_functions_are_not_tested(tests_made, normalise):
    bank = ["linear", "gaussian", {"kernel": "polynomial", "degree": 2, "scale": 0.1}, ("some", "laplacian", [0, 1])]
    model = MKLClassifier("average", bank, normalise=normalise, C=1.0).fit(X, CLASSES)
    assert all(solution.certified for solution in model.solutions_)
    assert tests_made == []


def test_what_centring_leaves_is_tested(tests_made):
    MKLClassifier("average", ["linear", "gaussian"], centre=True, C=1.0).fit(X, CLASSES)
    assert tests_made == [N] * 2


class Sigmoid(Gaussian):
    """A class of the user's, which is no kernel."""

    def of(self, compared):
        return np.where(compared == 0, 0.0, 1.0)


def test_functions_and_classes_of_the_user_are_tested(tests_made):
    MKLClassifier("average", [lambda a, b: a @ b.T, "linear"], C=1.0).fit(X, CLASSES)
    assert tests_made == [N]
    with pytest.raises(InputError, match="not positive semidefinite"):
        MKLClassifier("average", [Sigmoid(1.0), "linear"], C=1.0).fit(X, CLASSES)


def test_machines_folds_and_paths_inherit(tests_made):
    instance = Instance(STACK, classes=CLASSES)
    assert len(tests_made) == M
    for multi_class in ("ovr", "ovo"):
        assert solve_by_machines(instance, "average", multi_class, C=1.0).certified
    cross_validate(instance, "average", [{"C": 1.0}], folds=2, multi_class="ovr")
    part = instance.of_samples(np.flatnonzero(CLASSES < 2))
    solve_path(part.with_targets(Targets("y", np.where(part.targets.values == 0, 1.0, -1.0), ("y",))), "l1", {"C": [1]})
    instance.select([0, 2])
    assert len(tests_made) == M


def test_importance_tests_every_kernel_of_a_fold_once(tests_made):
    kernel_importance(
        MKLClassifier("average", "precomputed", C=1.0), np.moveaxis(STACK, 0, -1), CLASSES, cv=2,
        answers=["alone", "without"],
    )  # fmt: skip
    folds = [samples for samples in tests_made if samples < N]
    assert (len(folds), len(tests_made)) == (2 * M, 3 * M)


def test_parts_have_what_an_instance_of_their_own_would_have():
    weight = RNG.uniform(0.5, 2, N)
    instance = Instance(STACK.astype(np.float32), classes=CLASSES, sample_weight=weight, groups=[5, 5, 7])
    for part in parts_of(instance, "ovo"):
        own = STACK.astype(np.float32)[:, part.members][:, :, part.members]
        fresh = Instance(own, part.instance.y, sample_weight=weight[part.members], groups=[5, 5, 7])
        for name in ("kernels", "sizes", "sample_weight", "groups", "y"):
            np.testing.assert_array_equal(getattr(part.instance, name), getattr(fresh, name))
        assert (part.instance.symmetric, part.instance.names) == (fresh.symmetric, fresh.names)
        assert not part.instance.kernels.flags.writeable
    chosen = instance.select([2, 0])
    fresh = Instance(STACK.astype(np.float32)[[2, 0]], classes=CLASSES, groups=[7, 5], names=["K3", "K1"])
    for name in ("kernels", "sizes", "groups"):
        np.testing.assert_array_equal(getattr(chosen, name), getattr(fresh, name))
    assert chosen.names == fresh.names
    with pytest.raises(InputError, match="no kernel"):
        instance.select([])


def test_factors_stay_factors_in_parts():
    instance = Instance(LowRank([X, X[:, :1]]), classes=CLASSES)
    part = parts_of(instance, "ovo")[0]
    assert isinstance(part.instance.kernels, LowRank)
    np.testing.assert_array_equal(part.instance.kernels.columns, np.hstack([X, X[:, :1]])[part.members])


def test_parts_of_a_memory_map_that_is_not_quite_symmetric_are_its_lower_triangle(tmp_path):
    off = STACK + 1e-12 * np.triu(np.ones((N, N)), 1)
    np.save(tmp_path / "kernels.npy", off)
    instance = Instance(np.load(tmp_path / "kernels.npy", mmap_mode="r"), classes=CLASSES)
    assert not instance.symmetric
    chosen = np.array([7, 2, 11])  # in any order
    part = instance.of_samples(chosen, Targets("classes", CLASSES[chosen], ("0", "1", "2")))
    np.testing.assert_array_equal(part.kernels, STACK[:, chosen][:, :, chosen])
    assert part.symmetric
    written = np.load(tmp_path / "kernels.npy", mmap_mode="r+")
    written[0, 0, 0] = 5.0
    written.flush()
    for taken in (lambda: instance.of_samples(chosen), lambda: instance.select([0, 1])):
        with pytest.raises(InputError, match="has changed since it was validated"):
            taken()
    with pytest.raises(InputError, match="has changed"):
        instance.select([0]).check_unchanged()


def test_indefinite_kernels_that_were_called_semidefinite_are_paid_for():
    """The certificate does not rely on the test: δ is proved for the combination, whoever vouches for the kernels."""
    with pytest.raises(InputError, match="not positive semidefinite"):
        Instance(INDEFINITE, np.where(CLASSES < 2, 1, -1))
    instance = Instance(KnownStack(INDEFINITE, [True] * M), np.where(CLASSES < 2, 1, -1))
    solution = solve(instance, "average", C=1.0, time_limit=5)
    assert not solution.certified
    assert solution.certificate.ridge >= -np.linalg.eigvalsh(INDEFINITE.mean(axis=0))[0] - 1e-12


def test_kernels_of_some_samples_lie_in_one_piece():
    """Products with a view across the stack would copy each kernel first."""
    instance, chosen = Instance(STACK, classes=CLASSES), np.array([7, 2, 11])
    part = instance.of_samples(chosen, Targets("classes", CLASSES[chosen], ("0", "1", "2")))
    np.testing.assert_array_equal(part.kernels, STACK[:, chosen][:, :, chosen])
    assert part.kernels.flags.c_contiguous


def test_what_is_remembered_is_the_value_asked_for_whatever_another_thread_stores():
    memory, at = Memory(np.eye(2)[None]), np.ones(2)
    assert memory.recalled("name", at, lambda: "mine") == "mine"

    class Overtaken:
        """Numbers that are read when another thread stores its own value."""

        def __array__(self, dtype=None, copy=None):
            memory.values["name"] = 2 * at, "another's"
            return at

    assert memory.recalled("name", Overtaken(), lambda: "mine again") == "mine"
