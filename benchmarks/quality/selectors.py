"""The selectors that are compared: those built in, and any scikit-learn selector given as text.

A choice takes (X, n_clusters, count, seed, y) and returns indices, best first, or a function from a number of features
to indices. Only supervised ones look at y. Peers come twice: with standardised data, and with raw data under names with
``-raw``. The sieve sees raw data, as users have it.
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
    """Read ``module:Class(arguments)``: any class with `fit`, and ``selection_order_`` or scikit-learn's `get_support`.

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
        if hasattr(model, "selection_order_"):
            return np.asarray(model.selection_order_)
        return np.asarray(model.get_support(indices=True))

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


def qalpha(X, n_clusters, count, seed, y):
    from eigensieve import QAlphaSelector

    return QAlphaSelector(count, n_clusters).fit(X).selection_order_


def _both(name: str, choose: Choose, **how: bool) -> dict[str, Selector]:
    """A peer with standardised and with raw data."""
    return {name: Selector(choose, **how), f"{name}-raw": Selector(choose, raw=True, **how)}


def _deep(name: str) -> Choose:
    """A deep peer. PyTorch is imported when it runs."""

    def choose(X, n_clusters, count, seed, y):
        return getattr(importlib.import_module(f"{__package__}.peers.deep"), name)(X, n_clusters, count, seed, y)

    return choose


SELECTORS = {
    "sieve": Selector(sieve, raw=True),
    "qalpha-k": Selector(qalpha, told=True),
    **_both("laplacian", peers.laplacian),
    **_both("mcfs-k", peers.mcfs, told=True),
    **_both("spec-k", peers.spec, told=True),
    **_both("fastcan-k", peers.fastcan, told=True),
    **_both("css", peers.greedy_columns),
    **_both("cur-k", peers.leverage, told=True),
    **_both("pfa", peers.principal_features, nested=False),
    **_both("facility", peers.facility_location),
    **_both("fps", peers.farthest_points),
    **_both("ndfs-k", peers.ndfs, told=True),
    **_both("udfs-k", peers.udfs, told=True),
    **_both("rufs-k", peers.rufs, told=True),
    "if-learn-k": Selector(peers.influential, told=True),
    "variance": Selector(peers.variance, raw=True),
    "all": Selector(peers.all_features, whole=True),
    "random": Selector(peers.random_choice, draws=3),
    "f-test": Selector(f_test, supervised=True),
}

DEEP = {
    **_both("cae", _deep("concrete_autoencoder"), nested=False),
    **_both("ls-cae", _deep("ls_cae"), nested=False),
    **_both("dufs", _deep("dufs")),
}
"""Peers that need PyTorch and minutes per set. They run when they are named."""


def selector_of(label: str) -> Selector:
    """The selector of a name, or of a text that `from_text` reads."""
    return (SELECTORS | DEEP).get(label) or from_text(label)


def input_for(raw: bool, X: np.ndarray) -> np.ndarray:
    """What a selector is given."""
    return X.astype(np.float64) if raw else standardized(X)
