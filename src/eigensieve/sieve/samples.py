"""The samples that are compared: all of them or, of many, landmarks that stand for them. They are made once per fit."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eigensieve._types import Array, FloatArray, IntArray
from eigensieve.data import DataMatrix, row_digests, share_present
from eigensieve.evidence import OwnPairs
from eigensieve.graphs import nearest_among
from eigensieve.sieve.settings import SETTINGS
from eigensieve.sieve.structure import centred

_GONE = 1e-5  # a feature whose variance among the landmarks is below this share of its energy does not vary there
_EXTREME = 3.0  # standard deviations
_COLUMNS_SHARE = 8  # at most 1/8 as many coordinates of all samples are made at once as there are features


@dataclass(frozen=True)
class Samples:
    """The samples that graphs, scores and picks are made of."""

    everything: DataMatrix  # all samples: centred columns of unit norm
    rows: IntArray | None  # which samples are compared, increasing. None if all are
    data: DataMatrix  # these samples: centred columns of unit norm among them
    # each column of `everything` times this has unit norm among the landmarks; 0 if it does not vary there
    factor: FloatArray
    # p_i, the share of all samples that have a value. Feature i counts as if its squared norm were p_i
    present: FloatArray
    donors: IntArray | None = None  # the donor of every sample in `data`, if some have several

    @property
    def roots(self) -> FloatArray:
        """r of the compared samples: rows of `data` and of V are multiplied by the roots of the samples' weights."""
        return np.ones(self.data.n_samples) if self.data.roots is None else self.data.roots

    @cached_property
    def dimensions(self) -> int:
        """Return how many independent samples there are, less one. Samples with a share rho of their features' variance
        between donors are between all samples and as many as donors: 1 / d = rho / donors + (1 - rho) / samples."""
        w = self.roots**2
        samples = max(1, round(np.sum(w) ** 2 / np.sum(w**2)) - 1)
        if self.donors is None:
            return samples
        numbers = np.unique(self.donors, return_inverse=True)[1].reshape(-1)
        totals = np.bincount(numbers, weights=w)
        between = OwnPairs((self.roots / np.sqrt(totals[numbers]))[:, None], numbers)
        varies = (self.factor > 0) & ~self.data.stats().constant
        share = np.concatenate(self.data.map_blocks(between))[varies].mean()
        donors = max(1, round(np.sum(totals) ** 2 / np.sum(totals**2)) - 1)
        chance = donors / samples
        rho = float(np.clip((share - chance) / max(1.0 - chance, 1e-9), 0.0, 1.0))
        return max(1, round(1.0 / (rho / donors + (1.0 - rho) / samples)))

    def allowed(self, weights: FloatArray) -> FloatArray:
        """Return the weights of features that vary among these samples, 0 for the others."""
        varies = self.factor > 0
        kept = np.where(varies, weights, 0.0)
        return kept if kept.any() else varies.astype(np.float64)

    def extended(self, V: FloatArray, places: FloatArray) -> FloatArray:
        """Carry the landmarks' V over to all samples: others get the mean of V over their 5 nearest landmarks in the
        layout `places` (Nystroem's extension)."""
        assert self.rows is not None
        marks = places[self.rows]
        others = np.delete(np.arange(len(places)), self.rows)
        every = np.ones(len(places)) if self.everything.roots is None else self.everything.roots
        V, whole = V / self.roots[:, None], np.empty((len(places), V.shape[1]))
        whole[self.rows] = V
        whole[others] = V[nearest_among(places[others], marks, min(SETTINGS.neighbors, len(marks) - 1))].mean(axis=1)
        return centred(whole, every)


def compared_samples(
    data: DataMatrix, donors: IntArray | None = None, raw: DataMatrix | None = None, extreme: Array | None = None
) -> Samples:
    """Choose the samples that are compared. Landmarks follow from the `raw` values, which rounding does not change."""
    if data.n_samples <= SETTINGS.landmarks:
        return Samples(data, None, data, np.ones(data.n_features), share_present(data), donors)
    rows = landmark_rows(data, data if raw is None else raw, extreme)
    few = data.samples(rows)
    ones = np.ones(len(rows))
    energy = np.concatenate(few.map_blocks(lambda block: block.squares(ones)))
    roots = ones if few.roots is None else few.roots
    mean = few.project(roots[:, None] / np.sum(roots**2))[:, 0].astype(np.float64)
    left = energy - np.sum(roots**2) * mean**2
    varies = left > _GONE * energy
    factor = np.where(varies, 1.0 / np.sqrt(np.where(varies, left, 1.0)), 0.0)
    return Samples(
        data, rows, few.moved(mean, factor), factor, share_present(data), None if donors is None else donors[rows]
    )


def landmark_rows(data: DataMatrix, raw: DataMatrix, extreme: Array | None = None) -> IntArray:
    """Return the landmarks, the same on every run: a tenth by `extreme` or their number of values beyond three standard
    deviations, so that small groups with features of their own are not lost, others by a hash of their raw values."""
    q = data.n_samples
    rare = round(SETTINGS.rare * SETTINGS.landmarks)
    limit = _EXTREME**2 / q if data.roots is None else (_EXTREME * data.roots[:, None]) ** 2 / q
    if extreme is None:
        extreme = sum(data.map_blocks(lambda block: np.count_nonzero(np.square(block.toarray()) > limit, axis=1)))
    mixed = np.argsort(row_digests(raw), kind="stable")
    chosen = mixed[np.argsort(-np.asarray(extreme)[mixed], kind="stable")[:rare]]
    others = mixed[~np.isin(mixed, chosen)][: SETTINGS.landmarks - rare]
    return np.sort(np.concatenate([chosen, others]))


def combined(data: DataMatrix, loadings: FloatArray) -> FloatArray:
    """Return M' loadings for all samples, a few columns at a time: with few features they are as large as X."""
    at_once = max(1, data.n_features // _COLUMNS_SHARE)
    places = np.empty((data.n_samples, loadings.shape[1]), dtype=np.float32)
    for start in range(0, loadings.shape[1], at_once):
        some = slice(start, start + at_once)
        places[:, some] = data.combine(np.ascontiguousarray(loadings[:, some]))
    return places
