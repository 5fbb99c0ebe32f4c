"""One selection from data to features: by the structure that the features show, or by a target."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.sparse import csr_array

from eigensieve._progress import Progress
from eigensieve._types import Array
from eigensieve.data import DataMatrix
from eigensieve.evidence import Discoveries, NullSample, discover, follow
from eigensieve.sieve.interactions import better_than_labels, interaction_p_values
from eigensieve.sieve.labelled import TargetFit, fit_target
from eigensieve.sieve.landmarks import landmarks_of
from eigensieve.sieve.picking import pick
from eigensieve.sieve.rounds import SieveResult, sieve, sieve_embedding
from eigensieve.sieve.target import Target
from eigensieve.sieve.unwanted import Cleaned


@dataclass(frozen=True)
class Search:
    """One selection: the data without what is unwanted, and what is looked for in it.

    Attributes
    ----------
    cleaned : Cleaned
    batches : ndarray of int of shape (n_samples,) or None
    target : Target or None
        None looks for the structure that the features show themselves.
    n_clusters : int or "auto"
    centered : bool
        Whether the features are centred.
    excess : float
        As in :func:`~eigensieve.sieve.rounds.sieve`.
    apart : sparse array or None
        Pairs that cannot be linked, from :func:`~eigensieve.sieve.rounds.apart_matrix`.
    """

    cleaned: Cleaned
    batches: Array | None
    target: Target | None
    n_clusters: int | Literal["auto"]
    centered: bool
    excess: float
    apart: csr_array | None

    @property
    def data(self) -> DataMatrix:
        return self.cleaned.data

    @property
    def usable(self) -> Array:
        return self.cleaned.usable

    @property
    def groups(self) -> Array | None:
        """The groups of samples within which permuted copies are made: batches; samples without label stay."""
        if self.target is None or self.target.complete:
            return self.batches
        batches = np.zeros(self.data.n_samples, dtype=np.intp) if self.batches is None else self.batches
        return np.where(self.target.known, batches, batches.max() + 1 + np.arange(len(batches)))

    @cached_property
    def fitted(self) -> TargetFit:
        assert self.target is not None
        fit = fit_target(self.data, self.usable, self.target, batches=self.cleaned.batches, apart=self.apart)
        codes = self.target.codes
        if codes is None or not self.target.complete or self.apart is not None:
            return fit
        better = better_than_labels(self.data, self.usable, fit.target, codes)
        return fit if better is None else replace(fit, source=better[0], scores=better[1])

    def result(self, progress: Progress) -> SieveResult:
        """Score all features."""
        if self.target is None:
            return sieve(
                self.data,
                self.usable,
                self.n_clusters,
                centered=self.centered,
                excess=self.excess,
                apart=self.apart,
                progress=progress,
            )
        progress("scoring the features by the labels")
        fit = self.fitted
        return SieveResult(
            fit.scores,
            fit.target,
            fit.eigenvalues,
            fit.target.shape[1] + 1,
            fit.source,
            fit.n_rounds,
            self.usable,
            self.centered,
        )

    def discoveries(self, fdr: float, rng: np.random.Generator, progress: Progress) -> Discoveries:
        """Find the features that follow the target, or else a structure shown by the other features."""
        if self.target is not None:
            fit = self.fitted
            together = fit.source != "labels"
            rate = fdr / 2 if together else fdr
            found = follow(fit.views(self.data), self.usable, fit.known, fdr=rate, rng=rng, groups=self.groups)
            return self._with_interacting(found, rng) if together else found

        def embed(active: Array) -> Array:
            data = self.data.restricted(active)
            return sieve_embedding(
                data, active, self.n_clusters, excess=self.excess, apart=self.apart, progress=progress
            )

        return discover(self.data, self.usable, embed, fdr=fdr, rng=rng, groups=self.batches, progress=progress)

    def _with_interacting(self, found: Discoveries, rng: np.random.Generator) -> Discoveries:
        """Add the features that follow the classes only together with others."""
        assert self.target is not None and self.target.codes is not None
        p_values = interaction_p_values(self.data, self.usable, self.fitted.target, self.target.codes, rng, self.groups)
        return Discoveries(np.minimum(found.p_values, p_values), found.selected | (p_values < 1.0))

    def pick(self, scores: Array, candidates: Array, count: int) -> Array:
        """Pick features by score, times the share of their variance that is not unwanted.

        Of many samples the landmarks alone tell which features are near-copies.
        """
        quality = scores * self.cleaned.share
        landmarks = landmarks_of(self.data, centered=self.centered)
        data = self.data if landmarks is None else landmarks.data
        if self.target is None or self.fitted.source != "labels":
            return pick(data, quality, candidates, count)
        T = self.fitted.target if landmarks is None else self.fitted.target[landmarks.rows]
        return pick(data, quality, candidates, count, T, square_share=self.fitted.square_share)

    def null_scores(self, embedding: Array, rng: np.random.Generator) -> Array:
        """Return the scores of permuted copies of the features."""
        return NullSample(self.data, [rng.permutation(np.flatnonzero(self.usable))], self.groups).scores(
            embedding, 0, rng
        )
