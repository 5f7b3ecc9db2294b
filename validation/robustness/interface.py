"""The public interface as calls that work: each is misused, one argument after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import mklcvx
from mklcvx import Instance, exercises, kernels, plot, preprocessing, zoo
from mklcvx.verification import conventions


class Call(NamedTuple):
    """A function, a maker of arguments that it accepts, and parameters that are not to be misused."""

    name: str
    function: Callable[..., Any]
    given: Callable[[], dict[str, Any]]
    spared: tuple[str, ...] = ()


def calls(folder: Path) -> Iterator[Call]:
    """Every call; files go to the folder."""
    yield from _problems()
    yield from _files(folder)
    yield from _estimators()
    yield from _parts()
    yield from _pictures()


def _example() -> Instance:
    plain = zoo.random(8, 3, seed=0)
    return Instance(plain.kernels, plain.y, groups=[0, 0, 1], test_kernels=plain.kernels[:, :4], test_y=plain.y[:4])


def _call(function: Callable[..., Any], *spared: str, name: str = "", **given: Any) -> Call:
    return Call(name or function.__qualname__, function, lambda: dict(given), spared)


def _problems() -> Iterator[Call]:
    instance = _example()
    K, y = instance.kernels, instance.y
    limit = {"time_limit": 5.0}
    yield _call(Instance, kernels=K, y=y)
    yield _call(Instance, name="Instance (classes)", kernels=K, classes=["a", "b"] * 4)
    labels = np.eye(8, dtype=int)[:, :2]
    yield _call(Instance, name="Instance (labels)", kernels=K, labels=labels, label_names=["a", "b"])
    yield _call(Instance, name="Instance (response)", kernels=K, response=np.arange(8.0))
    yield _call(mklcvx.LowRank, factors=[np.eye(8)[:, :2]])
    yield _call(mklcvx.solve, instance=instance, formulation="l1", C=1.0, **limit)
    yield _call(mklcvx.solve, name="solve (kernels, y)", kernels=K, y=y, formulation="sm1", theta=0.5, **limit)
    for formulation, own in (
        ("lp", {"p": 1.5}), ("elastic", {"l1_ratio": 0.5}), ("smp", {"p": 1.5, "theta": 1.0}), ("vskl", {"s": 2.0}),
        ("group_lasso", {"lam": 1.0, "loss": "squared_hinge"}), ("ts", {"lam": 0.01, "balanced": True}),
        ("ml_sum", {"C": 1.0, "bias": True}), ("alignment", {"approximate": False}), ("l2", {"nu": 0.5}),
        ("hypergraph_smooth", {"lam": 1.0, "smoothing": 0.01, "expansion": "clique", "dimensions": 1}),
    ):  # fmt: skip
        spared = ("report", "callback", "preprocessing", "options")
        given = {"instance": instance, "formulation": formulation, **own, **limit}
        yield _call(mklcvx.solve, *spared, name=f"solve ({formulation})", **given)
    regression = Instance(K, response=np.arange(8.0))
    for loss, parameter, value in (
        ("huber", "delta", 1.0),
        ("quantile", "quantile", 0.5),
        ("epsilon_insensitive", "epsilon", 0.1),
    ):
        given = {"loss": loss, "C": 1.0, parameter: value, **limit}
        yield _call(mklcvx.solve, name=f"solve ({loss})", instance=regression, formulation="l1", **given)
    yield _call(mklcvx.solve_path, instance=instance, formulation="l1", grid={"C": [0.5, 1.0]}, **limit)
    solution = mklcvx.solve(instance, "l1")
    answer = {name: getattr(solution, name) for name in ("weights", "alpha", "bias", "objective")}
    yield _call(mklcvx.verify, instance=instance, formulation="l1", **answer)
    yield _call(mklcvx.verify, name="verify (trace)", instance=instance, formulation="l1", trace=[answer], tau=1.0)
    given = {"convention": "simplemkl", "weights": solution.weights}
    yield _call(mklcvx.verify, name="verify (convention)", instance=instance, **given)
    yield _call(mklcvx.shrink, instance=instance, formulation="l1", solver=lambda instance, **_: {"objective": 0.0})
    yield _call(mklcvx.prove, instance=instance, formulation="l1", time_limit=5.0)
    yield _call(mklcvx.second_stage, instance=instance, solution=mklcvx.solve(instance, "ts"))
    smooth = mklcvx.solve(instance, "l1", loss="squared_hinge")
    yield _call(mklcvx.proved_zeros, instance=instance, solution=smooth)
    yield _call(mklcvx.narrow_weights, instance=instance, solution=solution, tolerance=1e-3, rounds=2)
    given = {"test_kernels": K, "test_diagonals": K.diagonal(axis1=1, axis2=2)}
    yield _call(mklcvx.decision_interval, instance=instance, solution=solution, **given)
    X = np.random.default_rng(0).normal(size=(8, 2))
    yield _call(mklcvx.solve_streamed, X=X, y=y, kernels=[0.1, 1.0], working_set=8, **limit)
    yield _call(mklcvx.conform, solver="nowhere:nothing", formulation="l1")
    yield _call(mklcvx.available_losses, formulation="l1", target="labels")
    yield _call(mklcvx.available_solvers, formulation="l1")
    yield _call(mklcvx.available_formulations)
    yield _call(mklcvx.fill_missing, kernels=K)


def _files(folder: Path) -> Iterator[Call]:
    instance = _example()
    solution = mklcvx.solve(instance, "l1")
    places = {name: folder / name for name in ("instance.npz", "solution.json", "model.npz")}
    mklcvx.save_instance(places["instance.npz"], instance)
    mklcvx.save_solution(places["solution.json"], solution)
    model = mklcvx.MKLClassifier("average", "linear").fit(np.arange(16.0).reshape(8, 2), [0, 1] * 4)
    mklcvx.save_model(places["model.npz"], model)
    yield _call(mklcvx.load_instance, path=places["instance.npz"])
    yield _call(mklcvx.load_solution, path=places["solution.json"])
    yield _call(mklcvx.load_model, path=places["model.npz"])
    yield _call(mklcvx.save_instance, path=folder / "again.npz", instance=instance)
    yield _call(mklcvx.save_solution, path=folder / "again.json", solution=solution)
    yield _call(mklcvx.save_model, path=folder / "again.npz", model=model)


def _estimators() -> Iterator[Call]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 3)), np.array([0, 1] * 6)
    labels = np.stack([y, 1 - y], axis=1)
    cases: dict[type[Any], Any] = {
        mklcvx.MKLClassifier: y, mklcvx.MKLRegressor: y + 0.5, mklcvx.OneClassMKL: None, mklcvx.MultiLabelMKL: labels,
        mklcvx.TwoStageMKL: y, mklcvx.HypergraphEmbedding: labels,
    }  # fmt: skip
    for made, target in cases.items():
        bank = {"kernels": ["linear", "gaussian"]}

        def fitted(*args: Any, made: type[Any] = made, target: Any = target, bank: Any = bank, **given: Any) -> Any:
            return made(*args, **{**bank, **given}).fit(X, target)

        fitted.__signature__ = made.__init__ and _without_self(made)  # type: ignore[attr-defined]
        yield Call(f"{made.__name__}().fit", fitted, dict)
        model = fitted()
        yield _call(made(**bank).fit, name=f"{made.__name__}.fit", X=X, y=target)
        for method in ("predict", "decision_function", "transform", "predict_proba", "score_samples"):
            if hasattr(model, method):
                yield _call(getattr(model, method), name=f"{made.__name__}.{method}", X=X)
        yield _call(model.save, name=f"{made.__name__}.save", path="saved.npz")
        yield _call(made.load, name=f"{made.__name__}.load", path="saved.npz")
    yield _call(mklcvx.mkl_path, X=X, y=y, formulation="l1", grid={"C": [0.5, 1.0]})
    average = mklcvx.MKLClassifier("average", "linear")
    yield _call(mklcvx.kernel_importance, estimator=average, X=X, y=y, answers=["alone"])
    yield _call(mklcvx.Views, views=[X, X])


def _without_self(made: type[Any]) -> Any:
    import inspect

    found = inspect.signature(made.__init__)
    return found.replace(parameters=[one for name, one in found.parameters.items() if name != "self"])


def _parts() -> Iterator[Call]:
    instance = _example()
    solution = mklcvx.solve(instance, "l1")
    report = mklcvx.verify(instance, "l1", objective=solution.objective)
    found = mklcvx.solve_path(instance, "l1", {"C": [0.5, 1.0]})
    stack, rng = instance.kernels, np.random.default_rng(0)
    X = rng.normal(size=(8, 2))
    factors = mklcvx.LowRank([np.eye(8)[:, :2]])
    yield _call(instance.select, kernels=[0])
    yield _call(instance.with_kernels, kernels=stack)
    yield _call(instance.of_samples, "targets", samples=np.arange(4))
    yield _call(factors.factor, m=0)
    yield _call(factors.of_samples, chosen=[0, 1])
    yield _call(factors.matvecs, vector=np.ones(8))
    yield _call(factors.quad_forms, vector=np.ones(8))
    yield _call(factors.sums, values=np.ones(2))
    yield _call(factors.spread, weights=np.ones(1))
    yield _call(solution.decision_function, kernels=stack[:, :4])
    yield _call(solution.decision_error, kernels=stack[:, :4])
    yield _call(solution.predict, kernels=stack[:, :4])
    yield _call(solution.labels_of, values=np.ones((1, 4)))
    yield _call(solution.certificate.proves, tolerance=1e-6)
    yield _call(mklcvx.Certificate, lower=1.0, upper=2.0, scale=1.0)
    yield _call(solution.as_dict)
    yield _call(report.as_dict)
    yield _call(found.values, parameter="C")
    for made in (kernels.Gaussian, kernels.Laplacian, kernels.ChiSquare, kernels.InverseDistance):
        yield Call(f"kernels.{made.__name__}", _in_bank(made, np.abs(X)), lambda: {"gamma": 1.0})
    yield Call("kernels.Polynomial", _in_bank(kernels.Polynomial, X), lambda: {"degree": 2})
    yield _call(kernels.KernelBank, kernels=[kernels.Linear()])
    yield _call(kernels.KernelBank([kernels.Linear()]).fit, name="KernelBank.fit", X=X)
    yield _call(kernels.KernelBank([kernels.Linear()]).fit(X).stack, name="KernelBank.stack", X=X)
    yield _call(kernels.kumar_bank, features="all")
    yield _call(kernels.xu_bank)
    yield _call(preprocessing.Preprocessing, steps=[preprocessing.Centre()])
    yield _call(preprocessing.Preprocessing.from_options, centre=True, normalise="trace")
    chain = preprocessing.Preprocessing.from_options(True, "trace")
    yield _call(chain.fit, name="Preprocessing.fit", kernels=stack)
    yield _call(chain.fit(stack).train, name="Preprocessing.train", kernels=stack)
    yield _call(chain.fit(stack).test, name="Preprocessing.test", test_kernels=stack[:, :4])
    for made in (zoo.random, zoo.duplicated, zoo.rank_one, zoo.badly_scaled, zoo.imbalanced, zoo.tiny):
        yield _call(made, name=f"zoo.{made.__name__}", n=4, M=2, seed=0)
    yield Call("zoo.specimen", zoo.specimen, lambda: {"name": "by-hand"})
    yield _call(zoo.make, kind="tiny")
    yield _call(zoo.planted, n=6, M=2)
    yield _call(zoo.quantised, kernels=stack)
    yield _call(zoo.checksum, instance=zoo.by_hand())
    yield Call("exercises.exercise", exercises.exercise, lambda: {"name": next(iter(exercises.EXERCISES)), "seed": 0})
    yield Call("conventions.get", conventions.get, lambda: {"name": "simplemkl"})


def _in_bank(made: type[Any], X: Any) -> Callable[..., Any]:
    def evaluated(*args: Any, **parameters: Any) -> Any:
        return kernels.KernelBank([made(*args, **parameters)]).fit(X).stack()

    evaluated.__signature__ = _without_self(made)  # type: ignore[attr-defined]
    return evaluated


def _pictures() -> Iterator[Call]:
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["figure.max_open_warning"] = 0
    instance = _example()
    solution = mklcvx.solve(instance, "l1", solver="interior")
    found = mklcvx.solve_path(instance, "l1", {"C": [0.5, 1.0]})
    yield _call(plot.weights, name="plot.weights", weights=solution.weights)
    yield _call(plot.path, name="plot.path", path=found, parameter="C")
    yield _call(plot.gaps, name="plot.gaps", traces={"interior": solution.trace})
    yield _call(plot.kkt, name="plot.kkt", instance=instance, solution=solution)
