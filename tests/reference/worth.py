"""What a panel shows, sample by sample and pair by pair."""

import numpy as np


def told(points: np.ndarray, V: np.ndarray, groups: np.ndarray, n_neighbors: int = 5) -> np.ndarray:
    """Mean of V over the nearest samples of other groups; a group gives no more than it takes to have enough."""
    E = np.empty_like(V)
    most = -(-n_neighbors // (len(set(groups)) - 1))
    for t in range(len(points)):
        nearest: list[int] = []
        for s in np.argsort(np.linalg.norm(points - points[t], axis=1)):
            if groups[s] != groups[t] and np.sum(groups[nearest] == groups[s]) < most and len(nearest) < n_neighbors:
                nearest.append(s)
        E[t] = V[nearest].mean(axis=0)
    return E


def r2(E: np.ndarray, V: np.ndarray) -> float:
    """One minus the unexplained share of V, with one best factor per column, at least 0."""
    left = 0.0
    for e, column in zip(E.T, V.T, strict=True):
        slope = max(0.0, float(e @ column / (e @ e)))
        left += float(np.sum((column - slope * e) ** 2))
    return 1.0 - left / float(np.sum(V**2))


def concordance(risk: np.ndarray, event: np.ndarray, time: np.ndarray) -> float:
    """Share of the pairs, ordered by an event, in which the earlier one has the higher risk."""
    right = pairs = 0.0
    for s in range(len(risk)):
        for t in range(len(risk)):
            outlived = time[s] < time[t] or (time[s] == time[t] and not event[t])
            if event[s] and outlived:
                pairs += 1
                right += 1.0 if risk[s] > risk[t] else 0.5 if risk[s] == risk[t] else 0.0
    return right / pairs
