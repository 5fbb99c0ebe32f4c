"""How samples may trade places in permuted copies: within batches, and by donor where donors give several samples.

Samples of one donor are not independent. The structure V is split into W, the mean of each donor, and R, the rest
of each sample. Copies permute W between donors and R within donors. With one sample per donor this is a permutation of
samples. Where V does not vary within donors, such as one label per donor, whole donors are permuted.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import fft
from scipy.sparse import block_diag, csr_array

from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.data import Block

_PAIRS = 64  # pairs per sample up to which a sparse matrix of pairs is cheaper than one product per donor
_FEW = 8  # samples of a donor, beyond two per column, up to which pairs are cheaper than products with V
_SHORT = 30  # values, or copies, up to which orders are drawn one by one
_ENTRIES = 2**15  # entries of such products that are made at a time


@dataclass(frozen=True)
class Exchange:
    """Which samples may trade places."""

    batches: IntArray | None = None  # samples trade places within them only, donors only if they have the same ones
    donors: IntArray | None = None  # the donor of every sample, if any donor has more than one
    moving: BoolArray | None = None  # the samples that trade places; the others stay where they are
    roots: FloatArray | None = None  # of the samples' weights: they multiply the rows of V and stay in place
    ranks: IntArray | None = None  # numbers in whose order random draws are made; None for the order given

    def among(self, rows: IntArray | BoolArray) -> "Exchange":

        def some(part: Any) -> Any:
            return None if part is None else part[rows]

        return Exchange(*map(some, (self.batches, self.donors, self.moving, self.roots, self.ranks)))

    def copies(self, V: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
        """Return V with its rows permuted, (n_samples, count, n_columns)."""
        if self.roots is not None:
            r = self.roots[:, None].astype(V.dtype)
            return replace(self, roots=None).copies(V / r, count, rng) * r[:, :, None]
        if self.moving is not None and not self.moving.all():
            found, rest = np.repeat(V[:, None], count, axis=1), replace(self, moving=None)
            if self.moving.any():
                found[self.moving] = rest.among(self.moving).copies(V[self.moving], count, rng)
            return found
        if self.donors is None:
            return V[self._orders(count, len(V), self.batches, rng)]
        donors = np.unique(self.donors, return_inverse=True)[1].reshape(-1)
        sums = np.stack([V[rows].sum(axis=0) for rows in rows_by(donors)])
        W = sums / np.bincount(donors)[:, None].astype(V.dtype)
        R = V - W[donors]
        places, homes = donors, None
        if self.batches is not None:
            batches = np.unique(self.batches, return_inverse=True)[1].reshape(-1)
            places = donors * (batches.max() + 1) + batches
            met = np.zeros((len(W), batches.max() + 1), dtype=bool)
            met[donors, batches] = True
            homes = np.unique(met, axis=0, return_inverse=True)[1].reshape(-1)
        between = W[sample_orders(count, len(W), homes, rng)][donors]
        return between + R[self._orders(count, len(V), places, rng)]

    def groups(self, n_samples: int) -> list[IntArray]:
        """Return the groups of samples that trade places, in the order of the ranks; without donors."""
        rows = np.arange(n_samples) if self.ranks is None else np.argsort(self.ranks, kind="stable")
        rows = rows if self.moving is None else rows[self.moving[rows]]
        return [rows] if self.batches is None else [rows[some] for some in rows_by(self.batches[rows])]

    def _orders(self, count: int, n_samples: int, groups: IntArray | None, rng: np.random.Generator) -> IntArray:
        """Return random orders of the samples, one per column, drawn in the order of the ranks."""
        if self.ranks is None:
            return sample_orders(count, n_samples, groups, rng)
        order = np.argsort(self.ranks, kind="stable")
        found = np.empty((n_samples, count), dtype=np.intp)
        found[order] = order[sample_orders(count, n_samples, None if groups is None else groups[order], rng)]
        return found

    def whole_donors(self, features: FloatArray, V: FloatArray) -> "tuple[FloatArray, FloatArray, Exchange] | None":
        """Return features and V with one row per donor if V does not vary within donors, else None.

        With s_g the sum of a feature over donor g, V'm = sum_g s_g V_g. So donors take the place of samples.
        """
        if self.donors is None or self.moving is not None or self.batches is not None:
            return None
        r = np.ones((len(V), 1), dtype=V.dtype) if self.roots is None else self.roots[:, None].astype(V.dtype)
        features, V = features * r, V / r
        rows = rows_by(self.donors)
        heads = np.array([some[0] for some in rows])
        homes = np.empty(len(V), dtype=np.intp)
        homes[np.concatenate(rows)] = np.repeat(heads, [len(some) for some in rows])
        if np.abs(V - V[homes]).max(initial=0.0) > 1e-6 * np.abs(V).max(initial=0.0):
            return None
        return np.stack([features[some].sum(axis=0) for some in rows]), V[heads], Exchange()


ANY = Exchange()
"""Any two samples may trade places."""


def sample_orders(count: int, n_samples: int, groups: IntArray | None, rng: np.random.Generator) -> IntArray:
    """Return random orders of the samples, one per column."""
    if groups is None:
        return np.stack([rng.permutation(n_samples) for _ in range(count)], axis=1)
    numbers = np.unique(groups, return_inverse=True)[1].reshape(-1)
    orders = np.empty((n_samples, count), dtype=np.intp)
    orders[np.argsort(numbers, kind="stable")] = np.argsort(numbers[:, None] + rng.random((n_samples, count)), axis=0)
    return orders


def rows_by(numbers: IntArray) -> list[IntArray]:
    """Return the samples of every number that occurs."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)


def products_of_copies(feature: FloatArray, V: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    """Return m'V and sum_t m_t^2 |V_t|^2 for `count` permuted copies of a feature m: (n_columns + 1, count).

    A Fourier transform turns a feature in random order against V by all numbers of places at once. Every turn of a
    random order is a random order.
    """
    size = len(feature)
    leverage = np.sum(V**2, axis=1)
    if min(size, count) <= _SHORT:
        copies = rng.permuted(np.tile(feature, (count, 1)), axis=1)
        return np.vstack([(copies @ V).T, np.square(copies) @ leverage])
    fixed, found = fft.rfft(np.vstack([V.T, leverage])), []
    for _ in range(-(-count // size)):
        mixed = rng.permutation(feature)
        turned = fft.rfft(np.vstack([mixed, mixed**2])).conj()
        found.append(fft.irfft(np.vstack([fixed[:-1] * turned[0], fixed[-1:] * turned[1]]), size))
    return np.hstack(found)[:, :count]


class OwnPairs:
    """sum_g |V_g'm_g|^2 over the donors g: what pairs of samples of the same donor add to |V'm|^2, for any block."""

    def __init__(self, V: FloatArray, donors: IntArray) -> None:
        self.V, self.rows = V, rows_by(donors)
        self.pairs: csr_array | None = None
        if sum(len(rows) ** 2 for rows in self.rows) <= _PAIRS * len(V):
            order = np.concatenate(self.rows)
            blocks = csr_array(block_diag([V[rows] @ V[rows].T for rows in self.rows]))
            back = np.argsort(order)
            self.pairs = csr_array(blocks[back][:, back])

    def __call__(self, block: Block) -> FloatArray:
        if self.pairs is not None:
            return block.quadratic(self.pairs)
        Z = block.toarray()
        return np.sum([np.sum((Z[rows].T @ self.V[rows]) ** 2, axis=1) for rows in self.rows], axis=0)


def own_pairs_of_copies(features: FloatArray, V: FloatArray, donors: IntArray) -> FloatArray:
    """Return the same for copies V of shape (n_samples, n_copies, n_columns): (n_features, n_copies)."""
    own = np.zeros((features.shape[1], V.shape[1]), dtype=V.dtype)
    pairs: list[IntArray] = [np.empty((2, 0), dtype=np.intp)]
    for rows in rows_by(donors):
        if len(rows) <= _FEW + 2 * V.shape[2]:
            pairs.append(rows[np.array(np.triu_indices(len(rows)))])
            continue
        for column in range(V.shape[2]):
            products = features[rows].T @ V[rows, :, column]
            own += np.square(products, out=products)
    s, t = np.hstack(pairs)
    columns = np.ascontiguousarray(V.transpose(2, 0, 1))
    size = max(1, _ENTRIES // max(own.shape))
    for start in range(0, len(s), size):
        one, other = s[start : start + size], t[start : start + size]
        inner = np.zeros((len(one), own.shape[1]), dtype=V.dtype)
        for column in columns:
            inner += column[one] * column[other]
        inner[one != other] *= 2.0
        own += (features[one] * features[other]).T @ inner
    return own
