"""Public copies of standard data sets, downloaded from OpenML and cached by scikit-learn."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from eigensieve._errors import wrong_parameter
from eigensieve.datasets.real import real_bunch

OPENML = {
    "arrhythmia": (5, 452, 279),
    "australian": (40981, 690, 14),
    "boston_housing": (531, 506, 13),
    "crx": (29, 690, 15),
    "dermatology": (35, 366, 34),
    "ecoli": (39, 336, 7),
    "german_credit": (31, 1000, 20),
    "glass": (41, 214, 9),
    "heart_statlog": (53, 270, 13),
    "ionosphere": (59, 351, 34),
    "isolet": (300, 7797, 617),
    "leukemia_golub": (1104, 72, 7129),
    "segment": (36, 2310, 19),
    "spambase": (44, 4601, 57),
    "umist": (41084, 575, 10304),
    "usps": (41082, 9298, 256),
    "vehicle": (54, 846, 18),
    "wine": (187, 178, 13),
}
"""Where a set is kept, and the shape it must have: number on OpenML, samples, features."""


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
        raise wrong_parameter("name", "fetch_real", f"be one of {', '.join(list_openml())}", repr(name))
    from sklearn.datasets import fetch_openml

    data_id, *shape = OPENML[name]
    fetched = fetch_openml(data_id=data_id, as_frame=False, parser="liac-arff", data_home=data_home)
    data = np.asarray(fetched.data, dtype=np.float64)
    if data.shape != tuple(shape):
        raise ValueError(
            f"OpenML data set {data_id} should be '{name}' with shape {tuple(shape)} but has shape {data.shape}. "
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
        source=f"openml:{data_id}",
    )


def _encoded(target: np.ndarray) -> tuple[np.ndarray, list[str] | None]:
    """Turn class names into integers; leave the floats of a regression target alone."""
    if np.issubdtype(target.dtype, np.floating):
        return target, None
    class_names, codes = np.unique(target.astype(str), return_inverse=True)
    return codes, [str(name) for name in class_names]
