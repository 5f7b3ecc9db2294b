"""The mutants of a source: one coefficient, sign, exponent, comparison or function changed at a time.

Texts, annotations, decorators, imports, refusals (`raise`) and `strict=` are left alone: they claim no mathematics.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise

# fmt: off
OPERATORS: dict[type[ast.AST], tuple[str, ...]] = {  # the token, then what it may become
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.Pow: ("**", "*"),
    ast.FloorDiv: ("//", "/"), ast.And: ("and", "or"), ast.Or: ("or", "and"), ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="), ast.LtE: ("<=", ">=", "<"), ast.GtE: (">=", "<=", ">"), ast.Lt: ("<", ">", "<="),
    ast.Gt: (">", "<", ">="), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"), ast.USub: ("-", ""), ast.Invert: ("~", ""), ast.Not: ("not", ""),
}
BUILTINS = {"max": "min", "min": "max", "abs": "float"}
MEMBERS = {
    "max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum", "argmax": "argmin", "argmin": "argmax",
    "sum": "max", "mean": "max", "fsum": "prod", "cumsum": "cumprod", "any": "all", "all": "any", "norm": "norm1",
    "sum_squares": "norm", "square": "abs", "abs": "square", "sqrt": "cbrt", "exp": "expm1", "log": "log1p",
    "floor": "ceil", "ceil": "floor", "zeros": "ones", "ones": "zeros", "zeros_like": "ones_like",
    "ones_like": "zeros_like", "isinf": "isfinite", "isfinite": "isinf", "Maximize": "Minimize", "Minimize": "Maximize",
}
# fmt: on
Edit = tuple[int, int, str]  # bytes from, to, and the text in their place


@dataclass(frozen=True, order=True)
class Mutant:
    """One edit of a file; `before` and `after` are the line (or lines, joined) that it changes."""

    file: str
    edit: Edit
    line: int
    before: str
    after: str

    def apply(self, source: bytes) -> bytes:
        start, end, text = self.edit
        return source[:start] + text.encode() + source[end:]

    @property
    def key(self) -> str:
        return f"{self.file}: {self.before} => {self.after}"


def mutants_of(file: str, source: bytes) -> list[Mutant]:
    """Every mutant of a source, in the order of its text."""
    text = Text(source)
    edits = {edit for node in claims(ast.parse(source)) for edit in text.edits(node)}
    return [text.mutant(file, edit) for edit in sorted(edits)]


def claims(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all below it that can change a value."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.JoinedStr() | ast.Raise() | ast.keyword(arg="strict"):
            children: list[ast.AST] = []
        case ast.Assign(targets=[ast.Name("__all__")]):
            children = []
        case ast.If(test=ast.Compare(left=ast.Name("__name__"))):
            children = [*node.body]
        case ast.If(test=ast.Name("TYPE_CHECKING")):
            children = [*node.orelse]
        case _:
            yield node
            unread = [getattr(node, name, None) for name in ("annotation", "returns", "decorator_list")]
            skipped = {id(child) for field in unread for child in (field if isinstance(field, list) else [field])}
            children = [child for child in ast.iter_child_nodes(node) if id(child) not in skipped]
    for child in children:
        yield from claims(child)


class Text:
    """A source in bytes, as `ast` counts columns, and the edits of its nodes."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.line_starts = [0, *accumulate(map(len, source.splitlines(keepends=True)))]

    def span(self, node: ast.expr) -> tuple[int, int]:
        last, column = node.end_lineno or 0, node.end_col_offset or 0
        return self.line_starts[node.lineno - 1] + node.col_offset, self.line_starts[last - 1] + column

    def of(self, node: ast.expr) -> str:
        return self.source[slice(*self.span(node))].decode()

    def edits(self, node: ast.AST) -> Iterator[Edit]:
        match node:
            case ast.Constant(value=bool(flag)):
                yield *self.span(node), repr(not flag)
            case ast.Constant(value=int(number) | float(number)):
                yield from ((*self.span(node), repr(other)) for other in {number + 1, 2 * number} - {number})
            case ast.BinOp(left, op, right) | ast.AugAssign(left, op, right):
                yield from self.operator(op, self.span(left)[1], self.span(right)[0])
            case ast.BoolOp(op, values):
                for left, right in pairwise(values):
                    yield from self.operator(op, self.span(left)[1], self.span(right)[0])
            case ast.Compare(left, ops, others):
                for comparison, (one, two) in zip(ops, pairwise([left, *others]), strict=True):
                    yield from self.operator(comparison, self.span(one)[1], self.span(two)[0])
            case ast.UnaryOp(op, operand):
                yield from self.operator(op, self.span(node)[0], self.span(operand)[0])
            case ast.Attribute(_, name) if name in MEMBERS:
                yield self.span(node)[1] - len(name), self.span(node)[1], MEMBERS[name]
            case ast.Call(ast.Name(name) as function) if name in BUILTINS:
                yield *self.span(function), BUILTINS[name]
            case ast.Call(ast.Attribute(_, "argsort"), [first, *_]) if not isinstance(first, ast.UnaryOp):
                yield *self.span(first), f"-({self.of(first)})"
            case ast.IfExp(_, body, other):
                (start, stop), (resume, end) = self.span(body), self.span(other)
                yield start, end, f"({self.of(other)}){self.source[stop:resume].decode()}({self.of(body)})"
            case ast.If(ast.Name() | ast.Attribute() | ast.Call() as test):
                yield *self.span(test), f"not {self.of(test)}"

    def operator(self, op: ast.AST, start: int, end: int) -> Iterator[Edit]:
        """An operator stands between its operands among brackets, white space and comments."""
        gap = re.sub(rb"#[^\n]*", lambda comment: b" " * len(comment[0]), self.source[start:end])
        token, *others = OPERATORS.get(type(op), ("",))
        start += gap.index(token.encode())
        yield from ((start, start + len(token), other) for other in others)

    def mutant(self, file: str, edit: Edit) -> Mutant:
        start, end, text = edit
        head = self.source[:start].rpartition(b"\n")[2].decode()
        tail = self.source[end:].partition(b"\n")[0].decode()
        before, after = (" ".join((head + part + tail).split()) for part in (self.source[start:end].decode(), text))
        return Mutant(file, edit, self.source.count(b"\n", 0, start) + 1, before, after)
