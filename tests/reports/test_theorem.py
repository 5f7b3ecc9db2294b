"""Docstrings taken apart: nothing is lost, mathematics is told from words, and LaTeX compiles."""

import re
import shutil
import subprocess

import pytest

from mklcvx.formulations import FORMULATIONS, get
from mklcvx.formulations.losses import EVERY
from mklcvx.reports.explain import as_latex, named
from mklcvx.reports.latex import formula, prose
from mklcvx.reports.theorem import Paragraph, TheoremLine, parse

NAMES = [formulation.name for formulation in FORMULATIONS]
LOSS_NAMES = [loss.name for loss in EVERY]
LATEX = shutil.which("pdflatex") or shutil.which("tectonic")
DOCUMENT = r"\documentclass{article}\usepackage{amsmath}\begin{document}%s\end{document}"


def marked(text: str) -> str:
    """Mathematics in guillemets, code in backticks."""
    return "".join({"text": "{}", "math": "«{}»", "code": "`{}`"}[kind].format(one) for kind, one in prose(text))


def words(part: TheoremLine | Paragraph) -> str:
    return " ".join(part.lines) if isinstance(part, TheoremLine) else part.text


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_a_theorem_is_lost(name):
    theorem = parse(get(name).theorem)
    said = " ".join([theorem.headline, *(f"{part.label} {words(part)}" for part in theorem.parts)]).split()
    kept = get(name).theorem.split()
    for label in ("other", "weights", "Losses", "Parameters", "cases", "Reference"):
        kept = [label if word in (f"{label}:", f"{label}.") else word for word in kept]
        said = [label if word in (f"{label}:", f"{label}.") else word for word in said]
    assert said == kept
    assert [row.label for row in theorem.rows("primal", "dual", "recovery", "multipliers")] == [
        "primal", "dual", "recovery", "multipliers",
    ]  # fmt: skip
    assert any(part.label == "From one to the other" for part in theorem.derivation)
    assert theorem.paragraph("Degenerate cases")
    assert theorem.paragraph("Reference")
    assert theorem.paragraph("Acknowledgements") == ""


@pytest.mark.parametrize("name", LOSS_NAMES)
def test_nothing_of_a_loss_is_lost(name):
    theorem = parse(named(name).theorem)
    said = " ".join([theorem.headline, *(f"{part.label} {words(part)}" for part in theorem.parts)])
    kept = re.sub(r"^(From one to the other|Targets|Parameters|Degenerate cases|Reference)[.:]", r"\1",
                  named(name).theorem, flags=re.MULTILINE)  # fmt: skip
    assert said.split() == kept.split()
    assert isinstance(theorem.statement[0], TheoremLine)
    assert {part.label for part in theorem.statement} == {""}
    assert theorem.derivation[0].label == "From one to the other"
    labels = [row.label for row in theorem.consequences]
    assert labels[0] in ("subgradient", "gradient")
    assert labels[1] == "bounds"
    assert labels[-1] in ("least bias", "threshold")
    for label in ("Targets", "Parameters", "Degenerate cases", "Reference"):
        assert theorem.paragraph(label)


@pytest.mark.parametrize("name", [*NAMES, *LOSS_NAMES])
def test_prose_is_the_sum_of_its_pieces_and_words_are_no_mathematics(name):
    for part in parse(named(name).theorem).parts:
        text = " ".join(words(part).split())
        pieces = prose(text)
        assert "".join(one for _, one in pieces) == text.replace("`", "")
        for kind, content in pieces:
            if kind == "math":
                assert formula(content).isascii()
                assert not set(content.split()) & {"the", "is", "with", "of", "and", "for", "in", "where"}
            elif kind == "text" and part.label != "Reference":
                assert not set(content) & set("αβγδεζθκλμξπρστωΣ‖½¼≤≥∈∘√∝→∞²³₊₂")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("least at μ ∝ a: a kernel is used", "least at «μ ∝ a»: a kernel is used"),
        ("convex in (β^k, γ_k) and (with +τ it is open)", "convex in «(β^k, γ_k)» and (with «+τ» it is open)"),
        ("of class k's constraint, the kernel's", "of class «k»'s constraint, the kernel's"),
        ("the p/(p−1)-hinge and the block-∞ norm", "the «p/(p−1)»-hinge and the block-«∞» norm"),
        ("`lp` with p = 1, l1_ratio = 0, Eq. (12)", "`lp` with «p = 1», `l1_ratio` «= 0», Eq. (12)"),
        ("f_m a function, A ⪰ I, C = HH' (Ji et al.)", "«f_m» a function, «A ⪰ I», «C = HH'» (Ji et al.)"),
        ("where |y − z| < ε, at yz = 1", "where «|y − z| < ε», at «yz = 1»"),
        ("default 1; L1-MKL of Cortes et al.'s, 2009", "default 1; L1-MKL of Cortes et al.'s, 2009"),
    ],
)
def test_words_and_mathematics_are_told_apart(text, expected):
    assert marked(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("½ q_m(α) ≤ τ", r"\tfrac12 q_m(\alpha ) \le \tau"),
        ("‖δ‖²_{s*}", r"\|\delta \|^2_{s^*}"),
        ("ckl(C) = 2·l1(C/2)", r"\mathrm{ckl}(C) = 2\cdot \mathrm{l1}(C/2)"),
        ("y ∈ {−1,+1}ⁿ, ζ^{p−1}", r"y \in \{-1,+1\}^n, \zeta ^{p-1}"),
        ("tr(Z'K_jZ) and w_ij", r"\operatorname{tr}(Z'K_{j}Z) \text{ and } w_{ij}"),
        ("log(1 + e^(−yz)), yz words", r"\log (1 + e^{-yz}), yz \text{ words }"),
        ("D_v = diag(Y1)", r"D_v = \operatorname{diag}(Y1)"),
        ("v'Gv for every m", r"v'Gv \text{ for every } m"),
        ("tr(Z'K_jZ) ≥ √(2σ_m)", r"\operatorname{tr}(Z'K_{j}Z) \ge \sqrt{2\sigma _m}"),
        ("Σ^{−½} and ℓp", r"\Sigma ^{-\tfrac12 } \text{ and } \ell _{p}"),
    ],
)
def test_formulas_by_example(text, expected):
    assert formula(text) == expected


@pytest.mark.skipif(LATEX is None, reason="neither pdflatex nor tectonic is installed")
def test_every_derivation_compiles_and_keeps_within_the_line(tmp_path):
    body = "\n\n".join(as_latex(named(name)) for name in (*NAMES, *LOSS_NAMES))
    (tmp_path / "all.tex").write_text(DOCUMENT % f"\n{body}\n", encoding="ascii")
    options = ["-interaction=nonstopmode", "-halt-on-error"] if LATEX.endswith("pdflatex") else []
    done = subprocess.run([LATEX, *options, "all.tex"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "all.pdf").stat().st_size > 0
    assert [points for points in re.findall(r"Overfull \\hbox \((\S+)pt", done.stdout) if float(points) > 20] == []
