"""How often a diagnosis names a mistake: wrong problems at random, really solved, and answers that mean nothing.

    python validation/diagnoses.py            # 400 mistakes, 100 pairs of mistakes, 300 random answers
    python validation/diagnoses.py --count 40 --pairs 10 --random 20

A mistake is drawn from a table of its dimension: form of the answer, parameter, formulation, loss, kernels, labels,
weights of samples. It is made by solving the wrong problem, or by spoiling the right answer; the table has the kinds
that name it. The author of the judge wrote the table, so that the rates are those of development, and no forecast.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from mklcvx import Instance, solve, verify
from mklcvx.errors import InputError

HERE = Path(__file__).parent
Array = np.ndarray
PARTS = ("weights", "alpha", "bias", "objective")
OWN = {
    "sm1": {"theta": 0.6}, "sm2": {"theta": 0.7}, "smp": {"theta": 0.7, "p": 1.6}, "square": {"theta": 0.4},
    "lp": {"p": 1.6}, "elastic": {"l1_ratio": 0.4}, "block_elastic": {"l1_ratio": 0.4}, "group_lasso": {"lam": 0.4},
    "vskl": {"s": 2.0}, "ts": {"lam": 0.02}, "ts_l1": {"lam": 0.02}, "hypergraph": {"lam": 0.5},
    "hypergraph_smooth": {"lam": 0.5, "smoothing": 0.05},
}  # fmt: skip
SINGLE = (
    "l1",
    "l2",
    "lp",
    "sm1",
    "sm2",
    "smp",
    "square",
    "elastic",
    "block_elastic",
    "group_lasso",
    "sum",
    "average",
    "li",
    "ckl",
    "vskl",
)
LABEL_LOSSES = ("hinge", "squared_hinge", "logistic", "smoothed_hinge")
REAL_LOSSES = ("squared", "epsilon_insensitive", "huber", "absolute", "quantile")
MANY = ("ml_sum", "ml_minimax", "hypergraph", "hypergraph_smooth")
PAIRED = ("ts", "ts_l1", "alignment")


@dataclass(frozen=True)
class Posed:
    """A problem, and what of its answer is handed over, in what form."""

    instance: Instance
    formulation: str
    parameters: dict[str, Any]
    forms: tuple[Callable[[dict[str, Any], Posed], dict[str, Any]], ...] = ()
    kinds: tuple[tuple[str, ...], ...] = ()  # of each mistake, those that name it
    family: str = "single"

    def answer(self, names: tuple[str, ...]) -> dict[str, Any]:
        found = solve(self.instance, self.formulation, tol=1e-9, **self.parameters)
        parts = {name: getattr(found, name) for name in PARTS if getattr(found, name, None) is not None}
        if self.family != "single" and not np.any(parts.get("bias", 0.0)):
            parts.pop("bias", None)
        for form in self.forms:
            parts = form(parts, self)
        kept = {name: parts[name] for name in names if name in parts}
        return kept or parts


def drawn(rng: np.random.Generator) -> Posed:
    n, count = int(rng.integers(20, 45)), int(rng.integers(3, 6))
    x = rng.normal(size=(n, 4))
    kernels = []
    for m in range(count):
        some = x[:, rng.permutation(4)[: int(rng.integers(1, 4))]]
        distance = ((some[:, None] - some[None]) ** 2).sum(axis=2)
        kernel = (np.exp(-rng.uniform(0.1, 1.5) * distance), some @ some.T, (1 + some @ some.T) ** 2)[m % 3]
        kernels.append(rng.uniform(0.3, 2.0) * kernel + 1e-3 * np.eye(n))
    stack, score = np.stack(kernels), x[:, 0] + x[:, 1] * x[:, 2] + 0.5 * rng.normal(size=n)
    weight = {"sample_weight": rng.uniform(0.4, 2.5, n)} if rng.uniform() < 0.25 else {}
    which = rng.choice(["single", "real", "many", "paired"], p=[0.55, 0.15, 0.17, 0.13])
    price = {"C": float(np.round(10 ** rng.uniform(-0.7, 0.9), 3))}
    groups = {"groups": [int(m >= count // 2) for m in range(count)]}
    if which == "many":
        labels = (x[:, :3] + 0.6 * rng.normal(size=(n, 3)) > [0.3, -0.2, 0.5]).astype(int)
        name = str(rng.choice(MANY))
        given = {**(price if name.startswith("ml") else {}), **OWN.get(name, {})}
        return Posed(Instance(stack, labels=labels), name, given, family="many")
    if which == "real":
        name = str(rng.choice([one for one in SINGLE if one not in ("ckl", "vskl", "li")]))
        loss = str(rng.choice(REAL_LOSSES))
        own = {"epsilon_insensitive": {"epsilon": 0.15}, "huber": {"delta": 0.6}, "quantile": {"quantile": 0.3}}
        given = {**price, "loss": loss, **own.get(loss, {}), **OWN.get(name, {})}
        return Posed(Instance(stack, response=2.0 * score + 1.0, **weight), name, given)
    y = np.where(score > np.quantile(score, rng.uniform(0.4, 0.65)), 1.0, -1.0)
    if which == "paired":
        name = str(rng.choice(PAIRED))
        given = dict(OWN.get(name, {}))
        return Posed(Instance(stack, y), name, given, family="paired")
    name = str(rng.choice(SINGLE))
    loss = str(rng.choice(LABEL_LOSSES, p=[0.7, 0.1, 0.1, 0.1]))
    given = {**price, **({} if loss == "hinge" else {"loss": loss}), **OWN.get(name, {})}
    if rng.uniform() < 0.2:
        given["bias"] = False
    return Posed(Instance(stack, y, **weight, **groups), name, given)


# ------------------------------------------------------------------------------------------------------------ mistakes
Mistake = Callable[[Posed, np.random.Generator], Posed | None]


def changed(posed: Posed, *kinds: str, **what: Any) -> Posed:
    return replace(posed, kinds=(*posed.kinds, kinds), **what)


def stack_of(posed: Posed, make: Callable[[Array], Array], *kinds: str) -> Posed | None:
    try:
        return changed(posed, *kinds, instance=posed.instance.with_kernels(make(np.array(posed.instance.kernels))))
    except InputError:
        return None


def other_value(posed: Posed, rng: np.random.Generator) -> Posed | None:
    names = [name for name, value in posed.parameters.items() if isinstance(value, float)]
    if not names:
        return None
    name = str(rng.choice(names))
    value, n = posed.parameters[name], posed.instance.samples
    limits = {"l1_ratio": (0.02, 0.98), "quantile": (0.05, 0.95), "p": (1.05, 20.0), "s": (1.05, 20.0)}
    factor = float(rng.choice([3.0, 0.37, 2.0, 0.5, 1 / n if name == "C" else 1.7, 10.0]))
    low, high = limits.get(name, (0.0, np.inf))
    new = 1 - value if name in ("l1_ratio", "quantile") else 1 + (value - 1) * factor if low > 1 else value * factor
    if not low < new < high or abs(new - value) < 0.05 * value:
        return None
    kinds = [f"parameter:{name}", *(["kernels:scale"] if name in ("C", "theta", "lam") else [])]
    return changed(posed, *kinds, parameters={**posed.parameters, name: float(new)})


def other_formulation(posed: Posed, rng: np.random.Generator) -> Posed | None:
    pool = SINGLE if posed.family == "single" else MANY[:2] if posed.formulation in MANY[:2] else PAIRED
    if posed.formulation in MANY[2:] or (posed.instance.targets.kind == "response"):
        pool = MANY[2:] if posed.formulation in MANY[2:] else SINGLE[:12]
    name = str(rng.choice([one for one in pool if one != posed.formulation]))
    old = OWN.get(posed.formulation, {})
    given = {key: value for key, value in posed.parameters.items() if key not in old} | OWN.get(name, {})
    given |= {key: posed.parameters[key] for key in old if key in OWN.get(name, {})}
    kinds = [f"formulation:{name}", *(["kernels:average"] if name in ("average", "sum") else [])]
    return changed(posed, *kinds, formulation=name, parameters=given)


def other_loss(posed: Posed, rng: np.random.Generator) -> Posed | None:
    if posed.family != "single":
        return None
    real = posed.instance.targets.kind == "response"
    mine = posed.parameters.get("loss", "squared" if real else "hinge")
    name = str(rng.choice([one for one in (REAL_LOSSES if real else LABEL_LOSSES) if one != mine]))
    given = {k: v for k, v in posed.parameters.items() if k not in ("loss", "epsilon", "delta", "quantile", "width")}
    return changed(posed, f"loss:{name}", parameters={**given, "loss": name})


def bias_term(posed: Posed, rng: np.random.Generator) -> Posed | None:
    if posed.family != "single":
        return None
    bias = not posed.parameters.get("bias", True)
    return changed(posed, f"bias_term:{'added' if bias else 'omitted'}", parameters={**posed.parameters, "bias": bias})


CHANGES: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("trace", lambda s: s / np.einsum("mii->m", s)[:, None, None]),
    ("trace", lambda s: s * s.shape[1] / np.einsum("mii->m", s)[:, None, None]),
    ("cosine", lambda s: s / np.sqrt(np.einsum("mii->mi", s)[:, :, None] * np.einsum("mii->mi", s)[:, None, :])),
    ("frobenius", lambda s: s / np.linalg.norm(s, axis=(1, 2))[:, None, None]),
    ("scale", lambda s: s / s.shape[1]), ("scale", lambda s: 2.0 * s), ("scale", lambda s: 0.31 * s),
    ("power", lambda s: s**2), ("power", lambda s: s @ s), ("ridge", lambda s: s + 0.1 * np.eye(s.shape[1])),
    ("shifted", lambda s: s + 1.0), ("copied", lambda s: s[[0, 0, *range(2, len(s))]]),
)  # fmt: skip


def kernels(posed: Posed, rng: np.random.Generator) -> Posed | None:
    kind, change = CHANGES[int(rng.integers(len(CHANGES)))]
    if kind == "shifted" and posed.parameters.get("bias", True) and posed.family == "single":
        return None
    others = ["parameter:C", "alpha:scale", "parameter:theta", "parameter:lam"] if kind == "scale" else []
    return stack_of(posed, change, f"kernels:{kind}", *others)


def labels(posed: Posed, rng: np.random.Generator) -> Posed | None:
    targets = posed.instance.targets
    values = np.array(targets.values)
    kind, new = (("permuted", np.roll(values, 1, axis=0)), ("permuted", values[::-1]), ("misread", None))[
        rng.integers(3)
    ]
    if kind == "misread":
        if targets.kind != "y":
            return None
        new = values.copy()
        new[int(rng.integers(len(new)))] *= -1
    try:
        return changed(
            posed, f"labels:{kind}", instance=posed.instance.with_kernels(posed.instance.kernels, **{targets.kind: new})
        )
    except InputError:
        return None


def sample_weights(posed: Posed, rng: np.random.Generator) -> Posed | None:
    given = posed.instance.sample_weight
    if np.ptp(given) == 0:
        return None
    kind, new = (("ignored", np.ones(len(given))), ("normalised", given / given.mean()), ("squared", given**2))[
        rng.integers(3)
    ]
    return changed(
        posed, f"sample_weight:{kind}", instance=posed.instance.with_kernels(posed.instance.kernels, sample_weight=new)
    )


def form(posed: Posed, rng: np.random.Generator) -> Posed | None:
    """The right answer to whatever is solved, in another form."""
    many = posed.instance.targets.kind == "labels"

    def spoil(name: str, make: Callable[[Any, dict[str, Any], Posed], Any]) -> Callable[..., dict[str, Any]]:
        return lambda parts, at: {**parts, **({name: make(parts[name], parts, at)} if name in parts else {})}

    signs = None if posed.instance.targets.kind != "y" else np.array(posed.instance.y)
    table: list[tuple[tuple[str, ...], Any]] = [
        (("objective:sign",), spoil("objective", lambda v, *_: -v)),
        (("objective:factor",), spoil("objective", lambda v, *_: 2 * v)),
        (("objective:units",), spoil("objective", lambda v, *_: v / posed.instance.samples)),
        (("weights:scale",), spoil("weights", lambda v, *_: v / np.linalg.norm(v))),
        (("weights:power",), spoil("weights", lambda v, *_: np.sqrt(v) / np.sqrt(v).sum() * v.sum())),
        (("weights:order",), spoil("weights", lambda v, *_: v[::-1])),
    ]
    if posed.family == "single":
        table += [
            (("bias:sign",), spoil("bias", lambda v, *_: -v)),
            (("alpha:scale",), spoil("alpha", lambda v, *_: 0.5 * v)),
            (
                ("alpha:clipped",),
                spoil("alpha", lambda v, *_: np.clip(v, -0.6 * np.abs(v).max(), 0.6 * np.abs(v).max())),
            ),
        ]
        if signs is not None:
            table.append((("alpha:sign",), spoil("alpha", lambda v, *_: v * signs)))
    if many and posed.formulation.startswith("ml"):
        table.append((("classes:order",), spoil("alpha", lambda v, *_: v[[1, 2, 0]])))
    kinds, spoiled = table[int(rng.integers(len(table)))]
    return changed(posed, *kinds, forms=(*posed.forms, spoiled))


MISTAKES: tuple[Mistake, ...] = (
    other_value,
    other_value,
    other_formulation,
    other_loss,
    bias_term,
    kernels,
    kernels,
    labels,
    sample_weights,
    form,
    form,
)
HANDED = (
    PARTS,
    PARTS,
    ("weights", "alpha"),
    ("weights", "alpha", "objective"),
    ("alpha",),
    ("weights",),
    ("objective",),
    ("alpha", "bias"),
)


@dataclass
class Tally:
    named: int = 0
    tried: int = 0
    misleading: int = 0
    seconds: list[float] = field(default_factory=list)
    missed: Counter[str] = field(default_factory=Counter)


def one(seed: int, mistakes: int) -> tuple[str, bool, bool, float, str] | None:
    """A mistake, or two: its name, whether it was named, whether something else was, CPU seconds, what was said."""
    rng = np.random.default_rng([20, seed, mistakes])
    right = wrong = drawn(rng)
    for mistake in rng.permutation(len(MISTAKES)):
        if len(wrong.kinds) < mistakes:
            wrong = MISTAKES[mistake](wrong, rng) or wrong
    if len(wrong.kinds) < mistakes:
        return None
    names = HANDED[int(rng.integers(len(HANDED)))] if mistakes == 1 else HANDED[int(rng.integers(4))]
    try:
        answer = wrong.answer(names)
        report = verify(right.instance, right.formulation, parameters=right.parameters, diagnosis=False, **answer)
    except InputError:
        return None
    if report.verdict != "rejected":
        return None  # the mistake makes no difference to what was handed over
    started = time.process_time()
    found = verify(right.instance, right.formulation, parameters=right.parameters, **answer).diagnosis
    spent = time.process_time() - started
    assert found is not None
    named = any(
        len(said.kinds) == len(wrong.kinds) and all(set(kinds) & set(said.kinds) for kinds in wrong.kinds)
        for said in found.explanations
    )
    silent = all(said.kinds[0].startswith(("unknown", "parts")) for said in found.explanations)
    made = "+".join(kinds[0] for kinds in wrong.kinds)
    where = f"{right.formulation} {right.parameters.get('loss', '')} {made} by {','.join(answer)}"
    return (
        where,
        named,
        not named and not silent,
        spent,
        " | ".join(f"{said.kinds} {said.left}" for said in found.explanations),
    )


def at_random(seed: int) -> str | None:
    """An answer without meaning: what it is explained as, None if it is not."""
    rng = np.random.default_rng([21, seed])
    posed = drawn(rng)
    right = posed.answer(PARTS)
    parts: dict[str, Any] = {"weights": rng.dirichlet(np.ones(posed.instance.count)) * float(np.sum(right["weights"]))}
    if "alpha" in right:
        parts["alpha"] = np.abs(rng.normal(size=np.shape(right["alpha"]))) * np.abs(right["alpha"]).max()
        if posed.instance.targets.kind == "response":
            parts["alpha"] = parts["alpha"] - parts["alpha"].mean()
    parts["objective"] = float(right["objective"] * rng.uniform(0.2, 3.0))
    names = HANDED[int(rng.integers(len(HANDED)))]
    parts = {name: parts[name] for name in names if name in parts} or parts
    found = verify(posed.instance, posed.formulation, parameters=posed.parameters, **parts).diagnosis
    if found is None or all(said.kinds[0].startswith(("unknown", "parts")) for said in found.explanations):
        return None
    return f"{posed.formulation} {list(parts)}: {found.words}"


def measured(wanted: int, mistakes: int, first: int = 0, shown: bool = False) -> Tally:
    tally, seed = Tally(), first
    while tally.tried < wanted:
        result, seed = one(seed, mistakes), seed + 1
        if result is None:
            continue
        where, named, misleading, spent, said = result
        tally.tried += 1
        tally.named += named
        tally.misleading += misleading
        tally.seconds.append(spent)
        if shown and not named:
            print(f"{seed - 1}: {where}: {said} ({spent:.1f} s)", flush=True)
    return tally


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("count", 400), ("pairs", 100), ("random", 300), ("first", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--missed", action="store_true", help="print what was not named")
    parser.add_argument("--save", action="store_true", help="write diagnoses.json")
    given = parser.parse_args(arguments)
    summary: dict[str, Any] = {}
    for name, mistakes, wanted in (("single", 1, given.count), ("double", 2, given.pairs)):
        found = measured(wanted, mistakes, given.first, given.missed)
        if wanted:
            summary[name] = {
                "tried": found.tried, "named": found.named, "misleading": found.misleading,
                "median_seconds": round(float(np.median(found.seconds)), 3),
                "most_seconds": round(max(found.seconds), 2),
            }  # fmt: skip
            print(name, summary[name], flush=True)
    explained = [said for said in map(at_random, range(given.random)) if said]
    summary["random"] = {"tried": given.random, "explained": len(explained)}
    print(summary["random"], *explained, sep="\n")
    if given.save:
        (HERE / "diagnoses.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
