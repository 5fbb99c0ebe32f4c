"""One selection, stage by stage: problem -> samples -> layout -> structure or target -> scores -> pick."""

from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

import eigensieve.data as storage
from eigensieve._progress import Progress
from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.evidence import Discoveries, Exchange, agreement_p_values, discover, follow, null_agreement, step_up
from eigensieve.sieve.interactions import interaction_p_values, read_interactions
from eigensieve.sieve.labelled import TargetFit, fit_target
from eigensieve.sieve.layouts import Use, relative_variances, sample_profiles
from eigensieve.sieve.panel import MOST_PICKED, fewest, growing_panels
from eigensieve.sieve.pick import Alignment, Constraints, Gain, Panel, Residual, candidates_in_order, n_considered, pick
from eigensieve.sieve.rounds import Rounds, separation
from eigensieve.sieve.samples import Samples, compared_samples
from eigensieve.sieve.settings import SETTINGS
from eigensieve.sieve.target import Target
from eigensieve.sieve.unwanted import Cleaned, Unwanted, clean

Source = Literal["features", "profiles", "labels", "products"]


@dataclass(frozen=True)
class Found:
    """The scores of all features, and the structure behind them."""

    scores: FloatArray  # about 0 for noise
    structure: FloatArray  # compared x columns: V of the compared samples, or the target
    embedding: FloatArray  # samples x columns: the same for all samples
    source: Source  # what the scores are made of


@dataclass(frozen=True)
class Problem:
    """Data without unwanted variation, with the target or the search for a structure."""

    raw: storage.DataMatrix
    cleaned: Cleaned
    target: Target | None  # none looks for the structure that the features show themselves
    rounds: Rounds  # the search for that structure
    batches: IntArray | None = None  # samples are permuted within these
    # the donor of every sample, if some have several: samples of one donor are no evidence for one another
    donors: IntArray | None = None
    constraints: Constraints = field(default_factory=Constraints)

    @property
    def usable(self) -> BoolArray:
        return self.cleaned.usable

    @property
    def n_passes(self) -> int:
        return self.cleaned.data.n_passes

    @property
    def samples(self) -> Samples:
        return self.rounds.samples

    @property
    def tested(self) -> BoolArray:
        """The features that may be chosen and are not kept in any case."""
        return self.constraints.free(self.usable)

    @cached_property
    def orders(self) -> storage.Orders:
        """The orders in which random draws are made: of the compared samples, with a target of all, and of features."""
        rows = None if self.target is not None else self.samples.rows
        return storage.value_orders(self.raw if rows is None else self.raw.samples(rows))

    def with_constraints(self, constraints: Constraints) -> "Problem":
        """Return the same problem with other constraints. The known part of the target stays known."""
        other = copy(self)
        object.__setattr__(other, "constraints", constraints)
        return other

    def found(self, progress: Progress) -> Found:
        """Score all features."""
        if self.target is not None:
            fit = self.fitted
            rows = slice(None) if self.samples.rows is None else self.samples.rows
            scores = np.where(self.usable, fit.scores + self.rounds.separation, 0.0)
            return Found(scores, fit.target[rows], self._plain(fit.target), fit.source)
        V, layout = self.rounds.structure(self.usable, progress)
        if np.count_nonzero(self.usable) <= SETTINGS.narrow:
            scores = self.rounds.narrow_scores(progress)
        else:
            scores = self.rounds.scores(V)
        embedding = V
        if self.samples.rows is not None:
            progress(f"placing {self.samples.everything.n_samples} samples among {len(V)} landmarks")
            embedding = self.samples.extended(V, layout.places())
        source: Source = "features" if self.rounds.profiles is None else "profiles"
        return Found(np.where(self.usable, scores, 0.0), V, self._plain(embedding), source)

    def _plain(self, V: FloatArray) -> FloatArray:
        """Return V without the roots of the samples' weights."""
        roots = self.cleaned.data.roots
        return V if roots is None else V / roots[:, None]

    @cached_property
    def fitted(self) -> TargetFit:
        """The target as structure, with scores by products of features where these are clearly better."""
        assert self.target is not None
        data = self.cleaned.data
        order = None if self.target.complete else self.orders.samples
        fit = fit_target(data, self.usable, self.target, batches=self.cleaned.batches, donors=self.donors, order=order)
        codes = self.target.codes
        plain = self.donors is None and data.roots is None
        if codes is None or not plain or not self.target.complete or np.any(self.rounds.separation):
            return fit
        read = read_interactions(data, self.usable, fit.target, codes, self.orders.samples)
        better = None if read is None else read[0].clearly_better()
        if better is None:
            return fit
        scores = np.zeros(data.n_features)
        scores[self.usable] = better
        return replace(fit, source="products", scores=scores)

    def discoveries(self, fdr: float, rng: np.random.Generator, progress: Progress) -> Discoveries:
        """Find the features that follow the target, or else a structure shown by the other features."""
        if self.target is None:
            return discover(
                self.samples.data,
                self.usable,
                lambda active: self.rounds.structure(active)[0],
                fdr=fdr,
                rng=rng,
                tested=self.tested,
                n_folds=SETTINGS.narrow if np.count_nonzero(self.tested) <= SETTINGS.narrow else SETTINGS.folds,
                exchange=self._exchange,
                orders=self.orders,
                progress=progress,
            )
        fit, products = self.fitted, self.fitted.source == "products"
        rate = fdr / 2 if products else fdr
        data, exchange = self.cleaned.data, self._exchange
        views = [data, storage.SquaredData(data)] if fit.square_share else [data]
        found = follow(views, self.tested, fit.known, fdr=rate, rng=rng, exchange=exchange, orders=self.orders)
        if not products:
            return found
        progress("comparing products of features with permuted labels")
        assert self.target is not None and self.target.codes is not None
        read = read_interactions(self.cleaned.data, self.usable, fit.target, self.target.codes, self.orders.samples)
        assert read is not None
        p_values = np.ones(len(self.usable))
        p_values[self.usable] = interaction_p_values(read[0], rate, rng, exchange.among(read[1]))
        return Discoveries(np.minimum(found.p_values, p_values), self.tested & (found.selected | (p_values <= rate)))

    @property
    def _exchange(self) -> Exchange:
        """Which samples trade places in permuted copies: with a target those whose y is known, else those compared."""
        every = Exchange(self.batches, self.donors, roots=self.cleaned.data.roots)
        if self.target is not None:
            return every if self.target.complete else replace(every, moving=self.target.known)
        return every if self.samples.rows is None else every.among(self.samples.rows)

    def pick(self, found: Found, candidates: IntArray, count: int) -> IntArray:
        """Pick features by gain within the constraints; fewer if these leave fewer. Features no better than noise come
        last."""
        share = self.cleaned.share
        worth = found.scores * share
        if found.source == "labels" and (variances := self.rounds.variances) is not None:
            worth *= np.sqrt(np.minimum(variances, np.quantile(variances[self.usable], SETTINGS.cap)))
        features = candidates_in_order(worth, candidates, self.constraints)
        if not len(features) or not count:
            return np.empty(0, dtype=np.intp)
        few = features[: n_considered(count, self.constraints)]
        scores, present = found.scores[few], self.samples.present[few]
        present = np.where(present > 0, present, 1.0)  # a feature without any value may be kept
        clear: BoolArray | None = None
        gain: Gain
        if found.source == "labels":
            fit, rows = self.fitted, slice(None) if self.samples.rows is None else self.samples.rows
            squares = self.standing(few, storage.SquaredData(self.samples.data)) if fit.square_share else None
            gain = Residual(self.standing(few), worth[few], fit.columns[rows], fit.square_share, squares, fit.ridge)
        else:
            gain = Alignment(self.standing(few), scores, share[few], present)
        if found.source in ("features", "profiles"):
            p_values = np.ones(len(features))
            p_values[: len(few)] = agreement_p_values(scores / present, found.structure)
            clear = step_up(p_values, SETTINGS.noise)[: len(few)]
        return pick(Panel(self.constraints, features), gain, count, clear)

    def standing(self, features: IntArray, data: storage.DataMatrix | None = None) -> FloatArray:
        """Return features of the compared samples in memory; the squared norm of each is its share of values."""
        Z = (self.samples.data if data is None else data).take(features)
        present = self.samples.present[features]
        return Z if (present == 1).all() else Z * np.sqrt(present).astype(Z.dtype)

    def fewest(self, found: Found, candidates: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Pick the fewest features that show the structure. Returns them, and how much panels of growing size show."""
        order = self.pick(found, candidates, min(len(candidates) + len(self.constraints.keep), MOST_PICKED))
        donors, roots = self.samples.donors, self.samples.data.roots
        sizes, shown = growing_panels(self.standing(order), found.structure, donors, roots)
        return order[: max(fewest(sizes, shown), len(self.constraints.keep))], sizes, shown

    def null_scores(self, found: Found, rng: np.random.Generator) -> FloatArray:
        """Return the scores of ten permuted copies of up to 200 features, from the largest to the smallest score."""
        labelled = self.target is not None
        data = self.cleaned.data if labelled else self.samples.data
        V = self.fitted.target if labelled else found.structure
        ranked = np.flatnonzero(self.usable)
        ranked = ranked[np.lexsort((self.raw.stats().mean[ranked], -found.scores[ranked]))]
        some = ranked[np.linspace(0, len(ranked) - 1, min(200, len(ranked))).astype(np.intp)]
        Z = data.take(some)
        exchange = replace(self._exchange, ranks=np.argsort(np.argsort(np.sum(Z**2, axis=1))))
        gaps = data.shared.gaps
        present = None if gaps is None else gaps.present(some)
        null = null_agreement(Z, V, 10, rng, exchange, present)
        return (self.samples.present[some, None] * null).ravel()


def pose(
    raw: storage.DataMatrix,
    usable: BoolArray,
    target: Target | None = None,
    unwanted: Unwanted | None = None,
    cannot: IntArray | None = None,
    *,
    use_scale: Use = "auto",
    use_profiles: Use = "auto",
    constraints: Constraints | None = None,
    donors: IntArray | None = None,
    weights: FloatArray | None = None,
) -> Problem:
    """Remove unwanted variation and build the search problem.

    `cannot` (pairs x 2) are pairs of samples that cannot be linked. `use_scale` makes the features' variances their
    first weights, or deviations count in the pick. Without a target `use_profiles` compares samples by profiles, which
    needs data without unwanted variation. `weights` of the samples are positive with mean 1; None if all are equal.
    """
    unwanted = Unwanted() if unwanted is None else unwanted
    gaps = raw.shared.gaps
    if gaps is not None and (unwanted.by_sample or weights is not None or gaps.rows is not None):
        raw = storage.without_gaps(raw, unwanted.span(raw.n_samples) if unwanted.by_sample else None, weights)
    stats = raw.stats() if weights is None else storage.weighted_stats(raw, weights)
    standard = raw.standardized("center") if weights is None else storage.weighted_standard(raw, stats, weights)
    cleaned = clean(standard, usable, unwanted)
    samples = compared_samples(cleaned.data, donors, raw)
    apart = separation(cleaned.data, cannot) if cannot is not None and len(cannot) else 0.0
    by_profiles = target is None and not unwanted.anything and not (use_profiles == "auto" and use_scale is True)
    profiles = sample_profiles(raw, cleaned.usable, use_profiles, weights) if by_profiles else None
    variances = relative_variances(stats, cleaned.usable, cleaned.share, use_scale) if profiles is None else None
    rounds = Rounds(samples, cleaned.usable, variances, profiles, apart)
    constraints = Constraints() if constraints is None else constraints
    return Problem(raw, cleaned, target, rounds, unwanted.batches, donors, constraints)
