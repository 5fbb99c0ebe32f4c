"""Features that tell classes apart only together, such as the two of an exclusive or, or only by their spread.

All products of two features are compared with the classes, and all squares. This is cheap for up to about a thousand
features. Products replace the labels' scores only if they classify left-out samples clearly better.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import chi2
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.data import DataMatrix, as_data, squares_of
from eigensieve.evidence import Exchange, agreement
from eigensieve.sieve.pick import Alignment, Constraints, Gain, Panel, Residual, pick

_MOST_WORK = 1e9  # multiplications for all products
_MOST_FEATURES = 4  # per sample: among more features, products stand out by chance
_MOST_SAMPLES = 1_000  # that are compared
_FEWEST_SAMPLES = 40  # fewer cannot tell one selection from another
_TRIED = (5, 20)  # numbers of features with which left-out samples are classified
_FOLDS = 5
_CLEARLY = 2.0  # standard errors by which products must be better
_ORDERS = (20, 999)  # fewest and most orders of the classes that p-values are made of


@dataclass(frozen=True)
class Interactions:
    """Samples with all their features in memory, and their classes."""

    Z: FloatArray  # samples x features: centred columns of unit norm
    T: FloatArray  # samples x columns: orthonormal basis of the classes
    codes: IntArray  # one per sample

    @classmethod
    def of(cls, Z: FloatArray, T: FloatArray, codes: IntArray) -> "Interactions":
        """Standardise the columns, and make T orthonormal, on the samples given."""
        Z = Z - Z.mean(axis=0)
        norms = np.linalg.norm(Z, axis=0)
        vectors, lengths, _ = np.linalg.svd(T - T.mean(axis=0), full_matrices=False)
        return cls(Z / np.where(norms > 0, norms, 1.0), vectors[:, lengths > 1e-7], codes)

    def products(self) -> FloatArray:
        """Return u_ij = (|T'p|^2 - sum_t p_t^2 |T_t|^2) / |p - mean(p)|^2, p = z_i z_j; squares on the diagonal. This
        is the share of the product's variance that the classes explain over pairs of different samples, about 0 for
        noise."""
        q, squares = len(self.Z), self.Z**2
        size = squares.T @ squares - (self.Z.T @ self.Z) ** 2 / q
        u = -squares.T @ (squares * np.sum(self.T**2, axis=1)[:, None])
        for column in self.T.T:
            u += (self.Z.T @ (self.Z * column[:, None])) ** 2
        # Two features that always have the same distance from their means have a constant product.
        u = np.divide(u, size, out=np.zeros_like(u), where=size > 1e-9 / q)
        np.fill_diagonal(u, agreement(as_data(squares_of(self.Z)), self.T))
        return u

    def scores(self) -> FloatArray | None:
        """Return v_i = max(u_i - l, 0) + sum_j max(u_ij - m, 0), or None if no product stands out. l and m are the
        largest agreements to expect of noise."""
        p = self.Z.shape[1]
        beyond = np.maximum(self.products() - self._limit(p * (p + 1) / 2), 0.0).sum(axis=1)
        return beyond + np.maximum(self._alone() - self._limit(p), 0.0) if beyond.any() else None

    def _alone(self) -> FloatArray:
        return agreement(as_data(self.Z), self.T)

    def _limit(self, n_tests: float) -> float:
        """Return the agreement that on average one of `n_tests` features or products without structure exceeds."""
        d = self.T.shape[1]
        return float(chi2.isf(1.0 / n_tests, d) - d) / len(self.Z)

    def clearly_better(self) -> FloatArray | None:
        """Return the scores by products if their picks classify left-out samples clearly better than those by labels:
        by 5 neighbours and an RBF machine, 5 and 20 features. The mean gain per sample must exceed two standard
        errors."""
        scores, gains = self.scores(), np.zeros(len(self.codes))
        order = np.lexsort((np.random.default_rng(0).random(len(self.codes)), self.codes))
        for fold in range(_FOLDS):
            seen = np.ones(len(self.codes), dtype=bool)
            seen[order[fold::_FOLDS]] = False
            some = Interactions.of(self.Z[seen], self.T[seen], self.codes[seen])
            if scores is not None and (worth := some.scores()) is not None:
                Z, own = some.Z, some._alone()
                ones = np.ones(len(own))
                columns = some.T @ (some.T.T @ np.eye(self.codes.max() + 1)[some.codes])
                gains[~seen] = self._hits(Alignment(Z, worth, ones), seen) - self._hits(Residual(Z, own, columns), seen)
            if gains.sum() <= 0:
                return None
        return scores if gains.mean() > _CLEARLY * gains.std() / np.sqrt(len(gains)) else None

    def _hits(self, gain: Gain, seen: BoolArray) -> FloatArray:
        """Return how often each left-out sample is classified correctly by the features of largest gain."""
        features = np.arange(self.Z.shape[1])
        picked = pick(Panel(Constraints(), features), gain, min(_TRIED[-1], len(features)))
        scaled, hits = self.Z * np.sqrt(len(self.Z)), []
        for count in _TRIED:
            A = scaled[:, picked[:count]]
            for machine in (KNeighborsClassifier(min(5, np.count_nonzero(seen))), SVC()):
                hits.append(machine.fit(A[seen], self.codes[seen]).predict(A[~seen]) == self.codes[~seen])
        return np.mean(hits, axis=0)


def read_interactions(
    data: DataMatrix, usable: BoolArray, T: FloatArray, codes: IntArray, order: IntArray
) -> tuple[Interactions, IntArray] | None:
    """Return the data of all pairs of features, or None if there are too many features. T (samples x columns) is an
    orthonormal basis of the classes `codes`. The samples are the first in `order`."""
    rows = order[:_MOST_SAMPLES]
    features = np.flatnonzero(usable)
    work = len(rows) * float(len(features)) ** 2 * (T.shape[1] + 2)
    if data.shared.gaps is not None:  # products of features that miss different samples cannot be compared
        return None
    if len(rows) < _FEWEST_SAMPLES or len(features) > _MOST_FEATURES * len(rows) or work > _MOST_WORK:
        return None
    return Interactions.of(np.asarray(data.take(features), dtype=np.float64)[rows], T[rows], codes[rows]), rows


def interaction_p_values(read: Interactions, rate: float, rng: np.random.Generator, exchange: Exchange) -> FloatArray:
    """Return 1/(B + 1) for features with a product that agrees with the classes more than any after B permutations,
    else 1. Chance exceeds the largest agreement in 1 of B + 1 cases: the number of products is allowed for. B follows
    from `rate`."""
    count = int(np.clip(np.ceil(1.0 / rate) - 1.0, *_ORDERS))
    copies = exchange.copies(read.T, count, rng)
    by_chance = max(float(replace(read, T=copies[:, copy]).products().max()) for copy in range(count))
    return np.where(read.products().max(axis=1) > by_chance, 1.0 / (count + 1), 1.0)
