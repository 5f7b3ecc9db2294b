"""Single tasks with the hinge: other regularisers, parameters, and weights in another form."""

from __future__ import annotations

import numpy as np
from blind_single import BLOCK, CKL, ELASTIC, L1, L2, LASSO, LI, LP, OTHER_GROUPS, SM1, SM2, SMP, SQUARE, SUM, VSKL
from blind_tools import Answer, Problem, Wrong, machine, parts, quadratics, solution, using


def norms(s, d) -> np.ndarray:
    return s.weights * np.sqrt(quadratics(d, s.alpha * s.y))


def updated(p: Problem, exponent: float, power: float, rounds: int = 60) -> Answer:
    """Alternate machine and update μ ∝ ‖f‖^exponent on the ℓ_power sphere, until nothing changes."""
    d, mu = p.data, np.full(len(p.data["kernels"]), 0.5)
    price = {k: v for k, v in p.parameters.items() if k in ("C", "bias")}
    for _ in range(rounds):
        s = machine(d, mu, price)
        a = mu * np.sqrt(quadratics(d, s.alpha * s.y))
        new = a**exponent
        new /= np.linalg.norm(new, power)
        done, mu = np.abs(new - mu).max() < 1e-9, new
        if done:
            break
    return {"weights": mu} | parts(machine(d, mu, price), "ab")


def from_update(
    p: Problem, name: str, exponent: float, power: float, *accepted: str | tuple[str, ...], hand: str
) -> Wrong:
    def of(s, d) -> Answer:
        answer = updated(p, exponent, power)
        return {
            k: answer[k]
            for k in {"w": ["weights"], "wa": ["weights", "alpha"], "wab": ["weights", "alpha", "bias"]}[hand]
        }

    return p.handed(name, "wrong exponents", *accepted, of=of)


def unsquared_li(s, d) -> Answer:
    """max ‖f_m‖ + risk: li with the price 2HC, H its largest norm, and α divided by 2H."""
    price, low, high = LI.parameters["C"], 1e-3, 1e3
    for _ in range(60):
        factor = np.sqrt(low * high)
        found = solution(d, "li", {"C": factor * price})
        largest = norms(found, d).max()
        low, high = (factor, high) if 2 * largest > factor else (low, factor)
    return {"alpha": found.alpha / factor, "bias": float(found.bias)}


PRICE = ("parameter:C",)
PARAMETERS = [
    SUM.other("C doubled", "parameter", *PRICE, hand="wabo", C=0.8),
    L1.other("C = 1 in place of 2, weights and value", "parameter", *PRICE, hand="wo", C=1.0),
    L1.other("C divided by n", "parameter", *PRICE, hand="ab", C=0.05),
    L1.other("no box: C = 10000", "caps and boxes", *PRICE, hand="wab", C=1e4),
    SM1.other("a larger cap", "caps and boxes", "parameter:theta", hand="wab", theta=0.4),
    SM1.other(
        "no cap", "caps and boxes", "parameter:theta", "formulation:l1", hand="wabo", formulation="l1", drop=("theta",)
    ),
    SM2.other("θ doubled", "parameter", "parameter:theta", hand="wab", theta=0.2),
    SM2.other("1/θ for θ", "parameter", "parameter:theta", hand="w", theta=10.0),
    SMP.other("p = 2", "parameter", "parameter:p", "formulation:sm2", hand="wab", p=2.0),
    SMP.other("θ/2", "parameter", "parameter:theta", hand="wabo", theta=0.35),
    SQUARE.other("θ doubled", "parameter", "parameter:theta", hand="wab", theta=0.8),
    LP.other("the conjugate exponent", "parameter", "parameter:p", hand="wab", p=1.5),
    LP.other("the exponent of the block norm", "parameter", "parameter:p", "formulation:l2", hand="w", p=2.0),
    ELASTIC.other("shares the other way round", "parameter", "parameter:l1_ratio", hand="wab", l1_ratio=0.3),
    BLOCK.other("shares the other way round", "parameter", "parameter:l1_ratio", hand="wa", l1_ratio=0.7),
    LASSO.other("2λ", "parameter", "parameter:lam", hand="wab", lam=3.0),
    LASSO.other("λ², α alone", "parameter", "parameter:lam", "kernels:scale", hand="a", lam=2.25),
    VSKL.other("s = 2", "parameter", "parameter:s", hand="wab", s=2.0),
    LI.other("twice C", "parameter", *PRICE, hand="wab", C=0.2),
]

FORMULATIONS = [
    L1.other("l2", "formulation", "formulation:l2", hand="wabo", formulation="l2"),
    L1.other(
        "average, all of it",
        "formulation",
        "formulation:average",
        "kernels:average",
        hand="wabo",
        formulation="average",
    ),
    L2.other("l1", "formulation", "formulation:l1", hand="wab", formulation="l1"),
    L2.other("lp of 3/2", "formulation", "formulation:lp", hand="wab", formulation="lp", p=1.5),
    SM2.other("no simplex", "formulation", "formulation:square", hand="wab", formulation="square"),
    SM2.other("l1", "formulation", "formulation:l1", hand="wabo", formulation="l1", drop=("theta",)),
    SQUARE.other("with a simplex", "formulation", "formulation:sm2", hand="wa", formulation="sm2"),
    LP.other(
        "all weights one", "formulation", "formulation:sum", "parameter:p", hand="ab", formulation="sum", drop=("p",)
    ),
    ELASTIC.other("net on norms", "formulation", "formulation:block_elastic", hand="wab", formulation="block_elastic"),
    BLOCK.other("net on weights", "formulation", "formulation:elastic", hand="wab", formulation="elastic"),
    BLOCK.other(
        "l1", "formulation", "formulation:l1", "parameter:l1_ratio", hand="wa", formulation="l1", drop=("l1_ratio",)
    ),
    L1.other(
        "norms not squared",
        "unsquared norms",
        "norms:unsquared",
        "formulation:group_lasso",
        "kernels:scale",
        hand="ab",
        formulation="group_lasso",
        lam=1.0,
    ),
    LASSO.other(
        "norms squared",
        "unsquared norms",
        "norms:unsquared",
        "formulation:l1",
        "parameter:lam",
        "kernels:scale",
        hand="ab",
        formulation="l1",
        drop=("lam",),
    ),
    LI.handed("norms not squared", "unsquared norms", "norms:unsquared", "kernels:scale", of=unsquared_li),
    LI.other("l1", "formulation", "formulation:l1", hand="wab", formulation="l1"),
    LI.other(
        "½ before the penalty, α and bias",
        "formulation",
        "kernels:scale",
        hand="ab",
        change=lambda d: d | {"kernels": 2 * d["kernels"]},
    ),
    CKL.other("other groups", "groups", "groups:other", hand="wab", change=using(groups=OTHER_GROUPS)),
    CKL.other(
        "a single group",
        "groups",
        "groups:other",
        ("formulation:l1", "kernels:scale"),
        hand="ab",
        change=using(groups=[0] * 5),
    ),
    CKL.other("every kernel a group", "groups", "groups:other", "formulation:li", hand="wab", formulation="li"),
    CKL.other("vskl", "formulation", "formulation:vskl", hand="wab", formulation="vskl", s=2.0),
    VSKL.other("other groups", "groups", "groups:other", hand="wa", change=using(groups=OTHER_GROUPS)),
    VSKL.other("every kernel a group", "groups", "groups:other", hand="ab", change=using(groups=list(range(5)))),
    VSKL.other("ℓ∞ between groups", "formulation", "formulation:ckl", hand="wab", formulation="ckl", drop=("s",)),
]

WEIGHTS = [
    L1.handed(
        "uniform weights beside the right α",
        "form of weights",
        "weights:uniform",
        "weights:stale",
        "parts:apart",
        of=lambda s, _: parts(s, "abo") | {"weights": np.full(4, 0.25)},
    ),
    L2.handed(
        "weights that sum to one",
        "form of weights",
        "weights:scale",
        of=lambda s, _: parts(s, "ab") | {"weights": s.weights / s.weights.sum()},
    ),
    L2.handed(
        "squared weights", "form of weights", "weights:power", of=lambda s, _: parts(s, "a") | {"weights": s.weights**2}
    ),
    L2.handed(
        "weights of other kernels",
        "form of weights",
        "weights:order",
        "kernels:order",
        of=lambda s, _: parts(s, "a") | {"weights": s.weights[::-1].copy()},
    ),
    L2.handed("norms", "form of weights", "weights:norms", of=lambda s, d: parts(s, "a") | {"weights": norms(s, d)}),
    L2.handed(
        "weights below 0.4 cut",
        "form of weights",
        "weights:cut",
        of=lambda s, _: parts(s, "a") | {"weights": np.where(s.weights < 0.4, 0.0, s.weights)},
    ),
    SQUARE.handed(
        "weights that sum to one",
        "form of weights",
        "weights:scale",
        of=lambda s, _: parts(s, "ab") | {"weights": s.weights / s.weights.sum()},
    ),
    SQUARE.handed(
        "roots of the weights",
        "form of weights",
        "weights:power",
        of=lambda s, _: parts(s, "ab") | {"weights": np.sqrt(s.weights)},
    ),
    BLOCK.handed(
        "shares of the norms",
        "form of weights",
        "weights:norms",
        "weights:rule",
        of=lambda s, d: parts(s, "ab") | {"weights": norms(s, d) / norms(s, d).sum()},
    ),
    LASSO.handed(
        "weights that sum to one",
        "form of weights",
        "weights:scale",
        of=lambda s, d: parts(s, "ab") | {"weights": s.weights / s.weights.sum()},
    ),
    LI.handed(
        "shares t in place of 1/(2t)",
        "form of weights",
        "weights:reciprocal",
        of=lambda s, _: parts(s, "ab") | {"weights": np.array(s.multipliers["lambda"])},
    ),
    CKL.handed(
        "shares within groups",
        "form of weights",
        "weights:groups",
        of=lambda s, _: parts(s, "ab") | {"weights": np.array(s.multipliers["lambda"])},
    ),
    VSKL.handed(
        "shares within groups",
        "form of weights",
        "weights:groups",
        of=lambda s, _: parts(s, "a") | {"weights": np.array(s.multipliers["lambda"])},
    ),
    SM1.other(
        "weights of l1, clipped at θ",
        "caps and boxes",
        "weights:clipped",
        ("formulation:l1", "weights:clipped"),
        hand="w",
        formulation="l1",
        drop=("theta",),
        after=lambda s, _: {"weights": np.minimum(s.weights, 0.35)},
    ),
    SM1.other(
        "clipped at θ and made to sum to one",
        "caps and boxes",
        "weights:clipped",
        hand="w",
        formulation="l1",
        drop=("theta",),
        after=lambda s, _: {"weights": np.minimum(s.weights, 0.35) / np.minimum(s.weights, 0.35).sum()},
    ),
    from_update(
        L2,
        "μ ∝ ‖f‖^{1/2}",
        0.5,
        2,
        "weights:rule",
        ("parameter:p", "kernels:scale"),
        ("formulation:lp", "kernels:scale"),
        hand="wab",
    ),
    from_update(
        LP,
        "μ ∝ ‖f‖^{2/p}",
        2 / 3,
        3,
        "weights:rule",
        ("parameter:p", "kernels:scale"),
        ("formulation:l2", "kernels:scale"),
        hand="wab",
    ),
    from_update(LP, "μ ∝ ‖f‖^{1/(p+1)}", 1 / 4, 3, "weights:rule", ("parameter:p", "kernels:scale"), hand="wa"),
    from_update(
        L1,
        "μ ∝ ‖f‖^{2/3} on the simplex",
        2 / 3,
        1,
        "weights:rule",
        "formulation:l2",
        ("formulation:l2", "weights:scale"),
        ("formulation:l2", "kernels:scale"),
        hand="wab",
    ),
]

WEIGHTS += [
    L2.handed(
        "stopped after seven rounds", "accuracy", "accuracy:early", of=lambda s, d: updated(L2, 2 / 3, 2, rounds=7)
    ),
    LP.handed(
        "stopped after three rounds", "accuracy", "accuracy:early", of=lambda s, d: updated(LP, 1 / 2, 3, rounds=3)
    ),
]

LIST: list[Wrong] = [*PARAMETERS, *FORMULATIONS, *WEIGHTS]
