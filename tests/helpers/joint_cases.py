"""Small problems with several outputs: classes of unequal size and weight, and responses with three columns."""

import numpy as np

from mklcvx import Instance, formulations

FOR_CLASSES = ("crammer_singer", "softmax")
FOR_RESPONSES = ("squared", "epsilon_insensitive", "absolute", "squared_epsilon_insensitive", "huber", "quantile")
WITH_WEIGHTS = tuple(f.name for f in formulations.SINGLE_TASKS if f.between is None and not f.single_kernel)


def kernels(samples=15, count=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(samples, 3))
    distances = ((X[:, None] - X) ** 2).sum(axis=-1)
    return X, np.exp(-(4.0 ** -np.arange(count))[:, None, None] * distances)


def classes(samples=15, count=3, outputs=3, seed=0):
    rng = np.random.default_rng(seed + 1)
    names = np.concatenate([np.arange(outputs), rng.integers(0, outputs, samples - outputs)])
    return Instance(kernels(samples, count, seed)[1], classes=names, sample_weight=rng.uniform(0.5, 2.0, samples))


def responses(samples=15, count=3, outputs=3, seed=0):
    rng = np.random.default_rng(seed + 1)
    X, stack = kernels(samples, count, seed)
    response = X[:, :1] + rng.normal(size=(samples, outputs))
    return Instance(stack, response=response, sample_weight=rng.uniform(0.5, 2.0, samples))


def posed(instance, name, **given):
    """The formulation posed for the instance, and its task."""
    formulation = formulations.get(name).posed_for(instance, given)
    return formulation, formulation.task(instance, given)[0]


def stored(instance):
    """The instance as a file has it."""
    targets = instance.targets
    fields = {"kernels": instance.kernels, targets.kind: targets.values, "sample_weight": instance.sample_weight}
    return fields | {"names": instance.names, "label_names": targets.names}


OWN = {
    "sm1": {"theta": 0.8}, "sm2": {"theta": 0.7}, "smp": {"theta": 0.7, "p": 1.5}, "square": {"theta": 0.7},
    "lp": {"p": 1.5}, "elastic": {"l1_ratio": 0.4}, "block_elastic": {"l1_ratio": 0.4}, "group_lasso": {"lam": 0.3},
    "epsilon_insensitive": {"epsilon": 0.1}, "squared_epsilon_insensitive": {"epsilon": 0.1}, "huber": {"delta": 0.7},
    "quantile": {"quantile": 0.3},
}  # fmt: skip


def drawn(seed):
    """A problem at random: instance, name of the formulation, parameters. Kernels of full rank, of rank one, of rank
    three in single precision and twice the same; two to four outputs; prices over ten decades."""
    rng = np.random.default_rng([77, seed])
    n, count, outputs = int(rng.integers(6, 10)), int(rng.integers(2, 4)), int(rng.integers(2, 5))
    factors = {
        "full": rng.normal(size=(count, n, n)) / np.sqrt(n),
        "rank one": rng.normal(size=(count, n, 1)),
        "single precision": rng.normal(size=(count, n, 3)),
        "twice": np.stack([rng.normal(size=(n, 4))] * count),
    }
    kind = str(rng.choice(list(factors)))
    stack = factors[kind] @ factors[kind].transpose(0, 2, 1) * 10.0 ** rng.choice([0, 0, -4, 4])
    stack = stack.astype(np.float32) if kind == "single precision" else stack
    loss = str(rng.choice(FOR_CLASSES if rng.random() < 0.6 else FOR_RESPONSES))
    weight = rng.uniform(0.5, 2.0, n) if rng.random() < 0.6 else None
    if loss in FOR_CLASSES:
        names = np.concatenate([np.arange(outputs), rng.integers(0, outputs, n - outputs)])
        instance = Instance(stack, classes=names, sample_weight=weight)
    else:
        response = rng.normal(size=(n, outputs)) * 10.0 ** rng.choice([0, 0, -3, 3])
        instance = Instance(stack, response=response, sample_weight=weight)
    name, size = str(rng.choice(WITH_WEIGHTS)), float(np.abs(stack).max())
    price = float(10.0 ** rng.uniform(-6, 4)) / size
    given = {"loss": loss, "C": price, "bias": bool(rng.random() < 0.6), **OWN.get(loss, {}), **OWN.get(name, {})}
    if name == "group_lasso":
        given["lam"] = float(price * np.sqrt(size) * rng.uniform(0.03, 2))
    return instance, name, given
