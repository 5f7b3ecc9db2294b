"""Compare the claims of a solution file with what its point proves. Needs NumPy and the standard library only.

A checker evaluates two bounds L ≤ U at the file's point, exactly: a `Point`. Every field is held against an interval of
its own. Let T be the sum of the terms that the bounds are made of, without their signs, ε = 2^-42 T (of a file that is
not certified: with products of kernels that doubles cancel), and A the tolerance times what the gap is divided by.

    lower, upper   lower ≤ L, U ≤ upper; they are apart by no more than the gap, or A, and ε; rounding has taken no more
                   than U − L, or A, and ε
    gap            U − L ≤ gap ≤ upper − lower
    scale          between the exact one less A + ε, and less what the bounds have lost by rounding, and the exact one
    gain           between the exact one less 2^-42 of its own terms and the exact one
    relative gap   the gap over the scale, to a unit in the last place, and no less than U − L over the exact scale
    objective      upper; of a maximum lower
    status         what follows from the relative gap and the tolerance, and from the gap of the second stage
    norms          the exact ones to seven digits of the largest; or ‖f_m‖²/μ_m to 4(A + ε)
    slopes         their ends hold the exact v of R*(v)
    bias_interval  at its ends the risk is that of the bias, up to U − L or A, and ε; the ends themselves are off by
                   rounding and by what the stretch lifts margins. Not checked where a level moves with the bias

The gap may lack 2^-200 T, which is more than the checker itself rounds by. A hypergraph's H is no part of its file:
what its rounding moves, 2^-48 T, may lack as well. Labels and names are those of the instance. A gap
up to 2^-900 is none.

Where the scale vanishes, that is, where it is at most 2^-40 of the gain (of the larger bound in families without gain),
the value hardly depends on the classifier. Then the gain takes the place of the scale, and a certified solution has a
relative gap of at most 2^-40.
"""

import io
import os
import sys
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .files import arrays_of, read_solution
from .machines import SCHEMA as MACHINES
from .machines import problems, same_summary
from .numbers import Refused, fractions, positive, require, root, rounded

SCHEMA = "mklcvx.solution/2"
ROWS = ("ml_sum", "ml_minimax", "hypergraph", "hypergraph_smooth")  # y has a row for every label, even for a single one
VANISHING, NOTHING = Fraction(1, 2**40), Fraction(1, 2**900)
ROUNDING = Fraction(1, 2**200)  # more than quotients and roots are off by, relative to the terms
NEARLY = 1 + Fraction(1, 2**50)  # relative error of a quotient or difference of doubles
SHARE = Fraction(1, 2**10)  # of a gap: what rounding may have added where the tolerance is not proved
UNITS = Fraction(1, 2**42)  # of terms: what sums of doubles, their bounds on rounding included, may be off by
PAIRS = ("ts", "ts_l1", "alignment")  # formulations that need no semidefinite kernels
LIMITS = {
    "theta": ("theta > 0", lambda theta, count: theta > 0),
    "cap": ("theta ≥ 1/M", lambda theta, count: theta * count >= 1 - 1e-12),
    "power": ("p > 1", lambda p, count: p > 1),
    "ball": ("p ≥ 1", lambda p, count: p >= 1),
    "l1_ratio": ("0 ≤ l1_ratio ≤ 1", lambda r, count: 0 <= r <= 1),
    "s": ("s ≥ 2", lambda s, count: s >= 2),
    "C": ("C > 0", lambda price, count: price > 0),
    "lam": ("lam > 0", lambda lam, count: lam > 0),
    "dimensions": ("whole numbers from 1", lambda number, count: number >= 1 and number.denominator == 1),
    "smoothing": ("smoothing > 0", lambda smoothing, count: smoothing > 0),
    "nu": ("0 < nu ≤ 1", lambda nu, count: 0 < nu <= 1),
    "epsilon": ("epsilon ≥ 0", lambda epsilon, count: epsilon >= 0),
    "delta": ("delta > 0", lambda delta, count: delta > 0),
    "quantile": ("0 < quantile < 1", lambda level, count: 0 < level < 1),
    "width": ("width > 0", lambda width, count: width > 0),
}


class Bias(NamedTuple):
    """The bias of a point."""

    value: Fraction
    blur: Fraction  # how far an end of the interval may be off by rounding, and by the stretch
    risk: Any  # of the outputs without a bias, as a function of the bias


class Point(NamedTuple):
    """What the file's point proves, exactly."""

    lower: Fraction
    upper: Fraction
    scale: Fraction  # what a gap is divided by
    terms: Fraction  # those of the sums that bounds are made of, without their signs
    ridge: Fraction = Fraction(0)
    norms: Any = ()  # of every function: the square of its norm, and what its kernel weighs in the bounds
    slopes: Any = None  # v of R*(v), where weights have a regulariser
    bias: Any = None  # False where a level moves with it, which is not checked
    off: Fraction = Fraction(0)  # by how much the bounds change if numbers that files do not hold are rounded
    second: Fraction = Fraction(0)  # the relative gap of the second stage
    stages: Any = ()  # of its SVMs: both bounds, and what their gap is divided by
    stored: Any = None  # both bounds of the kernels without their δ, where those with δ are what the others are about
    gain: Any = None  # the scale may vanish beside it; the larger bound takes its place if None
    gain_terms: Fraction = Fraction(0)
    products: Fraction = Fraction(0)  # Σ|c||K||α|, which doubles cancel in q where no tolerance is proved

    def interval(self):
        """(lower, upper), rounded outward."""
        return rounded(self.lower, -1), rounded(self.upper, 1)


def number(value, name):
    if isinstance(value, Fraction):
        return value
    real = isinstance(value, int | float) and not isinstance(value, bool)
    require(real and np.isfinite(float(value)), f"{name}: not a finite number")
    return Fraction(float(value))


def numbers(values, shape, name, undefined=False):
    """An array of finite doubles in its shape; with `undefined`, null is read as zero."""
    stored = isinstance(values, np.ndarray)
    array = values if stored else np.array(values, dtype=object)
    require(array.shape == shape, f"{name}: not an array of the shape {shape}")
    if stored and all(isinstance(x, Fraction) for x in array.ravel().tolist()):
        return array
    require(not stored or (array.dtype.kind in "fiu" and array.itemsize <= 8), f"{name}: not an array of doubles")
    if undefined:
        array = np.array([0.0 if x is None or x != x else x for x in array.ravel()], dtype=object).reshape(shape)
    plain = all(isinstance(x, int | float | np.number) and not isinstance(x, bool) for x in array.ravel())
    require(plain and np.isfinite(array.astype(float)).all(), f"{name}: not finite numbers")
    return array.astype(float)


def parameters_of(record, wanted, count):
    """The numbers among the parameters, each within its limits; nothing may be missing or unknown."""
    given = record["parameters"]
    require(set(given) == set(wanted), f"parameters: {', '.join(given)} are not those of the formulation")
    for key in (key for key, limit in wanted.items() if limit == "flag"):
        require(isinstance(given[key], bool), f"parameters.{key}: neither true nor false")
    values = {key: number(given[key], f"parameters.{key}") for key, limit in wanted.items() if limit in LIMITS}
    for key in values:
        text, accepts = LIMITS[wanted[key]]
        require(accepts(values[key], count) and abs(values[key]) <= 1e100, f"parameters.{key}: outside {text}")
    return values


def targets_of(data):
    """Kind, signs ±1 with a row for every label, their names, and the classes as words. A response, and samples without
    targets, have the sign +1."""
    kinds = [kind for kind in ("y", "classes", "labels", "response") if kind in data]
    require(len(kinds) <= 1, "target: the instance has more than one of y, classes, labels and response")
    if not kinds:
        return "none", np.ones(np.shape(data["kernels"])[-1], int), [], None
    values, names = np.asarray(data[kinds[0]]), data.get("label_names")
    if kinds[0] == "response":
        single = values.size == len(values)
        known = ["response"] if single else [str(j) for j in range(values.shape[1])]
        ones = np.ones(len(values) if single else values.T.shape, int)
        return "response", ones, known if names is None else [str(x) for x in names], None
    if kinds[0] == "y":
        require(np.isin(values, (-1, 1)).all(), "y: the instance's labels are not −1 and +1")
        return "y", np.ravel(values).astype(int), ["y"], None
    if kinds[0] == "labels":
        require(values.ndim == 2 and np.isin(values, (0, 1)).all(), "labels: not 0 and 1 in the instance")
        known = [str(j) for j in range(values.shape[1])]
        return "labels", np.where(values.T > 0, 1, -1), known if names is None else [str(x) for x in names], None
    whole = lambda x: isinstance(x, float) and x.is_integer() and abs(x) < 1e15  # noqa: E731
    words = [str(int(x)) if whole(x) else str(x) for x in np.unique(values).tolist()]
    signs = np.where(np.unique(values)[:, None] == np.ravel(values), 1, -1)
    return "classes", signs, words if names is None else [str(x) for x in names], words


def same_problem(data, record):
    """Require the labels and names of the instance."""
    kind, signs, label_names, words = targets_of(data)
    count = len(data["kernels"])
    names = [str(x) for x in data["names"]] if "names" in data else [f"K{m + 1}" for m in range(count)]
    require(record["target"] == kind, "target: not what the instance has")
    rows = record["formulation"] in ROWS
    shape = (1, len(signs)) if rows and kind == "y" else signs.shape
    require((numbers(record["y"], shape, "y") == signs).all(), "y: not the labels of the instance")
    require(record["names"] == names, "names: not those of the instance")
    require(record["label_names"] == label_names, "label_names: not those of the instance")
    require(record["classes"] == words, "classes: not those of the instance")
    weight = np.asarray(data.get("sample_weight", 1.0), dtype=float)
    require(np.isfinite(weight).all() and (weight > 0).all(), "sample_weight: not positive")


# ---------------------------------------------------------------------------------------------------- the claims
def claims(record, point):
    """Hold every claim of a file against the exact value at its point."""
    said, tolerance = record["certificate"], number(record["tolerance"], "tolerance")
    require(record["formulation"] in PAIRS or {"ridge", "stretch"} <= set(said), "certificate: no ridge or no stretch")
    require(0 < tolerance < 1, "tolerance: not between 0 and 1")
    scale, size = number(said["scale"], "certificate.scale"), size_of(said, point)
    vanishing = scale <= VANISHING * size
    base, limit = (size, min(tolerance, VANISHING)) if vanishing else (scale, tolerance)
    near = (point.terms + (0 if record["status"] == "certified" else point.products)) * UNITS + NOTHING
    lost = same_bounds(record, point, limit * base, near)
    room = limit * base + near
    largest = upper_of(said) if record["formulation"] == "alignment" else positive(point.scale)
    require(max(largest - room - lost, 0) <= scale <= largest, "certificate.scale: not the terms of the objectives")
    certified = same_share(said, point, base, size if vanishing else largest, limit)
    certified = certified and (not vanishing or largest <= 2 * VANISHING * size + NOTHING)
    if "second_stage_gap" in record["multipliers"]:
        second = number(record["multipliers"]["second_stage_gap"], "multipliers.second_stage_gap")
        require(second >= point.second, "multipliers.second_stage_gap: smaller than the gap is")
        certified = certified and second <= tolerance
    require(record["status"] == ("certified" if certified else "not_certified"), "status: does not follow from the gap")
    same_norms(record, point, room)
    same_slopes(record, point)
    same_biases(record, point, max(room, point.upper - point.lower))


def upper_of(said):
    return number(said["upper"], "certificate.upper")


def size_of(said, point):
    """What the scale may vanish beside: the gain, or the larger bound."""
    if point.gain is None:
        return max(abs(number(said["lower"], "certificate.lower")), abs(upper_of(said)))
    gain = number(said.get("gain"), "certificate.gain")
    require(0 <= point.gain - gain <= point.gain_terms * UNITS, "certificate.gain: not that of alpha")
    return gain


def same_bounds(record, point, allowed, near):
    """The bounds enclose the exact ones. They are no further apart than the gap, and have lost no more by rounding than
    the exact gap, unless as much is allowed. Returns what they have lost."""
    said = record["certificate"]
    lower, upper, gap = (number(said[key], f"certificate.{key}") for key in ("lower", "upper", "gap"))
    require(lower <= point.lower + point.off, "certificate.lower: not what alpha proves")
    require(upper >= point.upper - point.off, "certificate.upper: not what the functions prove")
    lost = upper - point.upper + point.lower - lower
    far = max(point.upper - point.lower, allowed) + near
    require(lost <= far, "certificate: the bounds are far from those that the point proves")
    room = max(gap * (1 + SHARE), allowed) + near
    require(upper - lower <= room, "certificate: the bounds are further apart than the gap")
    require(gap >= least_gap(point), "certificate.gap: smaller than the difference of the bounds")
    require(gap <= (upper - lower) * NEARLY + NOTHING, "certificate.gap: larger than the difference of the claims")
    objective = number(record["objective"], "objective")
    maximum = record["formulation"] == "alignment"
    require(objective == (lower if maximum else upper), "objective: not the certificate's bound")
    return lost


def least_gap(point):
    """The difference of the bounds, less what the checker itself rounds them by."""
    return point.upper - point.lower - point.terms * ROUNDING - point.off


def same_share(said, point, base, largest, limit):
    """Whether the relative gap, which is the gap's share of its base, is at most its limit."""
    if said["relative_gap"] is None:
        require(base == 0, "certificate.relative_gap: missing")
        return False
    gap = number(said["gap"], "certificate.gap")
    relative, part = number(said["relative_gap"], "certificate.relative_gap"), gap if gap > NOTHING else 0
    fits = part <= relative * base * NEARLY and relative * base <= part * NEARLY
    require(fits, "certificate.relative_gap: not the gap's share")
    covers = relative * largest >= least_gap(point) or point.upper - point.lower <= NOTHING
    require(covers, "certificate.relative_gap: smaller than the gap is")
    return relative <= limit


def same_norms(record, point, room):
    """Require every ‖f_m‖ to seven digits of the largest; or ‖f_m‖²/μ_m, half of which is a part of the bounds, to four
    times the room."""
    if not point.norms:
        require(record["norms"] is None, "norms: there are none in this family")
        return
    said = fractions(numbers(record["norms"], (len(point.norms),), "norms"))
    digits = root(max(positive(square) for square, _ in point.norms), 1) / 10**7
    for norm, (square, weight) in zip(said, point.norms, strict=True):
        near = abs(norm - root(positive(square), 1)) <= digits or abs(norm**2 - square) <= 4 * weight * room + NOTHING
        require(norm >= 0 and near, "norms: not those of the functions")


def same_slopes(record, point):
    """Require v to lie between its ends, from which intervals of weights follow."""
    if record.get("slopes") is None:
        return
    require(point.slopes is not None, "slopes: there are none in this family")
    low, high = fractions(numbers(record["slopes"], (2, len(point.slopes)), "slopes"))
    inside = all(a <= v <= b for a, v, b in zip(low, point.slopes, high, strict=True))
    require(inside, "slopes: they do not hold those of the dual point")


def same_biases(record, point, room):
    """Require every bias of the interval to have the risk of the file's, up to the room: it is convex, so that the ends
    tell."""
    ends = record.get("bias_interval")
    if ends is None or point.bias is False:
        return
    require(point.bias is not None, "bias_interval: there is none in this family")
    require(isinstance(ends, list | np.ndarray) and len(ends) == 2, "bias_interval: not two ends")
    (best, blur, risk), stored = point.bias, number(record["bias"], "bias")
    for side, end in zip((-1, 1), ends, strict=True):
        value = side * 2**400 * (1 + abs(best)) if end is None else number(end, "bias_interval")
        require(side * (value - stored) >= 0, "bias_interval: the bias is not in it")
        near = best + side * positive(side * (value - best) - blur)
        require(risk(near) <= risk(best) + room, "bias_interval: an end of it is not as good as the bias")


def lists(record, used, skipped):
    """The fields that are vouched for, and the others."""
    vouched = ["schema", "formulation", "parameters", "status", "objective", "weights", "alpha", "bias", "coefficients"]
    vouched += ["alpha_low", "bias_low", "bias_interval", "slopes"]
    vouched += ["multipliers", "tolerance", "target", "y", "label_names", "classes", "names", "norms", "preprocessing"]
    fields = [key for key in record if key not in ("certificate", "multipliers")]
    fields += [f"certificate.{key}" for key in record["certificate"]]
    fields += [f"multipliers.{key}" for key in record["multipliers"]] or ["multipliers"]
    parts = ("lower", "upper", "gap", "relative_gap", "scale", "stretch", "ridge", "ridges", "gain")
    known = {*vouched, *(f"certificate.{k}" for k in parts), *(f"multipliers.{k}" for k in used)} - set(skipped)
    return [key for key in fields if key in known], [key for key in fields if key not in known]


def audit(data, record, evaluate, used_by):
    """Exit status, 0 if every field that is vouched for holds, else 1; and the lines to print."""
    lines = []
    try:
        require(record.get("schema") == SCHEMA, f"schema: not {SCHEMA!r}, the only one that is known")
        same_problem(data, record)
        point = evaluate(data, record)
        said, gap = record["certificate"], point.upper - point.lower
        for side, bound in zip(("lower", "upper"), point.interval(), strict=True):
            lines.append(f"{side} {bound!r}, claimed {said[side]!r}")
        lines.append(f"gap {float(gap):.3e}, claimed {said['gap']!r}")
        share = f"{float(gap / point.scale):.3e}" if point.scale > positive(gap) / 2**1000 else "undefined"
        lines.append(f"relative gap {share}, claimed {said['relative_gap']!r}; ridge {float(point.ridge):.3e}")
        claims(record, point)
    except Refused as fault:
        return 1, [*lines, f"NOT confirmed: {fault}"]
    held, others = lists(record, *used_by(record))
    return 0, [*lines, "vouched for: " + ", ".join(held), "not checked: " + ", ".join(others), "confirmed"]


def audit_machines(data, record, evaluate, used_by):
    """The same for every machine of a file, and for what they share."""
    lines, confirmed = [], True
    try:
        words = targets_of(data)[2:]
        posed = problems(data, record, words)
        for i, (title, own, solution) in enumerate(posed):
            status, said = audit(own, solution, evaluate, used_by)
            lines += [f"machine {i + 1} of {len(posed)}, {title}:", *(f"  {line}" for line in said)]
            confirmed = confirmed and status == 0
        require(confirmed, "a machine is not confirmed")
        same_summary(record)
    except Refused as fault:
        return 1, [*lines, f"NOT confirmed: {fault}"]
    return 0, [*lines, f"confirmed: all {len(posed)} machines"]


# ---------------------------------------------------------------------------------------------------------- files
def audited(arguments, evaluate, used_by):
    """Audit two files and print the result; files that cannot be read give one line and status 2."""
    try:
        if len(arguments) != 2:
            raise ValueError("usage: INSTANCE.npz SOLUTION.json|.npz")
        status, lines = judged(arrays_of(arguments[0]), read_solution(arguments[1]), evaluate, used_by)
    except Exception as fault:  # a damaged file can fail anywhere
        status, lines = 2, [f"not a point that proves anything: {type(fault).__name__}: {fault}"]
    try:
        write("".join(printable(line) + "\n" for line in lines), sys.stderr if status == 2 else sys.stdout)
        return status
    except OSError:  # nobody reads what is said: the status alone says it
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2 if status == 2 else 1)
        return status or 2


def write(text, stream):
    """Write all of a text, or raise OSError: a stream without a buffer is silent about what a full disk does not take,
    one that was closed about everything."""
    if stream is None:
        raise OSError("it is closed")
    content = text.encode(stream.encoding or "utf-8", "backslashreplace")
    raw = getattr(stream, "buffer", None)
    if not isinstance(raw, io.RawIOBase):
        stream.write(content.decode(stream.encoding or "utf-8"))
        stream.flush()
        return
    while content:
        content = content[raw.write(content) :]


def judged(data, record, evaluate, used_by):
    """Exit status and lines for a file of one solution, or of machines."""
    remedy = "save the kernels that were solved as an instance, solve that one and hand both over"
    require(record["preprocessing"] is None, f"kernels were centred or scaled before solving: {remedy}")
    return (audit_machines if record.get("schema") == MACHINES else audit)(data, record, evaluate, used_by)


def printable(line):
    """A line without control characters, which names in files may have; of a long one the beginning."""
    return "".join(c if c.isprintable() else " " for c in line)[:1000]
