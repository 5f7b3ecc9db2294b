"""LaTeX from the mathematics of docstrings, which is written in Unicode.

`formula` translates a formula symbol by symbol. `prose` splits a paragraph into text, mathematics and code: a token
with a symbol or an index is mathematics, and so are letters, numbers and operators beside it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

SYMBOLS = {
    "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ", "δ": r"\delta ", "ε": r"\varepsilon ", "ζ": r"\zeta ",
    "θ": r"\theta ", "κ": r"\kappa ", "λ": r"\lambda ", "μ": r"\mu ", "ν": r"\nu ", "ξ": r"\xi ", "ρ": r"\rho ",
    "σ": r"\sigma ", "τ": r"\tau ", "ω": r"\omega ", "Σ": r"\sum ", "‖": r"\|", "½": r"\tfrac12 ", "¼": r"\tfrac14 ",
    "≤": r"\le ", "≥": r"\ge ", "∈": r"\in ", "∘": r"\circ ", "√": r"\sqrt ", "∝": r"\propto ", "→": r"\to ",
    "∞": r"\infty ", "−": "-", "·": r"\cdot ", "²": "^2", "³": "^3", "₊": "_+", "₁": "_1", "₂": "_2",
    "ᾱ": r"\bar\alpha ", "Δ": r"\Delta ", "⟨": r"\langle ", "⟩": r"\rangle ", "ⁿ": "^n", "⁺": "^+", "⪰": r"\succeq ",
    "≈": r"\approx ", "ℓ": r"\ell ", "≠": r"\ne ", "₋": "_-", "π": r"\pi ", "±": r"\pm ", "…": r"\dots ",
}  # fmt: skip
OPERATORS = {
    **{word: rf"\{word} " for word in ("min", "max", "log", "exp", "inf", "sup")},
    **{word: rf"\operatorname{{{word}}}" for word in ("risk", "gain", "tr", "diag")},
}
PRODUCTS = ("yz",)  # of letters, not words
WORD = rf"(?<![\w\\])(?!(?:{'|'.join((*OPERATORS, *PRODUCTS))})(?![a-z]))[A-Z]?[a-z]{{2,}}(?:'s)?(?![A-Za-z0-9_(])"
REWRITTEN: dict[str, str | Callable[[re.Match[str]], str]] = {
    r"(?<![_^])\{([^{}]*)\}": r"\\{\1\\}",  # a set, not an index
    r"\s{2,}": r" \\quad ",
    rf"{WORD}(?:[,;:.]? {WORD})*[;:.]?": r"\\text{ \g<0> }",
    rf"\b({'|'.join(OPERATORS)})(?![a-z])": lambda match: OPERATORS[match[1]],
    r"\b([a-z]+\d?)(?=\(C)": r"\\mathrm{\1}",  # a formulation's value as a function of C
    r"Σ(?=\^| \\text|$)": r"\\Sigma ",  # a matrix, not a sum
    r"√\(([^()]*)\)": r"\\sqrt{\1}",
    r"√(\w(?:_\w)?(?:\([^()]*\))?)": r"\\sqrt{\1}",
    r"ℓ_?(\{[^{}]*\}|\w|∞)": r"ℓ_{\1}",
    r"(?<=\w)\*": "^*",
    r"\^\(([^()]*)\)": r"^{\1}",
    r"_([a-z]{2,}|[a-z](?=[A-Z]))": r"_{\1}",  # w_ij has two indices, K_jZ one
    r"\^½": "^{1/2}",
    "⁻¹": "^{-1}",
    r"\.\.": r",\\dots,",
}


def formula(text: str) -> str:
    """Translate a formula to LaTeX."""
    for pattern, replacement in REWRITTEN.items():
        text = re.sub(pattern, replacement, text)
    return re.sub(r" +", " ", "".join(SYMBOLS.get(character, character) for character in text)).strip()


class Piece(NamedTuple):
    """A run of "text", "math" or "code"; spaces and punctuation belong to the text."""

    kind: str
    content: str


SIGN = re.compile(
    "[" + "".join(SYMBOLS) + r"=<>^_+⁻|]|\w'\w|^[A-Z]+'$|^[A-Za-z]\w*\*?\(|\w\*$|^\(?[A-Za-z\d]/[A-Za-z\d]\)?$"
)
NAME = re.compile(r"[a-z][a-z0-9]+_[a-z0-9]{2,}$|(?:l|sm)[12p]$")  # of a parameter or a formulation
WORDS = re.compile(r"[A-Za-zÀ-ÿ]{2,}\.?(?:'s)?$|(?:[A-Za-zÀ-ÿ]+\d?|\d+)(?:[-–][A-Za-zÀ-ÿ]+)+$")
HYPHENATED = re.compile(r"(.*[^\w\s].*|\w)(-[A-Za-z]{3,})$|([a-z]{3,}-)(\W)$")  # p/(p−1)-hinge, block-∞
RELATION = re.compile(r"[=<>+*≤≥≠∈∝→≈⪰−∘·]+$")
BARE = ("min", "max", "log", "exp", "tr")  # operators that a space separates from their argument
PROSE = re.compile(rf"(?<![\w\\])(?!(?:{'|'.join((*BARE, *PRODUCTS))})\b)[a-zA-Z][a-z]+(?![\w(])")
POSSESSIVE = re.compile(r"([a-zA-Z])('s)$")
SHORT = "An As At By Eq If In Is It Ji Li No Of On Or So To We Xu Ye"  # words of two letters
ARTICLES = "aAI"  # words, unless a relation is beside them
OPENING, CLOSING = "([{⟨", ")]}⟩"
MARKS = ".,;:"
SCANNED = re.compile(r"`[^`]+`|\s+|[^\s`]+")


def prose(text: str) -> list[Piece]:
    """Split a paragraph into pieces; adjacent pieces of one kind are joined."""
    scanned = list(_scan(" ".join(text.split())))
    pieces = list(scanned)
    for place, (kind, content) in enumerate(scanned):
        if kind not in ("letter", "relation", "number", "operator"):
            continue
        article = kind == "letter" and content in ARTICLES
        known, ties = (scanned, {"relation"}) if article else (pieces, {"relation", "math"})
        beyond_spaces = [other for other in (place - 2, place + 2) if 0 <= other < len(pieces)]
        spaced = any(side.content == " " for side in pieces[max(place - 1, 0) : place + 2])
        firm = spaced and any(known[other].kind in ties for other in beyond_spaces)
        sure = kind in ("relation", "operator") or (kind == "letter" and not article)
        pieces[place] = Piece("math" if sure or firm else "text", content)
    return _joined(pieces)


def _scan(text: str) -> Iterator[Piece]:
    place = 0
    while match := SCANNED.match(text, place):
        token = match[0]
        if token[0] in "` ":
            yield Piece("code", token[1:-1]) if token[0] == "`" else Piece("text", " ")
        else:
            token = _with_closing(text, place, token)
            yield from _classified(token)
        place += len(token)


def _with_closing(text: str, place: int, token: str) -> str:
    """Extend the token to its closing bracket, if everything between is mathematics."""
    end = place + len(token)
    if PROSE.search(token):
        return token
    while _depth(text[place:end]) > 0:
        further = re.compile(r"\s+[^\s`]+").match(text, end)
        if further is None or PROSE.search(further[0]):
            return token
        end = further.end()
    return text[place:end]


def _depth(token: str) -> int:
    return sum(token.count(c) for c in OPENING) - sum(token.count(c) for c in CLOSING)


def _classified(token: str) -> Iterator[Piece]:
    lead = trail = ""
    while token and _depth(token) > 0 and token[0] in OPENING:
        lead, token = lead + token[0], token[1:]
    while token and (token[-1] in MARKS or (_depth(token) < 0 and token[-1] in CLOSING)):
        token, trail = token[:-1], token[-1] + trail
    if lead:
        yield Piece("text", lead)
    if possessive := POSSESSIVE.match(token):
        yield from (Piece("math", possessive[1]), Piece("text", possessive[2]))
    elif not WORDS.match(token) and (hyphenated := HYPHENATED.match(token)):
        before, after = ("math", "text") if hyphenated[1] else ("text", "math")
        yield from (Piece(before, hyphenated[1] or hyphenated[3]), Piece(after, hyphenated[2] or hyphenated[4]))
    elif token:
        yield Piece(_kind(token), token)
    if trail:
        yield Piece("text", trail)


def _kind(token: str) -> str:
    if RELATION.match(token):
        return "relation"
    if token in BARE:
        return "operator"
    if token in PRODUCTS:
        return "math"
    if len(token) == 1 and token.isalpha():
        return "letter" if token.isascii() else "math"
    if re.fullmatch(r"[\d./]+", token):
        return "number"
    if NAME.match(token):
        return "code"
    if WORDS.match(token) or (re.fullmatch(r"\(\d+\)|\W", token) and not SIGN.search(token)):
        return "letter" if re.fullmatch(r"[A-Z][a-z]", token) and token not in SHORT else "text"
    return "math" if SIGN.search(token) or re.fullmatch(r"[(\[]\w,?(?: \w)*[)\]]", token) else "text"


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Join adjacent text, and mathematics that only a space separates."""
    joined: list[Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last is not None and last.kind == piece.kind and piece.kind != "code":
            joined[-1] = Piece(piece.kind, last.content + piece.content)
        elif piece.kind == "math" and last == Piece("text", " ") and len(joined) > 1 and joined[-2].kind == "math":
            joined.pop()
            joined[-1] = Piece("math", f"{joined[-1].content} {piece.content}")
        else:
            joined.append(piece)
    return joined
