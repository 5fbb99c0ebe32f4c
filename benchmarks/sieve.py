"""SieveSelector on planted data beside plain Q-alpha, the Laplacian score and the supervised F-test, and its cost.

``python benchmarks/sieve.py`` prints precision among as many features as are relevant, and time ratios measured in
this run.
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.feature_selection import f_classif

from eigensieve.datasets import (
    SyntheticData,
    make_class_scaleup,
    make_gene_expression,
    make_planted_clusters,
    make_weston_linear,
)
from eigensieve.estimators.qalpha_selector import QAlphaSelector
from eigensieve.estimators.sieve_selector import SieveSelector
from eigensieve.graphs import knn_graph

NAMES = ("Q-alpha", "Q-alpha, k found", "Q-alpha uncentred", "sieve", "Laplacian", "F-test")


def laplacian_score(X: np.ndarray) -> np.ndarray:
    """He, Cai and Niyogi's score on a heat-weighted 5-neighbour graph of the standardised samples; small is good."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    W = knn_graph(Z, 5)
    d = np.asarray(W.sum(axis=1)).ravel()
    F = Z - (d @ Z) / d.sum()
    spread = d @ F**2
    return np.asarray((spread - np.einsum("ti,ti->i", F, W @ F)) / spread)


def precisions(made, n_clusters: int) -> list[float]:
    """Precision, among as many features as are relevant, of every method in NAMES."""
    count = int(made.relevant.sum())
    orders = [
        QAlphaSelector(count, n_clusters, normalize="center").fit(made.X).selection_order_,
        QAlphaSelector(count, "auto", normalize="center").fit(made.X).selection_order_,
        QAlphaSelector(count, n_clusters, normalize="unit").fit(made.X).selection_order_,
        SieveSelector(count).fit(made.X).selection_order_,
        np.argsort(laplacian_score(made.X)),
        np.argsort(-f_classif(made.X, made.y)[0]),
    ]
    return [float(made.relevant[order[:count]].mean()) for order in orders]


def show(label: str, draws: list[list[float]]) -> None:
    cells = "   ".join(f"{name} {value:.3f}" for name, value in zip(NAMES, np.mean(draws, axis=0), strict=True))
    print(f"  {label:28s} {cells}", flush=True)


def planted(seeds: range) -> None:
    print(f"Mean precision on planted data, {len(seeds)} draws, seeds from {seeds[0]}")
    for n in (1_000, 5_000, 20_000):
        made = (make_planted_clusters(200, n, 20, n_clusters=3, center_scale=1.5, random_state=s) for s in seeds)
        draws = list(made)
        show(f"20 of {n:,}, 200 samples", [precisions(one, 3) for one in draws])
        # Every feature moved elsewhere: nothing left to be had from the means.
        offsets = (10.0 * np.random.default_rng(s).standard_normal(n) for s in seeds)
        moved = (SyntheticData(one.X + offset, one.y, one.relevant) for one, offset in zip(draws, offsets, strict=True))
        show(f"20 of {n:,}, features moved", [precisions(one, 3) for one in moved])
    for classes in (2, 3, 4, 6, 8):
        made = (make_class_scaleup(classes, random_state=s) for s in seeds)
        show(f"class scale-up, {classes} classes", [precisions(one, classes) for one in made])
    for fraction in (0.72, 0.99):
        made = (make_gene_expression(irrelevant_fraction=fraction, random_state=s) for s in seeds)
        show(f"gene model, {fraction:.0%} irrelevant", [precisions(one, 2) for one in made])
    for n_samples in (100, 200):
        made = (make_weston_linear(n_samples, random_state=s) for s in seeds)
        show(f"Weston linear, {n_samples} samples", [precisions(one, 2) for one in made])


def automatic(seeds: range) -> None:
    print(f"SieveSelector() on planted data, features moved: power, share of false features; {len(seeds)} draws")
    for n_samples, n, count in ((100, 1_000, 20), (60, 150, 10), (200, 5_000, 20)):
        power, false = [], []
        for s in seeds:
            made = make_planted_clusters(n_samples, n, count, n_clusters=3, center_scale=1.5, random_state=s)
            found = SieveSelector().fit(made.X + 10.0 * np.random.default_rng(s).standard_normal(n)).support_
            power.append((found & made.relevant).sum() / count)
            false.append((found & ~made.relevant).sum() / max(1, found.sum()))
        print(f"  {count} of {n:,}, {n_samples} samples: {np.mean(power):.3f}, {np.mean(false):.3f}", flush=True)
    noise = [SieveSelector().fit(np.random.default_rng(s).standard_normal((100, 1_000))).support_.sum() for s in seeds]
    print(f"  noise, 100 x 1,000: {np.count_nonzero(noise)} of {len(seeds)} draws select something", flush=True)


def cost(n_samples: int, n_features: int, repeats: int) -> None:
    X = np.random.default_rng(0).standard_normal((n_samples, n_features), dtype=np.float32)
    X[:, :50] += np.random.default_rng(1).normal(0, 1.5, (3, 50)).astype(np.float32)[np.arange(n_samples) % 3]
    models = {
        "QAlphaSelector(50, 3)": QAlphaSelector(50, 3),
        "SieveSelector(50)": SieveSelector(50),
        "SieveSelector()": SieveSelector(),
    }
    for model in models.values():
        model.fit(X[:, :500])
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(repeats):
        for name, model in models.items():
            start = time.perf_counter()
            model.fit(X)
            seconds[name].append(time.perf_counter() - start)
    base = np.median(seconds["QAlphaSelector(50, 3)"])
    print(f"Cost at {n_features:,} features, {n_samples} samples (median of {repeats})")
    for name, times in seconds.items():
        print(f"  {name:24s} {np.median(times):7.2f} s   {np.median(times) / base:5.1f} x", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=7_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--features", type=int, default=200_000)
    parser.add_argument("--only", choices=["planted", "automatic", "cost"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.draws)
    if arguments.only in (None, "planted"):
        planted(seeds)
    if arguments.only in (None, "automatic"):
        automatic(seeds)
    if arguments.only in (None, "cost"):
        cost(100, arguments.features, arguments.repeats)


if __name__ == "__main__":
    main()
