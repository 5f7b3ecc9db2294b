"""ML-MKL-SA against ML-MKL-Sum and full-gradient mirror-prox as classes grow (Bucak et al. 2010, Table 1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from measuring import Headline, Setting
from shared_classes import PRICE, Judge, Judged, Shared, digit_unions, synthetic

from shared.pictures import label, panels, style, ticks
from shared.printed import printed_rows
from shared.stepping import Mark, first_within, geometric, stepped
from shared.tables import exponent, median, ratio, shown, table

SOURCES: dict[str, Callable[..., Shared]] = {"synthetic": synthetic, "digits": digit_unions}
CONTESTANTS = {
    "SA": ("ml_sa", "ml_minimax"),
    "Sum": ("ml_sum_subgradient", "ml_sum"),
    "mirror-prox": ("ml_mirror_prox", "ml_minimax"),
}
# SA's step in units of 1/(½Cn), the size of an H_k; the first step of Sum is a length in the simplex.
GRIDS: dict[str, tuple[float, ...]] = {"SA": (0.03, 0.1, 0.3, 1.0), "Sum": (0.1, 0.3, 1.0), "mirror-prox": (0.0,)}
SIZES = {"synthetic": (10, 20, 50, 100, 200), "digits": (10, 20, 50, 100, 200)}
QUALITIES = {"total": "sum of H_k", "worst": "largest H_k"}
STEPS = 400  # of SA
LEFT = 1 / 3  # of what even weights lose to the best: reaching this is reaching the same objective
PRINTED = {"Caltech-101": 102, "VOC2006": 10, "VOC2007": 20}  # classes

Etas = dict[tuple[str, str], float]


@dataclass(frozen=True)
class Course:
    """One run: its marks, and what the judge says of their weights."""

    marks: list[Mark]
    judged: list[Judged]

    def values(self, quality: str) -> list[float]:
        return [getattr(one, quality) for one in self.judged]

    def reached(self, quality: str, target: float) -> Mark | None:
        return first_within(self.marks, self.values(quality), target)


def run(setting: Setting) -> Headline:
    lines = [*_printed(), "", _how(setting), ""]
    numbers: dict[str, Any] = {"sources": {}}
    for name, sizes in SIZES.items():
        found = growth(setting, name, setting.choose(sizes, (5, 10, 20)))
        numbers["sources"][name] = found
        lines += _growth_table(name, found)
    lines += edges(numbers)
    pictures = [_draw_growth(setting, numbers["sources"])]
    title = "Many labels: ML-MKL-SA against ML-MKL-Sum (Bucak et al. 2010)"
    return Headline(title, lines, numbers, verdict(numbers), pictures)


def growth(setting: Setting, source: str, sizes: Sequence[int]) -> dict[str, Any]:
    """Costs until the same objective, for either quality and every number of classes."""
    tuned = {m: tune(setting, source, m) for m in setting.choose((50,), (10,))}
    rows = []
    for m in sizes:
        setting.report(f"many labels: {source}, {m} classes")
        etas = tuned[min(tuned, key=lambda known: abs(np.log(known / m)))]
        rows.append({"classes": m, **contest(setting, SOURCES[source](m, seed=0), etas)})
    fitted = {}
    for quality in QUALITIES:
        for unit in ("solves", "seconds"):
            for name in CONTESTANTS:
                fitted[f"{quality} {unit} {name}"] = exponent(sizes, [row[quality][name][unit] for row in rows])
    kept = {str(m): {f"{quality}, {name}": eta for (quality, name), eta in t.items()} for m, t in tuned.items()}
    return {"rows": rows, "exponents": fitted, "etas": kept}


@cache
def tune(setting: Setting, source: str, classes: int) -> Etas:
    """For each quality and contestant the step with fewest SVMs to the same objective, on another draw."""
    setting.report(f"many labels: {source}, steps tuned at {classes} classes")
    shared = SOURCES[source](classes, seed=1)
    judge = Judge(shared)
    courses = {
        (name, eta): follow(setting, shared, judge, name, eta, seed=7) for name, grid in GRIDS.items() for eta in grid
    }
    chosen: Etas = {}
    for quality in QUALITIES:
        least, first = _range(list(courses.values()), quality)
        for name, grid in GRIDS.items():
            chosen[quality, name] = min(
                grid, key=lambda eta, name=name: _effort(courses[name, eta], quality, _target(least, first))
            )
    return chosen


def _range(courses: list[Course], quality: str) -> tuple[float, float]:
    """The best value that anyone met, and the value at even weights, where all start."""
    return min(min(course.values(quality)) for course in courses), courses[0].values(quality)[0]


def _target(best: float, even: float) -> float:
    return best + LEFT * (even - best)


def _effort(course: Course, quality: str, target: float) -> tuple[float, float]:
    mark = course.reached(quality, target)
    return (np.inf if mark is None else mark.svm_solves, min(course.values(quality)))


def follow(setting: Setting, shared: Shared, judge: Judge | None, name: str, eta: float, seed: int) -> Course:
    """One run within its budget of SVMs: tens of steps with all classes, or 400 with one."""
    solver, formulation = CONTESTANTS[name]
    count = setting.choose({"SA": STEPS, "Sum": 10, "mirror-prox": 14}, {"SA": 100, "Sum": 5, "mirror-prox": 4})[name]
    size = PRICE * shared.instance.samples / 2
    options: dict[str, dict[str, Any]] = {
        "SA": {"eta": eta / size, "seed": seed, "delta": 0.2},
        "Sum": {"eta": eta},
        "mirror-prox": {},
    }
    tolerance = None if name == "SA" or judge is None else 1e-4
    due = geometric(count, 1.5)
    marks = stepped(
        solver,
        shared.instance,
        formulation,
        {"C": PRICE},
        options=options[name],
        max_iter=count,
        due=due,
        tolerance=tolerance,
    )
    marks = marks if name == "SA" else [_when_known(mark, shared.classes) for mark in marks]
    return Course(marks, [] if judge is None else [judge(mark.weights) for mark in marks])


def _when_known(mark: Mark, classes: int) -> Mark:
    """What a mark had cost when its weights were known: without the SVMs at them, which already serve the next step."""
    before = mark.svm_solves - classes
    return replace(mark, svm_solves=before, seconds=mark.seconds * before / mark.svm_solves)


def contest(setting: Setting, shared: Shared, etas: Etas) -> dict[str, Any]:
    """Contestants in turn: SA with three seeds, the others clocked twice (once from 100 classes on) and judged once."""
    judge, repeats = Judge(shared), setting.choose(3, 2)
    runs: dict[tuple[str, float], list[Course]] = {}
    for repeat in range(repeats):
        for (_, name), eta in etas.items():
            known = runs.setdefault((name, eta), [])
            if len(known) > repeat:
                continue
            again = repeat > 0 and name != "SA"
            if again and (repeat > 1 or shared.classes >= 100):
                continue
            course = follow(setting, shared, None if again else judge, name, eta, seed=repeat)
            known.append(Course(course.marks, known[0].judged) if again else course)
    everything = [course for known in runs.values() for course in known]
    certified = {
        "worst": max(mark.lower for mark in runs["mirror-prox", 0.0][0].marks),
        "total": max(mark.lower for (name, _), known in runs.items() if name == "Sum" for mark in known[0].marks),
    }
    found: dict[str, Any] = {}
    for quality in QUALITIES:
        best, even = _range(everything, quality)
        found[quality] = {"best": best, "certified": certified[quality], "even": even / best - 1}
        for name in CONTESTANTS:
            found[quality][name] = _costs(runs[name, etas[quality, name]], quality, best, even)
    return found | {"rule": _rule(shared, judge, etas["worst", "SA"], found)}


def _costs(courses: list[Course], quality: str, best: float, even: float) -> dict[str, float | None]:
    marks = [course.reached(quality, _target(best, even)) for course in courses]
    return {
        "solves": median(None if mark is None else float(mark.svm_solves) for mark in marks),
        "seconds": median(None if mark is None else mark.seconds for mark in marks),
        "final": float(np.median([course.values(quality)[-1] / best - 1 for course in courses])),
    }


def _rule(shared: Shared, judge: Judge, eta: float, found: dict[str, Any]) -> dict[str, float]:
    """The paper's rule: stop when no average weight changes by more than 1 % in a step."""
    options = {"eta": eta / (PRICE * shared.instance.samples / 2), "seed": 0}
    marks = stepped("ml_sa", shared.instance, "ml_minimax", {"C": PRICE}, options=options, max_iter=300)
    steps = (i for i in range(2, len(marks)) if np.all(abs(marks[i].weights / marks[i - 1].weights - 1) < 0.01))
    at = next(steps, len(marks) - 1)
    judged = judge(marks[at].weights)
    return {"step": marks[at].iteration, **{q: getattr(judged, q) / found[q]["best"] - 1 for q in QUALITIES}}


def verdict(numbers: dict[str, Any]) -> str:
    parts = [_part(found, name, quality) for name, found in numbers["sources"].items() for quality in QUALITIES]
    outcomes = [outcome for outcome, _ in parts]
    claim = "holds" if all(outcomes) else "holds in part" if any(outcomes) else "does not hold"
    told = "; ".join(words for _, words in parts)
    return (
        f"The conclusion that ML-MKL-SA gets by with less work than ML-MKL-Sum when classes are many {claim} here. "
        "SVMs "
        f"that SA solves for each one of Sum's until the same objective: {told}."
    )


def _part(found: dict[str, Any], source: str, quality: str) -> tuple[bool | None, str]:
    """Whether SA was cheaper at the largest number of classes, None where that is not decided, and why."""
    rows, last = found["rows"], found["rows"][-1]
    at, where = last[quality], f"{source}, {QUALITIES[quality]}, {last['classes']} classes"
    kept = f"SA reaches it and stays at {sum(stays(row[quality]) for row in rows)} of {len(rows)} numbers of classes"
    if proved(at) >= at["even"]:
        open_by = f"the best met is proved to {proved(at):.0%} only, even weights lose {at['even']:.1%}"
        return None, f"{where}: undecided, {open_by}; {kept}"
    if not stays(at):
        return False, f"{where}: SA does not stay there, {at['SA']['final']:.1%} off in the end; {kept}"
    share = ratio(at["SA"]["solves"], at["Sum"]["solves"])
    if share is None:
        return True, f"{where}: Sum never gets there, SA does; {kept}"
    slopes = [shown(found["exponents"][f"{quality} solves {name}"], 2, "n/a") for name in ("SA", "Sum")]
    return share < 1, f"{where}: {shown(share, 2)} (exponents in the classes {slopes[0]} and {slopes[1]}); {kept}"


def proved(at: dict[str, Any]) -> float:
    """How far the best value met may be from the optimum, by certificate."""
    return 1 - at["certified"] / at["best"]


def stays(at: dict[str, Any]) -> bool:
    """Whether SA came to the same objective and was still there in the end; first visits alone can be luck."""
    return at["SA"]["solves"] is not None and at["SA"]["final"] <= LEFT * at["even"]


def _printed() -> list[str]:
    seconds = printed_rows("bucak_seconds")
    rows = [
        (name, str(m), sa, total, total / sa)
        for (name, m), sa, total in zip(PRINTED.items(), seconds["SA"], seconds["Sum"], strict=True)
    ]
    return [
        "The paper's Table 1 (training seconds): with more classes the stochastic method gains more.",
        "",
        *table(["data", "classes", "ML-MKL-SA", "ML-MKL-Sum", "ratio"], rows),
    ]


def _how(setting: Setting) -> str:
    return (
        "Measured: SVMs solved, and CPU seconds of the steps alone, until the weights' objective has made up two "
        "thirds of what even weights, where all start, lose to the best weights that anyone met. A full-gradient "
        "step counts once its weights are known, without the SVMs at them. SVMs of all classes judge every "
        "contestant's weights beside the clock. Both objectives judge all three. Steps tuned on another draw of the "
        f"data, for each objective apart, by fewest SVMs: SA over η = {GRIDS['SA']} in units of 1/(½Cn) with δ = 0.2, "
        f"Sum over first steps {GRIDS['Sum']}; mirror-prox chooses its own. Contestants in turn, medians: SA of "
        f"{setting.choose(3, 2)} seeds, the others clocked twice, from 100 classes on once. C = {PRICE:g}, 9 kernels; "
        "synthetic: n = 100, half-spaces of mixed views, three views noise; digits: n = 80, centred kernels, each "
        "digit, then pairs, then triples of digits, against the rest."
    )


def _growth_table(source: str, found: dict[str, Any]) -> list[str]:
    lines = []
    for quality, words in QUALITIES.items():
        rows = []
        for row in found["rows"]:
            at = row[quality]
            solves, seconds = ([at[name][unit] for name in CONTESTANTS] for unit in ("solves", "seconds"))
            finals = [f"{at[name]['final']:.1%}" for name in CONTESTANTS]
            gains = ratio(solves[1], solves[0]), ratio(seconds[1], seconds[0])
            rows.append(
                [
                    str(row["classes"]),
                    f"{at['even']:.1%}",
                    f"{proved(at):.1%}",
                    *solves,
                    *(shown(g, missing="–") for g in gains),
                    *finals,
                ]
            )
        slopes = [shown(found["exponents"][f"{quality} solves {name}"], 2, "–") for name in CONTESTANTS]
        rows.append(["exponent", "", "", *slopes, "", "", "", "", ""])
        names = list(CONTESTANTS)
        header = ["classes", "even weights", "proved", *(f"SVMs, {name}" for name in names)]
        header += ["Sum/SA, SVMs", "Sum/SA, time", *(f"left, {name}" for name in names)]
        lines += [
            f"**{source}, {words}**: cost to the same objective, and how far each was off in the end; `proved` bounds "
            "how far the best met is from the optimum.",
            "",
        ]
        lines += [*table(header, rows), ""]
    rules = [
        [str(r["classes"]), str(r["rule"]["step"]), f"{r['rule']['total']:.1%}", f"{r['rule']['worst']:.1%}"]
        for r in found["rows"]
    ]
    lines += [f"**{source}**: where the paper's stopping rule (average weights change by less than 1 %) ends SA.", ""]
    return [*lines, *table(["classes", "at step", "sum of H_k off by", "largest H_k off by"], rules), ""]


def edges(numbers: dict[str, Any]) -> list[str]:
    """Which tuned steps lie at an end of their grid, where a wider grid might have found better ones."""
    at_edge = [
        f"{name} for the {QUALITIES[quality]} on {source} ({eta:g})"
        for source, found in numbers["sources"].items()
        for chosen in found["etas"].values()
        for (quality, name), eta in ((key.split(", "), eta) for key, eta in chosen.items())
        if len(GRIDS[name]) > 1 and eta in (min(GRIDS[name]), max(GRIDS[name]))
    ]
    if not at_edge:
        return []
    return [f"Tuned to an end of the grid, so perhaps not at their best: {', '.join(at_edge)}.", ""]


def _draw_growth(setting: Setting, sources: dict[str, Any]) -> str:
    name = "many_labels_growth.png"
    with panels(setting.folder / name, 2 * len(sources)) as axes:
        drawn = iter(axes)
        for source, found in sources.items():
            sizes = [row["classes"] for row in found["rows"]]
            for quality, words in QUALITIES.items():
                axis = next(drawn)
                for i, contestant in enumerate(CONTESTANTS):
                    costs = [row[quality][contestant]["solves"] for row in found["rows"]]
                    slope = shown(found["exponents"][f"{quality} solves {contestant}"], 2, "–")
                    told = f"{contestant} (exponent {slope})" if any(costs) else f"{contestant}: never"
                    axis.plot(sizes, [np.nan if c is None else c for c in costs], label=told, **style(i))
                label(axis, f"{source}: {words}", "classes", "SVMs solved", "xy")
                ticks(axis, sizes)
    return name
