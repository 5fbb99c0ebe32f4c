"""How samples may trade places in permuted copies: within batches, and by donor where donors give several samples.

Samples of one donor are not independent. The structure V is split into W, the mean of each donor, and R, the rest
of each sample. Copies permute W between donors and R within donors. With one sample per donor this is a permutation of
samples. Where V does not vary within donors, such as one label per donor, whole donors are permuted.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import block_diag, csr_array

from eigensieve._types import Array, BoolArray, FloatArray, IntArray
from eigensieve.data import Block

_PAIRS = 64  # pairs per sample up to which a sparse matrix of pairs is cheaper than one product per donor


@dataclass(frozen=True)
class Exchange:
    """Which samples may trade places."""

    batches: IntArray | None = None  # samples trade places within them only, donors only if they have the same ones
    donors: IntArray | None = None  # the donor of every sample, if any donor has more than one
    moving: BoolArray | None = None  # the samples that trade places; the others stay where they are
    roots: FloatArray | None = None  # of the samples' weights: they multiply the rows of V and stay in place
    ranks: IntArray | None = None  # numbers in whose order random draws are made; None for the order given

    def among(self, rows: Array) -> "Exchange":
        """Return the same for some samples."""

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
        sums = np.stack([V[rows].sum(axis=0) for rows in donor_rows(donors)])
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

    def orders(self, n_samples: int, count: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Return the samples by groups that trade places, and random orders of them, one per row; without donors."""
        groups = np.zeros(n_samples, dtype=np.intp)
        if self.batches is not None:
            groups = np.unique(self.batches, return_inverse=True)[1].reshape(-1)
        if self.moving is not None:
            groups = np.where(self.moving, groups, groups.max() + 1 + np.arange(n_samples))
        places = np.lexsort((np.arange(n_samples) if self.ranks is None else self.ranks, groups))
        return places, self._orders(count, n_samples, groups, rng)[places].T

    def _orders(self, count: int, n_samples: int, groups: Array | None, rng: np.random.Generator) -> IntArray:
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
        rows = donor_rows(self.donors)
        heads = np.array([some[0] for some in rows])
        homes = np.empty(len(V), dtype=np.intp)
        homes[np.concatenate(rows)] = np.repeat(heads, [len(some) for some in rows])
        if np.abs(V - V[homes]).max(initial=0.0) > 1e-6 * np.abs(V).max(initial=0.0):
            return None
        return np.stack([features[some].sum(axis=0) for some in rows]), V[heads], Exchange()


ANY = Exchange()
"""Any two samples may trade places."""


def sample_orders(count: int, n_samples: int, groups: Array | None, rng: np.random.Generator) -> Array:
    """Return random orders of the samples, one per column."""
    if groups is None:
        return np.stack([rng.permutation(n_samples) for _ in range(count)], axis=1)
    numbers = np.unique(groups, return_inverse=True)[1].reshape(-1)
    orders = np.empty((n_samples, count), dtype=np.intp)
    orders[np.argsort(numbers, kind="stable")] = np.argsort(numbers[:, None] + rng.random((n_samples, count)), axis=0)
    return orders


def donor_rows(donors: IntArray) -> list[IntArray]:
    """Return the samples of every donor that has some."""
    order = np.argsort(donors, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(donors[order])) + 1)


class OwnPairs:
    """sum_g |V_g'm_g|^2 over the donors g: what pairs of samples of the same donor add to |V'm|^2, for any block."""

    def __init__(self, V: FloatArray, donors: IntArray) -> None:
        self.V, self.rows = V, donor_rows(donors)
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
    for rows in donor_rows(donors):
        some, copies = features[rows].T, V[rows]
        if len(rows) < 2 * V.shape[2]:
            s, t = np.triu_indices(len(rows))
            inner = np.einsum("scd,tcd->stc", copies, copies, optimize=True)[s, t]
            own += (some[:, s] * some[:, t]) @ (np.where(s == t, 1.0, 2.0).astype(V.dtype)[:, None] * inner)
        else:
            products = some @ copies.reshape(len(rows), -1)
            own += np.square(products, out=products).reshape(-1, *copies.shape[1:]).sum(axis=2)
    return own
