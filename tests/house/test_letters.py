"""One letter, one meaning: theorems, course and pages are read for letters that stray from docs/letters.md."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from places import ROOT


@dataclass(frozen=True)
class Rule:
    """`stray` is what may not be written; in the files of `home`, by their stems, the letter has its meaning."""

    letter: str
    why: str
    stray: str
    home: tuple[str, ...] = ()


def spelt(letter: str) -> str:
    """The letter spelt out, as a variable and not as a key in quotes."""
    return rf"(?<![\w\\\"'`]){letter}(?![\w\"'`])"


RIDGES = ("hypergraph", "hypergraph_smooth", "plot_07_smoothing", "plot_10_hypergraphs", "smoothing", "labels_as_edges")
PENALTIES = (
    "ts", "ts_l1", "plot_09_k_space", "pairs_of_samples", "spicymkl", "certificate", "engine", "group_lasso",
    "regularisers", "which-formulation",
)  # fmt: skip
RULES = (
    Rule(
        "γ", "prices of classes, and nothing else", rf"γ|\\gamma\b|{spelt('gamma')}",
        ("ml_minimax", "plot_08_stochastic", "many_labels", "certificate", "_formulation"),
    ),
    Rule("λ", "a ridge or the price of a penalty, and nothing else", r"λ|\\lambda\b", RIDGES + PENALTIES),
    Rule("λ_m", "shares are t", r"(λ|\\lambda)_(?!0|max|\{\\max)|(λ|\\lambda)[₁₂]|multipliers λ"),
    Rule("θ", "price of a kernel's slack: weights are μ", r"(θ|\\theta)_|K\((θ|\\theta)\)|(weights? (= )?|over )θ|θ ∈"),
    Rule("μ", "weights of kernels: smoothing is σ", r"(μ|\\mu) ?(log|\\log)|/(μ|\\mu)[)}]|smoothing (= )?μ|μ → [0∞]"),
    Rule(
        "p", "an exponent: weights are μ",
        r"\bp_[a1]\b|weights? (= )?p\b|(over|Σ) ?p\b|p ?(\\in|∈) ?(\\Delta|Δ)|[KH](_k)?\(p\)|\(f, p\)|p ≥ 0",
    ),
    Rule("a", "norms: m counts kernels", r"[KNQ]_a\b|q_a|f_k\^a|q\^[kj]_a|every kernel a\b"),
    Rule("j", "groups: m counts kernels, in hypergraphs too", r"S_j|kernel j's|every kernel j\b"),
    Rule(
        "σ", "smoothing, and nothing else", rf"σ|\\sigma\b|{spelt('sigma')}",
        ("hypergraph_smooth", "_entropy", "plot_07_smoothing", "smoothing", "spicymkl"),
    ),
    Rule("s", "the exponent between groups: the largest value of a class is H", r"≤ s\b|f_k, s\b|which is s\b"),
    Rule("δ", "a loss's corner or a ridge: roots of q are d", r"(δ|\\delta)_j|‖δ‖|Σδ|\bδ/Σ"),
    Rule("C", "the price of slack: I − 𝓛 is A", r"I ?[−-] ?C\b|C ?= ?HH|HH'? ?= ?C\b|tr(\(C\)|\}\(?C\b| C\b)|KCK"),
    Rule("ρ", "the margin of the ν-form", r"ρ = \d|ρμ|ρ\^|ϱ|\\varrho", ("nu", "one_class")),
    Rule("ε", "the width of a loss: a ridge is δ", r"εI|\\varepsilon|\\epsilon\b", ("plot_13_change_the_loss",)),
)  # fmt: skip

# Letters of others, said to be so on the page: the papers' equations, the packages' problems, the tables of letters.
THEIRS = {
    "docs/letters.md": r"[\s\S]*",
    "docs/claims.md": r"^\|.*$|^\(theorem-one\)=[\s\S]*",
    "docs/conventions.md": r"^\|.*$|^.*Govindaraj's λ.*$|SpicyMKL pays λ|C or λ|λa = min.*\n.*some λ",
    "docs/course/plot_04_norms.py": r"Govindaraj 2009, whose letter is λ",
}

# Strays that are still to be changed, by file. A letter that strays no more is to be taken off the list.
STILL: dict[str, str] = {}


def sources() -> list[Path]:
    theorems = [path for folder in ("", "families/", "losses/") for path in ROOT.glob(f"formulations/{folder}*.py")]
    pages = [*ROOT.glob("docs/*.md"), *ROOT.glob("docs/formulations/_more/*.md")]
    course = [*ROOT.glob("docs/course/plot_*.py"), *ROOT.glob("mklcvx/exercises/*.py")]
    course.append(ROOT / "docs/_ext/regularisers.py")
    return sorted([*theorems, *pages, *course])


def text(path: Path) -> str:
    """What a reader sees: of a theorem's file the docstring, of others all, without the letters of others."""
    whole = path.read_text(encoding="utf-8")
    if "formulations" in path.parts and path.suffix == ".py":
        return ast.get_docstring(ast.parse(whole)) or ""
    theirs = THEIRS.get(path.relative_to(ROOT).as_posix())
    return re.sub(theirs, "", whole, flags=re.MULTILINE) if theirs else whole


def strays(path: Path) -> dict[str, list[str]]:
    """The rules that a file breaks, with the lines that do."""
    lines, found = text(path).splitlines(), {}
    for rule in RULES:
        if path.stem not in rule.home and (broken := [line.strip() for line in lines if re.search(rule.stray, line)]):
            found[rule.letter] = broken
    return found


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_letter_strays(path):
    name, found = path.relative_to(ROOT).as_posix(), strays(path)
    still = STILL.get(name, "").split()
    new = {f"{rule.letter}: {rule.why}": found[rule.letter] for rule in RULES if rule.letter in {*found} - {*still}}
    assert not new, f"{name}: {new}"
    assert {*still} <= {*found}, f"{name} is clean of { ({*still} - {*found}) }: take them off the list STILL"


def test_the_list_names_files_and_rules_that_there_are():
    assert {*STILL, *THEIRS} <= {path.relative_to(ROOT).as_posix() for path in sources()}
    assert {letter for letters in STILL.values() for letter in letters.split()} <= {rule.letter for rule in RULES}


@pytest.mark.parametrize(
    ("line", "letter"),
    [
        ("f_m = K_m(α∘y)/(2λ_m)", "λ_m"),
        ("dual  max over θ ∈ Δ  −tr(H'(I + K(θ)/λ)⁻¹H)", "θ"),
        (r"$f_\mu=\mu\log\sum_j e^{s_j/\mu}$", "μ"),
        (r"\min_{p\in\Delta}\ \sum_k H_k(p)", "p"),
        (r"\min_{\gamma,\,\mu}\ & \gamma", "γ"),
        ("With (C, r) it is `sm2` with (Cσ, …), σ = Σμ", "σ"),
        ("√q_m(α) ≤ δ_j for m in group j", "δ"),
        ("the normalised Laplacian is I − C", "C"),
    ],
)
def test_the_rules_see_what_they_are_for(line, letter):
    (rule,) = (rule for rule in RULES if rule.letter == letter)
    assert re.search(rule.stray, line)


def test_the_page_has_every_letter_once():
    page = (ROOT / "docs" / "letters.md").read_text(encoding="utf-8")
    ours = page.split("## Our letters")[1].split("\n## ")[0]
    cells = [line.split("|")[1] for line in ours.splitlines() if line.startswith("| ")]
    for letter in "αβξζμCθpsrνρλγτκσεπuηφ":
        alone = rf"(?<![\w(]){letter}(?![^\W_]|['^)])"
        assert sum(bool(re.search(alone, cell)) for cell in cells) == 1, letter
