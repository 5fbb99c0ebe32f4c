"""The automatic count: false selections on pure noise, false discovery rate and power on planted data.

``python benchmarks/amount.py --draws 200`` prints the figures for SieveSelector and QAlphaSelector.
"""

import argparse
import warnings

import numpy as np
from joblib import Parallel, delayed

from eigensieve.datasets import make_planted_clusters

NOISE = {
    "normal 50 x 200": (50, 200, "normal"),
    "normal 100 x 1000": (100, 1000, "normal"),
    "normal 30 x 3000": (30, 3000, "normal"),
    "normal 200 x 60": (200, 60, "normal"),
    "counts 60 x 600": (60, 600, "counts"),
    "heavy tails 60 x 600": (60, 600, "heavy"),
}
SEPARATIONS = (0.5, 0.75, 1.0, 1.5, 2.5)


def noise(shape: tuple[int, int, str], seed: int) -> np.ndarray:
    """Independent features: nothing to find."""
    n_samples, n_features, kind = shape
    rng = np.random.default_rng(seed)
    if kind == "counts":
        return rng.poisson(rng.gamma(0.5, 2.0, n_features), (n_samples, n_features)).astype(float)
    if kind == "heavy":
        return rng.standard_t(3, (n_samples, n_features))
    return rng.standard_normal((n_samples, n_features))


def selectors(fdr: float) -> dict:
    from eigensieve.estimators._qalpha_selector import QAlphaSelector
    from eigensieve.estimators._sieve_selector import SieveSelector

    chosen = {"SieveSelector": lambda seed: SieveSelector(fdr=fdr, random_state=seed)}
    if "fdr" in QAlphaSelector().get_params():
        chosen["QAlphaSelector"] = lambda seed: QAlphaSelector(fdr=fdr, random_state=seed)
    return chosen


def selected(name: str, X: np.ndarray, seed: int) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return selectors(0.1)[name](seed).fit(X).support_


def noise_draw(name: str, shape: tuple[int, int, str], seed: int) -> int:
    return int(selected(name, noise(shape, seed), seed).sum())


def planted_draw(name: str, separation: float, seed: int) -> tuple[float, float]:
    made = make_planted_clusters(100, 2000, 20, center_scale=separation, random_state=seed)
    support, relevant = selected(name, made.X, seed), made.relevant
    false = np.count_nonzero(support & ~relevant) / max(1, np.count_nonzero(support))
    return false, np.count_nonzero(support & relevant) / 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--planted-draws", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    parallel = Parallel(n_jobs=arguments.jobs)
    for name in selectors(0.1):
        print(f"{name}: fraction of pure-noise draws with any selection (at most 0.10 wanted)")
        for label, shape in NOISE.items():
            counts = np.array(parallel(delayed(noise_draw)(name, shape, seed) for seed in range(arguments.draws)))
            print(f"  {label:22s} {np.mean(counts > 0):.3f}   largest selection {counts.max()}", flush=True)
        print(f"{name}: 20 relevant of 2,000, 100 samples (false discovery rate at most 0.15 wanted)")
        for separation in SEPARATIONS:
            draws = parallel(delayed(planted_draw)(name, separation, seed) for seed in range(arguments.planted_draws))
            false, power = np.mean(draws, axis=0)
            print(f"  separation {separation:4.2f}   false {false:.3f}   power {power:.3f}", flush=True)


if __name__ == "__main__":
    main()
