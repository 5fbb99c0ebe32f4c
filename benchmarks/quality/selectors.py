"""The selectors that are compared: those built in, and any scikit-learn selector given as text.

A choice takes (X, n_clusters, count, seed, y) and returns indices, best first, or a function from a number of features
to indices. Only supervised ones look at y. The
others see standardised data, or raw data where that suits them better (names with ``-raw``); the sieve sees raw data,
as users have it.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.feature_selection import f_classif

from . import peers
from .data import standardized

Order = np.ndarray | Callable[[int], np.ndarray]
Choose = Callable[[np.ndarray, int, int, int, np.ndarray], Order]


@dataclass(frozen=True)
class Selector:
    """A way to choose features.

    Attributes
    ----------
    choose : callable
    nested : bool
        Whether one run for the largest count serves all counts.
    whole : bool
        Whether it chooses a number of features of its own.
    draws : int
        Independent choices to average over.
    supervised : bool
    told : bool
        Whether it is told the number of classes.
    raw : bool
        Whether it is given raw instead of standardised data.
    """

    choose: Choose
    nested: bool = True
    whole: bool = False
    draws: int = 1
    supervised: bool = False
    told: bool = False
    raw: bool = False


def from_text(text: str) -> Selector:
    """Read ``module:Class(arguments)``: any estimator with scikit-learn's ``get_support``.

    The arguments may name `count`, the number of features wanted, `k`, the number of classes, and `seed`. A selector
    that does not name `count` chooses a number of its own. The word ``raw`` in front gives it raw data, the word
    ``labels`` gives it y.
    """
    *words, what = text.split(maxsplit=text.partition(":")[0].count(" "))
    module, _, call = what.partition(":")
    if not call or set(words) - {"raw", "labels"}:
        raise ValueError(f"A selector is written [raw] [labels] module:Class(arguments). Got {text!r}.")
    source = importlib.import_module(module)
    code = compile(call, text, "eval")
    # Some modules load what they hold when it is asked for.
    names = {name: getattr(source, name) for name in code.co_names if hasattr(source, name)}
    supervised = "labels" in words

    def choose(X, n_clusters, count, seed, y):
        model = eval(code, names, {"count": count, "k": n_clusters, "seed": seed})
        model.fit(X, y) if supervised else model.fit(X)
        return np.asarray(getattr(model, "selection_order_", model.get_support(indices=True)))

    used = set(code.co_names)
    return Selector(
        choose,
        nested=False,
        whole="count" not in used,
        supervised=supervised,
        told="k" in used,
        raw="raw" in words,
    )


def f_test(X, n_clusters, count, seed, y):
    return np.argsort(-np.nan_to_num(f_classif(X, y)[0]), kind="stable")


def sieve(X, n_clusters, count, seed, y):
    from eigensieve import SieveSelector

    return SieveSelector(count, random_state=seed).fit(X).selection_order_


def sieve_told(X, n_clusters, count, seed, y):
    from eigensieve import SieveSelector

    return SieveSelector(count, n_clusters, random_state=seed).fit(X).selection_order_


def qalpha(X, n_clusters, count, seed, y):
    from eigensieve import QAlphaSelector

    return QAlphaSelector(count, n_clusters).fit(X).selection_order_


SELECTORS = {
    "sieve": Selector(sieve, raw=True),
    "sieve-k": Selector(sieve_told, told=True, raw=True),
    "qalpha-k": Selector(qalpha, told=True),
    "laplacian": Selector(peers.laplacian),
    "laplacian-raw": Selector(peers.laplacian, raw=True),
    "mcfs-k": Selector(peers.mcfs, told=True),
    "mcfs-k-raw": Selector(peers.mcfs, told=True, raw=True),
    "spec-k": Selector(peers.spec, told=True),
    "fastcan-k": Selector(peers.fastcan, told=True),
    "variance": Selector(peers.variance, raw=True),
    "all": Selector(peers.all_features, whole=True),
    "random": Selector(peers.random_choice, draws=3),
    "f-test": Selector(f_test, supervised=True),
}


def input_for(selector: Selector, X: np.ndarray) -> np.ndarray:
    """What the selector is given."""
    return X.astype(np.float64) if selector.raw else standardized(X)
