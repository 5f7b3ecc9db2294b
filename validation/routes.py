"""What the primal and the dual route cost: build time, solver time and certified gap of `l1` over n and M.

    python validation/routes.py [-o validation/routes.md] [--sizes 50,100,200,400] [--counts 5,20]

Breast cancer, standardised; half the kernels Gaussians on all features (γ from 1e-3 to 10), half on single features
(γ = 1), C = 1. Build is everything before the solver starts: factors, declaration, CVXPY's canonicalisation. The gap
is the certificate of what one route leaves by itself; the dual route's functions are implied by α and its weights.
"""

from __future__ import annotations

import argparse
import platform
import time
from pathlib import Path

import numpy as np

from mklcvx import Instance, formulations
from mklcvx.certificate import certify
from mklcvx.problem.kernels import Gaussian, KernelBank
from mklcvx.solvers.conic import CLARABEL, Run, solve_program
from shared.running import put
from shared.tables import table


def breast_cancer(n: int, count: int) -> Instance:
    from sklearn.datasets import load_breast_cancer

    features, target = load_breast_cancer(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(target))[:n]
    x = features[rows]
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    wide = KernelBank([Gaussian(g) for g in np.geomspace(1e-3, 10, count // 2)]).fit(x).stack()
    narrow = KernelBank([Gaussian(1.0)], features="each").fit(x[:, : count - count // 2]).stack()
    return Instance(np.concatenate([wide, narrow]), np.where(target[rows] == 1, 1, -1))


def measure(n: int, count: int, route: str) -> tuple[float, float, float]:
    """Seconds building, seconds solving, certified relative gap."""
    formulation = formulations.get("l1")
    task, _ = formulation.task(breast_cancer(n, count), {"C": 1.0})
    run, started = Run(), time.perf_counter()
    size = task.typical_kernel_size()
    scaled = formulation.in_units(task, size)
    program = formulation.declare_primal(scaled) if route == "primal" else formulation.declare_dual(scaled)
    solve_program(program.problem, CLARABEL, run)
    if route == "primal":
        points = formulation.from_primal(program, scaled, size)
    else:
        points = formulation.from_dual(program, scaled, size)
        weights = np.maximum([float(np.ravel(cut.dual_value)[0]) for cut in program.cuts], 0)
        points.primals.append(np.outer(weights / weights.sum(), task.feasible(points.duals[0]) * task.y))
    total = time.perf_counter() - started
    point = certify(formulation, task, points)
    return total - run.seconds_solving, run.seconds_solving, point.certificate.relative_gap


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--sizes", default="50,100,200,400")
    parser.add_argument("--counts", default="5,20")
    options = parser.parse_args()
    lines = [
        f"Python {platform.python_version()}, {time.strftime('%Y-%m-%d')}, two cores, `l1`, C = 1, Clarabel",
        "",
    ]
    rows = []
    measure(20, 2, "primal")  # imports and first-use costs
    for n in map(int, options.sizes.split(",")):
        for count in map(int, options.counts.split(",")):
            for route in ("primal", "dual"):
                build, solver, gap = measure(n, count, route)
                share = build / (build + solver)
                rows.append([str(n), str(count), route, f"{build:.2f}", f"{solver:.2f}", f"{share:.0%}", f"{gap:.0e}"])
    header = ("n", "M", "route", "build (s)", "solver (s)", "build share", "certified relative gap")
    put("# The two routes, measured\n\n" + "\n".join([*lines, *table(header, rows)]) + "\n", options.output)


if __name__ == "__main__":
    main()
