"""False discoveries where every donor gives several samples, without and with `groups`, and on means of donors."""

import numpy as np

from eigensieve import SieveSelector

N_DONORS, N_FEATURES = 30, 400
DRAWS_FEW, DRAWS, DRAWS_LABELLED = 4, 10, 100  # fits with labels are quick
LIKENESS = 0.9  # share of a feature's variance that the samples of a donor have in common


def given(seed: int, per: int, n_relevant: int, *, unequal: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X, the kind of each sample's donor (three kinds), and the donor. Every feature differs between donors."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 2 * per, N_DONORS) if unequal else np.full(N_DONORS, per)
    donors, kinds = np.repeat(np.arange(N_DONORS), sizes), np.arange(N_DONORS) % 3
    levels = rng.standard_normal((N_DONORS, N_FEATURES))
    levels[:, :n_relevant] += 1.5 * rng.standard_normal((3, n_relevant))[kinds]
    noise = rng.standard_normal((len(donors), N_FEATURES))
    return np.sqrt(LIKENESS) * levels[donors] + np.sqrt(1 - LIKENESS) * noise, kinds[donors], donors


def means(X: np.ndarray, y: np.ndarray, donors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """One sample per donor: the mean."""
    numbers = np.unique(donors)
    return np.array([X[donors == g].mean(axis=0) for g in numbers]), np.array([y[donors == g][0] for g in numbers])


def main() -> None:
    print("| samples per donor | relevant | labels | way | false | relevant found | false share |")
    print("|---|---|---|---|---|---|---|")
    for per, unequal in ((1, False), (5, False), (10, False), (10, True), (50, False)):
        name = f"1 to {2 * per - 1}" if unequal else str(per)
        for n_relevant in (0, 30):
            for labelled in (False, True):
                for way in ("plain", "groups", "means") if per > 1 else ("plain",):
                    quick = labelled and (way != "plain" or per == 1)
                    draws = range(DRAWS_LABELLED if quick else DRAWS_FEW if way == "plain" or per == 50 else DRAWS)
                    rows = [_row(seed, per, unequal, n_relevant, labelled, way) for seed in draws]
                    false, hits, share = np.mean(rows, axis=0)
                    start = f"| {name} | {n_relevant} | {'yes' if labelled else 'no'} | {way}"
                    print(f"{start} | {false:.1f} | {hits:.1f} | {share:.3f} |", flush=True)


def _row(seed: int, per: int, unequal: bool, n_relevant: int, labelled: bool, way: str) -> list[float]:
    X, y, donors = given(seed, per, n_relevant, unequal=unequal)
    known = {"groups": donors} if way == "groups" else {}
    if way == "means":
        X, y = means(X, y, donors)
    found = SieveSelector("auto").fit(X, y if labelled else None, **known).get_support(indices=True)
    false = np.count_nonzero(found >= n_relevant)
    return [false, len(found) - false, false / max(1, len(found))]
