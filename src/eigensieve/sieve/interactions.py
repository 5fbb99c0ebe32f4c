"""Features that tell classes apart only together, such as the two of an exclusive or, or only by their spread.

The score of a feature with labels looks at one feature at a time. Here all pairs of features are looked at: whether the
product of two features agrees with the classes, or the square of one. This is cheap for up to about a thousand
features. Where products stand out, the structure that the features share may stand out, too: it is also tried. Either
replaces the labels' score only if it classifies left-out samples clearly better.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.stats import chi2
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from eigensieve._types import Array
from eigensieve.data import DataMatrix, as_data, squares_of
from eigensieve.evidence import agreement, count_spikes, sample_orders
from eigensieve.sieve.picking import pick

Alternative = Literal["products", "structure"]

_MOST_WORK = 1e9  # multiplications for all products; the rounds without labels need more than this
_MOST_FEATURES = 4  # per sample: among more features, products stand out by chance, and looking at all pairs takes long
_MOST_SAMPLES = 1_000  # of more samples a fixed draw is looked at
_FEWEST_SAMPLES = 40  # fewer cannot tell one selection from another
_TRIED = (5, 20)  # numbers of features with which samples not seen are classified
_FOLDS = 5  # halves are too few samples to see products in
_CLEARLY = 2.0  # standard errors by which the products must be better
_LITTLE = 1e-6  # features without any excess follow in the order of the labels' scores
_FEWEST_ORDERS, _MOST_ORDERS = 20, 999  # of the classes, from which the largest agreement by chance is taken


@dataclass(frozen=True)
class Interactions:
    """Samples with all their features in memory, and their classes.

    Attributes
    ----------
    Z : ndarray of shape (n_samples, n_features)
        Centred columns of unit norm.
    T : ndarray of shape (n_samples, n_columns)
        Orthonormal basis of what the classes say.
    codes : ndarray of int of shape (n_samples,)
    """

    Z: Array
    T: Array
    codes: Array

    @classmethod
    def of(cls, Z: Array, T: Array, codes: Array) -> "Interactions":
        """Standardise the columns, and make T orthonormal, on the samples given."""
        Z = Z - Z.mean(axis=0)
        norms = np.linalg.norm(Z, axis=0)
        vectors, lengths, _ = np.linalg.svd(T - T.mean(axis=0), full_matrices=False)
        return cls(Z / np.where(norms > 0, norms, 1.0), vectors[:, lengths > 1e-7], codes)

    def products(self) -> Array:
        """Return u_ij, the agreement of the product z_i z_j with the classes; on the diagonal that of the squares.

        u_ij = (|T'p|^2 - sum_t p_t^2 |T_t|^2) / |p - mean(p)|^2 with p = z_i z_j: the share of the product's variance
        that the classes explain over pairs of different samples. About 0 for noise.
        """
        q, squares = len(self.Z), self.Z**2
        size = squares.T @ squares - (self.Z.T @ self.Z) ** 2 / q
        u = -squares.T @ (squares * np.sum(self.T**2, axis=1)[:, None])
        for column in self.T.T:
            u += (self.Z.T @ (self.Z * column[:, None])) ** 2
        # Two features that always have the same distance from their means have a constant product.
        u = np.divide(u, size, out=np.zeros_like(u), where=size > 1e-9 / q)
        np.fill_diagonal(u, agreement(as_data(squares_of(self.Z)), self.T))
        return u

    def limit(self, n_tests: float) -> float:
        """Return the agreement that on average one of `n_tests` features or products without structure exceeds."""
        d = self.T.shape[1]
        return float(chi2.isf(1.0 / n_tests, d) - d) / len(self.Z)

    def label_scores(self) -> Array:
        return agreement(as_data(self.Z), self.T)

    def by_products(self) -> Array | None:
        """Return the score of every feature by itself and by its products; None where no product stands out.

        v_i = max(u_i - l, 0) + sum_j max(u_ij - m, 0), where l and m are the largest agreements to expect of noise.
        """
        p = self.Z.shape[1]
        beyond = np.maximum(self.products() - self.limit(p * (p + 1) / 2), 0.0).sum(axis=1)
        if not beyond.any():
            return None
        alone = self.label_scores()
        return beyond + np.maximum(alone - self.limit(p), 0.0) + _LITTLE * np.maximum(alone, 0.0)

    def by_structure(self) -> Array | None:
        """Return the agreement of every feature with the principal directions above the noise edge; None without any.

        Features that act together are often mixtures of the same few causes. The classes are not looked at.
        """
        values, vectors = np.linalg.eigh(self.Z @ self.Z.T)
        count = count_spikes(values[::-1], np.ones(self.Z.shape[1]), len(self.Z) - 1)
        return agreement(as_data(self.Z), vectors[:, ::-1][:, :count]) if count else None

    def picks(self, scores: Array | None) -> Array:
        """Pick features by scores or, without them, by the labels."""
        count, everything = min(_TRIED[-1], self.Z.shape[1]), np.arange(self.Z.shape[1])
        if scores is None:
            return pick(as_data(self.Z), self.label_scores(), everything, count, self.T)
        return pick(as_data(self.Z), scores, everything, count)

    def clearly_better(self) -> tuple[Alternative, Array] | None:
        """Return the scores whose picks classify left-out samples clearly better than picks by labels do.

        5 neighbours and an RBF machine classify, with 5 and with 20 features. Their mean gain per sample must exceed
        two standard errors. If no scores have gained anything after a fold, the search ends early.
        """
        found: dict[Alternative, Array | None] = {"products": self.by_products(), "structure": self.by_structure()}
        gains: dict[Alternative, Array] = {name: np.empty(0) for name, scores in found.items() if scores is not None}
        order = np.lexsort((np.random.default_rng(0).random(len(self.codes)), self.codes))
        for fold in range(_FOLDS if gains else 0):
            new = self._gains(order[fold::_FOLDS], found["structure"])
            gains = {name: np.append(before, new[name]) for name, before in gains.items()}
            if all(values.sum() <= 0 for values in gains.values()):
                return None
        clear = [name for name, g in gains.items() if g.mean() > _CLEARLY * g.std() / np.sqrt(len(g))]
        if not clear:
            return None
        best = max(clear, key=lambda name: float(gains[name].mean()))
        scores = found[best]
        assert scores is not None
        return best, scores

    def _gains(self, left_out: Array, structure: Array | None) -> dict[Alternative, Array]:
        """Return how much more often the alternatives classify each left-out sample correctly."""
        seen = np.ones(len(self.codes), dtype=bool)
        seen[left_out] = False
        some = Interactions.of(self.Z[seen], self.T[seen], self.codes[seen])
        if len(np.unique(some.codes)) < 2:
            return {"products": np.zeros(len(left_out)), "structure": np.zeros(len(left_out))}
        by_labels = self._hits(some.picks(None), seen)
        alternatives: dict[Alternative, Array | None] = {"products": some.by_products(), "structure": structure}
        return {
            name: np.zeros(len(left_out)) if scores is None else self._hits(some.picks(scores), seen) - by_labels
            for name, scores in alternatives.items()
        }

    def _hits(self, picked: Array, seen: Array) -> Array:
        hits = []
        scaled = self.Z * np.sqrt(len(self.Z))
        for count in _TRIED:
            A = scaled[:, picked[:count]]
            for machine in (KNeighborsClassifier(min(5, np.count_nonzero(seen))), SVC()):
                guesses = machine.fit(A[seen], self.codes[seen]).predict(A[~seen])
                hits.append(guesses == self.codes[~seen])
        return np.mean(hits, axis=0)


def read_interactions(data: DataMatrix, usable: Array, T: Array, codes: Array, rows: Array) -> Interactions | None:
    """Return what is needed to look at all pairs of features; None where there are too many, or too few samples."""
    features = np.flatnonzero(usable)
    work = len(rows) * float(len(features)) ** 2 * (T.shape[1] + 2)
    if len(rows) < _FEWEST_SAMPLES or len(features) > _MOST_FEATURES * len(rows) or work > _MOST_WORK:
        return None
    return Interactions.of(np.asarray(data.take(features), dtype=np.float64)[rows], T[rows], codes[rows])


def better_than_labels(data: DataMatrix, usable: Array, T: Array, codes: Array) -> tuple[Alternative, Array] | None:
    """Return scores of features by products or by structure, where these are clearly better; otherwise None.

    Parameters
    ----------
    data : DataMatrix
        Centred columns of unit norm.
    usable : ndarray of bool of shape (n_features,)
    T : ndarray of shape (n_samples, n_columns)
        Orthonormal basis of what the classes say.
    codes : ndarray of int of shape (n_samples,)
        The class of every sample.
    """
    read = read_interactions(data, usable, T, codes, _rows(data.n_samples))
    found = None if read is None else read.clearly_better()
    if found is None:
        return None
    scores = np.zeros(data.n_features)
    scores[usable] = found[1]
    return found[0], scores


def interaction_p_values(
    data: DataMatrix,
    usable: Array,
    T: Array,
    codes: Array,
    rate: float,
    rng: np.random.Generator,
    groups: Array | None,
) -> Array:
    """Return 1/(B + 1) for features with a product that agrees with the classes more than any by chance, 1 for others.

    The classes are permuted B times, within groups. The largest agreement of any product in any order is exceeded by
    chance in 1 of B + 1 cases: the p-values allow for the number of products. B is as large as `rate` asks for, from 20
    to 999.
    """
    rows = _rows(data.n_samples)
    read = read_interactions(data, usable, T, codes, rows)
    assert read is not None
    count = int(np.clip(np.ceil(1.0 / rate) - 1.0, _FEWEST_ORDERS, _MOST_ORDERS))
    orders = sample_orders(count, len(rows), None if groups is None else groups[rows], rng)
    by_chance = max(float(replace(read, T=read.T[order]).products().max()) for order in orders.T)
    p_values = np.ones(data.n_features)
    p_values[usable] = np.where(read.products().max(axis=1) > by_chance, 1.0 / (count + 1), 1.0)
    return p_values


def _rows(n_samples: int) -> Array:
    return np.sort(np.random.default_rng(0).permutation(n_samples)[:_MOST_SAMPLES])
