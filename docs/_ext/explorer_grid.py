"""The explorer's data: a toy problem with three kernels, solved and certified over a grid of C, θ and p.

    python docs/_ext/explorer_grid.py FILE.js

writes one JavaScript file that the page reads as a script, so that it works from any static server and from a folder;
`setup` does so whenever the site is built.
The page draws f from α, weights and bias, and recomputes both bounds from them: what it shows is checked where it is
shown. Numbers are written with all their digits, since a certificate is only as good as they are.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklcvx import Instance, solve_path
from mklcvx.problem.factors import in_factors

Array = NDArray[np.float64]

SAMPLES, SEED = 36, 5
KERNELS = ({"name": "linear", "gamma": None}, {"name": "wide Gaussian", "gamma": 0.4},
           {"name": "narrow Gaussian", "gamma": 6.0})  # fmt: skip
PRICES = np.round(np.geomspace(0.01, 100, 33), 4)
SWEPT: dict[str, tuple[str, Array] | None] = {
    "l1": None,
    "sm1": ("theta", np.round(np.linspace(1 / 3 + 1e-9, 1, 11), 4).clip(1 / 3)),
    "lp": ("p", np.array([1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0])),
    "li": None,
    "average": None,
}
LOSSES = ("squared_hinge", "smoothed_hinge", "logistic")  # with l1; all others have the hinge


def toy(seed: int = SEED) -> tuple[Array, Array]:
    """Points in the square; one class inside a bent band, with some that stray."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, (SAMPLES, 2))
    height = points[:, 1] - 0.9 * points[:, 0] ** 2 + 0.5 * points[:, 0] + 0.1
    return np.round(points, 3), np.where(height + 0.18 * rng.normal(size=SAMPLES) > 0, 1.0, -1.0)


def stack(points: Array) -> Array:
    """Each kernel divided by its mean diagonal entry, so that all have trace n."""
    squares = np.sum((points[:, None] - points[None]) ** 2, axis=-1)
    kernels = np.stack([points @ points.T, *(np.exp(-k["gamma"] * squares) for k in KERNELS if k["gamma"])])
    return np.asarray(kernels / np.trace(kernels, axis1=1, axis2=2)[:, None, None] * len(points))


def solutions(instance: Instance) -> dict[str, Any]:
    """For every formulation: its second parameter with the values, and a row for each value, an entry for each C."""
    found = {}
    for name, swept in SWEPT.items():
        parameter, values = swept or (None, [None])
        rows = []
        for value in values:
            given = {} if parameter is None else {parameter: float(value)}
            along = solve_path(instance, name, {"C": PRICES.tolist()}, **given)
            if not along.certified:
                raise SystemExit(f"{name} {given}: a point of the explorer's grid is not certified")
            rows.append([entry(solution) for solution in along.solutions])
        found[name] = {
            "parameter": parameter,
            "values": [None if value is None else float(value) for value in values],
            "rows": rows,
        }
    return found


def with_losses(instance: Instance) -> dict[str, Any]:
    """`l1` with each of the losses: the regulariser stays, and the page takes another gain and another risk."""
    found = {}
    for loss in LOSSES:
        along = solve_path(instance, "l1", {"C": PRICES.tolist()}, loss=loss)
        if not along.certified:
            raise SystemExit(f"l1 with loss {loss}: a point of the explorer's grid is not certified")
        rows = [[entry(solution) for solution in along.solutions]]
        found[f"l1, {loss}"] = {"regulariser": "l1", "loss": loss, "parameter": None, "values": [None], "rows": rows}
    return found


def entry(solution: Any) -> dict[str, Any]:
    """What the page needs of a solution; weights that are undefined are null, and coefficients stand for them."""
    weights = [None if np.isnan(w) else float(w) for w in solution.weights]
    found = {"weights": weights, "alpha": np.asarray(solution.alpha).tolist(), "bias": float(solution.bias)}
    if solution.coefficients is not None:
        found["coefficients"] = np.asarray(solution.coefficients).tolist()
    found["stretch"] = solution.certificate.stretch
    return {**found, "lower": solution.certificate.lower, "upper": solution.certificate.upper}


def data() -> dict[str, Any]:
    points, y = toy()
    scale = len(points) / np.array([np.sum(points**2), len(points), len(points)])
    kernels = [{**kernel, "scale": float(s)} for kernel, s in zip(KERNELS, scale, strict=True)]
    about = {"points": points.tolist(), "y": y.tolist(), "kernels": kernels, "C": PRICES.tolist()}
    instance = Instance(in_factors(stack(points)), y)
    return {**about, "formulations": {**solutions(instance), **with_losses(instance)}}


def main(target: str) -> None:
    text = json.dumps(data(), separators=(",", ":"), default=float, allow_nan=False)
    Path(target).write_text(f"window.MKLCVX_EXPLORER={text};\n", encoding="utf-8")


class Grid:
    """The file is made by a process of its own, while pages are read and written."""

    made: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self, app: Any, *_: Any) -> None:
        if app.builder.format == "html":
            self.made = Path(app.doctreedir) / "explorer-data.js"
            self.process = subprocess.Popen([sys.executable, __file__, str(self.made)])

    def finish(self, app: Any, fault: Exception | None) -> None:
        if self.process is None:
            return
        if fault is not None:
            self.process.kill()
        failed = self.process.wait()
        if fault is None:
            if failed:
                raise SystemExit("the explorer's grid was not made: see above")
            shutil.move(self.made, Path(app.outdir) / "_static" / self.made.name)


def setup(app: Any) -> dict[str, Any]:
    grid = Grid()
    app.connect("env-before-read-docs", grid.start)
    app.connect("build-finished", grid.finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    main(*sys.argv[1:])
