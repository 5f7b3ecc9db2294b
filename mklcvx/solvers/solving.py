"""`solve`: from an instance, a formulation and its parameters to a solution with its certificate."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import partial, reduce

import numpy as np

from .. import formulations
from ..certificate import Certificate, CertifiedPoint, better, certify
from ..certificate.record import best_of
from ..certificate.run import Ending, Run
from ..certificate.solution import Solution
from ..defaults import SOLVER, TOLERANCE
from ..errors import InputError, Interrupted
from ..formulations import Formulation
from ..formulations._formulation import Given, OfOwn, Own, Posed
from ..problem.arguments import takes_kernels
from ..problem.checks import check_dicts, check_functions, check_name
from ..problem.faults import is_numerical, of_caller
from ..problem.instance import Instance
from ..problem.numbers import check_tolerance, is_number, is_whole
from ..problem.ownership import handed_over
from ..problem.preprocessing import Preprocessing, fitted_to
from ..problem.validation import KnownStack
from .assembling import assemble, family_of
from .conic import SCS, Report, solve_declared
from .cost import check_size, estimate
from .families.family import Found
from .interior.engine import InteriorPoint
from .interrupts import Outcome, in_own_context, interruptible
from .registry import ALGORITHMS, Algorithm, Callback, Options, drive, with_options

CLARABEL = "clarabel"
NEXT_TO_NOTHING = 1e-2  # of the time limit
LIMITED = (Ending.INTERRUPTED, Ending.CALLBACK, Ending.ITERATION_LIMIT, Ending.TIME_LIMIT)
NOTHING = "this is f = 0, which is known without a solver"
LONGEST = 60.0  # seconds: `auto` does not call `clarabel` if it is expected to take longer


@dataclass(frozen=True)
class Solver:
    """A way to solve, the formulations it serves (None: all), and the relative gap it can be expected to certify."""

    name: str
    summary: str
    run: OfOwn[Outcome]
    serves: tuple[str, ...] | None = None
    tolerance: float = TOLERANCE
    reference: str = ""
    algorithm: type[Algorithm] | None = None

    def check_options(self, options: Options) -> None:
        """Refuse options that the solver does not know, before anything costs time."""
        if self.algorithm is not None:
            with_options(self.algorithm, options)
        elif options:
            raise InputError(f"unknown option {next(iter(options))!r} of solver {self.name}: it has none")

    def takes(self, task: Posed) -> bool:
        """Whether it takes the loss of this task: conic solvers take every one."""
        return self.algorithm is None or self.algorithm.takes(task)

    @property
    def options(self) -> dict[str, object]:
        """Names and defaults of the options."""
        return {} if self.algorithm is None else {option.name: option.default for option in fields(self.algorithm)}


def _declared(
    settings: dict[str, Own], formulation: Formulation, task: Posed, tolerance: float, *, callback: object = None,
    options: object = None, warm: object = None, **given: Own,
) -> Outcome:  # fmt: skip
    """A conic solver has no iterations that it could show to a callback, no options and no warm start."""
    return solve_declared(formulation, task, tolerance, **settings, **given)


def _automatic(formulation: Formulation, task: Posed, tolerance: float, *, options: object, **given: Own) -> Outcome:
    """Run `interior`, with one kernel where weights are given, without its start where a neighbour's led nowhere, then
    `clarabel` if the gap is too large and the problem small; run `clarabel` alone if `interior` does not serve the
    formulation with this loss."""
    started, limit = time.perf_counter(), given["time_limit"]
    if formulation.name not in InteriorPoint.serves or not InteriorPoint.takes(task):
        return _declared({}, formulation, task, tolerance, **given)
    point, run = family_of(formulation).quickly(formulation, task, tolerance, **given) or drive(
        InteriorPoint(), formulation, task, tolerance, **{**given, "time_limit": _left(limit, started)}
    )
    left = _left(limit, started)
    if given.get("warm") is not None and not _enough(point, run, tolerance) and (left is None or left > 0):
        cold = {**given, "warm": None, "time_limit": left}
        again, run = drive(InteriorPoint(), formulation, task, tolerance, **cold)
        point, left = better(formulation, point, again), _left(limit, started)
    run.solver, enough = InteriorPoint.name, _enough(point, run, tolerance)
    if run.status is Ending.TIME_LIMIT:
        run.end(Ending.TIME_LIMIT, limit=float(limit or 0.0))  # the one that was given, not what was left of it
    if enough or not _clarabel_may_be_asked(task, left, given["max_iter"]):
        return point, run
    return _with_clarabel(formulation, task, tolerance, point, **{**given, "time_limit": left})


def _with_clarabel(
    formulation: Formulation, task: Posed, tolerance: float, point: CertifiedPoint, **given: Own
) -> Outcome:
    """The better bounds of a point and of Clarabel, whose run remembers its own."""
    again, run = _declared({}, formulation, task, tolerance, **given)
    run.alone = again
    return better(formulation, point, again), run


def _others(
    formulation: Formulation, task: Posed, tolerance: float, outcome: Outcome, certificate: Certificate,
    started: float, **given: Own,
) -> Iterator[Outcome]:  # fmt: skip
    """What else `auto` can offer where its point is not certified at the tolerance: the better bounds of it and of
    Clarabel, and Clarabel's own. Estimates may promise more than certificates hold, which pay for δ and rounding."""
    (point, run), left = outcome, _left(given["time_limit"], started)
    asked = _clarabel_may_help(run, certificate, tolerance)
    if asked and _clarabel_may_be_asked(task, left, given["max_iter"]):
        given = {**given, "time_limit": left}
        point, run = interruptible(lambda: _with_clarabel(formulation, task, tolerance, point, **given))
        yield point, run
    if run.alone is not None and run.alone is not point:
        yield run.alone, run


def _clarabel_may_be_asked(task: Posed, left: float | None, max_iter: int | None) -> bool:
    """Whether limits leave room for it, and it takes less than a minute. Its programmes are made of factors."""
    over = bool(max_iter) or (left is not None and left <= 0)
    seconds, _ = estimate(getattr(task, "samples", 0), task.count, CLARABEL)
    return not over and seconds <= LONGEST and getattr(task, "has_factors", True)


def _clarabel_may_help(run: Run, certificate: Certificate, tolerance: float) -> bool:
    """Whether it has not been asked, and the user wants more; it cannot help where nothing but one δ is missing, which
    every answer pays."""
    without_ridge = certificate.gap - certificate.ridge_share
    only_ridge = certificate.ridges is None and without_ridge <= tolerance * certificate.base
    return run.solver == InteriorPoint.name and run.status is not Ending.CALLBACK and not only_ridge


def _enough(point: CertifiedPoint, run: Run, tolerance: float) -> bool:
    """Whether no other way would help: the tolerance is proved, rounding is all that is left, or the user ended it."""
    agree = point.certificate.gap <= point.certificate.rounding < math.inf
    return agree or point.certificate.proves(tolerance) or run.status is Ending.CALLBACK


def _left(limit: float | None, started: float) -> float | None:
    """Seconds that are left; the limit itself while next to nothing is used."""
    spent = time.perf_counter() - started
    return limit if limit is None or spent < NEXT_TO_NOTHING * limit else limit - spent


def published(algorithm: type[Algorithm]) -> Solver:
    def run(formulation: Formulation, task: Posed, tolerance: float, options: Options, **given: Own) -> Outcome:
        return drive(with_options(algorithm, options), formulation, task, tolerance, **given)

    about = algorithm.serves, algorithm.tolerance, algorithm.reference, algorithm
    return Solver(algorithm.name, algorithm.summary, run, *about)


SOLVERS: tuple[Solver, ...] = (
    Solver("auto", "interior, then clarabel where interior cannot certify and the problem is small", _automatic),
    Solver(CLARABEL, "the declarations with Clarabel, an interior-point method", partial(_declared, {})),
    Solver(
        "scs",
        "the declarations with SCS, a first-order method: the second opinion",
        partial(_declared, {"options": SCS, "units": (1.0,)}),
    ),
    *(published(algorithm) for algorithm in ALGORITHMS),
)


def solver_named(name: str, formulation: Formulation) -> Solver:
    known = {solver.name: solver for solver in SOLVERS}
    check_name("solver", name, known)
    solver = known[name]
    if solver.serves is not None and formulation.name not in solver.serves:
        served = " and ".join(", ".join(solver.serves).rsplit(", ", 1))
        fitting = ", ".join(s.name for s in SOLVERS if s.serves is None or formulation.name in s.serves)
        words = f"it solves {served}; {formulation.name} is solved by {fitting}"
        raise InputError(f"solver {name} does not fit {formulation.name}: {words}")
    return solver


def tracing(formulation: Formulation) -> list[str]:
    """The iterative solvers of a formulation."""
    return [s.name for s in SOLVERS if s.algorithm is not None and formulation.name in s.algorithm.serves]


@takes_kernels
def solve(
    instance: Instance,
    formulation: str,
    *,
    solver: str = SOLVER,
    tol: float | None = None,
    time_limit: float | None = None,
    max_iter: int | None = None,
    options: Options | None = None,
    report: Report = lambda _: None,
    callback: Callback = lambda _: None,
    preprocessing: Preprocessing | None = None,
    **parameters: object,
) -> Solution:
    """Solve a formulation to a certified relative gap of at most `tol`.

    The certificate holds whether or not `tol` was reached. If it was not, the status is "not_certified" and the
    message says why.

    Parameters
    ----------
    instance : Instance
        Kernels and targets. In its place, kernels (M, n, n) and y (n,) can be given as two arguments.
    formulation : str
        Name of the formulation, see `available_formulations`.
    solver : str, default="auto"
        Name of the solver, see `available_solvers`. "auto" is `interior`, followed by `clarabel` where the certificate
        needs it and the problem is small. The solution names the solver that found it.
    tol : float, optional
        Relative gap that the certificate must prove. The default is the solver's own tolerance, for most 1e-8.
    time_limit : float, optional
        Seconds.
    max_iter : int, optional
        Iterations of the solver.
    options : dict, optional
        Options of the solver, for example a seed.
    report : callable, optional
        Function that is called with one line of text before each stage.
    callback : callable, optional
        Function that is called with every row of an iterative solver's trace. A true result ends the run.
    preprocessing : Preprocessing, optional
        Steps that were applied to the kernels. They travel with the solution, for test kernels.
    **parameters : dict
        Parameters of the formulation, for example C=1.0.

    Returns
    -------
    Solution
        Weights, dual variables, bias and certificate.

    Raises
    ------
    InputError
        If an argument cannot be used. The message names the fault and the remedy.
    KeyboardInterrupt
        At Ctrl-C. Its `solution` is the best point so far with its certificate; a second Ctrl-C ends at once.

    See Also
    --------
    solve_path : Solve along a grid of parameters.
    verify : Judge an answer of another solver.

    Examples
    --------
    >>> import mklcvx
    >>> instance = mklcvx.zoo.by_hand()
    >>> solution = mklcvx.solve(instance, "l1", C=1.0)
    >>> solution.status, round(solution.objective, 6)
    ('certified', 1.125)

    Kernels and labels can be given without an instance:

    >>> mklcvx.solve(instance.kernels, instance.y, "l1", C=1.0).certified
    True
    """
    check_functions(report=report, callback=callback)
    method = prepared(formulation, solver, tol, time_limit, max_iter, options)
    limits = {"time_limit": time_limit, "max_iter": max_iter}
    told = {"options": dict(options or {}), "report": report, "callback": callback}
    return solved(instance, formulation, method, tol, parameters, preprocessing, **limits, **told)[0]


def prepared(
    formulation: str, solver: str, tol: float | None, time_limit: float | None, max_iter: int | None,
    options: Options | None,
) -> Solver:  # fmt: skip
    """The solver of that name, after its limits and options have been checked."""
    method = solver_named(solver, formulations.get(formulation))
    check_dicts(options=options)
    check_limits(method.tolerance if tol is None else tol, time_limit, max_iter)
    method.check_options(options or {})
    return method


def check_limits(tol: float, time_limit: float | None, max_iter: int | None) -> None:
    check_tolerance(tol)
    if time_limit is not None and not (is_number(time_limit) and time_limit > 0):
        raise InputError(f"time_limit = {time_limit!r} is not positive: give seconds")
    if max_iter is not None and not is_whole(max_iter, 1):
        raise InputError(f"max_iter = {max_iter!r} is below 1 or no integer: give a number of iterations")


@in_own_context
def solved(
    instance: Instance, formulation: str, method: Solver, tol: float | None, parameters: Given,
    preprocessing: Preprocessing | None = None, **given: Own,
) -> tuple[Solution, object]:  # fmt: skip
    """The solution, and the last state of an iterative solver: a warm start for the next parameter."""
    tol = method.tolerance if tol is None else float(tol)
    check_size(instance, method.name, parameters)
    instance.check_unchanged()
    steps = fitted_to(preprocessing, instance.count, instance.samples)
    chosen = formulations.get(formulation).posed_for(instance, parameters)
    with np.errstate(all="ignore"):
        task, resolved = chosen.task(instance, parameters)
    if not method.takes(task):
        fitting = ", ".join(s.name for s in SOLVERS if (s.serves is None or chosen.name in s.serves) and s.takes(task))
        loss = getattr(task, "loss_function", None)  # that of C or nu has no name among the parameters
        raise InputError(f"solver {method.name} does not take loss {getattr(loss, 'name', '')}: use {fitting}")
    family, kept, started = family_of(chosen), list[Callable[[], Outcome]](), time.perf_counter()
    working, share = family.working(task)
    posed = partial(Found, chosen, task, working, tolerance=tol, instance=instance, parameters=resolved)

    def answer(point: CertifiedPoint, run: Run) -> Solution:
        described = {"preprocessing": steps, "seconds": time.perf_counter() - started}
        return _solution(posed, point, run, method, given.get("time_limit"), **described)

    answers = list[Solution]()
    with np.errstate(all="ignore"):  # overflow proves nothing, and the message says so
        try:
            outcome = interruptible(lambda: _run(method, chosen, working, share * tol, keep=kept.append, **given))
            answers.append(answer(*outcome))
            if method.name == SOLVER and not answers[0].certificate.proves(tol):
                before = outcome, answers[0].certificate, started
                for other in _others(chosen, working, share * tol, *before, keep=kept.append, **given):
                    answers.append(answer(*other))
                    if answers[-1].certificate.proves(tol):
                        break
            return _best(answers, tol), outcome[1].last
        except KeyboardInterrupt:
            if not kept:
                raise
            points, runs = zip(*[left() for left in kept], strict=True)
            runs[-1].end(Ending.INTERRUPTED)
            answers.append(answer(reduce(partial(better, chosen), points), runs[-1]))
            raise Interrupted(_best(answers, tol)) from None


def _best(answers: list[Solution], tolerance: float) -> Solution:
    """The best of those that prove the tolerance, or of all."""
    return best_of([answer for answer in answers if answer.certificate.proves(tolerance)] or answers)


def _solution(
    posed: OfOwn[Found], point: CertifiedPoint, run: Run, method: Solver, time_limit: float | None, **described: Own
) -> Solution:
    """The point with its certificate and all that is said of it."""
    whole = run.status not in LIMITED  # else luck with the last bits would make a gap that a higher limit has not
    try:
        polish, refine = whole and not run.trace, whole and not method.reference
        result = posed(point, polish=polish, refine=refine, others=tuple(run.points))
        certificate, fields, limit, failed = assemble(result)
    except Exception as fault:
        if not is_numerical(fault):
            raise
        run.end(Ending.OUT_OF_RANGE, why=fault)
        result = posed(point, polish=False, refine=False)
        result = result._replace(point=_trivial(result.formulation, result.working))
        certificate, fields, limit, failed = assemble(result)
    reasons, instance = [failed] if failed else [], result.instance
    if not certificate.proves(result.tolerance):
        reasons.insert(0, _why_not(certificate, limit, run, result.tolerance, time_limit, instance))
    solution = Solution(
        formulation=result.formulation.name,
        parameters=result.parameters,
        solver=run.solver or method.name,
        status="not_certified" if reasons else "certified",
        tolerance=result.tolerance,
        certificate=certificate,
        iterations=run.iterations,
        names=instance.names,
        target=instance.targets.kind,
        label_names=instance.targets.names,
        classes=instance.targets.classes(),
        classes_kind=instance.targets.classes_kind(),
        svm_solves=run.svm_solves,
        trace=tuple(run.trace),
        message="; ".join(reasons),
        **described,
        **fields,
    )
    if not reasons:
        return solution
    message = family_of(result.formulation).why_not(result.task, solution) or solution.message
    parts = np.nan_to_num(solution.weights if solution.alpha is None else solution.all_coefficients)
    return replace(solution, message=message if parts.any() else f"{message}; {NOTHING}")


def _run(method: Solver, formulation: Formulation, task: Posed, tolerance: float, **given: Own) -> Outcome:
    """The solver's outcome; the point that is known without one, if numbers end the solver."""
    try:
        return method.run(formulation, task, tolerance, **given)
    except Exception as fault:
        if not is_numerical(fault) or of_caller(fault, (given.get("callback"), given.get("report"))):
            raise
        run = Run()
        run.end(Ending.OUT_OF_RANGE, why=fault)
        return _trivial(formulation, task), run


def _trivial(formulation: Formulation, task: Posed) -> CertifiedPoint:
    return certify(formulation, task, formulation.trivial_points(task))


def preprocessed(instance: Instance, preprocessing: Preprocessing, weighted: bool = True) -> Instance:
    """The instance after steps fitted on its kernels, where a sample counts as often as its weight says, or once; its
    test kernels stay as they are until prediction."""
    fitted = preprocessing.fit(instance.kernels, instance.names, instance.sample_weight if weighted else None)
    kernels, known = fitted.train_tested(instance.kernels)
    return instance.with_kernels(KnownStack(handed_over(kernels), known))


def refitted(instance: Instance, known: Preprocessing) -> Instance:
    """The instance after the steps of a record, fitted again: its numbers are not trusted."""
    return preprocessed(instance, Preprocessing(known.steps))


def _why_not(
    certificate: Certificate, limit: str, run: Run, tol: float, time_limit: float | None, instance: Instance
) -> str:
    words = f"not certified: relative gap {certificate.relative_gap:.2e}, asked for {tol:.0e}"
    if certificate.vanishing:
        words = f"not certified: f vanishes beside the value, known to {certificate.relative_gap:.1e} of it only"
    if limit == "entries":
        dtype = instance.kernels.dtype
        coarse = {"float16": "half-precision", "float32": "single-precision"}.get(str(dtype), "rounded")
        remedy = "give factors (LowRank), a smaller C, or kernels with something added to the diagonal"
        if dtype.itemsize < 8 and dtype.kind == "f":
            remedy = "give doubles"
        return f"{words}; {coarse} entries (δ = {certificate.ridge:.1e}) forbid less: {remedy}"
    if limit == "rounding":
        return f"{words}; rounding forbids less: a smaller C, centred features or a larger tolerance would help"
    if run.status not in (Ending.NONE, Ending.CERTIFIED):
        return f"{words}; {run.ending}"
    within = " within the time limit" if time_limit is not None else ""
    if run.statuses:
        return f"{words}{within}; the solver's last status was {run.statuses[-1]}"
    return f"{words}{within}; {'the point found proves no more' if run.iterations else 'nothing was solved'}"
