"""The choice of genes: the structure of the cells by the genes that vary most, then every gene scored by all cells."""

from dataclasses import dataclass

import numpy as np

import eigensieve.estimators as estimators
from eigensieve._types import BoolArray, FloatArray, IntArray
from eigensieve.data import DataMatrix, one_blas_thread, value_orders, without_gaps
from eigensieve.evidence import Exchange, agreement, discover
from eigensieve.sieve import Panel, Rounds, Unwanted, clean, compared_samples

_KEPT = 4_000  # most genes that the structure is made of
_WITHIN = 12  # power of the share within batches: at a tenth between them, a gene keeps 0.28 of its score
_RAREST = 1e-4  # share of the cells, half of that of the types that are looked for
_FAINT = 0.01  # added to the mean of a gene: the mean of one that is hardly seen is no measure


@dataclass(frozen=True)
class Choice:
    """The chosen genes, best first; the score of every gene; the structure of the cells that the scores are about."""

    order: IntArray
    scores: FloatArray
    embedding: FloatArray


@one_blas_thread()
def choose(model: estimators.SieveSelector, data: DataMatrix, known: estimators.Known, *, amounts: bool) -> Choice:
    """Choose by cell types where there are any, and otherwise by the structure of the cells.

    `model` has the number of genes to choose. With `amounts` nothing is negative, so that a gene's effect can be
    compared with its mean.
    """
    if known.y is not None:
        model._fit_known(data, known)
        return Choice(model.selection_order_, model.weights_, model.embedding_)
    raw = estimators.check_data(model, data, min_samples=4)
    usable = model._check_some_vary(raw)
    count, constraints = model._count(usable), estimators.read_constraints(model, usable)
    estimators.check_room(model, count, constraints, usable)
    batches = None if known.batches is None else estimators.read_batches(model, raw, known.batches)
    donors = None if known.groups is None else estimators.read_donors(model, raw, known.groups)
    side = None if known.side is None else estimators.read_side(model, raw, known.side)
    progress = estimators.progress_of(model)
    if raw.shared.gaps is not None and batches is not None:
        raw = without_gaps(raw, Unwanted(batches).span(raw.n_samples))
    cleaned = clean(raw.standardized("center"), usable, Unwanted(batches, side, covariates=known.covariates))
    spread = raw.stats().centered_norm * np.sqrt(cleaned.share)
    samples = compared_samples(cleaned.data, donors, raw, rarity(raw) if amounts else None)
    among = spread * (samples.factor > 0) / np.where(samples.factor > 0, samples.factor, 1.0)  # the compared cells

    def structure(active: BoolArray) -> FloatArray:
        places = np.flatnonzero(active)
        kept = places[np.argsort(-among[places], kind="stable")[:_KEPT]]
        V, layout = Rounds(samples, active, small_groups=True).structure(
            np.isin(np.arange(len(active)), kept), progress
        )
        return V if samples.rows is None else samples.extended(V, layout.places())

    V = structure(cleaned.usable)
    scores = np.where(cleaned.usable, samples.present * agreement(cleaned.data, V, donors), 0.0)
    candidates = constraints.free(cleaned.usable)
    if count is None:
        follow = discover(
            cleaned.data,
            cleaned.usable,
            structure,
            fdr=model.fdr,
            rng=estimators.generator(model.random_state),
            tested=candidates,
            exchange=Exchange(batches, donors),
            orders=value_orders(raw),
            progress=progress,
        )
        candidates, count = follow.selected, follow.count + len(constraints.keep)
        if not count:
            model._warn_nothing_selected()
    # Variation between batches, or with sequencing depth, must not count.
    merit = scores * cleaned.share ** (1 if batches is None else _WITHIN)
    if amounts:
        merit = merit * np.sqrt(relative_effect(scores, spread / np.sqrt(raw.n_samples), raw.stats().mean))
    if constraints.costs is not None:
        merit = np.where(merit > 0, merit / constraints.costs, merit * constraints.costs)
    best = np.argsort(-merit, kind="stable")
    panel = Panel(constraints, np.concatenate([constraints.keep, best[candidates[best]]]))
    for place in range(len(constraints.keep)):
        panel.add(place)
    panel.fill(count)
    return Choice(np.array(panel.order, dtype=np.intp), scores, V)


def rarity(raw: DataMatrix) -> FloatArray:
    """Return sum_i x_ti / a_i per cell, a_i the mean of gene i: large for a type with genes that few cells have. Genes
    that effectively fewer than 1 in 10,000 cells have (mean squared over mean of squares) are left out."""
    stats = raw.stats()
    seen = stats.mean**2 > _RAREST * (stats.variance + stats.mean**2)
    return raw.combine(np.where(seen, 1.0 / np.where(seen, stats.mean, 1.0), 0.0)[:, None])[:, 0]


def relative_effect(scores: FloatArray, deviation: FloatArray, mean: FloatArray) -> FloatArray:
    """Return how much the structure changes each gene, relative to its mean: sqrt(u_i) d_i / a_i, d the deviations.

    The score u is a share of the gene's variance. A highly expressed gene has little noise, so a small change makes a
    large share. Small differences of many genes, such as those between unknown batches, would be chosen.
    """
    return np.asarray(np.sqrt(np.maximum(scores, 0.0)) * deviation / (mean + _FAINT))
