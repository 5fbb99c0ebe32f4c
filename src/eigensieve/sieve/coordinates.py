"""Where the samples lie under given feature weights: their leading weighted principal coordinates."""

from dataclasses import dataclass

import numpy as np

from eigensieve._types import Array
from eigensieve.data import DataMatrix
from eigensieve.evidence import weighted_noise_edge
from eigensieve.operators import StandardAffinity
from eigensieve.qalpha import leading_eigenvectors

EXACT_SAMPLES = 1_000
"""Up to this many samples the samples x samples affinity is formed and decomposed whole."""

N_COORDINATES = 100
"""Coordinates kept: distances in them are those of the weighted data up to its weakest directions."""

_IN_MEMORY = 2**22  # entries of the features that carry weight, to be copied out


@dataclass(frozen=True)
class Coordinates:
    """Principal coordinates of the samples.

    Attributes
    ----------
    points : ndarray of shape (n_samples, n_coordinates)
        Rows are samples; distances between rows approximate those between samples on sqrt(w_i)-scaled features.
    eigenvalues : ndarray of shape (n_coordinates,)
        Of A = sum_i w_i m_i m_i', decreasing.
    """

    points: Array
    eigenvalues: Array


def sample_coordinates(data: DataMatrix, weights: Array, affinity: Array | None = None) -> Coordinates:
    """Return U diag(lambda)^(1/2) for the leading eigenvectors U of A = sum_i w_i m_i m_i'.

    Costs one pass and O(n q^2) for few samples, a dozen passes of O(n q r) for many; r = 100. `affinity` is A, when it
    is known already.
    """
    count = min(N_COORDINATES, data.n_samples)
    if data.n_samples <= EXACT_SAMPLES:
        values, vectors = np.linalg.eigh(sample_affinity(data, weights) if affinity is None else affinity)
        values, vectors = values[::-1][:count], vectors[:, ::-1][:, :count]
    else:
        values, vectors = leading_eigenvectors(StandardAffinity(data), weights, count, rtol=1e-2, max_blocks=6)
    values = np.maximum(values, 0.0)
    return Coordinates(vectors * np.sqrt(values), values)


def sample_affinity(data: DataMatrix, weights: Array) -> Array:
    """Return A = sum_i w_i m_i m_i'; when few features carry weight, from those alone."""
    carrying = np.flatnonzero(weights)
    if len(carrying) > min(data.n_features // 10, _IN_MEMORY // data.n_samples):
        return data.gram(weights)
    Z = np.asarray(data.take(carrying), dtype=np.float64)
    return np.asarray((Z * weights[carrying]) @ Z.T)


def shortened(coordinates: Coordinates, weights: Array) -> Array:
    """Return the points with long directions made shorter.

    On sqrt(w_i)-scaled features direction j has the length sqrt(lambda_j), and one large group of near-copies decides
    who is close to whom. Here it gets sqrt(log(1 + lambda_j / c)), c the mean of the eigenvalues above the noise edge
    (the edge when none is): in proportion to before for weak directions, hardly growing for those above the mean.
    """
    values = coordinates.eigenvalues
    edge = weighted_noise_edge(weights, len(coordinates.points) - 1)
    above = values[values > edge]
    lengths = np.sqrt(np.log1p(values / (above.mean() if above.size else edge)))
    roots = np.sqrt(values)
    return np.asarray(coordinates.points * np.divide(lengths, roots, out=np.zeros_like(roots), where=roots > 0))
