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
from eigensieve.sieve.landmarks import landmarks_of, marginal_excess
from eigensieve.sieve.panel import MOST_PICKED, Panel, panel
from eigensieve.sieve.picking import pick
from eigensieve.sieve.profiles import Profiles, UseProfiles, sample_profiles
from eigensieve.sieve.rounds import SieveResult, apart_matrix, pair_scores, sieve, sieve_embedding
from eigensieve.sieve.scale import Prior, UseScale, scale_prior
from eigensieve.sieve.showing import pick_showing
from eigensieve.sieve.start import zero_is_meaningful
from eigensieve.sieve.target import Target
from eigensieve.sieve.unwanted import Cleaned, Unwanted, clean


def prepare(
    raw: DataMatrix,
    usable: Array,
    target: Target | None,
    unwanted: Unwanted,
    cannot: Array | None,
    n_clusters: int | Literal["auto"],
    *,
    given_count: bool,
    use_scale: UseScale = "auto",
    use_profiles: UseProfiles = "auto",
) -> "Search":
    """Remove what is unwanted, and return what is to be searched.

    Parameters
    ----------
    raw : DataMatrix
    usable : ndarray of bool of shape (n_features,)
        Features that vary.
    target : Target or None
    unwanted : Unwanted
    cannot : ndarray of int of shape (n_pairs, 2) or None
        Pairs of samples that cannot be linked. They become part of the score.
    n_clusters : int or "auto"
    given_count : bool
        Whether the number of features to select is given.
    use_scale : bool or "auto"
        Whether features that vary more have more weight, where there is no target.
    use_profiles : bool or "auto"
        Whether samples are compared by their profiles, where there is no target and nothing unwanted.
    """
    # Means count only where nothing else is known. They have no null, so the automatic choice leaves them out, too.
    means_count = given_count and target is None and not unwanted.anything
    centered = not (means_count and zero_is_meaningful(raw.stats()))
    cleaned = clean(raw.standardized("center" if centered else "unit"), usable, unwanted)
    # It depends on the marginals alone, and permuting does not change these: the folds may share it.
    excess = 1.0
    if n_clusters == "auto" and target is None:
        excess = marginal_excess(raw.standardized("center"), usable)
    apart = apart_matrix(cannot, raw.n_samples) if cannot is not None and len(cannot) else None
    prior = scale_prior(raw, cleaned.usable, cleaned.share, use_scale) if target is None else None
    # Profiles have weights of their own.
    told = use_profiles == "auto" and use_scale is True
    plain = target is None and not unwanted.anything and not told
    profiles = sample_profiles(raw, cleaned.usable, use_profiles) if plain else None
    return Search(cleaned, unwanted.batches, target, n_clusters, centered, excess, apart, prior, profiles)


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
    prior : Prior or None
        From :func:`~eigensieve.sieve.scale.scale_prior`.
    profiles : Profiles or None
        From :func:`~eigensieve.sieve.profiles.sample_profiles`.
    """

    cleaned: Cleaned
    batches: Array | None
    target: Target | None
    n_clusters: int | Literal["auto"]
    centered: bool
    excess: float
    apart: csr_array | None
    prior: Prior | None = None
    profiles: Profiles | None = None

    @property
    def data(self) -> DataMatrix:
        return self.cleaned.data

    @property
    def usable(self) -> Array:
        return self.cleaned.usable

    @property
    def groups(self) -> Array | None:
        """The batches, within which samples are permuted. A sample without label is a group of its own, so it stays."""
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
                prior=self.prior,
                profiles=self.profiles,
                progress=progress,
            )
        progress("scoring the features by the labels")
        fit = self.fitted
        return SieveResult(
            fit.scores,
            fit.target,
            fit.eigenvalues,
            fit.source,
            fit.n_rounds,
            self.usable,
            self.centered,
        )

    @cached_property
    def seen(self) -> tuple[DataMatrix, Array | slice]:
        """The data of the samples by which picks are compared, and which samples these are: landmarks, if many."""
        landmarks = landmarks_of(self.data, centered=self.centered)
        return (self.data, slice(None)) if landmarks is None else (landmarks.data, landmarks.rows)

    def discoveries(
        self, fdr: float, rng: np.random.Generator, progress: Progress, *, by_profiles: bool = False
    ) -> Discoveries:
        """Find the features that follow the target, or else a structure shown by the other features.

        With `by_profiles` the others show it by the profiles of the samples.
        """
        if self.target is not None:
            fit = self.fitted
            together = fit.source != "labels"
            rate = fdr / 2 if together else fdr
            found = follow(fit.views(self.data), self.usable, fit.known, fdr=rate, rng=rng, groups=self.groups)
            return self._with_interacting(found, rate, rng, progress) if together else found

        def embed(active: Array) -> Array:
            if by_profiles and self.profiles is not None:
                return self.profiles.embedding(active, self.n_clusters, progress)[0]
            data = self.data.restricted(active)
            return sieve_embedding(
                data,
                active,
                self.n_clusters,
                excess=self.excess,
                apart=self.apart,
                prior=self.prior,
                progress=progress,
            )

        return discover(self.data, self.usable, embed, fdr=fdr, rng=rng, groups=self.batches, progress=progress)

    def _with_interacting(
        self, found: Discoveries, rate: float, rng: np.random.Generator, progress: Progress
    ) -> Discoveries:
        """Add the features that follow the classes only together with others, at an error rate of their own."""
        assert self.target is not None and self.target.codes is not None
        progress("looking at products of features under permuted labels")
        p_values = interaction_p_values(
            self.data, self.usable, self.fitted.target, self.target.codes, rate, rng, self.groups
        )
        return Discoveries(np.minimum(found.p_values, p_values), found.selected | (p_values <= rate))

    def pick(self, scores: Array, candidates: Array, count: int, result: SieveResult) -> Array:
        """Pick features that show the structure or, with a target, features by score.

        The share of a feature's variance that is unwanted does not count. If there are many samples, features are
        compared on the landmarks alone.
        """
        data, rows = self.seen
        if self.target is None:
            assert result.shown is not None
            return pick_showing(
                data,
                result.shown,
                result.embedding[rows],
                scores,
                candidates,
                count,
                centered=self.centered,
                share=self.cleaned.share,
                apart=0.0 if self.apart is None else pair_scores(self.data, self.apart),
            )
        quality = scores * self.cleaned.share
        if self.fitted.source != "labels":
            return pick(data, quality, candidates, count)
        return pick(data, quality, candidates, count, self.fitted.target[rows], square_share=self.fitted.square_share)

    def fewest(self, scores: Array, candidates: Array, result: SieveResult) -> tuple[Array, Panel]:
        """Pick the fewest features that show the structure, and say how much of it the picks show."""
        order = self.pick(scores, candidates, min(len(candidates), MOST_PICKED), result)
        data, rows = self.seen
        found = panel(data.take(order), result.embedding[rows])
        return order[: found.fewest], found

    def null_scores(self, embedding: Array, rng: np.random.Generator) -> Array:
        """Return the scores of permuted copies of the features."""
        return NullSample(self.data, [rng.permutation(np.flatnonzero(self.usable))], self.groups).scores(
            embedding, 0, rng
        )
