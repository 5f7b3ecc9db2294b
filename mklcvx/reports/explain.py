"""The theorem of a formulation or a loss for the terminal, and as LaTeX for slides; its only source is a docstring."""

from __future__ import annotations

import re
import textwrap

from ..errors import InputError, nearest
from ..formulations import FORMULATIONS, Formulation, get
from ..formulations.losses import KNOWN, AnyLoss
from .latex import Piece, formula, prose
from .theorem import OF_LOSSES, Paragraph, TheoremLine, parse

GENERAL = """n samples x_i, M kernels with Gram matrices K_m, f_m a function in kernel m's space, ‖f_m‖ its norm there,
f = Σ_m f_m + b; α the samples' multipliers, (α∘y)_i = α_i y_i, q_m(α) = (α∘y)'K_m(α∘y); (x)₊ = max(0, x); Δ a simplex.

"""
SOLVE = "mklcvx solve problem.npz "
EXTREMUM = re.compile(r"(min|max) over (.*)$")
DEFINED = re.compile(r"\S+\([^()]*\)|c_i")  # what begins a line of its own: ℓ(y, z), risk(f), g(α), the prices
ASCII = str.maketrans(
    {"—": "---", "–": "--", "’": "'", "ö": r"\"o", "%": r"\%", "&": r"\&", "#": r"\#", "_": r"\_", "$": r"\$"}
)


def named(name: str) -> Formulation | AnyLoss:
    """Return the formulation or the loss of that name."""
    if name in KNOWN:
        return KNOWN[name]
    try:
        return get(name)
    except InputError:
        known = [*(formulation.name for formulation in FORMULATIONS), *KNOWN]
        raise InputError(f"unknown formulation {name!r}, nor is it a loss: {nearest(str(name), known)}") from None


def as_text(formulation: Formulation | AnyLoss) -> str:
    """Return the theorem, its parameters, its notation, and an example of use."""
    lines = [formulation.theorem.strip(), "", "Parameters"]
    lines += [f"    {name:<11} {meaning}" for name, meaning in formulation.described_parameters]
    if formulation.needs_groups:
        lines.append("    groups      of the instance: one integer per kernel")
    lines += ["", "Notation", textwrap.indent(GENERAL + formulation.notation.strip(), "    "), ""]
    return "\n".join([*lines, f"Try: {SOLVE}{formulation.usage}"])


def as_latex(formulation: Formulation | AnyLoss) -> str:
    """Return the primal and the dual, or the loss and its gain, as displayed equations, the derivation, and the
    recovery, or what the loss does to α and b. The code needs amsmath and fits the width of a slide or a page."""
    theorem = parse(formulation.theorem)
    lines = [f"% {formulation.name}: {formulation.reference}"]
    if rows := theorem.rows("primal", "dual"):
        between = " \\\\\n&& "
        body = " \\\\[1ex]\n".join(rf"\text{{{row.label}}} &\quad& " + between.join(laid_out(row)) for row in rows)
        lines += [r"\begin{alignat*}{2}", body, r"\end{alignat*}"]
    else:
        lines += _stated(theorem.statement)
    lines += [_step(part) for part in theorem.derivation]
    labels = ("recovery", *OF_LOSSES)
    lines += [
        _step(Paragraph(row.label[0].upper() + row.label[1:], " ".join(row.lines))) for row in theorem.rows(*labels)
    ]
    return "\n".join(lines)


def _stated(parts: list[TheoremLine | Paragraph]) -> list[str]:
    shown = equations(parts)
    block = [r"\begin{align*}", " \\\\\n".join(shown), r"\end{align*}"]
    return [*block, *(_step(part) for part in parts if isinstance(part, Paragraph))]


def equations(parts: list[TheoremLine | Paragraph]) -> list[str]:
    """Return the equations of a loss as lines of an alignment; conditions stay with the equation before them."""
    lines: list[str] = []
    written = (re.sub(r"\s+= ", " = ", line) for part in parts if isinstance(part, TheoremLine) for line in part.lines)
    for part in (part for line in written for part in re.split(r"\s{2,}", line)):
        left, equals, right = part.partition(" = ")
        if equals and DEFINED.fullmatch(left):
            lines.append(f"{formula(left)} &= {formula(right.rstrip(',;'))}")
        else:
            lines[-1] += rf", \quad {formula(part.rstrip(','))}"
    return lines


def laid_out(row: TheoremLine) -> list[str]:
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


def _step(part: TheoremLine | Paragraph) -> str:
    if isinstance(part, TheoremLine):
        return "\n".join([r"\begin{align*}", " \\\\\n".join(laid_out(part)), r"\end{align*}"])
    title = f"\n\\textbf{{{part.label.translate(ASCII)}.}} " if part.label else ""
    return title + "".join(map(_in_latex, prose(part.text)))


def _in_latex(piece: Piece) -> str:
    if piece.kind == "math":
        return f"${formula(piece.content)}$"
    text = piece.content.translate(ASCII)
    return rf"\texttt{{{text}}}" if piece.kind == "code" else text
