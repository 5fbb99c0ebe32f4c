"""Many samples: the graph is made of some of them, the landmarks, and its embedding is carried over to all."""

from dataclasses import dataclass

import numpy as np

from eigensieve._types import Array
from eigensieve.data import DataMatrix
from eigensieve.evidence import permuted_excess
from eigensieve.graphs import nearest_among
from eigensieve.sieve.embedding import N_NEIGHBORS

MAX_LANDMARKS = 2_000
"""Largest number of samples that a graph is made of. If there are no more than this, all are in it."""

_GONE = 1e-5  # a feature whose variance among the landmarks is below this share of its energy does not vary there
_FLAT = 1e-10  # coordinates of less length than this share of the longest are left out
_COLUMNS_SHARE = 8  # at most 1/8 as many coordinates of all samples are made at once as there are features


@dataclass(frozen=True)
class Landmarks:
    """Some samples that stand for all.

    Attributes
    ----------
    everything : DataMatrix
        All samples.
    rows : ndarray of int
        Which samples the landmarks are, increasing.
    data : DataMatrix
        The landmarks alone, in memory: columns of unit norm among them, and centred there if all samples are.
    factor : ndarray of shape (n_features,)
        What each column is multiplied by to have unit norm among the landmarks; 0 for features that do not vary there.
    """

    everything: DataMatrix
    rows: Array
    data: DataMatrix
    factor: Array

    def allowed(self, weights: Array) -> Array:
        """Return the weights of the features that vary among the landmarks, 0 for the others."""
        varies = self.factor > 0
        kept = np.where(varies, weights, 0.0)
        return kept if kept.any() else varies.astype(np.float64)

    def extended(self, Q: Array, points: Array, eigenvalues: Array, weights: Array) -> Array:
        """Carry an embedding of the landmarks over to all samples.

        Coordinate j of the landmarks is p_j = M'b_j with b_j = diag(w) M p_j / lambda_j. So b_j gives it for any other
        sample, too. :func:`carried_over` does the rest.

        Parameters
        ----------
        Q : ndarray of shape (n_landmarks, n_columns)
            Eigenvectors of the landmarks' graph.
        points : ndarray of shape (n_landmarks, n_coordinates)
            The layout that the graph was made from.
        eigenvalues : ndarray of shape (n_coordinates,)
            Lambda, of the landmarks' affinity.
        weights : ndarray of shape (n_features,)

        Returns
        -------
        Q : ndarray of shape (n_samples, n_columns)
            Centred and orthonormal.
        """
        kept = eigenvalues > _FLAT * eigenvalues[0]
        loadings = self.data.project(points[:, kept] / eigenvalues[kept])
        places = combined(self.everything, (weights * self.factor)[:, None] * loadings)
        return carried_over(Q, places, self.rows)


def carried_over(Q: Array, places: Array, rows: Array) -> Array:
    """Carry an embedding of the landmarks over to all samples.

    A sample that is no landmark gets the mean of Q over its 5 nearest landmarks, times a factor per column (Nystroem's
    extension of the graph's eigenvectors). The factor is the one that best fits the landmarks themselves, each from its
    5 nearest others.

    Parameters
    ----------
    Q : ndarray of shape (n_landmarks, n_columns)
    places : ndarray of shape (n_samples, n_coordinates)
        All samples as points, among which the nearest are looked for.
    rows : ndarray of int
        Which samples the landmarks are.

    Returns
    -------
    Q : ndarray of shape (n_samples, n_columns)
        Centred and orthonormal.
    """
    marks = places[rows]
    count = min(N_NEIGHBORS, len(marks) - 1)
    others = np.delete(np.arange(len(places)), rows)
    expected = Q[nearest_among(marks, marks, count)].mean(axis=1)
    slope = np.sum(expected * Q, axis=0) / np.maximum(np.sum(expected**2, axis=0), np.finfo(np.float64).tiny)
    whole = np.empty((len(places), Q.shape[1]))
    whole[rows] = Q
    whole[others] = Q[nearest_among(places[others], marks, count)].mean(axis=1) * slope
    return np.asarray(np.linalg.qr(whole - whole.mean(axis=0))[0])


def combined(data: DataMatrix, loadings: Array) -> Array:
    """Return M' loadings for all samples, a few columns at a time: with few features they are as large as X."""
    at_once = max(1, data.n_features // _COLUMNS_SHARE)
    places = np.empty((data.n_samples, loadings.shape[1]), dtype=np.float32)
    for start in range(0, loadings.shape[1], at_once):
        some = slice(start, start + at_once)
        places[:, some] = data.combine(np.ascontiguousarray(loadings[:, some]))
    return places


def landmarks_of(data: DataMatrix, *, centered: bool = True) -> Landmarks | None:
    """Choose landmarks at random, the same on every run; None where a graph of all samples is small enough.

    Parameters
    ----------
    data : DataMatrix
        Standardised: columns of unit norm, centred or not (`centered`).
    centered : bool
    """
    if data.n_samples <= MAX_LANDMARKS:
        return None
    return landmarks_at(data, chosen_rows(data.n_samples), centered=centered)


def marginal_excess(data: DataMatrix, usable: Array) -> float:
    """Return the excess of the marginals (:func:`~eigensieve.evidence.noise_edges.permuted_excess`) among landmarks.

    It goes with the noise edge of as many samples as the graph is made of.
    """
    landmarks = landmarks_of(data)
    if landmarks is None:
        return permuted_excess(data, usable)
    varies = usable & (landmarks.factor > 0)
    return permuted_excess(landmarks.data, varies) if varies.any() else 1.0


def chosen_rows(n_samples: int) -> Array:
    """Return the samples that are landmarks."""
    return np.sort(np.random.default_rng(0).choice(n_samples, MAX_LANDMARKS, replace=False))


def landmarks_at(data: DataMatrix, rows: Array, *, centered: bool = True) -> Landmarks:
    """Make landmarks of given samples, and standardise the features among them."""
    few = data.samples(rows)
    ones = np.ones(len(rows))
    energy = np.concatenate(few.map_blocks(lambda block: block.squares(ones)))
    mean = few.project(ones[:, None] / len(rows))[:, 0].astype(np.float64) if centered else np.zeros(data.n_features)
    left = energy - len(rows) * mean**2
    varies = left > _GONE * energy
    factor = np.where(varies, 1.0 / np.sqrt(np.where(varies, left, 1.0)), 0.0)
    return Landmarks(data, rows, few.moved(mean if centered else None, factor), factor)
