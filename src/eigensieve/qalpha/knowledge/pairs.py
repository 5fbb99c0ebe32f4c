"""Pairs of samples known to belong apart, or together (2004, section 5).

A cannot-link pair (x, y) asks for a small (x'y)^2 = (sum_i w_i x_i y_i)^2 = w'Fw, F_rs = x_r y_r x_s y_s; a must-link
pair for a large one. The criterion becomes w'(G - lambda B)w with

B = (q^2 / 2) (mean of F over the cannot-link pairs - mean of F over the must-link pairs).

The factor makes lambda independent of the number of pairs: the mean stands for all q^2 / 2 pairs of samples.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from eigensieve._types import Array
from eigensieve.data import Block, DataMatrix


@dataclass(frozen=True)
class Pairs:
    """Distinct unordered pairs of samples, each list with shape (n_pairs, 2)."""

    cannot: Array
    must: Array


def read_pairs(cannot_link: Any, must_link: Any, n_samples: int, owner: str) -> Pairs | None:
    """Check and tidy the user's pairs; None when there are none.

    Raises
    ------
    ValueError
        For indices out of range, a sample paired with itself, or lists that contradict each other, directly or because
        must-link pairs chain two samples that cannot be linked.
    """
    if cannot_link is None and must_link is None:
        return None
    cannot = _tidy(cannot_link, "cannot_link", n_samples, owner)
    must = _tidy(must_link, "must_link", n_samples, owner)
    if not len(cannot) and not len(must):
        raise ValueError(f"The pairs given to {owner} are empty. Leave out cannot_link and must_link instead.")
    if len(must):
        graph = coo_array((np.ones(len(must)), (must[:, 0], must[:, 1])), shape=(n_samples, n_samples))
        group = connected_components(graph, directed=False)[1]
        clash = np.flatnonzero(group[cannot[:, 0]] == group[cannot[:, 1]])
        if len(clash):
            x, y = cannot[clash[0]]
            raise ValueError(
                f"The pairs given to {owner} contradict each other: samples {x} and {y} are in cannot_link, and "
                "must_link "
                f"joins them (directly or through others; {len(clash)} such pairs). Remove one of the two."
            )
    return Pairs(cannot, must)


def _tidy(pairs: Any, name: str, n_samples: int, owner: str) -> Array:
    if pairs is None:
        return np.empty((0, 2), dtype=np.int64)
    given = np.asarray(pairs)
    if given.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise ValueError(
            f"The '{name}' parameter of {owner}.fit must be integer indices of samples with shape (n_pairs, 2). Got "
            "shape "
            f"{given.shape} and type {given.dtype} instead."
        )
    if given.min() < 0 or given.max() >= n_samples:
        raise ValueError(
            f"The '{name}' parameter of {owner}.fit must hold indices from 0 to {n_samples - 1} (X has {n_samples} "
            f"samples). Got indices from {given.min()} to {given.max()} instead."
        )
    if np.any(given[:, 0] == given[:, 1]):
        where = int(np.flatnonzero(given[:, 0] == given[:, 1])[0])
        raise ValueError(
            f"The '{name}' parameter of {owner}.fit must pair different samples. Got sample {given[where, 0]} with "
            "itself "
            f"(row {where}) instead."
        )
    low, high = given.min(axis=1).astype(np.int64), given.max(axis=1).astype(np.int64)
    code = np.unique(low * n_samples + high)
    return np.column_stack([code // n_samples, code % n_samples])


class PairPenalty:
    """lambda B as a product: two passes over the data, memory for one number a pair.

    Notes
    -----
    With a_p = A(w)_xy for pair p and its coefficient c_p, (B w)_i = sum_p c_p a_p x_i y_i.

    Parameters
    ----------
    data : DataMatrix
        The standardised data.
    pairs : Pairs
    strength : float
        lambda.
    scale : ndarray of shape (n_features,) or None
        s_i, when weights are looked for in the form w = S b.
    """

    def __init__(self, data: DataMatrix, pairs: Pairs, strength: float, scale: Array | None = None) -> None:
        self.data = data
        together = np.vstack([pairs.cannot, pairs.must])
        order = np.lexsort((together[:, 1], together[:, 0]))
        whole = strength * data.n_samples**2 / 2
        coefficient = np.concatenate(
            [
                np.full(len(pairs.cannot), whole / max(1, len(pairs.cannot))),
                np.full(len(pairs.must), -whole / max(1, len(pairs.must))),
            ]
        )
        self.first = np.ascontiguousarray(together[order, 0])
        self.second = np.ascontiguousarray(together[order, 1])
        self.coefficient = coefficient[order]
        self.scale = np.ones(data.n_features) if scale is None else scale

    def affinities(self, weights: Array) -> Array:
        """Return A(w)_xy for every pair; one pass."""
        from eigensieve.qalpha.knowledge._pairs_numba import add_affinities

        scaled = self.scale * weights
        first, second = self.first, self.second

        def segment(piece: DataMatrix, offset: int, spans: Any) -> Array:
            out = np.zeros(len(first))
            for start, stop in spans:
                Z = np.ascontiguousarray(piece.block(start, stop).toarray())
                add_affinities(Z, scaled[offset + start : offset + stop], first, second, out)
            return out

        total = np.zeros(len(first))
        for part in self.data.each_segment(
            segment
        ):  # a list of one array a block would hold a million numbers many times
            total += part
        return total

    def product(self, weights: Array) -> Array:
        """Return lambda B w."""
        from eigensieve.qalpha.knowledge._pairs_numba import add_products

        values = self.coefficient * self.affinities(weights)
        first, second = self.first, self.second

        def block(part: Block) -> Array:
            out = np.zeros(part.stop - part.start)
            add_products(np.ascontiguousarray(part.toarray()), values, first, second, out)
            return out

        return self.scale * np.concatenate(self.data.map_blocks(block))
