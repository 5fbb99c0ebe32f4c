"""Models on disk: skops files, which hold no code, with a plain JSON header that says who wrote them."""

import hashlib
import json
import os
import zipfile
from copy import copy
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from eigensieve._extras import require
from eigensieve._files import staged
from eigensieve._types import JsonDict
from eigensieve._version import __version__
from eigensieve.estimators.model_checks import misfit
from eigensieve.estimators.outcome import selected_features

ESTIMATORS = {
    "SieveSelector": "eigensieve.estimators.sieve_selector",
    "QAlphaSelector": "eigensieve.estimators.qalpha_selector",
    "KernelQAlphaSelector": "eigensieve.estimators.kernel_qalpha",
    "FeatureMap": "eigensieve.estimators.feature_map",
    "TraceRatioSelector": "eigensieve.estimators.trace_ratio",
    "UnwantedVariationRemover": "eigensieve.estimators.variation",
    "WeightedFeatures": "eigensieve.estimators.weighted",
    "ElementSelectedSVC": "eigensieve.estimators.element_svc",
    "ElementSelectedSVR": "eigensieve.estimators.element_svr",
    "ReducedSetSVC": "eigensieve.estimators.reduced_set",
    "RejectionCascade": "eigensieve.estimators.rejection_cascade",
}
"""Name of every public estimator -> the module it is in. Model files may hold these."""

FORMAT = 3
HEADER = "eigensieve.json"


class ModelFileError(ValueError):
    """A model file is damaged, not trusted, or from a version that cannot be read."""


def save_model(model: BaseEstimator, path: str | os.PathLike[str], *, about: JsonDict | None = None) -> None:
    """Write a fitted estimator to a file without pickle.

    The file is a skops archive with one more member, ``eigensieve.json``. That member holds the version that wrote the
    file, the names of the features, which of them are selected, `about`, and checksums of all other members. The file
    appears whole or not at all.

    Paths among the parameters are written as strings. Metadata requests, such as those of ``set_fit_request``, are left
    out: they matter to `fit` only.

    Parameters
    ----------
    model : estimator
        One of eigensieve's estimators, fitted; or a scikit-learn Pipeline that ends with one.
    path : path-like
        Usually ends in ``.skops``.
    about : dict, optional
        Plain JSON values to keep with the model, for example how the data was prepared.

    Raises
    ------
    TypeError
        The model is none of eigensieve's, or it holds what :func:`load_model` would refuse. Nothing is written.
    """
    require("skops.io", extra="models")
    if not _is_ours(model):
        raise TypeError(
            "The 'model' parameter of save_model must be one of eigensieve's estimators, or a Pipeline that ends with "
            f"one. Got {type(model).__name__} instead; save the fitted estimator in it, such as best_estimator_."
        )
    names = getattr(model, "feature_names_in_", None)
    bare = _stripped(model)
    if isinstance(bare, Pipeline):
        bare.steps = [(name, _stripped(step)) for name, step in model.steps]
    if names is not None:  # skops would store one node per name; the header holds them in one list
        del _first_step(bare).feature_names_in_
    header = {
        "eigensieve": __version__,
        "format": FORMAT,
        "estimator": type(model).__name__,
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
        "feature_names": None if names is None else [str(name) for name in names],
        "selection": selected_features(model) if hasattr(model, "get_support") else None,
        "about": about or {},
    }
    content = _loadable(bare)
    problem = None if content is None else misfit(model)
    if problem is not None:
        raise TypeError(f"This {type(model).__name__} could not be loaded again: {problem}. Fit it again.")
    if content is None:
        raise TypeError(
            f"A model file cannot hold {', '.join(_foreign_parts(bare))} of this {type(model).__name__}: it takes "
            "numbers, strings, numpy arrays, sparse matrices such as scipy.sparse.csr_array, and scikit-learn's "
            "estimators. Pass such values instead, for example numpy.asarray(frame) for a data frame, or the name of a "
            "kernel for a function, and fit again."
        )
    with staged(path) as file:
        file.write_bytes(content)
        with zipfile.ZipFile(file, "a") as archive:
            header["checksums"] = _checksums(archive)
            archive.writestr(HEADER, json.dumps(header, ensure_ascii=False))


def _is_ours(model: BaseEstimator) -> bool:
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    return type(last).__name__ in ESTIMATORS


def _stripped(step: BaseEstimator) -> Any:
    """Return a copy of an estimator, its paths as strings and without its metadata requests."""
    bare = copy(step)
    if not isinstance(step, BaseEstimator):  # a step of a Pipeline may be a word
        return bare
    for name, value in vars(step).items():
        if isinstance(value, os.PathLike):
            setattr(bare, name, os.fspath(value))
    vars(bare).pop("_metadata_request", None)
    return bare


def _loadable(value: Any) -> bytes | None:
    """Return what skops writes for a value; None if it cannot be written, or not be read again."""
    import skops.io as sio

    try:
        content: bytes = sio.dumps(value)
    except (TypeError, NotImplementedError, RecursionError):  # what skops raises for functions and for cycles
        return None
    return None if set(sio.get_untrusted_types(data=content)) - _trusted_types() else content


def _foreign_parts(model: BaseEstimator, owner: str = "") -> list[str]:
    """Name the parameters and attributes that cannot be written, with their types."""
    parts = {name: value for name, value in vars(model).items() if name != "steps"} | dict(getattr(model, "steps", []))
    found = []
    for name, value in parts.items():
        if _loadable(value) is None:
            inside = _foreign_parts(value, f"{owner}{name}__") if isinstance(value, BaseEstimator) else []
            found += inside or [f"'{owner}{name}' (a {type(value).__name__})"]
    return found


def _checksums(archive: zipfile.ZipFile) -> dict[str, str]:
    names = [name for name in archive.namelist() if name != HEADER]
    return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in names}


def read_model_header(path: str | os.PathLike[str]) -> JsonDict:
    """Return the header of a model file without building anything: ``eigensieve`` (version), ``format``, ``estimator``,
    ``written``, ``feature_names``, ``selection``, ``about``."""
    try:
        with zipfile.ZipFile(path) as archive:
            # Ours are stored without compression; a compressed member could unpack to any size.
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise ModelFileError(f"'{path}' was not written by eigensieve: its parts are compressed. {_REFIT}")
            header = json.loads(archive.read(HEADER))
            names = archive.namelist()
            found = _checksums(archive)
    except KeyError as error:
        raise ModelFileError(f"'{path}' was not written by eigensieve: it has no header. {_REFIT}") from error
    except Exception as error:  # a damaged archive may raise anything; only what names a file is about the file itself
        if isinstance(error, ModelFileError) or getattr(error, "filename", None) is not None:
            raise
        raise ModelFileError(f"'{path}' is damaged or no model file. {_REFIT}") from error
    if not isinstance(header, dict) or not isinstance(header.get("format"), int):
        raise ModelFileError(f"'{path}' is damaged: its header cannot be understood. {_REFIT}")
    if header["format"] < FORMAT:
        raise ModelFileError(f"'{path}' was written by an older eigensieve ({header.get('eigensieve')}). {_REFIT}")
    if header["format"] > FORMAT:
        raise ModelFileError(
            f"'{path}' was written by eigensieve {header.get('eigensieve')}, whose model files this version "
            f"({__version__}) cannot read. Update with: pip install -U eigensieve"
        )
    if header.get("checksums") != found or len(set(names)) != len(names):
        raise ModelFileError(f"'{path}' is damaged: its parts do not match their checksums. {_REFIT}")
    return header


_REFIT = "Fit and save the model again."


def load_model(path: str | os.PathLike[str]) -> BaseEstimator:
    """Read a fitted estimator from a file written by :func:`save_model`.

    Nothing in the file is executed. Only eigensieve's estimators, scikit-learn's estimators, plain arrays and sparse
    matrices are built.
    A file that names anything else is refused before it is loaded.

    Parameters
    ----------
    path : path-like
        The model file.

    Raises
    ------
    FileNotFoundError
    ModelFileError
        The file is damaged, holds types that are not trusted, or comes from a newer version.
    """
    sio = require("skops.io", extra="models")
    header = read_model_header(path)
    try:
        foreign = set(sio.get_untrusted_types(file=path)) - _trusted_types()
        if foreign:
            raise ModelFileError(
                f"'{path}' holds types that are not trusted: {', '.join(sorted(foreign)[:5])}. It was not loaded; "
                "fit the model again from data you trust."
            )
        model = sio.load(path, trusted=sorted(_trusted_types()))
    except ModelFileError:
        raise
    except Exception as error:
        if getattr(error, "filename", None) is not None:
            raise
        raise ModelFileError(f"'{path}' is damaged ({type(error).__name__} while reading it). {_REFIT}") from error
    if not _is_ours(model):
        raise ModelFileError(f"'{path}' holds a {type(model).__name__}, not a model of eigensieve. {_REFIT}")
    problem = misfit(model)
    if problem is not None:
        raise ModelFileError(f"'{path}' is damaged: {problem}. {_REFIT}")
    _restore_names(model, header, path)
    return model


def _trusted_types() -> set[str]:
    return {f"{module}.{name}" for name, module in ESTIMATORS.items()} | _HELPER_TYPES


_SPARSE = ("array", "matrix")

_HELPER_TYPES = {
    "eigensieve.elements.expansion.ElementExpansion",
    "eigensieve.elements.expansion.FullExpansion",
    "eigensieve.elements.kernel.MaskedKernel",
    *(f"scipy.sparse._{kind}.{kind}_{what}" for kind in ("bsr", "coo", "csc", "csr", "dia") for what in _SPARSE),
}
"""Plain containers of arrays that the estimators keep."""


def _restore_names(model: BaseEstimator, header: JsonDict, path: object) -> None:
    names = header.get("feature_names")
    if names is None:
        return
    right = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not right or len(names) != getattr(model, "n_features_in_", None):
        raise ModelFileError(f"'{path}' is damaged: its feature names do not fit its model. {_REFIT}")
    _first_step(model).feature_names_in_ = np.array(names, dtype=object)


def _first_step(model: BaseEstimator) -> Any:
    """What holds the names of the features: the estimator, or the first one of a Pipeline."""
    return model.steps[0][1] if hasattr(model, "steps") else model
