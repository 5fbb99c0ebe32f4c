"""The automatic choice: false selections on noise, false discovery rate and power, number of clusters, cost.

``python benchmarks/amount.py`` prints all tables for SieveSelector and QAlphaSelector; ``--only`` and ``--selector``
choose some of them. Seeds start at ``--seed``: take one that was not looked at while something was changed.
"""

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from joblib import Parallel, delayed

from eigensieve import QAlphaSelector, SieveSelector
from eigensieve.datasets import make_planted_clusters

SELECTORS = {"SieveSelector": SieveSelector, "QAlphaSelector": QAlphaSelector}
SEPARATIONS = (0.5, 0.75, 1.0, 1.5, 2.0)
TABLES = ("noise", "planted", "clusters", "cost")


def _mixed(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """A third each of normal, heavy-tailed and rare binary features."""
    X = rng.standard_normal(shape)
    X[:, 1::3] = rng.standard_t(2, X[:, 1::3].shape)
    X[:, 2::3] = rng.random(X[:, 2::3].shape) < 0.05
    return X


MARGINALS: dict[str, Callable[[np.random.Generator, tuple[int, int]], np.ndarray]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "heavy tails (t, 2 d.f.)": lambda rng, shape: rng.standard_t(2, shape),
    "skewed (log-normal)": lambda rng, shape: rng.lognormal(0.0, 1.0, shape),
    "binary, 2 to 50 % ones": lambda rng, shape: (rng.random(shape) < rng.uniform(0.02, 0.5, shape[1])).astype(float),
    "counts (gamma-Poisson)": lambda rng, shape: rng.poisson(rng.gamma(0.5, 2.0, shape[1]), shape).astype(float),
    "mixed": _mixed,
}

NOISE = [
    *((shape, "normal") for shape in ((50, 200), (100, 1000), (30, 3000), (500, 50), (200, 20))),
    *(((60, 600), kind) for kind in MARGINALS if kind != "normal"),
]


def noise(shape: tuple[int, int], kind: str, seed: int) -> np.ndarray:
    """Independent features: nothing to find."""
    return MARGINALS[kind](np.random.default_rng(seed), shape)


def fitted(name: str, X: np.ndarray, seed: int, **settings: object) -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return SELECTORS[name](random_state=seed, **settings).fit(X)


def noise_draw(name: str, shape: tuple[int, int], kind: str, seed: int) -> tuple[int, int]:
    model = fitted(name, noise(shape, kind, seed), seed)
    return int(model.support_.sum()), model.embedding_.shape[1]


def planted_draw(name: str, separation: float, seed: int) -> tuple[float, float, bool]:
    made = make_planted_clusters(100, 2000, 20, center_scale=separation, random_state=seed)
    moved = made.X + 10.0 * np.random.default_rng(seed).standard_normal(2000)  # the means give nothing away
    support, relevant = fitted(name, moved, seed).support_, made.relevant
    false = np.count_nonzero(support & ~relevant) / max(1, np.count_nonzero(support))
    return false, np.count_nonzero(support & relevant) / 20, not support.any()


def clusters_draw(name: str, n_clusters: int, seed: int) -> int:
    made = make_planted_clusters(120, 600, 60, n_clusters=n_clusters, center_scale=1.5, random_state=seed)
    model = fitted(name, made.X, seed, n_features_to_select=60)
    # c + 1 clusters of centred data span c directions; Q-alpha takes one more.
    return model.embedding_.shape[1] + int(name == "SieveSelector")


def print_noise(name: str, parallel: Parallel, first: int, draws: int) -> None:
    print(f"{name} on noise, {draws} draws: fraction with any selection (at most 0.10 wanted); more than 2 directions")
    for shape, kind in NOISE:
        found = parallel(delayed(noise_draw)(name, shape, kind, first + draw) for draw in range(draws))
        counts, clusters = np.array(found).T
        label = f"{shape[0]} x {shape[1]}, {kind}"
        any_false, more = np.mean(counts > 0), np.mean(clusters > 2)
        print(f"  {label:36s} {any_false:.3f}   largest selection {counts.max():3d}   {more:.3f}", flush=True)


def print_planted(name: str, parallel: Parallel, first: int, draws: int) -> None:
    print(f"{name}, 20 relevant of 2,000, 100 samples, {draws} draws (false discovery rate at most 0.15 wanted)")
    for separation in SEPARATIONS:
        found = parallel(delayed(planted_draw)(name, separation, first + draw) for draw in range(draws))
        false, power, nothing = np.mean(found, axis=0)
        print(
            f"  separation {separation:4.2f}   false {false:.3f}   power {power:.3f}   nothing {nothing:.2f}",
            flush=True,
        )


def print_clusters(name: str, parallel: Parallel, first: int, draws: int) -> None:
    print(f"{name}, clusters planted in 60 of 600 features, 120 samples, {draws} draws: directions found, as clusters")
    for n_clusters in range(2, 7):
        found = parallel(delayed(clusters_draw)(name, n_clusters, first + draw) for draw in range(draws))
        counts = {int(value): int(np.sum(np.array(found) == value)) for value in np.unique(found)}
        print(f"  {n_clusters} clusters: right in {np.mean(np.array(found) == n_clusters):.2f}   {counts}", flush=True)


def print_cost(names: list[str], first: int, repeats: int) -> None:
    made = make_planted_clusters(100, 200_000, 200, dtype=np.float32, random_state=first)
    for name in SELECTORS:
        fitted(name, made.X[:, :500], 0)  # compiles the numba functions
    plain = _seconds("QAlphaSelector", made.X, repeats, n_features_to_select=100)
    print(
        "200,000 features x 100 samples, single precision: times QAlphaSelector(100), the automatic choice at most 10"
    )
    print(f"  QAlphaSelector(100)      {plain:6.2f} s")
    given = _seconds("SieveSelector", made.X, repeats, n_features_to_select=100)
    print(f"  SieveSelector(100)       {given:6.2f} s   {given / plain:5.1f} x (at most 3)")
    for name in names:
        seconds = _seconds(name, made.X, repeats)
        print(f"  {name + '()':24s} {seconds:6.2f} s   {seconds / plain:5.1f} x", flush=True)


def _seconds(name: str, X: np.ndarray, repeats: int, **settings: object) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        fitted(name, X, 0, **settings)
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--selector", nargs="+", choices=list(SELECTORS), default=list(SELECTORS))
    parser.add_argument("--draws", type=int, default=200, help="of noise")
    parser.add_argument("--planted-draws", type=int, default=50)
    parser.add_argument("--seed", type=int, default=20_000)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    parallel = Parallel(n_jobs=arguments.jobs)
    for name in arguments.selector:
        if "noise" in arguments.only:
            print_noise(name, parallel, arguments.seed, arguments.draws)
        if "planted" in arguments.only:
            print_planted(name, parallel, arguments.seed, arguments.planted_draws)
        if "clusters" in arguments.only:
            print_clusters(name, parallel, arguments.seed, arguments.planted_draws)
    if "cost" in arguments.only:
        print_cost(arguments.selector, arguments.seed, 9)


if __name__ == "__main__":
    main()
