"""One page for every theorem of a loss, made of its docstring and its code, beside the pages of the formulations.

`absolute` has the theorem of `epsilon_insensitive`, and its page.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from formulation_pages import (
    LINKS,
    derived,
    heading,
    keep,
    link,
    markdown,
    notation_of,
    parameters_of,
    taken_away,
    to_take_away,
)
from mklcvx.formulations import FORMULATIONS
from mklcvx.formulations.losses import ALL, CLASSES, COUNTS, LABELS, NONE, REAL, AnyLoss
from mklcvx.reports.explain import equations
from mklcvx.reports.theorem import Paragraph, parse

TARGETS = {
    LABELS: "For labels ±1",
    CLASSES: "For classes, all at once",
    REAL: "For a response",
    COUNTS: "For counts, a response that is never negative",
    NONE: "Without targets",
}
CHAPTER = "{doc}`/chapters/plot_13_change_the_loss`"


def with_pages() -> list[AnyLoss]:
    return [loss for loss in ALL if LINKS[loss.name] == loss.name]


def page(loss: AnyLoss) -> str:
    theorem = parse(loss.theorem)
    headline = theorem.headline.removeprefix(f"{loss.name} — ")
    parts = [
        f"# `{loss.name}`: {heading(loss.title.replace('`', ''))}",
        markdown(f"{headline[0].upper()}{headline[1:]}"),
        notation_of(loss),
        "## The theorem: the loss, and its gain in the dual",
        "\n".join(["$$", r"\begin{aligned}", " \\\\\n".join(equations(theorem.statement)), r"\end{aligned}", "$$"]),
        *(markdown(part.text) for part in theorem.statement if isinstance(part, Paragraph)),
        _code(loss),
        "## From one to the other",
        *(derived(part) for part in theorem.derivation),
        f"*In the course:* {CHAPTER}.",
        "## What it does to α and to the bias",
        *(f"{row.label[0].upper()}{row.label[1:]}\n: {markdown(' '.join(row.lines))}" for row in theorem.consequences),
        f"## Targets\n\n{_sentence(theorem.paragraph('Targets'))}",
        f"## Degenerate cases\n\n{_sentence(theorem.paragraph('Degenerate cases'))}",
        parameters_of(loss),
        _pairs(loss),
        _picture(loss),
        f"## Reference\n\n{theorem.paragraph('Reference')}",
        to_take_away(loss),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _sentence(text: str) -> str:
    shown = markdown(text)
    return f"{shown[0].upper()}{shown[1:]}"


def _code(loss: AnyLoss) -> str:
    """The record that states a piecewise quadratic loss; of others, the two declarations."""
    names = ["shape"] if hasattr(loss, "shape") else ["declare_risk", "declare_gain"]
    return "\n\n".join(_included(type(loss), name) for name in names)


def _included(kind: type, name: str) -> str:
    owner = next(one for one in kind.__mro__ if name in vars(one))
    place = f"../../formulations/losses/{Path(inspect.getfile(owner)).name}\n:pyobject: {owner.__name__}.{name}"
    return f"```{{literalinclude}} {place}\n:language: python\n:dedent:\n```"


def _pairs(loss: AnyLoss) -> str:
    taking = [one for one in FORMULATIONS if one.loss_names]
    links = ", ".join(link(one.name) for one in taking if loss.name in one.loss_names)
    others = ", ".join(link(one.name) for one in taking if loss.name not in one.loss_names)
    why = "their penalty is between groups" if loss.joint else "they have no ν-form"
    without = f" Not with {others}: {why}." if others else ""
    return f"## Regularisers that it goes with\n\n{links}.{without}"


def _picture(loss: AnyLoss) -> str:
    if loss.joint:
        return ""
    others = [one.name for one in ALL if LINKS[one.name] == loss.name]
    return f"""## Drawn here

The loss, its conjugate h, with which the gain is $g(\\alpha)=a\\alpha-h(\\alpha)$, and the bounds of α, at the price 1:

```python
from mklcvx import plot

plot.losses({others!r})
```"""


def table() -> str:
    """The losses by their targets, for the index of formulations."""
    lines: list[str] = []
    for kind, title in TARGETS.items():
        lines += [f"### {title}", "", "| name | what it is | own parameters | by |", "|---|---|---|---|"]
        for loss in (loss for loss in ALL if loss.targets == kind):
            own = ", ".join(
                f"`{one.name}`: {markdown(one.limits)}" for one in loss.parameters[loss.parameter.name == "C" :]
            )
            cells = (link(loss.name), markdown(loss.title), own, loss.reference)
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join([*lines, "```{toctree}", ":hidden:", "", *(loss.name for loss in with_pages()), "```", ""])


def gains() -> str:
    """Every theorem's loss and gain, side by side."""
    lines = ["| loss | at the price 1 | gain, and bounds of α |", "|---|---|---|"]
    for loss in with_pages():
        formulas = [
            line.replace("&=", "=").replace("|", r"\vert ") for line in equations(parse(loss.theorem).statement)
        ]
        lines.append(f"| {link_from_above(loss)} | ${formulas[0]}$ | ${formulas[1]}$ |")
    return "\n".join(lines)


def link_from_above(loss: AnyLoss) -> str:
    return link(loss.name).replace("](", "](formulations/")


def write(app: Any) -> None:
    folder = Path(app.srcdir) / "formulations"
    for loss in with_pages():
        keep(folder / f"{loss.name}.md", page(loss))
        for file, text in taken_away(loss).items():
            keep(folder / "_taken" / file, f"{text}\n")


def setup(app: Any) -> dict[str, Any]:
    app.connect("builder-inited", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
