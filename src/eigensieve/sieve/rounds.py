"""The rounds of the sieve: weights -> neighbour graph -> embedding -> scores -> weights, from two starts."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.linalg import eigsh

from eigensieve._progress import Progress, silent
from eigensieve._types import Array
from eigensieve.data import DataMatrix
from eigensieve.evidence import agreement, count_spikes, weighted_noise_edge
from eigensieve.sieve.embedding import (
    EXACT_SAMPLES,
    MAX_CLUSTERS,
    SEEN_ALONE,
    GraphSpectrum,
    clear_columns,
    clearest_graph,
    columns_given,
    columns_looked_at,
    excess_over_cloud,
    mean_above,
    sample_affinity,
    sample_coordinates,
    shortened,
)
from eigensieve.sieve.landmarks import Landmarks, landmarks_of
from eigensieve.sieve.profiles import Profiles
from eigensieve.sieve.scale import Prior
from eigensieve.sieve.start import qalpha_weights
from eigensieve.sieve.walks import shown_by_walks

Start = Literal["equal", "qalpha", "profiles", "labels", "products", "structure"]

N_ROUNDS = 3
"""Both starts make all rounds but the last. The better one makes the last."""
_CLEARLY_BETTER = 1.1  # the equal start is better on most real data: the other must win by this factor
_FAR_BETTER = 2.3  # rounds weigh the features by their scores, so their best features score higher on most real data
_TOP = 5  # few, so that a small group of relevant features among noise is seen
_LEAST_SHOWN = 2  # columns of what picks show: rows of a single one have a sign and no direction
_START_CLUSTERS = 5  # k of the Q-alpha start if the number of clusters is not known yet


@dataclass(frozen=True)
class SieveResult:
    """What the rounds found.

    Attributes
    ----------
    scores : ndarray of shape (n_features,)
        Score of every feature; about 0 for noise.
    embedding : ndarray of shape (n_samples, n_columns)
        Q, the last graph's eigenvectors that stand out.
    eigenvalues : ndarray
        Eigenvalues of the affinity under the last round's weights, decreasing.
    start : {"equal", "qalpha", "profiles", "labels", "products", "structure"}
        The start that was kept, or profiles in its place; where a target took the place of the rounds, what the
        features were scored by.
    n_rounds : int
    usable : ndarray of bool of shape (n_features,)
        The features that were allowed weight.
    centered : bool
        Whether the features were centred.
    scale_used : bool
        Whether features that vary more had more weight.
    shown : ndarray of shape (n_landmarks, n_directions) or None
        What picked features are to show (:func:`~eigensieve.sieve.walks.shown_by_walks`) of the samples that graphs are
        made of: of all, or of the landmarks. None with a target.
    """

    scores: Array
    embedding: Array
    eigenvalues: Array
    start: Start
    n_rounds: int
    usable: Array
    centered: bool
    scale_used: bool = False
    shown: Array | None = None

    @property
    def strength(self) -> float:
        """Mean score of the best features that were allowed weight."""
        scores = self.scores[self.usable]
        count = max(1, min(_TOP, len(scores) // 2))
        return float(np.partition(scores, -count)[-count:].mean())


def sieve(
    data: DataMatrix,
    usable: Array,
    n_clusters: int | Literal["auto"],
    *,
    centered: bool = True,
    excess: float = 1.0,
    apart: csr_array | None = None,
    prior: Prior | None = None,
    profiles: Profiles | None = None,
    progress: Progress = silent,
) -> SieveResult:
    """Find an embedding of the samples and the features that agree with it.

    A round builds the neighbour graph of the samples on sqrt(w_i)-scaled features. Long directions are shortened if
    that graph falls into clusters better. The samples are embedded by the graph's leading eigenvectors Q, the features
    are scored (:func:`sieve_scores`), and the next weights are w_i = max(u_i, 0). Two rounds start from equal weights
    and two from Q-alpha's on screened features. The start whose best features score higher makes the last round. Where
    scale is evidence, the weights of all rounds are multiplied by a prior.

    Of counts and texts, profiles of the samples make one graph without rounds, and take their place. But if the best
    features of the rounds score more than 2.3 times as high, few features carry the structure: rounds find them, and
    profiles, in which all features count, do not.

    With more than 2,000 samples the graph is one of 2,000 landmarks, and Q is carried over to all samples
    (:class:`~eigensieve.sieve.landmarks.Landmarks`). Scores are those of all samples. Time is linear in their number.

    Parameters
    ----------
    data : DataMatrix
        Columns of unit norm, centred or not (`centered`).
    usable : ndarray of bool of shape (n_features,)
        Features that may have weight. The others are scored and have no influence.
    n_clusters : int or "auto"
        k. "auto" finds it in every round, from the graph and from the spectrum of the weighted features.
    centered : bool
        Whether the features are centred.
    excess : float
        Excess of the features' marginals over light-tailed ones, for the noise edge; see
        :func:`~eigensieve.evidence.noise_edges.permuted_excess`.
    apart : sparse array, optional
        Pairs that cannot be linked, from :func:`apart_matrix`: features that set them apart score higher.
    prior : Prior, optional
        From :func:`~eigensieve.sieve.scale.scale_prior`.
    profiles : Profiles, optional
        From :func:`~eigensieve.sieve.profiles.sample_profiles`.
    progress : callable
    """
    rounds = _Rounds(data, usable, n_clusters, centered, excess, apart, prior, progress)
    found = None
    if profiles is not None:
        found = rounds.by_profiles(profiles)
        if profiles.certain:
            return found
    best = rounds.better_start()
    if found is not None and best.strength <= _FAR_BETTER * found.strength:
        return found
    progress(f"last round from the {best.start} start")
    Q, eigenvalues, points = rounds.embed(rounds.weights(best.scores))
    return SieveResult(
        rounds.scores(Q),
        Q,
        eigenvalues,
        best.start,
        N_ROUNDS,
        usable,
        centered,
        scale_used=rounds.factors is not None,
        shown=rounds.shown(points),
    )


def sieve_embedding(
    data: DataMatrix,
    usable: Array,
    n_clusters: int | Literal["auto"],
    *,
    excess: float = 1.0,
    apart: csr_array | None = None,
    prior: Prior | None = None,
    progress: Progress = silent,
) -> Array:
    """Return the embedding of :func:`sieve` for centred features, without the scores under it."""
    rounds = _Rounds(data, usable, n_clusters, True, excess, apart, prior, progress)
    return rounds.embed(rounds.weights(rounds.better_start().scores))[0]


def sieve_scores(data: DataMatrix, Q: Array, *, centered: bool) -> Array:
    """Return the sieve's score of every feature: its agreement with Q over pairs of different samples.

    u_i = m_i'(QQ' - diag(QQ'))m_i; see :func:`~eigensieve.evidence.scores.agreement`. For uncentred features the
    constant direction is added to Q, so that a mean other than zero counts as agreement.
    """
    if not centered:
        Q = np.hstack([np.full((len(Q), 1), len(Q) ** -0.5), Q])
    return agreement(data, Q)


def pair_scores(data: DataMatrix, apart: csr_array) -> Array:
    """Return m_i' B m_i for every feature: how far it sets pairs of samples apart that cannot be linked.

    B = -C / |C|, C the adjacency matrix of the pairs and |C| its largest eigenvalue. A feature that has opposite values
    in every pair scores at most 1, like one that follows a column of Q; noise scores about 0.
    """
    return np.concatenate(data.map_blocks(lambda block: block.quadratic(apart)))


def apart_matrix(pairs: Array, n_samples: int) -> csr_array:
    """Return B of :func:`pair_scores` for pairs of shape (n_pairs, 2)."""
    rows, columns = np.vstack([pairs, pairs[:, ::-1]]).T
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(n_samples, n_samples)).tocsr()
    largest = eigsh(graph, k=1, which="LA", v0=np.ones(n_samples), return_eigenvectors=False)[0]
    return csr_array(graph * (-1.0 / largest))


@dataclass(frozen=True)
class _Rounds:
    data: DataMatrix
    usable: Array
    n_clusters: int | Literal["auto"]
    centered: bool
    excess: float = 1.0
    apart: csr_array | None = None
    prior: Prior | None = None
    progress: Progress = silent

    @cached_property
    def affinity(self) -> Array | None:
        """A with equal weights, if there are few enough samples."""
        return sample_affinity(self.data, self._equal) if self.data.n_samples <= EXACT_SAMPLES else None

    @cached_property
    def factors(self) -> Array | None:
        """What weights are multiplied by, where scale is evidence."""
        if self.prior is None or not self.prior.holds(self.data, self.usable, self.affinity):
            return None
        return self.prior.factors

    @cached_property
    def landmarks(self) -> Landmarks | None:
        """The samples that graphs are made of; None if these are all samples."""
        return landmarks_of(self.data, centered=self.centered)

    @property
    def seen(self) -> DataMatrix:
        """The data of the samples that graphs are made of."""
        return self.data if self.landmarks is None else self.landmarks.data

    def better_start(self) -> SieveResult:
        """Run the first rounds from both starts."""
        self.progress("round 1, equal weights" if self.factors is None else "round 1, weights by scale")
        same = self.affinity if self.factors is None else None
        equal = self.run(self._scaled(self._equal), "equal", N_ROUNDS - 1, same)
        self.progress("screening and Q-alpha start")
        k = _START_CLUSTERS if self.n_clusters == "auto" else self.n_clusters
        other = self.run(qalpha_weights(self.data, self.usable, k, self.affinity), "qalpha", N_ROUNDS - 1)
        return other if other.strength > _CLEARLY_BETTER * equal.strength else equal

    def by_profiles(self, profiles: Profiles) -> SieveResult:
        """Score the features by the embedding of the samples' profiles."""
        self.progress("comparing the profiles of the samples")
        Q, eigenvalues, points = profiles.embedding(self.usable, self.n_clusters, self.progress)
        shown = self.shown(points)
        return SieveResult(self.scores(Q), Q, eigenvalues, "profiles", 1, self.usable, self.centered, shown=shown)

    def shown(self, points: Array) -> Array:
        """Return what picked features are to show of samples in a layout."""
        self.progress("following walks from sample to sample")
        q = len(points)
        most = columns_looked_at(q) if self.n_clusters == "auto" else max(_LEAST_SHOWN, self.n_clusters)
        return shown_by_walks(points, min(most, q - 1))

    def scores(self, Q: Array) -> Array:
        """Score the features by an embedding, and by the pairs that they set apart."""
        scores = sieve_scores(self.data, Q, centered=self.centered)
        return scores if self.apart is None else scores + pair_scores(self.data, self.apart)

    def run(self, weights: Array, start: Start, count: int, affinity: Array | None = None) -> SieveResult:
        """Make `count` rounds. `affinity` is that of the weights they start from, if it is known already."""
        for _ in range(count):
            Q, eigenvalues, _ = self.embed(weights, affinity)
            affinity = None
            scores = self.scores(Q)
            weights = self.weights(scores)
        return SieveResult(scores, Q, eigenvalues, start, count, self.usable, self.centered)

    def embed(self, weights: Array, affinity: Array | None = None) -> tuple[Array, Array, Array]:
        """Return Q, the eigenvalues of the affinity under the weights, and the layout that walks follow."""
        if self.landmarks is not None:
            weights, affinity = self.landmarks.allowed(weights), None
        coordinates = sample_coordinates(self.seen, weights, affinity)
        values = coordinates.eigenvalues
        edge = weighted_noise_edge(weights, self.seen.n_samples - 1)
        layouts = [coordinates.points, shortened(coordinates, mean_above(values, edge))]
        if self.n_clusters == "auto":
            spectrum, columns = self._columns_found(layouts, self._shown_by_features(values, weights))
        else:
            spectrum, columns = self._columns_given(layouts, self.n_clusters)
        Q = spectrum.embedding(columns)
        if self.landmarks is not None:
            self.progress(f"placing {self.data.n_samples} samples among {len(Q)} landmarks")
            Q = self.landmarks.extended(Q, spectrum.points, values, weights)
        return Q, values, shortened(coordinates, edge)

    def _columns_given(self, layouts: list[Array], k: int) -> tuple[GraphSpectrum, int]:
        """Embed by k eigenvectors, or by k - 1 if the last one does not stand out: k - 1 separate k clusters."""
        columns = min(k, max(1, self.seen.n_samples - 2))
        spectrum = clearest_graph(layouts, columns, columns)
        return spectrum, columns_given(spectrum, columns)

    def _columns_found(self, layouts: list[Array], shown: int) -> tuple[GraphSpectrum, int]:
        """Embed by the eigenvectors that show clusters. If the graph shows no number, take that of the features."""
        count = columns_looked_at(self.seen.n_samples)
        spectrum = clearest_graph(layouts, count, shown)
        clear = clear_columns(excess_over_cloud(spectrum, count))
        if clear is None or clear > max(shown, SEEN_ALONE):
            return spectrum, shown if clear is None else max(shown, SEEN_ALONE)
        return spectrum, clear

    def _shown_by_features(self, eigenvalues: Array, weights: Array) -> int:
        """Count the clusters that the features' spectrum shows: c of them span c - 1 directions if centred."""
        q = self.seen.n_samples
        found = count_spikes(eigenvalues, weights, q - 1, self.excess) + int(self.centered)
        return min(max(1, q - 2), max(2, min(found, MAX_CLUSTERS, q // 4)))

    @property
    def _equal(self) -> Array:
        return self.usable.astype(np.float64)

    def weights(self, scores: Array) -> Array:
        """Return the weights of the next round: the scores above 0, or equal weights if there are none."""
        weights = np.where(self.usable, np.maximum(scores, 0.0), 0.0)
        return self._scaled(weights if weights.any() else self._equal)

    def _scaled(self, weights: Array) -> Array:
        return weights if self.factors is None else weights * self.factors
