"""Public copies of standard data sets, downloaded from OpenML and cached by scikit-learn."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch

from eigensieve.datasets.real import real_bunch


class OpenMLEntry(NamedTuple):
    """Where a set is kept, and the shape it must have."""

    data_id: int
    n_samples: int
    n_features: int


OPENML: dict[str, OpenMLEntry] = {
    "arrhythmia": OpenMLEntry(5, 452, 279),
    "australian": OpenMLEntry(40981, 690, 14),
    "boston_housing": OpenMLEntry(531, 506, 13),
    "crx": OpenMLEntry(29, 690, 15),
    "dermatology": OpenMLEntry(35, 366, 34),
    "ecoli": OpenMLEntry(39, 336, 7),
    "german_credit": OpenMLEntry(31, 1000, 20),
    "glass": OpenMLEntry(41, 214, 9),
    "heart_statlog": OpenMLEntry(53, 270, 13),
    "ionosphere": OpenMLEntry(59, 351, 34),
    "isolet": OpenMLEntry(300, 7797, 617),
    "leukemia_golub": OpenMLEntry(1104, 72, 7129),
    "segment": OpenMLEntry(36, 2310, 19),
    "spambase": OpenMLEntry(44, 4601, 57),
    "umist": OpenMLEntry(41084, 575, 10304),
    "usps": OpenMLEntry(41082, 9298, 256),
    "vehicle": OpenMLEntry(54, 846, 18),
    "wine": OpenMLEntry(187, 178, 13),
}


def list_openml() -> list[str]:
    """Return the names :func:`fetch_real` knows, sorted."""
    return sorted(OPENML)


def fetch_real(name: str, *, data_home: str | Path | None = None) -> Bunch:
    """Download a standard data set from OpenML, or take it from the cache.

    Parameters
    ----------
    name : str
        One of :func:`list_openml`.
    data_home : str or pathlib.Path, default=None
        Cache folder, scikit-learn's own (``~/scikit_learn_data``) by default.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        With the keys of :func:`eigensieve.datasets.load_real`: data (float64; categories as ordinal codes,
        missing values as NaN), target (integers, or floats for regression), feature_names, class_names,
        categorical, categories, source, name; the others are None.
    """
    if name not in OPENML:
        raise ValueError(
            f"The 'name' parameter of fetch_real must be one of {', '.join(list_openml())}. Got {name!r} instead."
        )
    from sklearn.datasets import fetch_openml

    entry = OPENML[name]
    fetched = fetch_openml(data_id=entry.data_id, as_frame=False, parser="liac-arff", data_home=data_home)
    data = np.asarray(fetched.data, dtype=np.float64)
    if data.shape != (entry.n_samples, entry.n_features):
        raise ValueError(
            f"OpenML data set {entry.data_id} should be '{name}' with shape "
            f"{(entry.n_samples, entry.n_features)} but has shape {data.shape}. "
            "Remove it from the cache and fetch again, or report that the public copy has changed."
        )
    target, class_names = _encoded(fetched.target)
    categories: dict[Hashable, Any] = dict(fetched.get("categories") or {})
    feature_names = [str(feature) for feature in fetched.feature_names]
    return real_bunch(
        name=name,
        data=data,
        target=target,
        feature_names=feature_names,
        class_names=class_names,
        categorical=np.array([feature in categories for feature in feature_names]),
        categories=categories,
        source=f"openml:{entry.data_id}",
    )


def _encoded(target: np.ndarray) -> tuple[np.ndarray, list[str] | None]:
    """Turn class names into integers; leave the floats of a regression target alone."""
    if np.issubdtype(target.dtype, np.floating):
        return target, None
    class_names, codes = np.unique(target.astype(str), return_inverse=True)
    return codes, [str(name) for name in class_names]
