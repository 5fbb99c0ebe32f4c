"""SieveSelector on tall data: planted clusters of 1,000 to 100,000 samples, beside randomized PCA in the same run.

``python benchmarks/tall.py`` prints, per number of samples, the time of a fit with a given number of features over that
of ``PCA(50, svd_solver="randomized")``, the precision among the planted features, and the memory that the fit takes on
top of X, over that of X. Then it prints how far a fit on landmarks agrees with one whose graph holds all samples, and
what the automatic number selects from noise.
"""

import argparse
import warnings
from dataclasses import replace

import numpy as np
from sklearn.decomposition import PCA

from eigensieve import SieveSelector
from eigensieve.sieve import samples
from measure import extra_bytes, interleaved, verdict

N_FEATURES = 2_000
RELEVANT = 20
LIMITS = {20_000: 10.0, 100_000: 15.0}


def planted(n_samples: int, seed: int, scale: float = 1.5, n_features: int = N_FEATURES) -> np.ndarray:
    """Three clusters that show in the first features; every feature has a mean of its own. Made little by little."""
    rng = np.random.default_rng(seed)
    centers = np.zeros((3, n_features), dtype=np.float32)
    centers[:, :RELEVANT] = rng.normal(0.0, scale, (3, RELEVANT))
    offsets = rng.standard_normal(n_features, dtype=np.float32)
    X = np.empty((n_samples, n_features), dtype=np.float32)
    for start in range(0, n_samples, 1_000):
        some = X[start : start + 1_000]
        some[:] = rng.standard_normal(some.shape, dtype=np.float32) + offsets
        some += centers[rng.integers(0, 3, len(some))]
    return X


def precision(model: SieveSelector) -> float:
    return float(np.mean(model.selection_order_[:RELEVANT] < RELEVANT))


def cost(n_samples: int, repeats: int, automatic: bool) -> None:
    X = planted(n_samples, 0)
    model = SieveSelector(RELEVANT)
    extra = extra_bytes(lambda: model.fit(X))
    calls = {
        "PCA(50)": lambda: PCA(50, svd_solver="randomized", random_state=0).fit(X),
        "SieveSelector(20)": lambda: model.fit(X),
    }
    if automatic:
        auto = SieveSelector(random_state=0)
        calls["SieveSelector()"] = lambda: auto.fit(X)
    times = interleaved(calls, repeats)
    base = times.pop("PCA(50)")
    ratios = "   ".join(f"{name} {seconds:.1f} s, {seconds / base:.1f}x" for name, seconds in times.items())
    memory = (X.nbytes + extra) / X.nbytes
    print(
        f"  {n_samples:7,d} x {N_FEATURES:,}: PCA(50) {base:.2f} s   {ratios}   precision {precision(model):.2f}   "
        f"memory with X {memory:.2f} X",
        flush=True,
    )
    if n_samples in LIMITS:
        verdict(f"{n_samples:,} samples, time over PCA(50)", times["SieveSelector(20)"] / base, LIMITS[n_samples])
        verdict(f"{n_samples:,} samples, memory with X over X", memory, 2.0)


def agreement(n_samples: int, scales: tuple[float, ...], draws: int) -> None:
    """Print how a fit on landmarks compares with one on a graph of all samples."""
    usual = samples.SETTINGS
    print(f"Landmarks beside a graph of all samples, {n_samples:,} x 1,000, {draws} draws each")
    for scale in scales:
        found = []
        for seed in range(draws):
            X = planted(n_samples, 100 + seed, scale, 1_000)
            few = SieveSelector(RELEVANT).fit(X)
            samples.SETTINGS = replace(usual, landmarks=n_samples)
            whole = SieveSelector(RELEVANT).fit(X)
            samples.SETTINGS = usual
            same = len(np.intersect1d(few.selection_order_, whole.selection_order_)) / RELEVANT
            alike = np.corrcoef(few.weights_, whole.weights_)[0, 1]
            found.append([precision(few), precision(whole), same, alike])
        means = np.mean(found, axis=0)
        print(
            f"  centres {scale:.2f}: precision {means[0]:.2f} (all samples {means[1]:.2f})   "
            f"same features {means[2]:.2f}   correlation of weights {means[3]:.3f}",
            flush=True,
        )


def noise(n_samples: int, n_features: int, draws: int) -> None:
    """Print how often the automatic number selects anything from noise."""
    counts = []
    for seed in range(draws):
        X = np.random.default_rng(seed).standard_normal((n_samples, n_features))
        counts.append(int(SieveSelector(random_state=seed).fit(X).support_.sum()))
    share = float(np.mean(np.array(counts) > 0))
    print(f"Noise, {n_samples:,} x {n_features}: {share:.0%} of {draws} draws select something (counts {counts})")
    verdict("share of noise draws with a selection (fdr 0.1)", share, 0.1 + 2 * np.sqrt(0.09 / draws), unit="")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--samples", type=int, nargs="+", default=[1_000, 5_000, 20_000, 50_000])
    parser.add_argument("--large", action="store_true", help="100,000 samples, too")
    parser.add_argument("--automatic", action="store_true", help="time SieveSelector(), too")
    parser.add_argument("--only", choices=["cost", "agreement", "noise"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.only in (None, "cost"):
        SieveSelector(RELEVANT).fit(planted(2_500, 1))  # compiles
        print(f"Cost (medians of {arguments.repeats}, taking turns)")
        for n_samples in [*arguments.samples, *([100_000] if arguments.large else [])]:
            cost(n_samples, arguments.repeats, arguments.automatic)
    if arguments.only in (None, "agreement"):
        agreement(5_000, (1.5, 0.6, 0.45), arguments.draws)
    if arguments.only in (None, "noise"):
        noise(5_000, 500, max(10, arguments.draws))


if __name__ == "__main__":
    main()
