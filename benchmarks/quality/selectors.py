"""The selectors that are compared. Each takes (X, n_clusters, count, seed, y) and returns indices, best first.

Only the two supervised lines look at y. Peers see standardised data; the graph-based ones also raw data (names with
``-raw``), so that each is shown at its best.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.feature_selection import f_classif, mutual_info_classif

from eigensieve.graphs import knn_graph

from .data import standardized

Choose = Callable[[np.ndarray, int, int, int, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Selector:
    """A way to choose features.

    Attributes
    ----------
    choose : callable or None
        None for those of scikit-feature, which run under another Python (``peer``).
    nested : bool
        Whether the choice of few features begins the choice of many, so that one run serves all counts.
    draws : int
        Independent choices to average over.
    supervised : bool
    peer : str
        Task name for the peers' worker.
    raw : bool
        Whether it is given raw instead of standardised data.
    """

    choose: Choose | None = None
    nested: bool = True
    draws: int = 1
    supervised: bool = False
    peer: str = ""
    raw: bool = False


def sieve_auto(X, n_clusters, count, seed, y):
    from eigensieve.estimators.sieve_selector import SieveSelector

    return SieveSelector(count, random_state=seed).fit(X).selection_order_


def sieve_given(X, n_clusters, count, seed, y):
    from eigensieve.estimators.sieve_selector import SieveSelector

    return SieveSelector(count, n_clusters, random_state=seed).fit(X).selection_order_


def qalpha(X, n_clusters, count, seed, y):
    from eigensieve.estimators.qalpha_selector import QAlphaSelector

    return QAlphaSelector(count, n_clusters).fit(X).selection_order_


def all_features(X, n_clusters, count, seed, y):
    return np.arange(X.shape[1])


def random_choice(X, n_clusters, count, seed, y):
    return np.random.default_rng(seed).permutation(X.shape[1])


def variance(X, n_clusters, count, seed, y):
    return np.argsort(-X.astype(np.float64).var(axis=0), kind="stable")


def spec(X, n_clusters, count, seed, y):
    """SPEC's second function on a heat-weighted 5-neighbour graph: f'Lf / (1 - (f'v)^2), smaller is better.

    scikit-feature's own loop builds a samples x samples matrix for every feature and ranks this style backwards; the
    formula is Zhao and Liu's.
    """
    W = knn_graph(X, 5)
    d = np.asarray(W.sum(axis=1)).ravel()
    F = X * np.sqrt(d)[:, None]
    norms = np.linalg.norm(F, axis=0)
    F = F / np.where(norms > 0, norms, 1.0)
    scaled = F / np.sqrt(d)[:, None]
    roughness = np.einsum("ti,ti->i", F, F) - np.einsum("ti,ti->i", scaled, W @ scaled)
    v = np.sqrt(d) / np.linalg.norm(np.sqrt(d))
    rest = 1.0 - (v @ F) ** 2
    scores = np.where((norms > 0) & (rest > 1e-9), roughness / np.maximum(rest, 1e-9), np.inf)
    return np.argsort(scores, kind="stable")


def f_test(X, n_clusters, count, seed, y):
    return np.argsort(-np.nan_to_num(f_classif(X, y)[0]), kind="stable")


def mutual_information(X, n_clusters, count, seed, y):
    return np.argsort(-mutual_info_classif(X, y, random_state=seed), kind="stable")


SELECTORS = {
    "sieve": Selector(sieve_auto, nested=True),
    "sieve-k": Selector(sieve_given, nested=True),
    "qalpha": Selector(qalpha),
    "all": Selector(all_features),
    "random": Selector(random_choice, draws=10),
    "variance": Selector(variance, raw=True),
    "laplacian": Selector(peer="laplacian"),
    "laplacian-raw": Selector(peer="laplacian", raw=True),
    "spec": Selector(spec),
    "spec-raw": Selector(spec, raw=True),
    "spec-leading": Selector(peer="spec"),
    "mcfs": Selector(peer="mcfs", nested=False),
    "mcfs-raw": Selector(peer="mcfs", nested=False, raw=True),
    "udfs": Selector(peer="udfs"),
    "ndfs": Selector(peer="ndfs"),
    "f-test": Selector(f_test, supervised=True),
    "mutual-information": Selector(mutual_information, supervised=True),
}


def input_for(selector: Selector, X: np.ndarray) -> np.ndarray:
    """What the selector is given."""
    return X.astype(np.float64) if selector.raw else standardized(X)
