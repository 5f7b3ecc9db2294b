"""The section about single kernels, and a page of it alone: held-out scores, stability, and weights of every class."""

from __future__ import annotations

from functools import partial

from ... import formulations
from .. import plot
from ..importance import KernelImportance
from .html import Markup, element, figure, paragraph, section, table
from .page import badge, inline, page

FROM_SCORES = (
    "All scores are of held-out samples. Alone: the score of the kernel by itself. Drop without: what is lost if the "
    "kernel is left out and all is fitted again; near 0 too where another kernel can take its place. Drop permuted: "
    "what the fitted model loses if the test samples' rows of the kernel are shuffled. "
)
FROM_RESAMPLES = (
    "Resampled weight: the mean over bootstrap samples; selected: how often it exceeds {threshold:g} of all weights. "
)
OF_ALL = (
    "Every ± is one standard deviation. Weights are not importances, and the certificate proves that the optimum is "
    "exact, not that a kernel matters."
)
CAPTIONS = {
    "importance": "What the held-out score loses without a kernel.",
    "alone": "Each kernel alone; the band is one deviation around all kernels together.",
    "stability": "Weights of bootstrap samples; on the right, how often a kernel is selected.",
    "classes": "The weights of every machine, a row each.",
}


def importance_section(importance: KernelImportance) -> Markup:
    """Return the section with the table, and a chart of every answer."""
    heads, rows = importance.table()
    words = FROM_SCORES if importance.scores is not None else ""
    words += FROM_RESAMPLES.format(threshold=importance.threshold) if importance.resampled is not None else ""
    height, kinds = 1.2 + 0.26 * len(importance.names), []
    if importance.without is not None or importance.permuted is not None:
        kinds.append(("importance", partial(plot.importance, importance), height))
    if importance.alone is not None:
        kinds.append(("alone", partial(plot.alone, importance), height))
    if importance.resampled is not None:
        kinds.append(("stability", partial(plot.stability, importance), height))
    if len(importance.machines) > 1:
        draw = partial(plot.classes, importance, None, None)
        kinds.append(("classes", draw, 1.5 + 0.2 * len(importance.machines)))
    figures = [figure(inline(draw, size, CAPTIONS[name], name), CAPTIONS[name]) for name, draw, size in kinds]
    notes, drawn = map(paragraph, importance.notes), element("div", *figures, class_="figures")
    listed = table(heads, rows, range(1, len(heads)))
    said = paragraph(importance.summary(), "."), listed, *notes, drawn, paragraph(words, OF_ALL)
    return section("kernels", "Which kernels matter", *said)


def kernels_page(importance: KernelImportance, formulation: str, source: str) -> str:
    """Return the page about the kernels of an instance."""
    kind = "bad" if importance.uncertified else "good"
    state = badge(f"{importance.fits - importance.uncertified} of {importance.fits} fits certified", kind)
    title = formulations.get(formulation).title
    return page(f"{source}: which kernels matter", f"{formulation}: {title}", state, [importance_section(importance)])
