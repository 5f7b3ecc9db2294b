"""A formulation's theorem for the terminal, and as LaTeX for slides. The docstring is the only source."""

from __future__ import annotations

import textwrap

from .formulations import Formulation
from .latex import Piece, formula, prose
from .theorem import Paragraph, Row, parse

GENERAL = """n samples x_i, M kernels with Gram matrices K_m, f_m a function in kernel m's space, ‖f_m‖ its norm there,
f = Σ_m f_m + b; α the samples' multipliers, (α∘y)_i = α_i y_i, q_m(α) = (α∘y)'K_m(α∘y); (x)₊ = max(0, x); Δ a simplex.

"""
ASCII = str.maketrans(
    {"—": "---", "–": "--", "’": "'", "ö": r"\"o", "%": r"\%", "&": r"\&", "#": r"\#", "_": r"\_", "$": r"\$"}
)


def as_text(formulation: Formulation) -> str:
    """The theorem, its parameters, and how to ask for it."""
    lines = [formulation.theorem.strip(), "", "Parameters"]
    lines += [f"    {name:<11} {meaning}" for name, meaning in formulation.described_parameters]
    if formulation.needs_groups:
        lines.append("    groups      of the instance: one integer per kernel")
    lines += ["", "Notation", textwrap.indent(GENERAL + formulation.notation.strip(), "    ")]
    example = f"mklcvx solve problem.npz -f {formulation.name}"
    return "\n".join([*lines, "", f"Try: {example}"])


def as_latex(formulation: Formulation) -> str:
    """The primal, the dual and the recovery as displayed equations, and the way from one to the other. It compiles with
    amsmath, on slides or in a paper."""
    theorem = parse(formulation.theorem)
    rows = theorem.rows("primal", "dual", "recovery")
    body = " \\\\\n".join(rf"\text{{{row.label}}} &\quad {formula(displayed(row))}" for row in rows)
    lines = [f"% {formulation.name}: {formulation.reference}", r"\begin{align*}", body, r"\end{align*}"]
    lines += [_step(part) for part in theorem.derivation]
    return "\n".join(lines)


def displayed(row: Row) -> str:
    """A row as one formula: what stands below is set off, except in a recovery, which is running text."""
    return (" " if row.label == "recovery" else r" \qquad ").join(row.lines)


def _step(part: Row | Paragraph) -> str:
    if isinstance(part, Row):
        return rf"\[ {formula(displayed(part))} \]"
    return (rf"\textbf{{{part.label}.}} " if part.label else "") + "".join(
        _in_latex(piece) for piece in prose(part.text)
    )


def _in_latex(piece: Piece) -> str:
    if piece.kind == "math":
        return f"${formula(piece.content)}$"
    text = piece.content.translate(ASCII)
    return rf"\texttt{{{text}}}" if piece.kind == "code" else text
