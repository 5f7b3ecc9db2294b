"""mklcvx: multiple kernel learning, declared in CVXPY and solved with a certificate."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import formulations, zoo
    from .bench.conformance.summary import conform
    from .certificate.record import Certificate
    from .certificate.solution import Solution
    from .errors import GridEdgeWarning, InputError, OneClassWarning, ScaleWarning
    from .estimators.along import mkl_path
    from .estimators.classifier import MKLClassifier
    from .estimators.embedding import HypergraphEmbedding
    from .estimators.importance import kernel_importance
    from .estimators.joint import MultiLabelMKL, TwoStageMKL
    from .estimators.loading import load_model, save_model
    from .estimators.one_class import OneClassMKL
    from .estimators.regressor import MKLRegressor
    from .estimators.views import Views
    from .io.files import load_instance, load_solution, save_instance, save_solution
    from .problem import kernels, preprocessing
    from .problem.instance import Instance
    from .problem.low_rank import LowRank
    from .problem.missing import fill_missing
    from .reports import plot
    from .reports.importance import KernelImportance
    from .solvers.available import available_formulations, available_losses, available_solvers
    from .solvers.paths import RegularizationPath, solve_path
    from .solvers.second_stage import second_stage
    from .solvers.solving import solve
    from .solvers.streamed import solve_streamed
    from .verification.judge import Report, shrink, verify
    from .verification.narrowing import narrow_weights
    from .verification.proof import prove
    from .verification.sure_values import decision_interval
    from .verification.sure_zeros import proved_zeros

__all__ = [
    "Certificate", "GridEdgeWarning", "HypergraphEmbedding", "InputError", "Instance", "KernelImportance", "LowRank",
    "MKLClassifier", "MKLRegressor", "MultiLabelMKL", "OneClassMKL", "OneClassWarning", "RegularizationPath",
    "Report", "ScaleWarning", "Solution", "TwoStageMKL", "Views", "__version__", "available_formulations",
    "available_losses", "available_solvers", "conform", "decision_interval", "fill_missing", "formulations",
    "kernel_importance", "kernels", "load_instance", "load_model", "load_solution", "mkl_path", "narrow_weights",
    "plot", "preprocessing", "prove", "proved_zeros", "save_instance", "save_model", "save_solution", "second_stage",
    "shrink", "solve", "solve_path", "solve_streamed", "verify", "zoo",
]  # fmt: skip

# The modules of the names. Each is imported on first use, so that `mklcvx --help` answers at once.
HOMES = {
    "bench.conformance.summary": "conform",
    "certificate.record": "Certificate",
    "certificate.solution": "Solution",
    "errors": "GridEdgeWarning InputError OneClassWarning ScaleWarning",
    "estimators.along": "mkl_path",
    "estimators.classifier": "MKLClassifier",
    "estimators.embedding": "HypergraphEmbedding",
    "estimators.importance": "kernel_importance",
    "estimators.joint": "MultiLabelMKL TwoStageMKL",
    "estimators.loading": "load_model save_model",
    "estimators.one_class": "OneClassMKL",
    "estimators.regressor": "MKLRegressor",
    "estimators.views": "Views",
    "io.files": "load_instance load_solution save_instance save_solution",
    "problem.instance": "Instance",
    "problem.low_rank": "LowRank",
    "problem.missing": "fill_missing",
    "reports.importance": "KernelImportance",
    "solvers.available": "available_formulations available_losses available_solvers",
    "solvers.paths": "RegularizationPath solve_path",
    "solvers.second_stage": "second_stage",
    "solvers.solving": "solve",
    "solvers.streamed": "solve_streamed",
    "verification.judge": "Report shrink verify",
    "verification.narrowing": "narrow_weights",
    "verification.proof": "prove",
    "verification.sure_values": "decision_interval",
    "verification.sure_zeros": "proved_zeros",
}
HOME = {name: module for module, names in HOMES.items() for name in names.split()}
MODULES = {"kernels": "problem.kernels", "plot": "reports.plot", "preprocessing": "problem.preprocessing"}
ROOMS = ("estimators", "exercises", "formulations", "zoo")


def __getattr__(name: str) -> Any:
    if name in HOME:
        value = getattr(import_module(f".{HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    if name in MODULES or name in ROOMS:
        return import_module(f".{MODULES.get(name, name)}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
