"""Ji et al. 2008, Lemma 4.1: derivatives of f_μ, the Lipschitz constant of its gradient, where its minimiser lies."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from claim import Measured, claims_of
from ji_shared import Array, Problem, correlated, digits, excess, smooth
from ji_smooth import points, tied_ray, two_kernels


def top(matrix: Array) -> float:
    return float(np.linalg.eigvalsh(matrix)[-1])


def constant(problem: Problem, square: float, third: float = 1 / 8) -> float:
    """L_μ of Eq. (16) with tr(Z'Z) = square; the printed factor of its last term is 1/8."""
    apart = max(top((a - b) @ (a - b).T) for a in problem.kernels for b in problem.kernels)
    return start_constant(problem) + third * square * apart / (problem.mu * problem.lam**2)


def start_constant(problem: Problem) -> float:
    """L_0 of Table 1: ½ + max λ_max(K_j)/2λ."""
    return 0.5 + max(map(top, problem.kernels)) / (2 * problem.lam)


def centre(problem: Problem, j: int) -> Array:
    """C_j = 2(I + K_j/λ)⁻¹H."""
    return 2 * np.linalg.solve(problem.ridged(j), problem.h)


def depth(problem: Problem, j: int) -> float:
    """tr(C_j'(I + K_j/λ)C_j)."""
    found = centre(problem, j)
    return float(np.vdot(found, problem.ridged(j) @ found))


def radius(problem: Problem, j: int, part: float = 1.0) -> float:
    """R_μ² of Eq. (17); `part` is the factor of the root, printed 1."""
    root = part * np.sqrt(4 * problem.mu * np.log(problem.count) + depth(problem, j))
    return float(np.sum((np.linalg.norm(centre(problem, j), axis=0) + root) ** 2))


def least_radius(problem: Problem) -> float:
    return min(radius(problem, j) for j in range(problem.count))


def hessian(problem: Problem, z: Array, third: float = 1 / 8) -> Array:
    """Eq. (19) with K_j in every diagonal block of D_k(K_j); vec stacks columns."""
    n, k = z.shape
    g = problem.shares(z)
    images = np.stack([(kernel @ z).ravel(order="F") / problem.lam for kernel in problem.kernels])
    flat = np.eye(n * k) / 2 + np.kron(np.eye(k), problem.kernel(g)) / (2 * problem.lam)
    differences = images[:, None] - images[None]
    weighted = differences * (g[:, None] * g)[:, :, None]
    return flat + third / problem.mu * np.einsum("ija,ijb->ab", weighted, differences, optimize=True)


def by_complex_step(problem: Problem, z: Array) -> Array:
    """∇f_μ from values alone, exact to rounding: the imaginary part of f_μ(Z + ihE)/h."""
    slopes = np.empty(z.shape)
    for place in np.ndindex(z.shape):
        moved = z.astype(complex)
        moved[place] += 1e-30j
        slopes[place] = problem.smoothed(moved).imag / 1e-30
    return slopes


def first_derivative(linear: float) -> Measured:
    worst = 0.0
    for problem in (digits(24), correlated(0)):
        for z in points(problem, 6):
            printed = problem.gradient(z) + (1 - linear) * problem.h
            found = by_complex_step(problem, z)
            worst = max(worst, float(np.linalg.norm(printed - found) / np.linalg.norm(found)))
    return Measured(worst, {"largest relative distance": worst})


def second_derivative(third: float) -> Measured:
    """Eq. (19) against central differences of a gradient that is itself made of values of f_μ."""
    problem, worst, step = correlated(0, n=12), 0.0, 1e-5
    for z in list(points(problem, 6))[1:4]:
        found = []
        for place in np.ndindex(z.T.shape):
            moved = np.zeros(z.shape)
            moved.T[place] = step
            change = by_complex_step(problem, z + moved) - by_complex_step(problem, z - moved)
            found.append(change.ravel(order="F") / (2 * step))
        worst = max(worst, float(np.linalg.norm(hessian(problem, z, third) - np.array(found)) / np.linalg.norm(found)))
    return Measured(worst, {"largest relative distance": worst})


def one_constant(reach: tuple[float, ...]) -> Measured:
    """λ_max of the Hessian at multiples of R_μ, along a tied ray and ten random ones, against the one number that (16)
    and (17) make together."""
    problem, rng = two_kernels(digits(24, lam=0.1)), np.random.default_rng(6)
    distance, rays = np.sqrt(least_radius(problem)), [tied_ray(problem)]
    rays += [ray / np.linalg.norm(ray) for ray in rng.normal(size=(10, *problem.h.shape))]
    bound = constant(problem, distance**2)
    found = {far: max(top(hessian(problem, far * distance * ray)) for ray in rays) for far in reach}
    numbers = {"L_μ at R_μ": bound} | {f"λ_max at {far:g} R_μ": value for far, value in found.items()}
    return Measured(excess(max(found.values()) / bound), numbers)


def places(problem: Problem) -> Iterator[Array]:
    yield np.zeros_like(problem.h)
    yield from points(problem, 8)


def local_constant(third: float) -> Measured:
    """λ_max of the Hessian at Z against (16) at the same Z."""
    ratios = {}
    for name, problem in (("digits", digits(24)), ("synthetic", correlated(0))):
        ratios[name] = max(top(hessian(problem, z)) / constant(problem, np.vdot(z, z), third) for z in places(problem))
    tied = two_kernels(digits(24, lam=0.1))
    rays = [far * tied_ray(tied) for far in (1.0, 10.0, 100.0)]
    ratios["along a tied ray"] = max(top(hessian(tied, z)) / constant(tied, np.vdot(z, z), third) for z in rays)
    return Measured(excess(max(ratios.values())), {f"λ_max/L_μ, {name}": ratio for name, ratio in ratios.items()})


def middle_constant(third: float) -> Measured:
    """The bound in between, with tr(Z'(K_i − K_j)(K_i − K_j)'Z) itself: above λ_max, below (16)."""
    tied = two_kernels(digits(24, lam=0.1))
    cases = [(problem, z) for problem in (digits(24), correlated(0)) for z in places(problem)]
    cases += [(tied, far * tied_ray(tied)) for far in (1.0, 10.0, 100.0)]
    lower = upper = 0.0
    for problem, z in cases:
        spread = max(np.sum(((a - b) @ z) ** 2) for a in problem.kernels for b in problem.kernels)
        middle = start_constant(problem) + third * float(spread) / (problem.mu * problem.lam**2)
        lower = max(lower, top(hessian(problem, z)) / middle)
        upper = max(upper, middle / constant(problem, np.vdot(z, z)))
    return Measured(excess(max(lower, upper)), {"λ_max over it, at most": lower, "it over L_μ, at most": upper})


def completed_square(factor: float) -> Measured:
    """S_j(Z) against ¼ tr((Z − C)'A(Z − C)) − ¼ tr(C'AC) with C = factor·A⁻¹H, A = I + K_j/λ; the factor is 2."""
    problem, worst = digits(), 0.0
    for z in points(problem, 6):
        for j, score in enumerate(problem.scores(z)):
            c, matrix = centre(problem, j) * factor / 2, problem.ridged(j)
            square = (np.vdot(z - c, matrix @ (z - c)) - np.vdot(c, matrix @ c)) / 4
            worst = max(worst, abs(square - score) / max(1.0, abs(score)))
    return Measured(worst, {"largest relative distance": worst})


def at_most_start(width: Callable[[float], float]) -> Measured:
    """f_μ(0) = μ log p, min f_μ ≤ f_μ(0), and every S_j at the minimiser at most f_μ(0)."""
    worst, numbers = 0.0, {}
    for name, problem in (("digits", digits()), ("synthetic", correlated(0))):
        bound = problem.mu * float(width(problem.count))
        minimiser = problem.best_z(smooth(problem).weights)
        start, largest = problem.smoothed(np.zeros_like(problem.h)), float(problem.scores(minimiser).max())
        worst = max(worst, abs(start - bound), largest - bound, problem.smoothed(minimiser) - bound)
        numbers |= {f"{name}: f_μ(0)": start, f"{name}: μ log p": bound, f"{name}: largest S_j at Z*": largest}
    return Measured(worst, numbers)


def farthest(problem: Problem) -> Iterator[Array]:
    """Points where f_μ is what it is at 0, sought along rays from the minimiser: those in the directions of the C_j,
    of the minimiser itself, and random ones."""
    minimiser, start = problem.best_z(smooth(problem).weights), problem.smoothed(np.zeros_like(problem.h))
    rng = np.random.default_rng(5)
    rays = [minimiser, *(centre(problem, j) for j in range(problem.count)), *rng.normal(size=(5, *minimiser.shape))]
    for ray in rays:
        low, high = 0.0, 1.0
        while problem.smoothed(minimiser + high * ray) < start:
            high *= 2
        for _ in range(60):
            half = (low + high) / 2
            low, high = (half, high) if problem.smoothed(minimiser + half * ray) < start else (low, half)
        yield minimiser + low * ray


def ball_cases() -> Iterator[tuple[str, Problem]]:
    """The last has one label and one kernel, small beside λ, where (17) is nearly attained."""
    yield "digits", digits(24)
    yield "synthetic", correlated(0)
    yield "one label, one kernel", correlated(0, k=1, p=1, lam=20.0)


def around_centre(part: float) -> Measured:
    """‖Z − C_j‖² against 4μ log p + part·tr(C_j'(I + K_j/λ)C_j) where f_μ ≤ f_μ(0); the printed part is 1."""
    ratios = {}
    for name, problem in ball_cases():
        bounds = [4 * problem.mu * np.log(problem.count) + part * depth(problem, j) for j in range(problem.count)]
        for z in farthest(problem):
            found = max(np.sum((z - centre(problem, j)) ** 2) / bound for j, bound in enumerate(bounds))
            ratios[name] = max(ratios.get(name, 0.0), float(found))
    return Measured(excess(max(ratios.values())), {f"ratio, {name}": ratio for name, ratio in ratios.items()})


def within_radius(part: float) -> Measured:
    """tr(Z'Z) against R_μ² with every j, at the minimiser and wherever f_μ = f_μ(0) was found."""
    ratios = {}
    for name, problem in ball_cases():
        bound = min(radius(problem, j, part) for j in range(problem.count))
        minimiser = problem.best_z(smooth(problem).weights)
        ratios[f"{name}: Z*"] = float(np.sum(minimiser**2)) / bound
        ratios[f"{name}: f_μ = f_μ(0)"] = max(float(np.sum(z**2)) for z in farthest(problem)) / bound
    return Measured(excess(max(ratios.values())), {f"ratio, {name}": ratio for name, ratio in ratios.items()})


claim = claims_of("ji")
CLAIMS = (
    claim("Eq. (18)", first_derivative, printed=1.0, mutated=0.9),
    claim("Eq. (19)", second_derivative, printed=1 / 8, mutated=1 / 4),
    claim(
        "Abstract, Lemma 4.1",
        one_constant,
        printed=(0.1, 1.0, 10.0, 100.0, 1000.0),
        repaired=(0.01, 0.1, 0.3, 1.0),
        mutated=(0.1, 1.0, 10.0),
    ),
    claim("Lemma 4.1, Eqs (15), (16)", local_constant, printed=1 / 8, mutated=1 / 64),
    claim("Lemma 4.1, proof: the bound between", middle_constant, printed=1 / 8, mutated=1 / 64),
    claim("Lemma 4.1, proof: square", completed_square, printed=2.0, mutated=1.0),
    claim("Lemma 4.1, proof: start", at_most_start, printed=np.log, mutated=lambda p: np.log(p) / 2),
    claim("Lemma 4.1, proof: ball", around_centre, printed=1.0, mutated=0.5),
    claim("Lemma 4.1, Eq. (17)", within_radius, printed=1.0, mutated=0.5),
)
