"""Scores without labels: weights -> layout -> structure -> scores -> weights."""

from dataclasses import dataclass
from operator import methodcaller

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.linalg import eigsh

from eigensieve._progress import Progress, silent
from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.data import DataMatrix
from eigensieve.evidence import agreement
from eigensieve.sieve.layouts import Layout, Profiles, weighted_layout
from eigensieve.sieve.samples import Samples
from eigensieve.sieve.settings import SETTINGS
from eigensieve.sieve.structure import walks

_IN_MEMORY = 2**23  # entries of the features that are copied out


@dataclass(frozen=True)
class Rounds:
    """What the structure is looked for in."""

    samples: Samples
    usable: BoolArray  # features that vary
    # the features' variances if they are the first weights (:func:`~eigensieve.sieve.layouts.relative_variances`)
    variances: FloatArray | None = None
    profiles: Profiles | None = None  # compare samples by these, in place of weighted features
    # how far each feature separates pairs that cannot be linked, from :func:`separation`. It is added to the scores
    separation: FloatArray | float = 0.0
    small_groups: bool = False  # whether small groups count more; always among landmarks

    def structure(self, active: BoolArray, progress: Progress = silent) -> tuple[FloatArray, Layout]:
        """Return V, the structure that the active features show, and its layout.

        Each round lays the samples out by the weights, builds the local graph, takes V from random walks along it, and
        weights the features by their scores. Where the leading eigenvalue does not stand out of noise, the rounds start
        from screened features. One graph of profiles replaces the rounds.
        """
        if self.profiles is not None:
            progress("comparing samples by profiles")
            layout = self.profiles.layout(self.samples, active)
            return self._walks(layout), layout
        factors = self._first_weights(active)
        progress(f"round 1 of {SETTINGS.rounds}")
        layout, further = weighted_layout(self.samples, factors), SETTINGS.rounds - 1
        if layout.spike < SETTINGS.spike and np.count_nonzero(factors) > SETTINGS.screened:
            progress("screening features")
            layout, further = weighted_layout(self.samples, _screened(self.samples, factors)), SETTINGS.rounds
        for step in range(further):
            progress(f"round {SETTINGS.rounds - further + step + 1} of {SETTINGS.rounds}")
            scores = np.where(active, np.maximum(self.scores(self._walks(layout)), 0.0), 0.0)
            layout = weighted_layout(self.samples, (scores if scores.any() else active.astype(np.float64)) * factors)
        return self._walks(layout), layout

    def _walks(self, layout: Layout) -> FloatArray:
        many = self.small_groups or self.samples.rows is not None
        return walks(layout.points, SETTINGS.balance if many else 1.0, self.samples.donors, self.samples.data.roots)

    def _first_weights(self, active: BoolArray) -> FloatArray:
        """Return the variances of the active features, capped at their 99 % quantile, or the shares with a value."""
        if self.variances is None:
            return active * self.samples.present
        return np.where(active, np.minimum(self.variances, np.quantile(self.variances[active], SETTINGS.cap)), 0.0)

    def scores(self, V: FloatArray) -> FloatArray:
        """Return p_i m_i'(VV' - diag(VV'))m_i, plus the separation of pairs that cannot be linked."""
        return self.samples.present * agreement(self.samples.data, V, self.samples.donors) + self.separation

    def narrow_scores(self, progress: Progress = silent) -> FloatArray:
        """Return the score of every feature by the structure of the other features. Among few features each is a large
        part of the structure, and noise would agree with itself."""
        scores = np.zeros(len(self.usable))
        for feature in np.flatnonzero(self.usable):
            others = self.usable.copy()
            others[feature] = False
            if others.any():
                progress(f"scoring feature {feature + 1} by the others")
                scores[feature] = self.scores(self.structure(others)[0])[feature]
        return scores


def separation(data: DataMatrix, pairs: IntArray) -> FloatArray:
    """Return -m_i'Cm_i / |C|, C the adjacency matrix of pairs that cannot be linked and |C| its largest eigenvalue. A
    feature with opposite values in every pair scores at most 1, as one that follows V does; noise scores about 0."""
    rows, columns = np.vstack([pairs, pairs[:, ::-1]]).T
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(data.n_samples, data.n_samples)).tocsr()
    largest = eigsh(graph, k=1, which="LA", v0=np.ones(data.n_samples), return_eigenvectors=False)[0]
    B = csr_array(graph * (-1.0 / largest))
    return np.concatenate(data.map_blocks(lambda block: block.quadratic(B)))


def _screened(samples: Samples, weights: FloatArray) -> FloatArray:
    """Halve the features until 40 are left, keeping those most correlated with the features still in.

    The score m_i' A_J m_i of feature i among the remaining features J is about |J| / q for noise, with a standard
    deviation of sqrt(2 |J|) / q. The deviation falls with every halving, and the share of a relevant group stays. So a
    group too small to show in the spectrum of all features shows in the end. Pairs within a donor do not count.
    """
    data, donors = samples.data, samples.donors
    kept = np.flatnonzero(weights)
    Z = None
    while len(kept) > SETTINGS.screened:
        if Z is None and len(kept) * data.n_samples <= _IN_MEMORY:
            Z = data.take(kept)
        if Z is None:
            A = data.gram(np.where(np.isin(np.arange(len(weights)), kept), weights, 0.0))
            A = A if donors is None else np.where(donors[:, None] == donors, 0.0, A)
            scores = np.concatenate(data.map_blocks(methodcaller("quadratic", A)))[kept]
        else:
            Y = Z * np.sqrt(weights[kept]).astype(Z.dtype)
            A = Y @ Y.T if donors is None else np.where(donors[:, None] == donors, 0.0, Y @ Y.T)
            scores = np.einsum("ti,ti->i", Z, A @ Z)
        better = np.sort(np.argsort(-scores, kind="stable")[: max(SETTINGS.screened, len(kept) // 2)])
        kept, Z = kept[better], None if Z is None else Z[:, better]
    return np.where(np.isin(np.arange(len(weights)), kept), weights, 0.0)
