"""Two solutions and their hybrids on the topographical map (2004, section 4 and Fig. 2)."""

import sys
from typing import Any

import numpy as np

from eigensieve.datasets import make_two_solutions
from eigensieve.estimators import FeatureMap
from eigensieve.experiments.common import largest


def run(*, n_draws: int = 50, first_seed: int = 0) -> dict[str, float]:
    """Return how often the rounds find the two sets, and how the hybrids fare.

    Returns
    -------
    rates : dict
        "sets": share of draws in which the six largest relevances of round 1 are features 1, 2, 3 and the hybrids, and
        those of round 2 are A, B, C and the hybrids. "hybrids": share of draws in which every hybrid is, in both
        rounds, at least five times as relevant as each of the 11 irrelevant features. "hybrid_share": mean relevance of
        the hybrids over that of the round's own three features, in the round where it is smaller.
    """
    sets, hybrids, shares = [], [], []
    for seed in range(first_seed, first_seed + n_draws):
        data = make_two_solutions(random_state=seed)
        relevance = FeatureMap().fit(data.X).relevance_
        tops = [set(largest(column, 6)) for column in relevance.T]
        wanted = [set(np.flatnonzero(column)) for column in data.solutions.T]
        sets.append(tops == wanted)
        both = data.solutions.all(axis=1)
        noise = np.abs(relevance[~data.relevant]).max(axis=0)
        hybrids.append(bool((relevance[both].min(axis=0) > 5 * noise).all()))
        own = [relevance[data.solutions[:, i] & ~both, i].mean() for i in range(2)]
        shares.append(float(np.min(relevance[both].mean(axis=0) / own)))
    return {
        "sets": float(np.mean(sets)),
        "hybrids": float(np.mean(hybrids)),
        "hybrid_share": float(np.mean(shares)),
    }


def table(rates: dict[str, float]) -> str:
    """Return the result as text, one line per rate."""
    return "\n".join(f"{name:14s}{rate:8.3f}" for name, rate in rates.items())


def figure(random_state: int = 0) -> Any:
    """Return the figure of one draw."""
    import pandas as pd

    data = make_two_solutions(random_state=random_state)
    return FeatureMap().fit(pd.DataFrame(data.X, columns=data.feature_names)).plot().figure_


if __name__ == "__main__":
    print(table(run()))
    if len(sys.argv) > 1:
        figure().savefig(sys.argv[1], dpi=100)
