"""Real data sets kept in a folder of the user's own, one ``NAME.npz`` each, and public copies of standard sets.

The files are never part of the package: the folder is named by the environment variable ``EIGENSIEVE_DATA``. Public
copies are downloaded from OpenML and cached by scikit-learn.
"""

import json
import os
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils import Bunch

from eigensieve._errors import wrong_parameter
from eigensieve._types import JsonDict

DATA_VARIABLE = "EIGENSIEVE_DATA"

_KEYS = ["name", "data", "target", "feature_names", "class_names", "image_shape", "image_order", "is_train"]
_KEYS += ["categorical", "categories", "source"]
_RENAMED = {"X": "data", "y": "target"}


def real_data_folder() -> Path:
    """Return the folder that holds the real data sets.

    It is the value of the environment variable ``EIGENSIEVE_DATA`` or, in a source checkout,
    ``../shared/data`` beside the repository when that exists.

    Returns
    -------
    folder : pathlib.Path
        An existing folder.

    Raises
    ------
    FileNotFoundError
        When there is no such folder; the message says how to name one.
    """
    named = os.environ.get(DATA_VARIABLE)
    if named:
        folder = Path(named).expanduser()
        if not folder.is_dir():
            raise FileNotFoundError(
                f"The environment variable {DATA_VARIABLE} names '{named}', which is not a folder. "
                "Set it to a folder that holds NAME.npz files."
            )
        return folder
    folder = Path(__file__).resolve().parents[4] / "shared" / "data"  # beside the repository
    if not folder.is_dir():
        raise FileNotFoundError(
            f"No folder with real data sets is known. Set the environment variable {DATA_VARIABLE} to a folder "
            f"that holds NAME.npz files, or get a public copy with eigensieve.datasets.fetch_real."
        )
    return folder


def list_real() -> list[str]:
    """Return the names of the data sets in :func:`real_data_folder`, sorted."""
    return sorted(path.stem for path in real_data_folder().glob("*.npz"))


def load_real(name: str) -> Bunch:
    """Load one data set of :func:`real_data_folder`.

    Parameters
    ----------
    name : str
        Name of the file without ``.npz``; :func:`list_real` lists them.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        Always with these keys, `None` where the file has no such entry:

        - data : ndarray or scipy.sparse.csr_matrix of shape (n_samples, n_features); values as stored (float32 or
          float64), NaN marks a missing value
        - target : ndarray of shape (n_samples,); labels (integers) or, for regression sets, floats
        - feature_names, class_names : list of str
        - image_shape : tuple of int
        - image_order : str; "C" or "F", the order in which the columns run over the image's pixels
        - is_train : ndarray of bool; the official split
        - categorical : ndarray of bool; columns that are ordinal codes of categories
        - categories : dict; category names by column
        - source : str; where the file came from
        - name : str

        Further arrays of the file keep their names (`barcodes`, `X_scaled`, ...).

    Notes
    -----
    Files are read with ``allow_pickle=False``: nothing in them is ever executed.
    """
    path = real_data_folder() / f"{name}.npz"
    if not path.is_file():
        known = ", ".join(list_real()) or "none"
        raise FileNotFoundError(
            f"There is no data set '{name}' in '{path.parent}'. Choose one of: {known}; "
            f"or point {DATA_VARIABLE} at another folder."
        )
    with np.load(path, allow_pickle=False) as stored:
        entries: JsonDict = {
            _RENAMED.get(key, key): value.item() if value.ndim == 0 else value for key, value in stored.items()
        }
    if "X_data" in entries:
        parts = (entries.pop(f"X_{part}") for part in ("data", "indices", "indptr"))
        entries["data"] = csr_matrix(tuple(parts), shape=tuple(entries.pop("X_shape").tolist()))
        entries.pop("format", None)
    texts = {key: [str(entry) for entry in entries[key]] for key in ("feature_names", "class_names") if key in entries}
    bunch = real_bunch(**({"name": name} | entries | texts))
    if bunch.image_shape is not None:
        bunch.image_shape = tuple(bunch.image_shape.tolist())
    if bunch.categories is not None:
        bunch.categories = json.loads(bunch.categories)
    return bunch


def real_bunch(**entries: Any) -> Bunch:
    """A Bunch with every key that :func:`load_real` documents, None where `entries` has no such key."""
    return Bunch(**{**dict.fromkeys(_KEYS), **entries})


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
    target, class_names = fetched.target, None
    if not np.issubdtype(target.dtype, np.floating):  # the floats of a regression target stay as they are
        class_names, target = np.unique(target.astype(str), return_inverse=True)
    categories: dict[Hashable, Any] = dict(fetched.get("categories") or {})
    feature_names = [str(feature) for feature in fetched.feature_names]
    return real_bunch(
        name=name,
        data=data,
        target=target,
        feature_names=feature_names,
        class_names=None if class_names is None else [str(name) for name in class_names],
        categorical=np.array([feature in categories for feature in feature_names]),
        categories=categories,
        source=f"openml:{data_id}",
    )
