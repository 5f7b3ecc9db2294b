"""Compare the claims of a solution file with what its point proves. Needs NumPy and the standard library only.

A checker evaluates two bounds at the file's point, exactly: a `Point`. The file's claims hold if

    claimed lower ≤ lower,   upper ≤ claimed upper,   upper − lower ≤ claimed gap,   claimed scale ≤ scale,
    (upper − lower)/scale ≤ claimed relative gap,   which is the claimed gap over the claimed scale,

where the gap may lack 2^-200 of the terms of the objectives, which is more than the checker itself rounds them by;
the status follows from the relative gap and the tolerance, the objective is the claimed upper bound (the lower one of
a maximum), bounds and scale are those of the point to nine digits of their terms, the norms those of its functions to
six, and labels and names those of the instance. A gap up to 2^-900 counts as none.

Where the scale vanishes, that is, where it is at most 2^-40 of the gain (of the larger bound in families without gain),
the value hardly depends on the classifier. Then the gain takes the place of the scale, and a certified solution has a
relative gap of at most 2^-40.
"""

import os
import sys
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .files import arrays_of, read_solution
from .machines import SCHEMA as MACHINES
from .machines import problems, same_summary
from .numbers import Refused, positive, require, root, rounded

OLD, SCHEMA = "mklcvx.solution/1", "mklcvx.solution/2"
ROWS = ("ml_sum", "ml_minimax", "hypergraph", "hypergraph_smooth")  # y has a row for every label, even for a single one
VANISHING, NOTHING = Fraction(1, 2**40), Fraction(1, 2**900)
ROUNDING = Fraction(1, 2**200)  # more than quotients and roots are off by, relative to the terms
NEARLY = 1 + Fraction(1, 2**50)  # relative error of a quotient or difference of doubles
ALMOST = 1 + Fraction(1, 2**20)  # factor by which the claimed gain may exceed that of the point in a small relative gap
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


class Point(NamedTuple):
    """What the file's point proves, exactly."""

    lower: Fraction
    upper: Fraction
    scale: Fraction  # what a gap is divided by
    size: Fraction  # sum of the absolute terms of the objectives
    ridge: Fraction
    squares: Any = ()  # of the norms of functions, and the norms without cancellation
    spread: Any = ()
    second: Fraction = Fraction(0)  # the relative gap of the second stage
    stages: Any = ()  # of its SVMs: both bounds, and what their gap is divided by
    stored: Any = None  # both bounds of the kernels without their δ, where those with δ are what the others are about
    gain: Any = None  # the scale may vanish beside it; the larger bound takes its place if None
    loose: Any = None  # the lower bound with rounding errors of products with kernels

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
    found = {key: number(given[key], f"parameters.{key}") for key, limit in wanted.items() if limit in LIMITS}
    for key in found:
        text, accepts = LIMITS[wanted[key]]
        require(accepts(found[key], count) and abs(found[key]) <= 1e100, f"parameters.{key}: outside {text}")
    return found


def targets_of(data):
    """Kind, signs ±1 with a row for every label, their names, and the classes as words. A response, and samples without
    targets, have the sign +1."""
    kinds = [kind for kind in ("y", "classes", "labels", "response") if kind in data]
    require(len(kinds) <= 1, "target: the instance has more than one of y, classes, labels and response")
    if not kinds:
        return "none", np.ones(np.shape(data["kernels"])[-1], int), [], None
    values, names = np.asarray(data[kinds[0]]), data.get("label_names")
    if kinds[0] == "response":
        one = values.size == len(values)
        known = ["response"] if one else [str(j) for j in range(values.shape[1])]
        ones = np.ones(len(values) if one else values.T.shape, int)
        return "response", ones, known if names is None else [str(x) for x in names], None
    if kinds[0] == "y":
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
    """Compare every claim of the certificate with the exact values at the point."""
    maximum, said = record["formulation"] == "alignment", record["certificate"]
    require(record["formulation"] in PAIRS or {"ridge", "stretch"} <= set(said), "certificate: no ridge or no stretch")
    lower, upper, gap, scale = (number(said[k], f"certificate.{k}") for k in ("lower", "upper", "gap", "scale"))
    tolerance, near = number(record["tolerance"], "tolerance"), point.size / 10**9 + NOTHING
    difference, limit = point.upper - point.lower, upper if maximum else positive(point.scale)
    apart = difference - point.size * ROUNDING
    least = (point.lower if point.loose is None else point.loose) - near
    require(least <= lower <= point.lower, "certificate.lower: not what alpha proves")
    require(point.upper + near >= upper >= point.upper, "certificate.upper: not what the functions prove")
    require(lower <= upper, "certificate: the bounds cross")
    require(gap >= apart, "certificate.gap: smaller than the difference of the bounds")
    require(gap <= (upper - lower) * NEARLY + NOTHING, "certificate.gap: larger than the difference of the claims")
    require(positive(limit - near) <= scale <= limit, "certificate.scale: not the terms of the objectives")
    require(0 < tolerance < 1, "tolerance: not between 0 and 1")
    objective = number(record["objective"], "objective")
    require(objective == (lower if maximum else upper), "objective: not the certificate's bound")
    larger, exactly = max(abs(lower), abs(upper)), max(abs(point.lower), abs(point.upper))
    if point.gain is not None:
        larger, exactly = number(said.get("gain"), "certificate.gain"), point.gain
        require(0 <= exactly - larger <= near, "certificate.gain: not that of alpha")
    vanishing = scale <= VANISHING * larger
    if said["relative_gap"] is None:
        require(scale == larger == 0, "certificate.relative_gap: missing")
        certified = False
    else:
        relative, wanted = number(said["relative_gap"], "certificate.relative_gap"), gap if gap > NOTHING else 0
        quotient = relative * (larger if vanishing else scale)
        fits = wanted <= quotient * NEARLY and quotient <= wanted * NEARLY
        require(fits, "certificate.relative_gap: not the gap's share")
        if relative <= VANISHING:
            larger = min(larger, exactly * ALMOST)
        base = larger if vanishing and (relative > VANISHING or limit <= 2 * VANISHING * larger) else limit
        covers = relative * base >= apart or difference <= NOTHING
        require(covers, "certificate.relative_gap: smaller than the gap is")
        certified = relative <= (min(tolerance, VANISHING) if vanishing else tolerance)
    if "second_stage_gap" in record["multipliers"]:
        second = number(record["multipliers"]["second_stage_gap"], "multipliers.second_stage_gap")
        require(second >= point.second, "multipliers.second_stage_gap: smaller than the gap is")
        certified = certified and second <= tolerance
    require(record["status"] == ("certified" if certified else "not_certified"), "status: does not follow from the gap")


def same_norms(record, point):
    """Require the norms to six digits of the largest, or up to the rounding of their squares."""
    if not point.squares:
        require(record["norms"] is None, "norms: there are none in this family")
        return
    said = numbers(record["norms"], (len(point.squares),), "norms")
    norms = np.array([float(root(positive(x), 1)) for x in point.squares])
    rounding = len(np.ravel(record["y"])) * 2.0**-50 * np.square(point.spread) + float(NOTHING)
    near = (np.abs(said - norms) <= 1e-6 * norms.max()) | (np.abs(said**2 - norms**2) <= rounding)
    require((said >= 0).all() and near.all(), "norms: not those of the functions")


def lists(record, used, skipped):
    """The fields that are vouched for, and the others."""
    vouched = ["schema", "formulation", "parameters", "status", "objective", "weights", "alpha", "bias", "coefficients"]
    vouched += ["alpha_low", "bias_low"]
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
        require(record.get("schema") in (OLD, SCHEMA), "schema: unknown")
        same_problem(data, record)
        point = evaluate(data, record)
        said, gap = record["certificate"], point.upper - point.lower
        for side, bound in zip(("lower", "upper"), point.interval(), strict=True):
            lines.append(f"{side} {bound!r}, claimed {said[side]!r}")
        lines.append(f"gap {float(gap):.3e}, claimed {said['gap']!r}")
        share = f"{float(gap / point.scale):.3e}" if point.scale > positive(gap) / 2**1000 else "undefined"
        lines.append(f"relative gap {share}, claimed {said['relative_gap']!r}; ridge {float(point.ridge):.3e}")
        require(record["schema"] != OLD, "claims of the old schema carry no account of rounding: solve again")
        claims(record, point)
        same_norms(record, point)
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
        data, record = arrays_of(arguments[0]), read_solution(arguments[1])
        require(record["preprocessing"] is None, "kernels were centred or scaled before solving: give those")
        judge = audit_machines if record.get("schema") == MACHINES else audit
        status, lines = judge(data, record, evaluate, used_by)
    except Exception as fault:  # a damaged file can fail anywhere
        status, lines = 2, [f"not a point that proves anything: {type(fault).__name__}: {fault}"]
    try:
        print("\n".join(printable(line) for line in lines), file=sys.stderr if status == 2 else sys.stdout, flush=True)
        return status
    except OSError:  # nobody reads what is said: the status alone says it
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2 if status == 2 else 1)
        return status or 2


def printable(line):
    """A line without control characters, which names in files may have; of a long one the beginning."""
    return "".join(c if c.isprintable() else " " for c in line)[:1000]
