"""Scores of Ji et al. 2008's contest over columns and splits, and what of the paper's conclusions they bear out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from _findings import LEVEL, Finding
from _harness import Row
from _significance import corrected_t_test
from ji_contest import EXPANSIONS, METHODS

Array = NDArray[np.float64]
Column = tuple[str, int]
Scores = dict[tuple[Column, str, str], Array]
SCORES = ("macro", "micro")
PROPOSED = ("SILP star", "SILP clique", "APP star", "APP clique")
ALMOST_ALL = 0.9
TEST_SHARE = 1.0  # one half trains, the other tests


def scores(rows: list[Row]) -> Scores:
    """For column, score and method: one number for every split."""
    kept: dict[tuple[Column, str, str], list[float]] = {}
    for row in rows:
        for one in row["rows"]:
            for score in SCORES:
                kept.setdefault(((row.cell["bank"], row.cell["size"]), score, one["method"]), []).append(one[score])
    return {key: np.array(values) for key, values in kept.items()}


def columns(found: Scores) -> list[Column]:
    return list(dict.fromkeys(column for column, _, _ in found))


def cells(found: Scores) -> list[tuple[Column, str]]:
    return [(column, score) for column in columns(found) for score in SCORES]


def lead(found: Scores, column: Column, score: str, method: str, rival: str) -> tuple[float, float]:
    ours, theirs = found[column, score, method], found[column, score, rival]
    return float((ours - theirs).mean()), corrected_t_test(ours, theirs, TEST_SHARE)


def distances(rows: list[Row]) -> dict[float, list[float]]:
    """For every smoothing: ½ Σ|θ − θ'| between both forms' weights, over expansions, λ and splits."""
    kept: dict[float, list[float]] = {}
    for one in (one for row in rows for one in row["apart"]):
        kept.setdefault(one["smoothing"], []).append(one["distance"])
    return kept


def highest(found: Scores) -> Finding:
    means = {cell: {m: found[(*cell, m)].mean() for m in METHODS} for cell in cells(found)}
    won = sum(max(one, key=lambda m, one=one: one[m]) in PROPOSED for one in means.values())
    evidence = f"they have the highest mean in {won} of {len(means)} columns"
    return Finding(
        "kernels integrated by star or clique are best on almost all data sets",
        won >= ALMOST_ALL * len(means),
        evidence,
    )


def above_single(found: Scores) -> Finding:
    leads = [lead(found, *cell, method, "BIK") for cell in cells(found) for method in PROPOSED]
    ahead, proved = sum(d > 0 for d, _ in leads), sum(d > 0 and p < LEVEL for d, p in leads)
    by_bank = []
    for bank in dict.fromkeys(bank for bank, _ in columns(found)):
        own = [lead(found, *cell, m, "BIK")[0] for cell in cells(found) if cell[0][0] == bank for m in PROPOSED]
        by_bank.append(f"mean lead {np.mean(own):+.3f} with the bank '{bank}'")
    evidence = f"ahead in {ahead} of {len(leads)} cells, significantly in {proved}; {', '.join(by_bank)}"
    holds: bool | str = proved == len(leads) or ("holds without significance" if ahead == len(leads) else False)
    return Finding("integrated kernels beat the best individual one significantly on all", holds, evidence)


def above_canonical(found: Scores) -> Finding:
    leads = [lead(found, *cell, method, f"{method.split()[0]} KCCA") for cell in cells(found) for method in PROPOSED]
    ahead, proved = sum(d > 0 for d, _ in leads), sum(p < LEVEL for _, p in leads)
    evidence = f"star or clique ahead in {ahead} of {len(leads)} cells, {proved} of all differences significant"
    return Finding("the hypergraph forms beat KCCA consistently", ahead == len(leads), evidence)


def approximate(found: Scores) -> Finding:
    leads = [lead(found, *cell, f"APP {e}", f"SILP {e}") for cell in cells(found) for e in EXPANSIONS]
    ahead, proved = sum(d > 0 for d, _ in leads), sum(p < LEVEL for _, p in leads)
    evidence = (
        f"ahead in {ahead} of {len(leads)} cells, by {np.mean([d for d, _ in leads]):+.4f} on average, "
        f"{proved} of the differences significant"
    )
    conclusion = "the smoothed form does slightly better than SILP in almost all cases"
    return Finding(conclusion, ahead >= ALMOST_ALL * len(leads), evidence)


def alike(rows: list[Row]) -> Finding:
    near = {mu: float(np.median(d)) for mu, d in distances(rows).items()}
    least = min(near)
    told = ", ".join(f"{near[mu]:.3f} at μ = {mu:g}" for mu in sorted(near))
    return Finding("both yield very similar weights", near[least] < 0.05, f"median ½ Σ|θ − θ'| {told}")
