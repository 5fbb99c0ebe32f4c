"""Which kinds of knowledge go together: the one place that refuses those that do not, and says why."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigensieve.qalpha.knowledge.labels import UNLABELLED, Labels
from eigensieve.qalpha.knowledge.pairs import Pairs


@dataclass(frozen=True)
class Request:
    """What a user asked for, as far as parts of it can contradict each other.

    Attributes
    ----------
    owner : str
        Name of the estimator.
    spectrum, criterion, normalize, solver
        Its parameters of the same names.
    supervision : {"span", "blocks"} or None
        How labels are used; None without labels.
    labels : Labels or None
    pairs : Pairs or None
    """

    owner: str
    spectrum: str
    criterion: str
    normalize: str
    solver: str
    supervision: str | None
    labels: Labels | None
    pairs: Pairs | None


def check_combination(request: Request) -> None:
    """Raise a ValueError when parts of the request exclude each other."""
    for refuse in (_laplacian_of_centred, _blocks, _few_labels, _labels_against_pairs):
        refuse(request)


def _refuse(request: Request, parameter: str, must: str, why: str, fix: str) -> None:
    raise ValueError(f"The '{parameter}' parameter of {request.owner} must {must}: {why}. {fix}")


def _laplacian_of_centred(request: Request) -> None:
    if request.spectrum == "laplacian" and request.normalize == "center":
        _refuse(
            request,
            "normalize",
            "not be 'center' with spectrum='laplacian'",
            "centred features sum to zero, and the Laplacian would be the affinity plus a constant",
            "Use normalize='unit'.",
        )


def _blocks(request: Request) -> None:
    if request.supervision != "blocks":
        return
    assert request.labels is not None
    fix = "Use supervision='span', or the default."
    if request.spectrum != "standard":
        why = "a block between two classes has no Laplacian"
        _refuse(request, "spectrum", "be 'standard' with supervision='blocks'", why, fix)
    if request.criterion != "energy":
        why = "the blocks across classes are already what is subtracted"
        _refuse(request, "criterion", "be 'energy' with supervision='blocks'", why, fix)
    if request.solver != "auto":
        why = "the criterion takes a maximum within and a minimum across classes, which only its own solver does"
        _refuse(request, "solver", "be 'auto' with supervision='blocks'", why, fix)
    if not request.labels.complete:
        why = "samples without label (-1) are in no block"
        _refuse(request, "supervision", "be 'span' when some labels are missing", why, "Use supervision='span'.")


def _few_labels(request: Request) -> None:
    if request.labels is not None and not request.labels.complete and request.solver != "auto":
        _refuse(
            request,
            "solver",
            "be 'auto' when some samples have no label (-1)",
            "the papers' solvers move all rows of the embedding or none, not those of the unlabelled samples alone",
            "Use solver='auto'.",
        )


def _labels_against_pairs(request: Request) -> None:
    if request.labels is None or request.pairs is None:
        return
    codes = request.labels.codes
    for name, pairs, equal in (("cannot_link", request.pairs.cannot, True), ("must_link", request.pairs.must, False)):
        first, second = codes[pairs[:, 0]], codes[pairs[:, 1]]
        both = (first != UNLABELLED) & (second != UNLABELLED)
        wrong = np.flatnonzero(both & ((first == second) == equal))
        if len(wrong):
            x, y = pairs[wrong[0]]
            relation = "the same label" if equal else "different labels"
            raise ValueError(
                f"The '{name}' parameter of {request.owner}.fit contradicts y: samples {x} and {y} have {relation} "
                f"({len(wrong)} such pairs). Remove the pairs, or mark the labels -1 (unknown)."
            )


def check_start(owner: str, n_clusters: Any, init: Any, n_init: int, n_samples: int) -> None:
    """Raise a ValueError when number of clusters, start and number of starts do not fit each other or the data."""
    if n_clusters != "auto" and n_clusters > n_samples:
        raise ValueError(
            f"The 'n_clusters' parameter of {owner} must be at most the number of samples. "
            f"Got n_clusters={n_clusters} with n_samples={n_samples} instead."
        )
    if n_init > 1 and not (isinstance(init, str) and init == "random"):
        raise ValueError(
            f"The 'n_init' parameter of {owner} must be 1 unless init='random': other starts are always the same. "
            f"Got n_init={n_init} instead."
        )
    if isinstance(init, np.ndarray):
        k = "n_clusters" if n_clusters == "auto" else n_clusters
        right = init.ndim == 2 and len(init) == n_samples and k in ("n_clusters", init.shape[1])
        if not right or np.linalg.matrix_rank(init) < init.shape[1]:
            raise ValueError(
                f"The 'init' parameter of {owner} must have shape ({n_samples}, {k}) and independent columns. "
                f"Got shape {init.shape} instead."
            )
