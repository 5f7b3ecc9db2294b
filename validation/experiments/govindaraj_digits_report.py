"""Sections 6.2.2 to 6.5 of Govindaraj 2009, on digits: numbers of kernels, prices, training sizes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from _findings import LEVEL, Finding, probability
from _harness import Row, Setting
from _reporting import Table
from _significance import average_ranks, corrected_t_test, friedman, wilcoxon
from govindaraj_regions import GROUPED, IMAGES, prices

Array = NDArray[np.float64]
NAMES = {"l1": "L1", "li": "Li", "ckl": "CKL", "sum": "sum"}
NEAR = 0.01  # of the best accuracy: what a price may lose and still do
KERNEL_TEST_SHARE = 1.0  # half the images train, half test
PRINTED_GAIN, PRINTED_FALL = 0.075, 0.09


def values(rows: list[Row], what: str, column: str, at: int, method: str) -> Array:
    """Of every split: a number, or a list of them, of one method in one column."""
    return np.array([one[what] for row in rows for one in row["rows"] if one[column] == at and one["method"] == method])


def columns_of(rows: list[Row], column: str) -> list[int]:
    return sorted({one[column] for row in rows for one in row["rows"]})


# -------------------------------------------------------------------------------------------------- numbers of kernels
def kernels_table(rows: list[Row]) -> Table:
    made = []
    for count in columns_of(rows, "kernels"):
        l1, li = (values(rows, "accuracy", "kernels", count, method) for method in ("l1", "li"))
        ratio = li / l1
        p = corrected_t_test(li, l1, KERNEL_TEST_SHARE)
        better = f"{int(np.sum(li > l1))} / {int(np.sum(li == l1))} / {int(np.sum(li < l1))}"
        deviation = float(ratio.std(ddof=1)) if len(ratio) > 1 else 0.0
        made.append([count, float(l1.mean()), float(li.mean()), float(ratio.mean()), deviation, better, probability(p)])
    header = ["kernels", "L1", "Li", "Li/L1", "±", "Li better / equal / worse", "paired test"]
    note = (
        "Printed: Caltech-4 with 54 kernels L1 92.00 ± 2.44, Li 93.50 ± 2.14 (ratio 1.016); Oxford flowers "
        "85.88 ± 1.83 and 87.35 ± 1.72; against the number of kernels better in most cases, by up to "
        f"{PRINTED_GAIN:.1%}."
    )
    return Table("kernels", "Figs 3 and 11: Li-MKL and L1-MKL against the number of kernels", header, made, note)


def of_kernels(rows: list[Row]) -> Finding:
    counts = columns_of(rows, "kernels")
    ours, theirs = ([values(rows, "accuracy", "kernels", c, m) for c in counts] for m in ("li", "l1"))
    gains = [a - b for a, b in zip(ours, theirs, strict=True)]
    ahead = sum(gain.mean() > 0 for gain in gains)
    proved = sum(gain.mean() > 0 and corrected_t_test(gain, 0 * gain, KERNEL_TEST_SHARE) < LEVEL for gain in gains)
    evidence = (
        f"ahead on average at {ahead} of {len(counts)} numbers of kernels, significantly at {proved}, by "
        f"{max(g.mean() for g in gains):+.3f} at most"
    )
    conclusion = "Li-MKL is more accurate than L1-MKL at most numbers of kernels"
    return Finding(conclusion, _most(ahead, proved, len(counts)), evidence)


def _most(ahead: int, proved: int, columns: int) -> bool | str:
    """Whether a lead is there in most columns, and whether it is more than chance in most."""
    if 2 * proved > columns:
        return True
    return "holds on average, without significance" if 2 * ahead > columns else False


# -------------------------------------------------------------------------------------------------------------- prices
def curves(setting: Setting, rows: list[Row]) -> tuple[Array, dict[str, Array], int]:
    """Prices, test accuracies (splits, prices) of both methods with the most kernels, and how many these are."""
    count = max(columns_of(rows, "kernels"))
    return np.array(prices(setting)), {m: values(rows, "outer", "kernels", count, m) for m in ("l1", "li")}, count


def prices_table(setting: Setting, rows: list[Row]) -> Table:
    grid, found, count = curves(setting, rows)
    made = [
        [
            float(price),
            *(float(found[m][:, i].mean()) for m in ("l1", "li")),
            float((found["li"] - found["l1"])[:, i].mean()),
        ]
        for i, price in enumerate(grid)
    ]
    lowest = {m: float(grid[np.argmax(c.mean(axis=0) >= c.mean(axis=0).max() - NEAR)]) for m, c in found.items()}
    note = (
        f"Printed: up to {PRINTED_FALL:.0%} apart at low C. The lowest C within a point of the best is "
        f"{lowest['l1']:g} for L1 and {lowest['li']:g} for Li, {lowest['l1'] / lowest['li']:.0f} times less; Li-MKL's "
        f"kernel Σ K/(2λ) at even λ is l²/2 = {count**2 / 2:.0f} times L1-MKL's."
    )
    return Table("prices", f"Accuracy at every C, {count} kernels", ["C", "L1", "Li", "Li − L1"], made, note)


def of_prices(setting: Setting, rows: list[Row]) -> list[Finding]:
    """As printed, at equal C; and with Li-MKL's C divided by l²/2, to the nearest step of the grid."""
    grid, found, count = curves(setting, rows)
    step = float(np.log10(grid[1] / grid[0])) if len(grid) > 1 else 1.0
    shift = round(float(np.log10(count**2 / 2)) / step)
    plain = Finding("Li-MKL is less sensitive to C", *_less_sensitive(found["li"], found["l1"]))
    if shift >= len(grid) - 1 or shift <= 0:
        return [plain]
    matched = _less_sensitive(found["li"][:, :-shift], found["l1"][:, shift:])
    return [plain, Finding(f"and still so with its C divided by l²/2, that is {10 ** (shift * step):.0f}", *matched)]


def _less_sensitive(li: Array, l1: Array) -> tuple[bool, str]:
    falls = np.ptp(li, axis=1), np.ptp(l1, axis=1)
    p = corrected_t_test(*falls, KERNEL_TEST_SHARE)
    told = f"accuracy falls by {falls[0].mean():.3f} over the grid, L1's by {falls[1].mean():.3f}, {probability(p)}"
    return bool(falls[0].mean() < falls[1].mean() and p < LEVEL), told


# ------------------------------------------------------------------------------------------------------ training sizes
def _sizes(rows: list[Row]) -> tuple[list[int], dict[tuple[int, str], Array]]:
    sizes = columns_of(rows, "training")
    return sizes, {(n, m): values(rows, "accuracy", "training", n, m) for n in sizes for m in GROUPED}


def sizes_table(rows: list[Row]) -> Table:
    sizes, found = _sizes(rows)
    made: list[list[object]] = [[n, *(float(found[n, m].mean()) for m in GROUPED)] for n in sizes]
    table = np.concatenate([np.stack([found[n, m] for m in GROUPED], axis=1) for n in sizes])
    ranked = [float(rank) for rank in average_ranks(table)]
    told = ", ".join(f"{NAMES[m]} {rank:.2f}" for m, rank in zip(GROUPED, ranked, strict=True))
    note = (
        f"Average ranks over all sizes and splits: {told} "
        f"(Friedman {probability(friedman(table))}, as if splits were independent). "
        "Printed, Oxford flowers: L1 85.39, Li 86.67, CKL 86.67; Fig. 16 has no numbers."
    )
    header = ["training samples of each class", *(NAMES[m] for m in GROUPED)]
    return Table("sizes", "Fig. 16: CKL, Li, L1 and the sum on grouped kernels", header, made, note)


def differences(rows: list[Row], rival: str) -> list[tuple[float, float, float]]:
    """For every training size: CKL's mean lead over the rival, and p by the corrected t-test and by Wilcoxon's."""
    sizes, found = _sizes(rows)
    tested, pairs = IMAGES - max(sizes), [(n, found[n, "ckl"], found[n, rival]) for n in sizes]
    return [(float((a - b).mean()), corrected_t_test(a, b, tested / n), wilcoxon(a, b)) for n, a, b in pairs]


def tests_table(rows: list[Row]) -> Table:
    told = {rival: differences(rows, rival) for rival in ("l1", "li", "sum")}
    made = [
        [n, *(f"{told[r][i][0]:+.4f} ({probability(told[r][i][1])}; {probability(told[r][i][2])})" for r in told)]
        for i, n in enumerate(columns_of(rows, "training"))
    ]
    header = ["training samples of each class", *(f"CKL − {NAMES[r]}" for r in told)]
    note = (
        "The first p allows for overlapping training sets, and more than it should where these are small; the second, "
        "Wilcoxon's over splits, does not allow for it at all."
    )
    return Table("tests", "CKL's lead, the corrected resampled t-test, and Wilcoxon's", header, made, note)


def of_sizes(rows: list[Row]) -> list[Finding]:
    findings = []
    for rival in ("l1", "li"):
        found = differences(rows, rival)
        ahead, proved = sum(d > 0 for d, _, _ in found), sum(d > 0 and p < LEVEL for d, p, _ in found)
        evidence = f"ahead on average at {ahead} of {len(found)} training sizes, significantly at {proved}"
        conclusion = f"CKL on grouped kernels is more accurate than {NAMES[rival]}-MKL"
        findings.append(Finding(conclusion, _most(ahead, proved, len(found)), evidence))
    return findings
