"""Exact arithmetic for the checker, and a proof that a matrix is positive semidefinite. Needs NumPy only.

A double is a whole number times a power of two. Products of kernels and vectors are therefore computed in whole
numbers, everything else in fractions. Roots, powers, exponentials and logarithms are rounded to a given side: +1 gives
a number that is not below the true one, −1 one that is not above; both have fifty correct digits.

**K + δI ⪰ 0.** K = Σ w_m K_m is formed as the sum of two matrices of doubles, H and a small one E, by error-free sums
and products. With L any lower triangular matrix, here the Cholesky factor of H + (δ − s)I,

    K + δI  =  LL' + R,        R = H + δI − LL' + E,

is semidefinite if R is. R is nearly sI and is computed with a bound on its error: L = L1 + L2 with so few digits in L1
that L1L1' is exact in doubles, and L2 so small that rounding in its products hardly counts. R ⪰ 0 follows by
Gershgorin's circles, or if ‖R − sI‖ is at most s. To prove that K + δI is semidefinite for vectors that sum to zero,
g1' + 1g' may be subtracted first with any g. Where that fails, and K is not too large, L is computed in whole numbers:
then K + δI is proved if its least eigenvalue is more than n·2^-156 of its diagonal. Where that is zero, elimination
decides, in whole numbers: of K + δI if it is small, else of every K_m alone, which takes as many steps as its rank.
"""

import decimal
import math
from fractions import Fraction
from typing import Any

import numpy as np

UNIT = 2.0**-53
BITS = 240  # of roots
SMALL = 60  # largest number of samples for elimination in whole numbers, which takes a second
LARGE, STEPS = 500, 17  # the same for kernels of low rank, and the number of steps
FINE = 150  # the same for the least δ in whole numbers: beyond, one that doubles prove is proved once more
ROOTS, DIGITS = 400, 160  # the same for a factor in whole numbers, and its digits


class Refused(ValueError):
    """A claim that does not hold, or a point that proves nothing."""


def require(holds, fault):
    if not holds:
        raise Refused(fault)


# ------------------------------------------------------------------------------------------------- doubles, exactly
def whole(array):
    """Whole numbers W and e with array = W·2^e."""
    mantissa, exponent = np.frexp(np.asarray(array, dtype=float))
    digits = np.ldexp(mantissa, 53).astype(np.int64)
    used = digits != 0
    least = int(exponent[used].min()) if used.any() else 0
    shifts = np.where(used, exponent - least, 0).astype(object)
    return digits.astype(object) << shifts, least - 53


def dyadic(number, exponent):
    return Fraction(number << exponent) if exponent >= 0 else Fraction(number, 1 << -exponent)


def fractions(array):
    """An array of doubles, or of fractions, as an array of fractions."""
    given = np.asarray(array)
    return np.array([Fraction(x) for x in given.ravel().tolist()], dtype=object).reshape(given.shape)


def numerators(array):
    """Whole numbers, and their common denominator."""
    given = fractions(array)
    common = math.lcm(*(x.denominator for x in given.ravel()))
    return np.vectorize(lambda x: x.numerator * (common // x.denominator), otypes=[object])(given), common


def dot(x, y):
    return sum((a * b for a, b in zip(np.ravel(x), np.ravel(y), strict=True)), Fraction(0))


def positive(x):
    return max(x, Fraction(0))


def are_doubles(stored):
    """Whether numbers of any kind are doubles: long whole numbers and long doubles need not be."""
    if stored.dtype.kind == "f":
        return bool((stored == stored.astype(float)).all())
    return all(int(float(number)) == number for number in stored.ravel().tolist())


class Kernel:
    """A kernel as stored: its lower triangle, mirrored; or FF' with a factor F."""

    def __init__(self, stored=None, factor=None):
        lower: Any = None if stored is None else np.asarray(stored, dtype=float)
        require(stored is None or are_doubles(np.asarray(stored)), "a kernel has numbers that are no doubles")
        self.factor: Any = None if factor is None else np.asarray(factor, dtype=float)
        self.dense: Any = None if lower is None else np.tril(lower) + np.tril(lower, -1).T
        entries: Any = self.factor if self.dense is None else self.dense
        require(entries.ndim == 2 and np.isfinite(entries).all(), "a kernel has entries that are not finite")
        self.samples = len(entries)

    def entries(self):
        """All entries in whole numbers, and their exponent."""
        if self.factor is None:
            return whole(self.dense)
        numbers, exponent = whole(self.factor)
        return numbers @ numbers.T, 2 * exponent

    def image(self, vectors):
        """Kv for a vector of doubles or fractions, or for the columns of a matrix."""
        numbers, common = numerators(vectors)
        own, exponent = whole(self.dense if self.factor is None else self.factor)
        if self.factor is not None:
            numbers, exponent = own.T @ numbers, 2 * exponent
        return np.vectorize(lambda x: dyadic(x, exponent) / common, otypes=[object])(own @ numbers)

    def diagonal(self):
        return np.sum(self.factor**2, axis=1) if self.dense is None else np.diagonal(self.dense)


def stack_of(kernels):
    """The kernels of a stack (M, n, n), or of one that keeps factors."""
    if hasattr(kernels, "factor"):
        return [Kernel(factor=kernels.factor(m)) for m in range(len(kernels))]
    stack = np.asarray(kernels)
    square = stack.ndim == 3 and stack.shape[1] == stack.shape[2] and stack.size > 0
    require(square and stack.dtype.kind in "fiub", "kernels are not a stack (M, n, n) of numbers")
    return [Kernel(kernel) for kernel in stack]


# ------------------------------------------------------------------------------------ roots, powers and logarithms
def rounded(x, side):
    """The nearest double on one side of a fraction."""
    nearest = float(x)
    if (Fraction(nearest) - x) * side >= 0:
        return nearest
    return math.nextafter(nearest, side * math.inf)


def root(x, side):
    """√x."""
    shift = max(0, BITS - x.numerator.bit_length() + x.denominator.bit_length())
    square = x * (1 << 2 * shift)
    below = math.isqrt(math.floor(square))
    return Fraction(below if below * below == square or side < 0 else below + 1, 1 << shift)


def trimmed(x, side):
    """A fraction, rounded to a side where it is not dyadic: sums of quotients would become long."""
    if x.denominator & (x.denominator - 1) == 0:
        return x
    shift = max(0, BITS - x.numerator.bit_length() + x.denominator.bit_length())
    lifted = x * (1 << shift)
    return Fraction(math.ceil(lifted) if side > 0 else math.floor(lifted), 1 << shift)


def decimals(exponent=0):
    """A context with so many digits that eighty are left when an error is multiplied by the exponent."""
    digits = 80 + len(str(abs(math.ceil(exponent))))
    return decimal.Context(digits, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[decimal.InvalidOperation])


def as_decimal(x, context):
    return context.divide(decimal.Decimal(x.numerator), decimal.Decimal(x.denominator))


def outward(value, side):
    """A decimal with seventy correct digits, as a fraction on one side of it; below 1e-400 that is 0 or 1e-400."""
    require(value.is_finite() and value.adjusted() < 1000, "a number is too large")
    if value.adjusted() < -400:
        return Fraction(max(side, 0), 10**400)
    exact = Fraction(value)
    return exact + side * abs(exact) / 10**60


def power(x, exponent, side):
    """x^exponent for x ≥ 0, exponent > 0."""
    if x in (0, 1):
        return x
    if exponent.denominator == 1 and exponent <= 64:
        return x**exponent.numerator
    context = decimals(exponent)
    logarithm = context.multiply(as_decimal(exponent, context), context.ln(as_decimal(x, context)))
    require(logarithm < 2000, "a number is too large")
    return Fraction(max(side, 0), 10**400) if logarithm < -1000 else outward(context.exp(logarithm), side)


def norm(values, exponent, side):
    """‖x‖_p of numbers ≥ 0; exponent None is infinity."""
    largest = max(values)
    if largest == 0 or exponent is None:
        return Fraction(largest)
    total = sum((power(x / largest, exponent, side) for x in values), Fraction(0))
    return largest * power(total, 1 / exponent, side)


def entropy(weights, side):
    """−Σ θ log θ."""
    context = decimals()
    terms = [-t * outward(context.ln(as_decimal(t, context)), -side) for t in weights if 0 < t < 1]
    return sum(terms, Fraction(0))


def exponential(x, side):
    """e^x, refused from 1e1000 on; up to e^-900, which is below 1e-390, that is 0 or 1e-390."""
    context = decimals()
    return outward(context.exp(as_decimal(x, context)), side) if x > -900 else Fraction(max(side, 0), 10**390)


def logarithm(x, side):
    """log x. Where x is nearly 1, so many of its digits are kept that eighty are left of x − 1; where it is nearer
    still, e − e² ≤ log(1 + e) ≤ e."""
    rise = x - 1
    if abs(rise) * 10**80 < 1:
        return trimmed(rise if side > 0 else rise - rise * rise, side)
    apart = min(abs(rise), Fraction(1))
    context = decimals(1 / apart)
    return outward(context.ln(as_decimal(x, context)), side) + side * trimmed(apart, 1) / 10**75


def log_one_plus_exp(x, side):
    """log(1 + e^x)."""
    return positive(x) + logarithm(1 + exponential(-abs(x), side), side)


def chance(x):
    """1/(1 + e^-x), and a bound on its error, to which e^-900 belongs where nothing more is known of e^-|x|."""
    small = exponential(-abs(x), 1)
    return (1 if x >= 0 else small) / (1 + small), small / 10**50 + Fraction(1, 10**390)


def smoothed_largest(scores, smoothing, side):
    """s log Σ exp(x/s)."""
    largest = max(scores)
    total = sum(exponential((x - largest) / smoothing, side) for x in scores)
    return largest + smoothing * logarithm(total, side)


# ------------------------------------------------------------------------------------------------------ K + δI ⪰ 0
def is_semidefinite(kernels, weights, ridge, centred=False):
    """Whether Σ w_m K_m + δI ⪰ 0 is proved; if centred, for vectors that sum to zero. Weights are doubles, δ a
    fraction."""
    used = [(k, float(w)) for k, w in zip(kernels, weights, strict=True) if w != 0]
    if ridge < 0 or any(w < 0 for _, w in used):
        return False
    if all(k.factor is not None or not k.dense.any() for k, _ in used):
        return True
    with np.errstate(all="ignore"):
        if by_cholesky(used, max(rounded(ridge, -1), 0.0), centred):
            return True
    n = used[0][0].samples
    if n <= ROOTS and by_roots(used, ridge, centred):
        return True
    if n <= SMALL:
        return by_elimination(used, ridge, centred)
    return n <= LARGE and all(by_elimination([(k, 1.0)], Fraction(0), centred, STEPS) for k, _ in used)


def least_ridge(kernels, weights, centred=False):
    """A δ that is nearly the smallest one that can be proved: in whole numbers up to `ROOTS` samples, else in doubles.
    Where K itself is semidefinite, it is about 2^-140 of the kernels."""
    if all(kernel.factor is not None for kernel in kernels):
        return Fraction(0)
    used = [(k, float(w)) for k, w in zip(kernels, weights, strict=True) if w > 0]
    size = sum(w * float(np.abs(k.dense).max()) for k, w in used)
    if size == 0:
        return Fraction(0)
    n, steps = used[0][0].samples, [Fraction(size * UNIT * 1.5**j) for j in range(-8, 115)]
    for delta in (Fraction(0), Fraction(size) / 2**140) if n <= ROOTS else ():
        if by_roots(used, delta, centred):
            return delta
    if n > FINE:
        with np.errstate(all="ignore"):
            delta = first_of(steps, lambda delta: by_cholesky(used, float(delta), centred))
        if n > ROOTS or by_roots(used, delta, centred):
            return delta
    return first_of(steps, lambda delta: by_roots(used, delta, centred))


def first_of(steps, holds):
    """The first step from which on it holds."""
    low, high = 0, len(steps) - 1
    require(holds(steps[high]), "the kernels are far from semidefinite")
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(steps[middle]) else (middle + 1, high)
    return steps[high]


def two_sum(a, b):
    """a + b, and its rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a, b):
    product = a * b
    (a1, a2), (b1, b2) = halves(a), halves(b)
    return product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)


def halves(a):
    """a as the sum of two numbers of 26 digits each."""
    c = 134217729.0 * a
    high = c - (c - a)
    return high, a - high


def row_sum(matrix):
    """The largest sum of a row of absolute values."""
    return float(np.abs(matrix).sum(axis=1).max())


def spectral(matrix):
    """At least ‖X‖₂, but for a few roundings: the root of ‖XX'‖, in units of the largest entry, beside which squares of
    others may vanish. Where eigenvalues are alike it is smaller than ‖X‖ by the fourth root of their number."""
    largest = float(np.abs(matrix).max())
    if largest == 0:
        return 0.0
    scaled = matrix / largest
    off = (len(matrix) + 4) * UNIT * np.linalg.norm(scaled) ** 2
    return largest * math.sqrt(np.linalg.norm(scaled @ scaled.T) + off)


def by_cholesky(used, ridge, centred):
    high, low, missed = combined(used)
    if centred:
        high, low, missed = without_ones(high, low, missed)
    n = len(high)
    place = np.arange(n)
    high[place, place], rest = two_sum(high[place, place], ridge)
    low[place, place] += rest
    missed += UNIT * row_sum(low)
    rounding = n * UNIT * float(np.abs(np.diagonal(high)).max())
    shifts = [ridge / 2, ridge / 4, 3 * ridge / 4, ridge / 16, rounding, 8 * rounding, 64 * rounding]
    return any(residual_is_semidefinite(high, low, missed, shift) for shift in shifts)


def combined(used):
    """Σ w_m K_m = high + low up to an error of norm `missed`."""
    n = used[0][0].samples
    high, low, size = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    for kernel, weight in used:
        product, left = two_product(weight, kernel.dense)
        high, rest = two_sum(high, product)
        low, size = low + (left + rest), size + np.abs(product)
    count = len(used) + 2
    return high, low, 1.1 * (count * UNIT) ** 2 * row_sum(size) + n * count * 1e-290


def without_ones(high, low, missed):
    """The same without g1' + 1g', g making the row sums small and leaving the mean eigenvalue to the direction 1."""
    n, means = len(high), high.mean(axis=1)
    left = max(np.trace(high) - n * means.mean(), 0.0)
    g = means - means.mean() / 2 - left / (2 * n**2)
    outer, rest = two_sum(g[:, None], g[None, :])
    high, more = two_sum(high, -outer)
    missed += 4 * UNIT * (row_sum(low) + row_sum(more) + row_sum(rest))
    return high, low + (more - rest), missed


def residual_is_semidefinite(high, low, missed, shift):
    """Whether high + low − LL' ⪰ 0 for the factor L of high − shift I, `missed` being the norm of what is not in it."""
    n = len(high)
    try:
        factor = np.linalg.cholesky(high - shift * np.eye(n))
    except np.linalg.LinAlgError:
        return False
    digits = (53 - math.ceil(math.log2(max(n, 2)))) // 2
    grid = 2.0 ** (np.ceil(np.log2(np.abs(factor).max(axis=1))) - digits)[:, None]
    first = np.round(factor / grid) * grid
    second = factor - first
    near, cross, small = high - first @ first.T, first @ second.T, second @ second.T
    residual = near - cross - cross.T - small + low
    absolute = np.abs(near) + np.abs(cross) + np.abs(cross.T) + np.abs(small) + np.abs(low)
    a, b, ones = np.abs(first), np.abs(second), np.ones(n)
    products = max((a @ (b.T @ ones)).max(), (b @ (a.T @ ones)).max()) * 2 + (b @ (b.T @ ones)).max()
    error = 1.1 * (missed + 8 * UNIT * row_sum(absolute) + (n + 2) * UNIT * products) + n * n * 1e-290
    diagonal = np.diagonal(residual)
    away = residual - np.diag(diagonal)
    sums = np.maximum(np.abs(away).sum(axis=1), np.abs(away).sum(axis=0)) * (1 + 2 * n * UNIT)
    if np.min(diagonal - sums) > error:
        return True
    distance = spectral(residual - shift * np.eye(n)) * (1 + 4 * n * UNIT) + UNIT * abs(shift)
    return bool(distance + error <= shift)


def by_roots(used, ridge, centred):
    """The same in whole numbers: with L the rounded factor of A − sI, in units of so many digits below the diagonal,
    A − sI = LL' + R where every entry of R is a remainder, below 2^(DIGITS + 1), and s is more than all in a row."""
    matrix = with_ridge(used, ridge, centred)
    n, largest = len(matrix), max(np.diagonal(matrix), default=0)
    if largest <= 0:
        return not matrix.any()
    raised = 2 * DIGITS - int(largest).bit_length()
    matrix = matrix << raised if raised >= 0 else matrix >> -raised
    matrix[np.arange(n), np.arange(n)] -= n << DIGITS + 2
    factor = np.zeros((n, n), dtype=object)
    for j in range(n):
        column = matrix[j:, j] - factor[j:, :j] @ factor[j, :j]
        if column[0] <= 0:
            return False
        root = math.isqrt(column[0])
        factor[j:, j], factor[j, j] = column // root, root
    return True


def combination(used):
    """Σ w_m K_m times a number, in whole numbers; and the number."""
    parts = [(*kernel.entries(), *Fraction(weight).as_integer_ratio()) for kernel, weight in used]
    common = math.lcm(*(bottom * (1 << max(0, -e)) for _, e, _, bottom in parts))
    return sum(
        entries * int(Fraction(top, bottom) * dyadic(1, e) * common) for entries, e, top, bottom in parts
    ), common


def with_ridge(used, ridge, centred):
    """Σ w_m K_m + δI times a number, in whole numbers. Vectors that sum to zero are combinations of e_i − e_n."""
    matrix, common = combination(used)
    matrix = matrix * ridge.denominator + ridge.numerator * common * np.eye(len(matrix), dtype=int).astype(object)
    if centred:
        matrix = matrix[:-1, :-1] - matrix[:-1, -1:] - matrix[-1:, :-1] + matrix[-1, -1]
    return matrix


def by_elimination(used, ridge, centred, steps=SMALL):
    """In whole numbers, by the largest pivots: a matrix is semidefinite if they are positive until nothing is left, in
    so many steps."""
    matrix = with_ridge(used, ridge, centred)
    last = 1
    for _ in range(steps + 1):
        k = int(np.argmax(np.diagonal(matrix))) if len(matrix) else 0
        if not len(matrix) or matrix[k, k] <= 0:
            return not matrix.any()
        pivot, row = matrix[k, k], np.delete(matrix[k], k)
        rest = np.delete(np.delete(matrix, k, 0), k, 1)
        matrix, last = (rest * pivot - np.outer(row, row)) // last, pivot
    return False
