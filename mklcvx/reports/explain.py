"""A formulation's theorem for the terminal, and as LaTeX for slides. The docstring is the only source."""

from __future__ import annotations

import re
import textwrap
from importlib import import_module

from ..formulations import Formulation, get
from .latex import Piece, formula, prose
from .theorem import Paragraph, Row, parse

GENERAL = """n samples x_i, M kernels with Gram matrices K_m, f_m a function in kernel m's space, ‖f_m‖ its norm there,
f = Σ_m f_m + b; α the samples' multipliers, (α∘y)_i = α_i y_i, q_m(α) = (α∘y)'K_m(α∘y); (x)₊ = max(0, x); Δ a simplex.

"""
BASELINES = ("lp_beta", "mc_mkl", "ufo", "gmkl")  # those that solve a convex problem of their own
EXTREMUM = re.compile(r"(min|max) over (.*)$")
ASCII = str.maketrans(
    {"—": "---", "–": "--", "’": "'", "ö": r"\"o", "%": r"\%", "&": r"\&", "#": r"\#", "_": r"\_", "$": r"\$"}
)


def named(name: str) -> Formulation:
    """Return the formulation of that name, or the problem of a baseline."""
    if name not in BASELINES:
        return get(name)
    problem: Formulation = getattr(import_module(f"..bench.baselines.{name}", __package__), name.upper())
    return problem


def as_text(formulation: Formulation) -> str:
    """Return the theorem, its parameters, its notation, and an example of use."""
    lines = [formulation.theorem.strip(), "", "Parameters"]
    lines += [f"    {name:<11} {meaning}" for name, meaning in formulation.described_parameters]
    if formulation.needs_groups:
        lines.append("    groups      of the instance: one integer per kernel")
    lines += ["", "Notation", textwrap.indent(GENERAL + formulation.notation.strip(), "    "), ""]
    is_baseline = formulation.name in BASELINES
    how = "from mklcvx.bench.baselines import" if is_baseline else "mklcvx solve problem.npz -f"
    return "\n".join([*lines, f"Try: {how} {formulation.name}"])


def as_latex(formulation: Formulation) -> str:
    """Return the primal and the dual as displayed equations, the derivation, and the recovery. The code needs amsmath
    and fits the width of a slide or a page."""
    theorem = parse(formulation.theorem)
    rows = theorem.rows("primal", "dual")
    body = " \\\\[1ex]\n".join(rf"\text{{{row.label}}} &\quad& " + " \\\\\n&& ".join(laid_out(row)) for row in rows)
    lines = [f"% {formulation.name}: {formulation.reference}", r"\begin{alignat*}{2}", body, r"\end{alignat*}"]
    lines += [_step(part) for part in theorem.derivation]
    lines += [_step(Paragraph("Recovery", " ".join(row.lines))) for row in theorem.rows("recovery")]
    return "\n".join(lines)


def laid_out(row: Row) -> list[str]:
    """Return a problem as lines of an alignment: the objective with its variables, then one line per constraint."""
    lines: list[str] = []
    head = ""
    for part in (part for line in row.lines for part in re.split(r"\s{2,}", line)):
        if extremum := EXTREMUM.match(part):
            head = rf"\{extremum[1]}_{{{formula(extremum[2])}}}\quad "
        elif not lines and not head:
            head = f"{formula(part)} "
        else:
            lines.append(f"{head}& {formula(part.rstrip(','))}")
            head = ""
    return lines or [f"& {head.strip()}"]


def _step(part: Row | Paragraph) -> str:
    if isinstance(part, Row):
        return "\n".join([r"\begin{align*}", " \\\\\n".join(laid_out(part)), r"\end{align*}"])
    title = f"\n\\textbf{{{part.label}.}} " if part.label else ""
    return title + "".join(map(_in_latex, prose(part.text)))


def _in_latex(piece: Piece) -> str:
    if piece.kind == "math":
        return f"${formula(piece.content)}$"
    text = piece.content.translate(ASCII)
    return rf"\texttt{{{text}}}" if piece.kind == "code" else text
