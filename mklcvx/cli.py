"""The command line. Exit status 0: certified; 1: solved but not certified; 2: unusable input, said in one line."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from . import __version__, cli_conform, cli_report, cli_zoo, formulations
from .cli_settings import (
    FORMATS,
    Centre,
    InstanceFile,
    Normalise,
    Repair,
    Selection,
    Settings,
    loaded,
    parse_grid,
    parse_settings,
    printable,
)
from .errors import InputError, InternalError
from .files import check_output, load_instance, load_solution, load_test, save_solution, write_whole
from .solution import LARGE, Solution

app = typer.Typer(
    name="mklcvx",
    help="Multiple kernel learning, declared in CVXPY and solved with a certificate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)

app.add_typer(cli_zoo.app, name="zoo")
app.command()(cli_conform.conform)
app.command()(cli_conform.validate)
app.command()(cli_report.report)

# The base of Typer's own refusals; where the class lives depends on Typer's version.
UsageFault: type[Exception] = typer.BadParameter.__mro__[2]
INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; every refusal is one line on standard error and exit status 2."""
    _write_what_can_be_written()
    try:
        code = app(args=arguments, standalone_mode=False)
        if code == INTERRUPTED:  # Typer makes a status of an interrupt and says nothing
            raise KeyboardInterrupt
    except InputError as fault:
        code = _refuse(str(fault))
    except UsageFault as fault:
        message = fault.format_message()  # type: ignore[attr-defined]
        code = _refuse(f"{message.strip() or 'no command given'} (see mklcvx --help)")
    except MemoryError:
        code = _refuse("not enough memory for this instance: use fewer samples, or kernels of lower rank")
    except ArithmeticError as fault:
        code = _refuse(
            f"a number left the range of double precision ({fault}): bring kernels and parameters nearer to 1"
        )
    except InternalError as fault:
        _refuse(f"a defect of mklcvx itself: {fault}; please report it")
        code = 1
    except BrokenPipeError:
        sys.stderr.close()
        code = 1
    except OSError as fault:
        code = _refuse(f"output could not be written ({fault.strerror or fault}): choose another place")
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("mklcvx: interrupted; nothing was written\n")
        code = INTERRUPTED
    sys.exit(code if isinstance(code, int) else 0)


def _refuse(message: str) -> int:
    sys.stderr.write(f"mklcvx: {printable(message)}\n")
    return 2


def _write_what_can_be_written() -> None:
    """Where standard output has no Greek letters, question marks must do."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.encoding.lower() not in ("utf-8", "utf8"):
        sys.stdout.reconfigure(errors="replace")


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"mklcvx {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Multiple kernel learning, declared in CVXPY and solved with a certificate."""


@app.command("list")
def list_formulations(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the formulations, their parameters, and the solvers."""
    from .display import formulation_table, solver_table
    from .solving import SOLVERS

    if as_json:
        rows = [
            {
                "name": f.name,
                "title": f.title,
                "parameters": f.parameter_names,
                "family": f.family,
                "losses": list(getattr(f, "losses", ())),
                "needs_groups": f.needs_groups,
                "reference": f.reference,
            }
            for f in formulations.FORMULATIONS
        ]
        solvers = [
            {
                "name": s.name,
                "summary": s.summary,
                "formulations": s.serves,
                "tolerance": s.tolerance,
                "options": s.options,
                "reference": s.reference,
            }
            for s in SOLVERS
        ]
        typer.echo(json.dumps({"schema": "mklcvx.list/1", "formulations": rows, "solvers": solvers}, indent=1))
        return
    formulation_table()
    solver_table()


@app.command()
def explain(
    name: Annotated[str, typer.Argument(help="A formulation, for example l1.")],
    latex: Annotated[bool, typer.Option("--latex", help="Print the formulas as LaTeX.")] = False,
) -> None:
    """Explain a formulation: primal, dual, the way between them, multipliers, limits, reference."""
    from .explain import as_latex, as_text

    formulation = formulations.get(name)
    typer.echo(as_latex(formulation) if latex else as_text(formulation))


@app.command("conventions")
def list_conventions(
    name: Annotated[str | None, typer.Argument(help="Explain this one, for example spicymkl.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """List the other codes whose problems and answers can be converted, or explain one."""
    from . import conventions

    chosen = conventions.CONVENTIONS if name is None else (conventions.get(name),)
    if as_json:
        rows = [conventions.as_dict(convention) for convention in chosen]
        typer.echo(json.dumps({"schema": "mklcvx.conventions/1", "conventions": rows}, ensure_ascii=False))
    else:
        typer.echo(conventions.table() if name is None else conventions.as_text(chosen[0]))


SolverName = Annotated[
    str,
    typer.Option(
        help="auto (interior, then exact), interior, exact, scs, or a published algorithm: see 'mklcvx list'."
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        help="Relative gap that the certificate must prove: 1e-8, but 1e-9 for interior and less for published ones.",
        show_default=False,
    ),
]


@app.command()
def solve(
    instance: InstanceFile,
    formulation: Annotated[str, typer.Option("-f", "--formulation", help="See 'mklcvx list'.")] = "l1",
    settings: Settings = None,
    solver: SolverName = "auto",
    options: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="KEY=VALUE", help="An option of the solver, for example seed=1."),
    ] = None,
    tol: Tolerance = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds.")] = None,
    max_iter: Annotated[int | None, typer.Option(help="Iterations of the solver.")] = None,
    normalise: Normalise = None,
    centre: Centre = False,
    repair: Repair = None,
    kernels: Selection = None,
    trace: Annotated[
        Path | None, typer.Option(help="Write an iterative solver's bounds and weights, row by row: .json or .csv.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the solution as one JSON object.")] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the solution: .json or .npz.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
) -> None:
    """Solve a formulation exactly and certify the answer.

    Example: `mklcvx solve problem.npz -f sm1 --set C=10 --set theta=0.3 -o answer.json`
    """
    from .solving import solve as run
    from .solving import solver_named, tracing

    given, own = parse_settings(settings or []), parse_settings(options or [], "--option")
    chosen = formulations.get(formulation)
    method = solver_named(solver, chosen)
    method.check_options(own)
    if trace is not None:
        if method.algorithm is None and solver != "auto":
            raise InputError(f"--trace: solver {solver} keeps no trace: choose one of {', '.join(tracing(chosen))}")
        check_output(trace, (".json", ".csv"))
        if output is not None and trace.resolve() == output.resolve():
            raise InputError(f"--trace {trace}: the solution goes there too: choose another name for one of them")
    if output is not None:
        check_output(output, (".json", ".npz"))
    problem, preparation = loaded(instance, repair, kernels, centre, normalise)
    chosen.task(problem, given)  # refuses bad parameters before anything costs time
    from .display import Progress, cost_warning, show_solution  # not before anything that may refuse

    if not quiet:
        cost_warning(problem, solver)
    with Progress(quiet or as_json, method.tolerance if tol is None else tol) as progress:
        found = run(
            problem,
            formulation,
            solver=solver,
            tol=tol,
            time_limit=time_limit,
            max_iter=max_iter,
            options=own,
            report=progress.say,
            callback=progress.advance,
            preprocessing=preparation,
            **given,
        )
    if trace is not None:
        from .trace import save_trace

        save_trace(trace, found)
    if output is not None:
        save_solution(output, found)
        if output.suffix == ".json":
            _say_what_is_left_out(found, output)
    if as_json:
        typer.echo(json.dumps(found.as_dict(), allow_nan=False))
    elif not quiet:
        show_solution(found)
    if not found.certified:
        sys.stderr.write(f"mklcvx: {found.message}\n")
        raise typer.Exit(1)


@app.command()
def path(
    instance: InstanceFile,
    grid: Annotated[
        list[str],
        typer.Option("--grid", metavar="KEY=V1,V2,...", help="A parameter and its values; several: all combinations."),
    ],
    formulation: Annotated[str, typer.Option("-f", "--formulation", help="See 'mklcvx list'.")] = "l1",
    settings: Settings = None,
    solver: SolverName = "auto",
    tol: Tolerance = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for each point.")] = None,
    max_iter: Annotated[int | None, typer.Option(help="Iterations for each point.")] = None,
    normalise: Normalise = None,
    centre: Centre = False,
    repair: Repair = None,
    kernels: Selection = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the JSON lines to a file.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
) -> None:
    """Solve along a grid of parameters, each point starting where the last ended; one JSON line for each point.

    Example: `mklcvx path problem.npz -f l1 --grid C=0.01,0.1,1,10 -o path.jsonl`
    """
    from .paths import combinations, described, each, json_line
    from .solving import prepared

    given, points = parse_settings(settings or []), combinations(parse_grid(grid), parse_settings(settings or []))
    prepared(formulation, solver, tol, time_limit, max_iter, None)
    if output is not None:
        check_output(output, (".jsonl", ".json"))
    problem, preparation = loaded(instance, repair, kernels, centre, normalise)
    for point in points:
        formulations.get(formulation).task(problem, {**given, **point})  # refuses before anything costs time
    from .display import Progress

    found = []
    with Progress(quiet) as progress:
        for solution in each(
            problem, formulation, points, solver=solver, tol=tol, time_limit=time_limit, max_iter=max_iter,
            report=progress.say, preprocessing=preparation, **given,
        ):  # fmt: skip
            found.append(solution)
            if output is None:
                typer.echo(json_line(solution))
    if output is not None:
        lines = "".join(json_line(solution) + "\n" for solution in found)
        write_whole(output, lambda stream: stream.write(lines.encode()))
        for point, s in zip(points, found, strict=True):
            if not quiet:
                gap = f"relative gap {s.certificate.relative_gap:.1e}"
                typer.echo(f"{described(point)}: objective {s.objective:.10g}, {s.status}, {gap}")
    missed = [solution for solution in found if not solution.certified]
    if missed:
        sys.stderr.write(
            f"mklcvx: {len(missed)} of {len(found)} points are not certified; the first: {missed[0].message}\n"
        )
        raise typer.Exit(1)


@app.command()
def prove(
    instance: InstanceFile,
    formulation: Annotated[str, typer.Option("-f", "--formulation", help="See 'mklcvx list'.")] = "l1",
    settings: Settings = None,
    normalise: Normalise = None,
    centre: Centre = False,
    repair: Repair = None,
    kernels: Selection = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds for the solver.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Enclose the optimal value rigorously: both bounds in ball arithmetic, at exactly feasible points.

    Exit status 0 if the interval's relative width is at most 1e-8, 1 if it is wider.

    Example: `mklcvx prove problem.npz -f sm1 --set theta=0.5`
    """
    given, chosen = parse_settings(settings or []), formulations.get(formulation)
    problem, _ = loaded(instance, repair, kernels, centre, normalise)
    chosen.task(problem, given)  # refuses bad parameters before anything costs time
    from .display import Progress, cost_warning, show_proof
    from .rigorous import prove as run

    if not as_json:
        cost_warning(problem, "auto")
    with Progress(as_json) as progress:
        found = run(problem, formulation, time_limit=time_limit, report=progress.say, **given)
    if as_json:
        typer.echo(json.dumps(found.as_dict(), allow_nan=False))
    else:
        show_proof(found)
    if not found.sharp:
        sys.stderr.write(f"mklcvx: relative width {found.relative_width:.1e}: {found.why_wide}\n")
        raise typer.Exit(1)


@app.command()
def predict(
    solution: Annotated[Path, typer.Argument(help="A solution written by 'solve -o'.", show_default=False)],
    test: Annotated[Path, typer.Argument(help=f"test_kernels (M, t, n): {FORMATS}.", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write values and labels: .csv, .json or .npz.")
    ] = None,
) -> None:
    """Decision values and labels for new samples, or their embedding; scores too where the file has the truth."""
    from .prediction import Prediction

    if output is not None:
        check_output(output, (".csv", ".json", ".npz"))
    model, content = load_solution(solution), load_test(test)
    try:
        prediction = Prediction.of(model, content)
    except InputError as fault:
        raise InputError(f"test {test}: {fault}") from None
    if output is None:
        typer.echo(prediction.as_csv(), nl=False)
    else:
        prediction.save(output)
    score = prediction.score()
    if score:
        sys.stderr.write(f"{score}\n")
    if not model.certified:
        sys.stderr.write(f"mklcvx: the solution is {model.message or 'not certified'}\n")


@app.command()
def verify(
    instance: InstanceFile,
    answer: Annotated[Path, typer.Argument(help=f"What a solver found: {FORMATS}; or a trace.", show_default=False)],
    formulation: Annotated[
        str | None, typer.Option("-f", "--formulation", help="See 'mklcvx list'; else what the answer says.")
    ] = None,
    settings: Settings = None,
    convention: Annotated[
        str | None,
        typer.Option(help="Whose notation answer and --set are in, see 'mklcvx conventions'.", show_default=False),
    ] = None,
    tol: Annotated[float, typer.Option(help="Relative tolerance of the verdict.")] = 1e-6,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as one JSON object.")] = False,
    html: cli_report.HtmlFile = None,
) -> None:
    """Judge an answer: any of weights, alpha, bias, coefficients, multipliers and objective, or a whole trace.

    Exit status 0 if it is accepted, 1 if it is rejected; then the report says what it is optimal for, if that is known.

    Example: `mklcvx verify problem.npz answer.json -f l1 --set C=10`, or `--convention spicymkl --set lam=0.3`
    """
    from .submissions import convention_named, read_submission
    from .verify import judge_submission

    given = parse_settings(settings or [])
    if formulation is not None:
        formulations.get(formulation)
    if convention is not None:
        convention_named(convention)
    cli_report.check_page(html, "--html")
    problem = load_instance(instance)
    submission = read_submission(answer, problem, formulation, given, convention)
    formulations.get(submission.formulation).task(submission.instance, submission.parameters)
    from .display import show_report

    report = judge_submission(submission, tol)
    if html is not None:
        cli_report.save_verdict(html, submission, report, instance, answer)
    for note in submission.notes:
        sys.stderr.write(f"mklcvx: {printable(note)}\n")
    if as_json:
        typer.echo(json.dumps(report.as_dict(), allow_nan=False))
    else:
        show_report(report)
    if not report.accepted:
        why = "" if report.diagnosis is None else f": {report.diagnosis.words}"
        sys.stderr.write(f"mklcvx: {report.verdict}{printable(why)}\n")
        raise typer.Exit(1)


@app.command()
def bench(
    instance: InstanceFile,
    formulation: Annotated[str, typer.Option("-f", "--formulation", help="See 'mklcvx list'.")] = "l1",
    settings: Settings = None,
    solvers: Annotated[
        str | None, typer.Option(help="Contestants, by commas; all that fit if none is given.", show_default=False)
    ] = None,
    external: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=COMMAND", help="A command with {instance} and {answer}; may be repeated."),
    ] = None,
    rounds: Annotated[int, typer.Option(help="How often each contestant runs, in turn.")] = 5,
    tol: Annotated[
        float | None, typer.Option(help="Relative gap asked of everyone; else of each its own.", show_default=False)
    ] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds for a contestant, one round or all of them.")] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Compare solvers on an instance: in turns, on one thread, in LIBSVM fits, all judged by the same certificate.

    Exit status 0 if the first contestant is certified, 1 if it is not, whatever became of the others.

    Example: `mklcvx bench problem.npz --solvers interior,exact --external "mine=python my.py {instance} {answer}"`
    """
    given, chosen = parse_settings(settings or []), formulations.get(formulation)
    problem = load_instance(instance)
    chosen.task(problem, given)
    from .bench import compare, contestants

    names = None if solvers is None else [name.strip() for name in solvers.split(",") if name.strip()]
    entrants = contestants(chosen, names, external or [])
    from .display import Progress, show_benchmark

    with Progress(as_json) as progress:
        limits: dict[str, Any] = {"rounds": rounds, "tol": tol, "time_limit": time_limit}
        found = compare(problem, formulation, entrants, report=progress.say, **limits, **given)
    if as_json:
        typer.echo(json.dumps(found.as_dict(), allow_nan=False))
    else:
        show_benchmark(found)
    if found.standings[0].status != "certified":
        raise typer.Exit(1)


@app.command()
def demo(
    samples: Annotated[int, typer.Option(help="Training samples.", min=20, max=300)] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the split.")] = 0,
    html: cli_report.HtmlFile = None,
) -> None:
    """Solve every formulation on breast cancer data and compare: optimum, certificate, weights, accuracy."""
    cli_report.check_page(html, "--html")
    from .demo import run_demo

    if not run_demo(samples, seed, html):
        raise typer.Exit(1)


def _say_what_is_left_out(found: Solution, output: Path) -> None:
    left_out = [name for name, value in found.multipliers.items() if np.size(value) > LARGE]
    if left_out:
        fault = f"{' and '.join(left_out)} left out, too large for JSON"
        sys.stderr.write(f"mklcvx: output {printable(str(output))}: {fault}: end the name in .npz to keep all\n")


if __name__ == "__main__":
    main()
