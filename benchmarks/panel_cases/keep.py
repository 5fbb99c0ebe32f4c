"""Half of a known panel is kept; how much of the other half is found.

20 of 2,000 features tell four groups of 120 samples apart, each by group means that are a random order of -1.5, -0.5,
0.5 and 1.5 times the strength; noise has the deviation 1. Ten of the 20 are kept, and 20 are selected.
"""

import numpy as np

from eigensieve import SieveSelector

SEEDS = range(30)
STRENGTHS = (0.75, 1.0, 1.5, 2.0)


def planted(strength: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X, the groups of the samples, and the 20 features, in a random order."""
    rng = np.random.default_rng(seed)
    X, y, panel = rng.standard_normal((120, 2_000)), np.arange(120) % 4, rng.permutation(2_000)[:20]
    for feature in panel:
        X[:, feature] += strength * rng.permutation([-1.5, -0.5, 0.5, 1.5])[y]
    return X, y, panel


def completed(strength: float, seed: int, *, labelled: bool, keep: bool) -> float:
    """The share of the second half of the panel that is found."""
    X, y, panel = planted(strength, seed)
    model = SieveSelector(20, keep=panel[:10] if keep else None).fit(X, y if labelled else None)
    return float(np.isin(panel[10:], model.selection_order_).mean())


def main() -> None:
    print("| strength | without labels | the same, nothing kept | with labels | the same, nothing kept |")
    print("|---|---|---|---|---|")
    for strength in STRENGTHS:
        cells = [
            np.mean([completed(strength, seed, labelled=labelled, keep=keep) for seed in SEEDS])
            for labelled in (False, True)
            for keep in (True, False)
        ]
        print(f"| {strength} | {' | '.join(f'{cell:.3f}' for cell in cells)} |", flush=True)
