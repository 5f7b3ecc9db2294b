"""Groups of features, their linear kernels, and the group lasso on them by a few lines that know nothing of kernels."""

import numpy as np

GROUPS = np.repeat(np.arange(5), 3)


def features(samples: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Five groups of three features, of which two matter, and a response with an offset."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(samples, len(GROUPS)))
    return x, x[:, :6] @ rng.normal(size=6) + 0.3 * rng.normal(size=samples) + 2.0


def linear(x: np.ndarray) -> np.ndarray:
    return np.stack([x[:, j == GROUPS] @ x[:, j == GROUPS].T for j in range(GROUPS.max() + 1)])


def group_lasso(x: np.ndarray, y: np.ndarray, lam: float, rounds: int = 20000) -> tuple[float, np.ndarray, np.ndarray]:
    """min over w of ½‖y − Xw‖² + λ Σ_j ‖w_j‖ for centred data, by accelerated proximal gradients: value, norms, w."""
    x, y = x - x.mean(axis=0), y - y.mean()
    step, w, v, t = 1 / np.linalg.norm(x, 2) ** 2, np.zeros(x.shape[1]), np.zeros(x.shape[1]), 1.0
    for _ in range(rounds):
        aim = v + step * x.T @ (y - x @ v)
        sizes = np.sqrt(np.bincount(GROUPS, weights=aim**2))[GROUPS]
        after, later = aim * np.maximum(1 - lam * step / sizes, 0), (1 + np.sqrt(1 + 4 * t * t)) / 2
        v, w, t = after + (t - 1) / later * (after - w), after, later
    norms = np.sqrt(np.bincount(GROUPS, weights=w**2))
    return float(np.sum((y - x @ w) ** 2) / 2 + lam * norms.sum()), norms, w
