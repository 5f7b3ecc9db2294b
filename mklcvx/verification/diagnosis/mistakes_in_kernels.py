"""Mistakes in the kernels that a solver used: scaled, centred, of other entries, one in place of another.

A change is a function of the stack; it serves every family, since a changed instance poses the same formulation. What
is made of the instance asked about is kept while a search runs, which comes by many times, and no longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ...errors import InputError
from ...problem.instance import Instance, no_test_samples
from ...problem.low_rank import LowRank
from ...problem.preprocessing import Preprocessing
from ...problem.stack import Array
from ..answers import Answer
from ..case import Case
from .mistakes import DiagnosticTrial, Hypotheses, Trials

RIDGES = (1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0)
DECIMALS = (2, 3, 4)
DIGITS = 6  # that C++ writes of a number, unless told otherwise
SMALL = 2**21  # bytes of a stack whose changes are kept: there are some hundred
MANY = 8  # kernels beyond which single ones are not dropped, copied or left alone
Change = Callable[[Array], Array]

_KEPT: WeakKeyDictionary[Instance, dict[str, Instance | None]] = WeakKeyDictionary()


def dense(case: Case) -> Array | None:
    kernels = case.instance.kernels
    return None if isinstance(kernels, LowRank) else np.asarray(kernels, dtype=float)


def kept(instance: Instance, key: str, make: Callable[[], Instance]) -> Instance | None:
    """The changed instance, made once for the one that was asked about; None where there is no such instance."""
    known = _KEPT.get(instance, {})
    if key not in known:
        try:
            with np.errstate(all="ignore"):
                known[key] = make()
        except (InputError, ArithmeticError, np.linalg.LinAlgError):
            known[key] = None
    return known[key]


@contextmanager
def keeping(instance: Instance) -> Iterator[None]:
    """Keep what is made of this instance, unless it is large, and nothing of what is made of that; forget it after."""
    if instance.kernels.nbytes <= SMALL:
        _KEPT[instance] = {}
    try:
        yield
    finally:
        _KEPT.pop(instance, None)


def changed_kernels(
    case: Case, answer: Answer, name: str, words: str, change: Change, number: float | None = None, **more: Any
) -> Trials:
    """Optimal for kernels that were changed in this way. A `number` that was fitted has more digits than its words."""
    stack = dense(case)
    if stack is None:
        return
    key = f"{name} {words} {number!r}"
    changed = kept(case.instance, key, lambda: case.instance.with_kernels(change(stack), **more))
    if changed is not None:
        yield DiagnosticTrial(name, f"optimal for {words}", answer, changed)


# ------------------------------------------------------------------------------------------------------ size and centre
def _over(size: Change) -> Change:
    return lambda stack: stack / size(stack)[:, None, None]


def _traces(stack: Array) -> Array:
    return np.einsum("mii->m", stack)


def _norms(stack: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("mij,mij->m", stack, stack)))


def _largest_eigenvalues(stack: Array) -> Array:
    return np.asarray(np.linalg.eigvalsh(stack)[:, -1], dtype=float)


def times(factor: float) -> Change:
    return lambda stack: stack * factor


def plus(matrix: Array) -> Change:
    return lambda stack: stack + matrix


def _instead(m: int, other: int) -> Change:
    """Kernel `other` in the place of m."""
    return lambda stack: stack[[other if k == m else k for k in range(len(stack))]]


def _centred(stack: Array) -> Array:
    away = np.eye(stack.shape[1]) - 1 / stack.shape[1]
    moved = away @ stack @ away
    return np.asarray((moved + moved.transpose(0, 2, 1)) / 2)


def _prepared(**options: Any) -> Change:
    return lambda stack: np.asarray(Preprocessing.from_options(**options).fit(stack).train(stack))


def _after(first: Change, second: Change) -> Change:
    return lambda stack: second(first(stack))


_COSINE = _prepared(normalise="cosine")
_UNIT_TRACE, _TRACE_N = _over(_traces), _over(lambda stack: _traces(stack) / stack.shape[1])
SIZES: tuple[tuple[str, str, Change], ...] = (
    ("kernels_trace", "the kernels rescaled to unit trace", _UNIT_TRACE),
    ("kernels_trace", "the kernels rescaled to trace n", _TRACE_N),
    ("kernels_centred", "the kernels centred in feature space", _prepared(centre=True)),
    ("kernels_cosine", "the kernels with unit diagonal (cosine)", _COSINE),
    ("kernels_variance", "the kernels of unit variance", _prepared(normalise="variance")),
    ("kernels_variance", "the kernels centred in feature space and of unit variance",
     _prepared(centre=True, normalise="variance")),
    ("kernels_frobenius", "the kernels divided by their Frobenius norms", _over(_norms)),
    ("kernels_frobenius", "the kernels of Frobenius norm n", _over(lambda stack: _norms(stack) / stack.shape[1])),
    ("kernels_frobenius", "the kernels divided by their spectral norms",
     _over(_largest_eigenvalues)),
    ("kernels_frobenius", "the kernels divided by their largest entries",
     _over(lambda stack: np.abs(stack).max(axis=(1, 2)))),
    ("kernels_frobenius", "the kernels divided by their means", _over(lambda stack: np.abs(stack.mean(axis=(1, 2))))),
)  # fmt: skip
ORDERS: tuple[tuple[str, str, Change], ...] = (
    ("kernels_order", "samples in the reverse order", lambda stack: stack[:, ::-1, ::-1]),
    ("kernels_order", "samples shifted by one", lambda stack: np.roll(stack, 1, axis=(1, 2))),
    ("kernels_order", "samples shifted by one, the other way", lambda stack: np.roll(stack, -1, axis=(1, 2))),
)
BOTH: tuple[tuple[str, str, Change], ...] = (
    ("kernels_trace", "the kernels centred and of unit trace", _after(_centred, _UNIT_TRACE)),
    ("kernels_trace", "the kernels centred and of trace n", _after(_centred, _TRACE_N)),
    ("kernels_centred", "the kernels of unit diagonal and then centred", _after(_COSINE, _centred)),
)


def kernels_rescaled(case: Case, answer: Answer) -> Trials:
    for name, words, change in SIZES:
        if name == "kernels_centred" and answer.bias is None and case.parameters.get("bias", False):
            continue  # y'α = 0 undoes it: q is the same, and only the bias is another
        yield from changed_kernels(case, answer, name, words, change)


def kernels_rescaled_twice(case: Case, answer: Answer) -> Trials:
    for name, words, change in BOTH:
        yield from changed_kernels(case, answer, name, words, change)


def kernels_scaled(case: Case, answer: Answer) -> Trials:
    n = case.instance.samples
    for words, factor in (
        ("divided by n", 1 / n),
        ("multiplied by n", float(n)),
        ("divided by M", 1 / case.instance.count),
    ):
        said = f"every kernel {words}"
        yield from changed_kernels(case, answer, "kernels_scaled", said, times(factor))


# -------------------------------------------------------------------------------------------------------- other entries
def _laplacians(stack: Array) -> Array:
    return np.asarray(np.einsum("mi,ij->mij", stack.sum(axis=2), np.eye(stack.shape[1])) - stack)


ENTRIES: tuple[tuple[str, str, Change], ...] = (
    ("kernels_power", "kernels with squared entries: a Gaussian of another width, a polynomial of twice the degree",
     np.square),
    ("kernels_power", "kernels with the square roots of the entries: a Gaussian of another width",
     lambda stack: np.sqrt(np.abs(stack)) * np.sign(stack)),
    ("kernels_power", "K² in place of K: the matrix times itself", lambda stack: stack @ stack),
    ("kernels_distance", "the Laplacian D − K in place of K", _laplacians),
    ("kernels_distance", "1 − K in place of K: distances for similarities", lambda stack: 1 - stack),
    ("kernels_order", "kernels whose samples are in the reverse order", lambda stack: stack[:, ::-1, ::-1]),
)  # fmt: skip


def kernels_of_other_entries(case: Case, answer: Answer) -> Trials:
    for name, words, change in ENTRIES:
        yield from changed_kernels(case, answer, name, words, change, repair="clip")


def constant_added(case: Case, answer: Answer) -> Trials:
    """A bias with the penalty ½b²: a constant kernel takes its place, and y'α = 0 is no constraint."""
    if case.parameters["bias"]:
        words = "a bias that is penalised like the rest: 1 added to every kernel, and no y'α = 0"
        for trial in changed_kernels(
            case, replace(answer, bias=None), "bias_penalised", words, lambda stack: stack + 1.0
        ):
            yield replace(trial, parameters={**case.parameters, "bias": False})


def kernels_shifted(case: Case, answer: Answer) -> Trials:
    if not case.parameters.get("bias", False):
        words = "kernels with 1 added to every entry"
        yield from changed_kernels(case, answer, "kernels_shifted", words, lambda stack: stack + 1.0)


def ridge(case: Case, answer: Answer) -> Trials:
    if answer.alpha is None and answer.objective is None:
        return
    price = case.parameters.get("C")
    own = () if price is None else (1 / price, 1 / (2 * price))
    for size in (*RIDGES, *(value for value in own if value not in RIDGES)):
        words = f"kernels with {size:.6g} added to their diagonals"
        identity = size * np.eye(case.instance.samples)
        yield from changed_kernels(case, answer, "ridge", words, plus(identity))


def kernels_rounded(case: Case, answer: Answer) -> Trials:
    """Kernels that were rounded; those that rounding makes indefinite are clipped."""
    stack = dense(case)
    if stack is None:
        return
    for words, rounded in _roundings(stack):
        if not np.array_equal(rounded, stack) and np.isfinite(rounded).all():
            said = f"kernels {words}"
            yield from changed_kernels(case, answer, "kernels_rounded", said, partial(_exactly, rounded), repair="clip")


def _exactly(new: Array, _: Array) -> Array:
    return new


def _roundings(kernels: Array) -> Iterator[tuple[str, Array]]:
    with np.errstate(over="ignore"):
        yield "in half precision", kernels.astype(np.float16).astype(float)
    for decimals in DECIMALS:
        yield f"written with {decimals} decimals", kernels.round(decimals)
    sizes = 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.where(kernels == 0, 1.0, np.abs(kernels)))))
    yield f"written with {DIGITS} digits", np.round(kernels * sizes) / sizes


# ------------------------------------------------------------------------------------- one kernel in place of another
def kernels_confused(case: Case, answer: Answer) -> Trials:
    """One kernel left out, another one taken twice, one alone, all multiplied: where no weights tell what was used."""
    stack, names = dense(case), case.instance.names
    if stack is None or len(stack) < 2 or len(stack) > MANY:
        return
    for m, name in enumerate(names):
        for other, instead in enumerate(names):
            if m != other:
                words = f"kernel {instead} in the place of {name}, which is missing"
                yield from changed_kernels(case, answer, "kernels_copied", words, _instead(m, other))
    if answer.weights is not None or answer.coefficients is not None or case.instance.groups is not None:
        return
    for m, name in enumerate(names):
        others = [k for k in range(len(stack)) if k != m]
        yield DiagnosticTrial("kernels_left_out", f"optimal without kernel {name}", answer, _part(case, others))
        yield DiagnosticTrial("one_kernel", f"optimal for kernel {name} alone", answer, _part(case, [m]))
    product = kept(case.instance, "product", lambda: case.instance.with_kernels(
        np.prod(stack, axis=0)[None], names=None, repair="clip", **no_test_samples(case.instance)
    ))  # fmt: skip
    if product is not None:
        words = "optimal for the product of the kernels in place of a combination"
        yield DiagnosticTrial("kernels_product", words, answer, product)


def one_kernel_changed(case: Case, answer: Answer) -> Trials:
    """One kernel whose samples are in another order, or that alone was rescaled, or squared, or left as it was where
    the others were."""
    stack, names = dense(case), case.instance.names
    if stack is None or not 2 <= len(stack) <= MANY:
        return
    for m, name in enumerate(names):
        for kind, words, change in (*ORDERS, *SIZES[:5], *ENTRIES[:2]):
            said = f"{words}, but of kernel {name} alone"
            for trial in changed_kernels(case, answer, kind, said, _only(m, change)):
                yield replace(trial, fitted=1)


def _only(m: int, change: Change) -> Change:
    return lambda stack: np.concatenate([stack[:m], change(stack[m : m + 1]), stack[m + 1 :]])


def kernel_twice(case: Case, answer: Answer) -> Trials:
    """A kernel that is in the stack once more, where no part of the answer has an entry for each."""
    stack = dense(case)
    if stack is None or len(stack) > MANY or answer.weights is not None or answer.coefficients is not None:
        return
    if "groups" not in getattr(case.task, "own", {}):
        more = {"names": None, "groups": None, **no_test_samples(case.instance)}
        for m, name in enumerate(case.instance.names):
            words = f"kernel {name} twice beside the others"
            twice = partial(_with_again, m)
            yield from changed_kernels(case, answer, "kernels_copied", words, twice, **more)


def _with_again(m: int, stack: Array) -> Array:
    return np.concatenate([stack, stack[m : m + 1]])


def _part(case: Case, some: list[int]) -> Instance:
    part = kept(case.instance, f"kernels {some}", lambda: case.instance.select(some))
    assert part is not None
    return part


SCALED: Hypotheses = (kernels_rescaled,)
CHANGED: Hypotheses = (kernels_scaled, kernels_rescaled_twice, kernels_of_other_entries, kernels_shifted)
KERNELS: Hypotheses = (
    ridge, kernels_rounded, kernels_confused, kernel_twice, one_kernel_changed,
)  # fmt: skip
