"""A formulation's theorem for the terminal, and its formulas as LaTeX. The docstring is the only source."""

from __future__ import annotations

import importlib
import re
import textwrap
from collections.abc import Callable

from .formulations import Formulation, get

SYMBOLS = {
    "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ", "δ": r"\delta ", "ζ": r"\zeta ", "θ": r"\theta ",
    "κ": r"\kappa ", "λ": r"\lambda ", "μ": r"\mu ", "ν": r"\nu ", "ξ": r"\xi ", "ρ": r"\rho ", "σ": r"\sigma ",
    "τ": r"\tau ", "ω": r"\omega ", "Σ": r"\sum ", "‖": r"\|", "½": r"\tfrac12 ", "¼": r"\tfrac14 ", "≤": r"\le ",
    "≥": r"\ge ", "∈": r"\in ", "∘": r"\circ ", "√": r"\sqrt ", "∝": r"\propto ", "→": r"\to ", "∞": r"\infty ",
    "−": "-", "·": r"\cdot ", "²": "^2", "³": "^3", "₊": "_+", "₂": "_2", "ᾱ": r"\bar\alpha ", "Δ": r"\Delta ",
    "⟨": r"\langle ", "⟩": r"\rangle ", "ⁿ": "^n", "⁺": "^+", "⪰": r"\succeq ",
}  # fmt: skip
OPERATORS = {
    **{word: rf"\{word} " for word in ("min", "max", "log", "exp")},
    **{word: rf"\operatorname{{{word}}}" for word in ("risk", "gain", "tr")},
}
WORD = rf"(?<![\w\\])(?!(?:{'|'.join(OPERATORS)})(?![a-z]))[A-Za-z][a-z]+(?:'s)?(?![\w(])"
REWRITTEN: dict[str, str | Callable[[re.Match[str]], str]] = {
    r"\s{2,}": r" \\quad ",
    rf"{WORD}(?:[,;:.]? {WORD})*[;:.]?": r"\\text{ \g<0> }",
    rf"\b({'|'.join(OPERATORS)})(?![a-z])": lambda match: OPERATORS[match[1]],
    r"Σ(?=\^| \\text)": r"\\Sigma ",  # a matrix, not a sum
    r"√(\w(?:_\w)?(?:\([^()]*\))?)": r"\\sqrt{\1}",
    r"_([A-Za-z]{2,})": r"_{\1}",
    r"\^½": "^{1/2}",
    "⁻¹": "^{-1}",
    r"\.\.": r",\\dots,",
}
GENERAL = """n samples x_i, M kernels with Gram matrices K_m, f_m a function in kernel m's space, ‖f_m‖ its norm there,
f = Σ_m f_m + b; α the samples' multipliers, (α∘y)_i = α_i y_i, q_m(α) = (α∘y)'K_m(α∘y); (x)₊ = max(0, x); Δ a simplex.

"""
BASELINES = ("lp_beta", "mc_mkl", "ufo", "gmkl")  # those with a problem of their own
FORMULA = re.compile(r"^    (primal|dual|recovery)\s+(.*)$")


def named(name: str) -> Formulation:
    """The formulation of that name, or the problem of a baseline."""
    if name not in BASELINES:
        return get(name)
    module = importlib.import_module(f".baselines.{name}", __package__)
    problem: Formulation = getattr(module, name.upper())
    return problem


def as_text(formulation: Formulation) -> str:
    """The theorem, its parameters, and how to ask for it."""
    lines = [formulation.theorem.strip(), "", "Parameters"]
    lines += [f"    {name:<11} {meaning}" for name, meaning in formulation.described_parameters]
    if formulation.needs_groups:
        lines.append("    groups      of the instance: one integer per kernel")
    lines += ["", "Notation", textwrap.indent(GENERAL + formulation.notation.strip(), "    ")]
    solve, call = f"mklcvx solve problem.npz -f {formulation.name}", f"from mklcvx.baselines import {formulation.name}"
    example = call if formulation.name in BASELINES else solve
    return "\n".join([*lines, "", f"Try: {example}"])


def as_latex(formulation: Formulation) -> str:
    """The primal, the dual and the recovery as displayed equations."""
    rows: list[tuple[str, str]] = []
    for line in formulation.theorem.splitlines():
        match = FORMULA.match(line)
        if match:
            rows.append((match[1], match[2]))
        elif rows and line.startswith("     "):
            kind, text = rows[-1]
            rows[-1] = (kind, text + (" " if kind == "recovery" else r" \qquad ") + line.strip())
        elif not line.startswith("     ") and any(kind == "recovery" for kind, _ in rows):
            break
    body = " \\\\\n".join(rf"\text{{{kind}}} &\quad {_to_latex(text)}" for kind, text in rows)
    return textwrap.dedent(rf"% {formulation.name}: {formulation.reference}") + (
        "\n\\begin{align*}\n" + body + "\n\\end{align*}"
    )


def _to_latex(text: str) -> str:
    for pattern, replacement in REWRITTEN.items():
        text = re.sub(pattern, replacement, text)
    return re.sub(r" +", " ", "".join(SYMBOLS.get(character, character) for character in text)).strip()
