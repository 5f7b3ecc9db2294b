"""One page for every formulation, made of its docstring, its declarations and its record: there is no other source.

A page states the theorem once, each problem above the code that declares it; what `explain` prints is there as files.
`formulations/_more/NAME.md` is put behind the derivation if it is there: the Lagrangian step by step, the optimality
conditions, a picture.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from pathlib import Path
from typing import Any

from family import EDGES
from mklcvx.formulations import FORMULATIONS, Formulation, get
from mklcvx.formulations.losses import ALL, AnyLoss
from mklcvx.reports.explain import GENERAL, as_latex, as_text, laid_out
from mklcvx.reports.latex import formula, prose
from mklcvx.reports.theorem import Paragraph, TheoremLine, parse
from mklcvx.solvers.solving import SOLVERS

NAMES = [formulation.name for formulation in FORMULATIONS]
SHARED = {loss.theorem: loss.name for loss in reversed(ALL)}  # pages of losses, by theorem: two have the same
LINKS = {**{name: name for name in NAMES}, **{loss.name: SHARED[loss.theorem] for loss in ALL}}
FAMILIES = {
    "single task": "One task, labels ±1",
    "many labels": "Many labels, one combination of kernels",
    "two stages": "Two stages: first the kernel, then the classifier",
    "hypergraph": "Hypergraphs of labels",
}
LOSSY = tuple(formulation.name for formulation in FORMULATIONS if formulation.loss_names)
CHAPTERS = {
    "01_svm_dual": ("svm", "sum"),
    "03_kernel_weights": ("l1", "average", "sum"),
    "04_norms": ("l1", "l2", "lp", "elastic", "li", "vskl"),
    "05_soft_margins": ("sm1", "sm2", "smp", "square", "average"),
    "06_cutting_planes": ("l1",),
    "07_smoothing": ("hypergraph_smooth",),
    "08_stochastic": ("ml_sum", "ml_minimax"),
    "09_k_space": ("ts", "ts_l1", "alignment"),
    "10_hypergraphs": ("hypergraph", "hypergraph_smooth"),
    "12_cycles": ("ckl", "li"),
    "13_change_the_loss": LOSSY,
}
SPECIMENS = {"svm": "one-kernel"}
LABELLED = ("many labels", "hypergraph")
LOW = {"1": "₁", "2": "₂", "p": "ₚ", "s": "ₛ"}


# ------------------------------------------------------------------------------------------------ words and formulas
def markdown(text: str) -> str:
    """Prose with its mathematics between dollars; names of formulations lead to their pages."""
    return "".join(_piece(kind, content) for kind, content in prose(text))


def _piece(kind: str, content: str) -> str:
    if kind == "math":
        return f"${formula(content)}$"
    if kind == "code":
        return link(content) if content in LINKS else f"`{content}`"
    return content


def problem(row: TheoremLine) -> str:
    """A primal or dual on lines of its own."""
    return "\n".join(["$$", r"\begin{aligned}", " \\\\\n".join(laid_out(row)), r"\end{aligned}", "$$"])


# ------------------------------------------------------------------------------------------------------- the page
def in_the_course(name: str) -> str:
    """The chapters that a formulation is explained in; the last is for all of them."""
    chapters = [title for title, names in CHAPTERS.items() if name in names]
    links = ", ".join(f"{{doc}}`/chapters/plot_{title}`" for title in [*chapters, "11_certificate"])
    return f"*In the course:* {links}."


def page(formulation: Formulation, more: bool = False) -> str:
    theorem = parse(formulation.theorem)
    headline = theorem.headline.removeprefix(f"{formulation.name} — ")
    parts = [
        f"# `{formulation.name}`: {heading(formulation.title)}",
        markdown(f"{headline[0].upper()}{headline[1:]}"),
        notation_of(formulation),
        _theorem(formulation, theorem.rows("primal", "dual")),
        "## From one to the other",
        *(derived(part) for part in theorem.derivation),
        *([f"```{{include}} _more/{formulation.name}.md\n```"] if more else []),
        in_the_course(formulation.name),
        "## Back again: recovery and multipliers",
        *(
            f"{row.label.capitalize()}\n: {markdown(' '.join(row.lines))}"
            for row in theorem.rows("recovery", "multipliers")
        ),
        *_rest(theorem.parts),
        parameters_of(formulation),
        _relatives(formulation),
        _example(formulation),
        _solvers(formulation),
        f"## Reference\n\n{theorem.paragraph('Reference')}",
        to_take_away(formulation),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def notation_of(formulation: Formulation | AnyLoss) -> str:
    notation = parse(GENERAL + formulation.notation)
    text = "\n\n".join([markdown(notation.headline), *map(_explained, notation.parts)])
    return f"::::{{dropdown}} Notation, and what the theorem takes for granted\n{text}\n::::"


def _explained(part: TheoremLine | Paragraph) -> str:
    if isinstance(part, Paragraph):
        return markdown(part.opening + part.text)
    text = markdown(" ".join(part.lines))
    return f"{part.label}\n: {text}" if part.label else f"> {text}"


def heading(title: str) -> str:
    """In letters alone: a link shows a heading's text, and of mathematics that would be its LaTeX."""
    return re.sub(r"ℓ([12ps])", lambda norm: f"ℓ{LOW[norm[1]]}", title)


def derived(part: TheoremLine | Paragraph) -> str:
    return problem(part) if isinstance(part, TheoremLine) else markdown(part.text)


def _theorem(formulation: Formulation, rows: list[TheoremLine]) -> str:
    """Formula and declaration side by side."""
    cards = []
    for row in rows:
        code = _declaration(formulation, row.label)
        cards.append(f"### {row.label.capitalize()}\n\n{problem(row)}\n\n{code}")
    return "\n\n".join(["## The theorem, and the code that declares it", *cards])


def _declaration(formulation: Formulation, label: str) -> str:
    kind = type(formulation)
    file = Path(inspect.getfile(kind)).name
    name = label if hasattr(kind, label) else f"declare_{label}"
    place = f"../../formulations/{file}\n:pyobject: {kind.__name__}.{name}"
    return f"```{{literalinclude}} {place}\n:language: python\n:dedent:\n```"


def _rest(parts: tuple[TheoremLine | Paragraph, ...]) -> list[str]:
    """What follows the recovery: prose, under headings where it has labels."""
    past = next(place for place, part in enumerate(parts) if part.label == "recovery")
    made = []
    for part in parts[past:]:
        if isinstance(part, Paragraph) and part.label not in ("Parameters", "Reference"):
            text = markdown(part.text)
            made.append(f"## {part.label}\n\n{text[0].upper()}{text[1:]}" if part.label else text)
    return made


def parameters_of(formulation: Formulation | AnyLoss) -> str:
    rows = []
    for name, described in formulation.described_parameters:
        meaning, *limits, default = described.split("; ")
        cells = (
            f"`{name}`",
            markdown(meaning),
            markdown("; ".join(limits)),
            markdown(default.removeprefix("default ")),
        )
        rows.append(f"| {' | '.join(cells)} |".replace(r"\|", r"\Vert "))  # a bar ends a cell
    if formulation.needs_groups:
        rows.append("| `groups` | of the instance: one integer per kernel | | |")
    note = markdown(parse(formulation.theorem).paragraph("Parameters"))
    return "\n".join(
        ["## Parameters", "", "| name | meaning | limits | default |", "|---|---|---|---|", *rows, "", note]
    )


def _relatives(formulation: Formulation) -> str:
    name = formulation.name
    rows = [f"- at {edge.at} it {_becomes(edge)} {link(edge.gives)}" for edge in EDGES if edge.of == name]
    rows += [f"- {link(edge.of)} {_becomes(edge)} it at {edge.at}" for edge in EDGES if edge.gives == name]
    if not rows:
        return ""
    return "\n".join(
        [
            "## Its place in the family",
            "",
            "Each of these is measured by a test; [the whole tree](../picture.md).",
            "",
            *rows,
        ]
    )


def _becomes(edge: Any) -> str:
    return "is" if edge.exact else "tends to"


def link(name: str) -> str:
    return f"[`{name}`]({LINKS[name]}.md)"


def _example(formulation: Formulation) -> str:
    name, labelled = formulation.name, formulation.family in LABELLED
    specimen = SPECIMENS.get(name, "labels-overlapping" if labelled else "clouds")
    pictures = ["plot.weights(solution.weights, solution.names)"]
    if formulation.family in ("single task", "many labels"):
        pictures.append("plot.kkt(instance, solution)")
    code = f"""
    import numpy as np

    from mklcvx import plot, solve, zoo

    instance = zoo.specimen("{specimen}").instance()  # {_sizes(specimen)}
    solution = solve(instance, "{name}")
    bounds = solution.certificate
    print(f"{{solution.status}}: {{bounds.lower:.10g}} ≤ optimal value ≤ {{bounds.upper:.10g}}")
    for name, value in solution.multipliers.items():
        print(f"{{name}} = {{np.round(value, 5)}}" if np.size(value) <= 8 else f"{{name}} of shape {{np.shape(value)}}")
    """
    drawn = "\n".join(pictures)
    return f"## Computed here\n\n```python\n{textwrap.dedent(code).strip()}\n{drawn}\n```"


def _sizes(specimen: str) -> str:
    from mklcvx import zoo

    instance = zoo.specimen(specimen).instance()
    kernels = "one kernel" if instance.count == 1 else f"{instance.count} kernels"
    return f"{instance.samples} samples, {kernels}"


def _solvers(formulation: Formulation) -> str:
    rows = [
        f"| `{solver.name}` | {solver.summary} | {solver.reference or ''} |"
        for solver in SOLVERS
        if solver.serves is None or formulation.name in solver.serves
    ]
    table = ["| solver | how | by |", "|---|---|---|", *rows]
    return "\n".join(["## Solvers that serve it", "", ":::{container} stacked", *table, ":::"])


def to_take_away(formulation: Formulation | AnyLoss) -> str:
    """The same theorem as files: a page states it once."""
    name, command = formulation.name, f"mklcvx explain {formulation.name}"
    return (
        f"## To take away\n\nThe theorem as `{command}` prints it: {{download}}`{name}.txt <_taken/{name}.txt>`; "
        f"for slides, as `{command} --latex` does: {{download}}`{name}.tex <_taken/{name}.tex>`."
    )


def taken_away(formulation: Formulation | AnyLoss) -> dict[str, str]:
    """The files that a page offers, by their names."""
    return {f"{formulation.name}.txt": as_text(formulation), f"{formulation.name}.tex": as_latex(formulation)}


# ------------------------------------------------------------------------------------------------------- all pages
def index() -> str:
    lines = []
    for family, title in FAMILIES.items():
        lines += [f"## {title}", "", "| name | weights or what is learned | by |", "|---|---|---|"]
        some = [formulation for formulation in FORMULATIONS if formulation.family == family]
        lines += [f"| {link(one.name)} | {markdown(one.title)} | {one.reference} |" for one in some]
        lines += ["", "```{toctree}", ":hidden:", "", *(one.name for one in some), "```", ""]
    return "\n".join(lines)


def write(app: Any) -> None:
    folder = Path(app.srcdir) / "formulations"
    for name in NAMES:
        keep(folder / f"{name}.md", page(get(name), (folder / "_more" / f"{name}.md").exists()))
        for file, text in taken_away(get(name)).items():
            keep(folder / "_taken" / file, f"{text}\n")


def keep(path: Path, text: str) -> None:
    """Written only if it changes, so that only what has changed is built again."""
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
