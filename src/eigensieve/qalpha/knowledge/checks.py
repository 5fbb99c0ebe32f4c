"""Read pairs, and refuse settings that contradict each other, with the reason."""

import sys
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from eigensieve._errors import wrong_parameter
from eigensieve._types import IntArray
from eigensieve.qalpha.knowledge.labels import UNLABELLED, Labels


@dataclass(frozen=True)
class Pairs:
    """Distinct unordered pairs of samples, each list with shape (n_pairs, 2)."""

    cannot: IntArray
    must: IntArray


def read_pairs(cannot_link: Any, must_link: Any, n_samples: int, owner: str) -> Pairs | None:
    """Check the user's pairs and leave out repeated ones. Return None when there are none.

    Pairs are indices (n_pairs, 2), or one group number per sample, -1 for none, which a cross-validation can slice: the
    same group belongs together in `must_link`, different groups belong apart in `cannot_link`. Neither lists nor chains
    of must-link pairs may contradict a cannot-link pair.
    """
    if cannot_link is None and must_link is None:
        return None
    cannot = _tidy(cannot_link, "cannot_link", n_samples, owner)
    must = _tidy(must_link, "must_link", n_samples, owner)
    if not len(cannot) and not len(must):
        if any(np.ndim(given) == 1 and np.size(given) for given in (cannot_link, must_link)):
            return None  # groups of which a fold holds no two samples
        raise ValueError(f"The pairs given to {owner} are empty. Leave out cannot_link and must_link instead.")
    if len(must):
        graph = coo_array((np.ones(len(must)), (must[:, 0], must[:, 1])), shape=(n_samples, n_samples))
        group = connected_components(graph, directed=False)[1]
        clash = np.flatnonzero(group[cannot[:, 0]] == group[cannot[:, 1]])
        if len(clash):
            x, y = cannot[clash[0]]
            raise ValueError(
                f"The pairs given to {owner} contradict each other: samples {x} and {y} are in cannot_link, and "
                f"must_link joins them (directly or through others; {len(clash)} such pairs). Remove one of the two."
            )
    return Pairs(cannot, must)


def _tidy(pairs: Any, name: str, n_samples: int, owner: str) -> IntArray:
    given = np.asarray([] if pairs is None else pairs)
    if given.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if given.dtype.kind in "iu" and given.shape == (n_samples,):
        return _pairs_of_groups(given, together=name == "must_link")
    fit = f"{owner}.fit"
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        pairs_or_groups = f"with shape (n_pairs, 2), or one group number per sample with shape ({n_samples},)"
        must, got = f"be integer indices of samples {pairs_or_groups}", f"shape {given.shape} and type {given.dtype}"
        raise wrong_parameter(name, fit, must, got)
    if _cross_validated():
        raise ValueError(
            f"The '{name}' parameter of {owner}.fit holds pairs of indices, which a cross-validation cannot slice: "
            "in a fold they would name other samples. Give one group number per sample instead, -1 for no pairs."
        )
    if given.min() < 0 or given.max() >= n_samples:
        must = f"hold indices from 0 to {n_samples - 1} (X has {n_samples} samples)"
        raise wrong_parameter(name, fit, must, f"indices from {given.min()} to {given.max()}")
    if len(same := np.flatnonzero(given[:, 0] == given[:, 1])):
        got = f"sample {given[same[0], 0]} with itself (row {same[0]})"
        raise wrong_parameter(name, fit, "pair different samples", got)
    low, high = given.min(axis=1).astype(np.int64), given.max(axis=1).astype(np.int64)
    code = np.unique(low * n_samples + high)
    return np.column_stack([code // n_samples, code % n_samples])


def _cross_validated() -> bool:
    """Whether scikit-learn's cross-validation calls, with nobody between who could have made pairs for the fold."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module == "sklearn.model_selection._validation":
            return True
        if module.partition(".")[0] not in ("eigensieve", "sklearn", "joblib"):
            return False
        frame = frame.f_back
    return False


def _pairs_of_groups(groups: IntArray, *, together: bool) -> IntArray:
    """All pairs of samples of the same group, or of different groups; samples with a negative number have none."""
    known = np.flatnonzero(groups >= 0)
    first, second = np.triu_indices(len(known), 1)
    chosen = (groups[known[first]] == groups[known[second]]) == together
    return np.column_stack([known[first[chosen]], known[second[chosen]]]).astype(np.int64)


def check_combination(
    owner: str,
    *,
    spectrum: str,
    criterion: str,
    normalize: str,
    solver: str,
    shift: str,
    labels: Labels | None,
    pairs: Pairs | None,
) -> None:
    """Raise a ValueError when parameters of an estimator, labels and pairs exclude each other."""
    laplacian, auto, blocks = spectrum == "laplacian", solver == "auto", criterion == "blocks"
    few = labels is not None and not labels.complete
    energy = "Use criterion='energy'."
    refused = (
        (laplacian and normalize == "center", "normalize", "not be 'center' with spectrum='laplacian'",
         "centred features sum to zero, and the Laplacian would be the affinity plus a constant",
         "Use normalize='unit'."),
        (blocks and labels is None, "criterion", "not be 'blocks' without labels",
         "it compares classes", "Pass y, or use criterion='energy'."),
        (blocks and laplacian, "spectrum", "be 'standard' with criterion='blocks'",
         "a block between two classes has no Laplacian", energy),
        (shift != "fixed" and not (laplacian and solver == "power"), "solver_options",
         f"not hold shift={shift!r} without spectrum='laplacian' and solver='power'",
         "d moves in the papers' power-embedded algorithm for the Laplacian only", "Leave it out."),
        (blocks and not auto, "solver", "be 'auto' with criterion='blocks'",
         "the criterion takes a maximum within and a minimum across classes, which only its own solver does", energy),
        (blocks and few, "criterion", "not be 'blocks' when some labels are missing",
         "samples without label (-1) are in no block", energy),
        (few and not auto, "solver", "be 'auto' when some samples have no label (-1)",
         "the papers' solvers move all rows of the embedding or none, not those of the unlabelled samples alone",
         "Use solver='auto'."),
    )  # fmt: skip
    for wrong, parameter, must, why, fix in refused:
        if wrong:
            raise ValueError(f"The '{parameter}' parameter of {owner} must {must}: {why}. {fix}")
    if labels is not None and pairs is not None:
        check_pairs_against_labels(labels.codes, pairs, owner)


def check_pairs_against_labels(codes: IntArray, pairs: Pairs, owner: str) -> None:
    """Refuse pairs that belong apart with the same label, and pairs that belong together with different ones."""
    for name, given, equal in (("cannot_link", pairs.cannot, True), ("must_link", pairs.must, False)):
        first, second = codes[given[:, 0]], codes[given[:, 1]]
        both = (first != UNLABELLED) & (second != UNLABELLED)
        wrong = np.flatnonzero(both & ((first == second) == equal))
        if len(wrong):
            x, y = given[wrong[0]]
            relation = "the same label" if equal else "different labels"
            raise ValueError(
                f"The '{name}' parameter of {owner}.fit contradicts y: samples {x} and {y} have {relation} "
                f"({len(wrong)} such pairs). Remove the pairs, or mark the labels -1 (unknown)."
            )


def check_start(owner: str, n_clusters: Any, init: Any, n_samples: int) -> None:
    """Raise a ValueError when the number of clusters, the start and the number of samples do not go together."""
    if n_clusters != "auto" and n_clusters > n_samples:
        got = f"n_clusters={n_clusters} for {n_samples} samples"
        raise wrong_parameter("n_clusters", owner, "be at most the number of samples", got)
    if isinstance(init, np.ndarray):
        k = "n_clusters" if n_clusters == "auto" else n_clusters
        right = init.ndim == 2 and len(init) == n_samples and k in ("n_clusters", init.shape[1])
        finite = init.dtype.kind in "fiub" and bool(np.isfinite(init).all())
        if not right or not finite or np.linalg.matrix_rank(init) < init.shape[1]:
            must = f"have shape ({n_samples}, {k}), finite numbers and independent columns"
            got = f"shape {init.shape} and {'finite' if finite else 'other'} values"
            raise wrong_parameter("init", owner, must, got)
