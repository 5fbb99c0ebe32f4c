"""Hidden signs: kernel Q-alpha against squared and plain data (2003, section 6.1; 2005, Fig. 6b)."""

import numpy as np

from eigensieve._types import Array
from eigensieve.datasets import make_hidden_signs
from eigensieve.estimators import KernelQAlphaSelector, QAlphaSelector
from eigensieve.experiments.common import largest

SPREADS = (0.005, 0.02, 0.05)
_RELEVANT, _ENOUGH = 12, 10


def _success(weights: Array) -> bool:
    """Return whether at least 10 of the 12 largest weights belong to relevant features (the papers' criterion)."""
    return int(np.sum(largest(weights, _RELEVANT) < _RELEVANT)) >= _ENOUGH


def run(
    *, spreads: tuple[float, ...] = SPREADS, n_runs: int = 80, first_seed: int = 0
) -> dict[float, dict[str, float]]:
    """Return the success rates of the kernel, of squared data and of plain data per spread (the papers' lambda)."""
    rates: dict[float, dict[str, float]] = {}
    for spread in spreads:
        found: dict[str, list[bool]] = {"kernel": [], "squares": [], "plain": []}
        for seed in range(first_seed, first_seed + n_runs):
            X = make_hidden_signs(spread, random_state=seed).X
            kernel = KernelQAlphaSelector(n_clusters=3, kernel="sections", section_size=8, normalize="unit")
            found["kernel"].append(_success(kernel.fit(X).weights_))
            found["squares"].append(_success(QAlphaSelector(1, n_clusters=3).fit(X**2).weights_))
            found["plain"].append(_success(QAlphaSelector(1, n_clusters=3).fit(X).weights_))
        rates[spread] = {name: float(np.mean(values)) for name, values in found.items()}
    return rates


def table(rates: dict[float, dict[str, float]]) -> str:
    """Return the result as text, one line per spread."""
    lines = [f"{'lambda':>8s}{'kernel':>9s}{'squares':>9s}{'plain':>9s}"]
    for spread, line in rates.items():
        lines.append(f"{spread:8.3f}{line['kernel']:9.2f}{line['squares']:9.2f}{line['plain']:9.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(run()))
