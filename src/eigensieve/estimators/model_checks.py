"""Checks of a model from a file, whoever wrote it: every part has its declared shape and range.

Compiled code, ours and that of scikit-learn, reads positions from these arrays without looking at bounds. So all of
them are compared with `model_fields` before anything is computed.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from eigensieve.estimators.model_fields import (
    COMMON,
    ESTIMATOR_FIELDS,
    MORE,
    PART_FIELDS,
    SVM_FIELDS,
    Each,
    Field,
    Fields,
    Fitted,
    Ignored,
    Numbers,
    Part,
    Sparse,
    Text,
    real,
)

Sizes = dict[str, int]


class _Misfit(ValueError):
    """A part of a model is not as declared."""


def misfit(model: Any) -> str | None:
    """Return what is wrong with a model, or None if all its parts fit together.

    Parameters
    ----------
    model : estimator
        As a file gave it.
    """
    try:
        _check_estimator(model, "")
    except _Misfit as problem:
        return str(problem)
    except Exception as error:  # a model of unknown content may raise anything, for example for a missing setting
        return f"{type(error).__name__} while checking it: {error}"
    return None


def _require(condition: Any, problem: str) -> None:
    if not condition:
        raise _Misfit(problem)


def _check_estimator(model: Any, where: str) -> None:
    """Check the settings and everything learned of an estimator, ours or scikit-learn's."""
    model._validate_params()
    fields = ESTIMATOR_FIELDS.get(type(model).__name__)
    if fields is None:
        _check_foreign(model, where)
        return
    settings = model.get_params(deep=False)
    learned = {name: value for name, value in vars(model).items() if name not in settings}
    _check_inside(settings.values(), where)
    if learned.keys() - COMMON.keys():  # otherwise it is not fitted
        _check_fields(learned, {**COMMON, **fields}, {}, where)
        _RELATIONS[type(model).__name__](learned)


def _check_fields(values: dict[str, Any], fields: Fields, sizes: Sizes, where: str) -> None:
    unknown = sorted(values.keys() - fields.keys())
    _require(not unknown, f"{where}{', '.join(unknown)} of it is not known to this version of eigensieve")
    for name, field in fields.items():
        value = values.get(name)
        if value is None:
            _require(field.optional, f"it has no {where}{name}")
            continue
        _check(value, field, sizes, f"{where}{name}")
        if name in ("n_features_in_", "n_features"):
            _require(sizes.setdefault("features", int(value)) == value, f"{where}{name} is {value}")


def _check(value: Any, field: Field, sizes: Sizes, where: str) -> None:
    match field:
        case Numbers():
            _check_numbers(value, field, sizes, where)
        case Text():
            _require(isinstance(value, str), f"{where} is not a string")
        case Sparse():
            _require(issparse(value), f"{where} is not a sparse matrix")
            _check_sparse(value, where)
            _check_shape(value.shape, field.shape, sizes, where)
        case Part():
            name = type(value).__name__
            ours = type(value).__module__.startswith("eigensieve.") and name in field.types
            _require(ours, f"{where} is a {name}")
            inside = {size: n for size, n in sizes.items() if size not in field.own} if field.own else sizes
            _check_fields(vars(value), PART_FIELDS[name], inside, f"{where}.")
            _RELATIONS.get(name, _nothing)(vars(value))
        case Each():
            _require(isinstance(value, list), f"{where} is not a list")
            if field.length is not None:
                _check_shape((len(value),), (field.length,), sizes, where)
            for item in value:
                _check(item, field.item, sizes, where)
        case Fitted():
            _require(isinstance(value, BaseEstimator), f"{where} is not an estimator")
            n_features = getattr(value, "n_features_in_", sizes["features"])
            _require(n_features == sizes["features"], f"{where} has {n_features} features")
            _check_estimator(value, f"{where}.")
        case Ignored():
            pass


def _check_numbers(value: Any, field: Numbers, sizes: Sizes, where: str) -> None:
    wanted = list if field.listed else np.ndarray if field.shape else (bool, int, float, np.generic)
    _require(isinstance(value, wanted), f"{where} is a {type(value).__name__}")
    array = np.asarray(value)
    common = array.dtype.kind != "f" or array.dtype.itemsize in (4, 8)
    _require(array.dtype.kind in field.kinds and common, f"{where} holds {array.dtype}")
    _check_shape(array.shape, field.shape, sizes, where)
    array = array.astype(np.float64) if array.dtype.kind == "f" else array
    low, high = field.low, field.high
    if np.isnan(low) or array.dtype.kind not in "fiu":
        return
    most = sizes[high] - 1 if isinstance(high, str) else high
    # NaN fails both comparisons
    _require(np.all((array >= low) & (array <= most)), f"{where} holds values outside the range from {low} to {most}")
    _require(not field.rising or np.all(np.diff(array) > 0), f"{where} is not sorted, or has duplicates")


def _check_shape(found: tuple[int, ...], wanted: tuple[str | int, ...], sizes: Sizes, where: str) -> None:
    fits = len(found) == len(wanted)
    for n, name in zip(found, wanted, strict=False):
        if isinstance(name, int):
            fits = fits and n == name
        elif name.endswith(MORE):
            fits = fits and n >= 1 and sizes.setdefault(name.removesuffix(MORE), n - 1) == n - 1
        else:
            fits = fits and sizes.setdefault(name, n) == n
    _require(fits, f"{where} has shape {found}, which does not fit the rest")


def _check_sparse(matrix: Any, where: str) -> None:
    if hasattr(matrix, "indptr"):
        matrix.check_format(full_check=True)
    elif hasattr(matrix, "coords"):
        for place, n in zip(matrix.coords, matrix.shape, strict=True):
            _require(len(place) == len(matrix.data) and np.all((place >= 0) & (place < n)), f"{where} is out of bounds")
    else:
        _require(matrix.data.ndim == 2 and len(matrix.offsets) == len(matrix.data), f"{where} is not a matrix")


def _check_foreign(model: Any, where: str) -> None:
    """Check an estimator of scikit-learn: support vector machines, which libsvm walks through.

    Its other estimators that skops loads compute with numpy. Trees, whose nodes are positions too, are not loaded.
    """
    if isinstance(model, SVC | NuSVC | SVR | NuSVR) and hasattr(model, "support_vectors_"):
        _check_svm(model, where)
    _check_inside((step for _, step in model.steps) if isinstance(model, Pipeline) else vars(model).values(), where)


def _check_inside(values: Iterable[Any], where: str) -> None:
    """Check the values of settings, or of attributes of scikit-learn's estimators."""
    for value in values:
        if isinstance(value, BaseEstimator):
            _check_estimator(value, where)
        elif issparse(value):
            _check_sparse(value, where)
        elif isinstance(value, dict):
            _check_inside(value.values(), where)
        elif isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.dtype == object):
            _check_inside(np.ravel(value) if isinstance(value, np.ndarray) else value, where)


def _check_svm(svm: Any, where: str) -> None:
    """Check the arrays that libsvm walks through."""
    sizes: Sizes = {"features": svm.n_features_in_}
    for name, field in SVM_FIELDS.items():
        if hasattr(svm, name) or not field.optional:
            found = getattr(svm, name)
            _check(found, field, sizes, f"{where}{name}")
            _require(getattr(found, "dtype", None) != np.float32, f"{where}{name} holds float32")
    classes, n_vectors = sizes["machine classes"], sizes["vectors"]
    types = all(array.dtype == np.int32 for array in (svm.support_, svm._n_support))
    _require(types and svm.n_support_.sum() == n_vectors, f"{where}_n_support does not fit")
    _require(classes == len(getattr(svm, "classes_", "ab")), f"{where}classes_ does not fit")
    _require(sizes["pairs"] == classes * (classes - 1) // 2, f"{where}intercept_ does not fit")
    _require(
        len(svm._probA) == len(svm._probB) and len(svm._probA) in (0, sizes["pairs"]), f"{where}_probA does not fit"
    )
    for name in ("support_vectors_", "dual_coef_", "_dual_coef_"):
        found = getattr(svm, name)
        _check(found, Sparse(("rows", "columns")) if svm._sparse else real("rows", "columns"), {}, f"{where}{name}")
        wanted = (n_vectors, svm.n_features_in_) if name == "support_vectors_" else (classes - 1, n_vectors)
        full = (svm._sparse and name == "support_vectors_") or found.size == wanted[0] * wanted[1]
        _require(found.shape == wanted and full and found.dtype == np.float64, f"{where}{name} does not fit")


def _selection(learned: dict[str, Any]) -> None:
    ranking, support = learned["ranking_"], learned["support_"]
    _require(np.array_equal(np.sort(ranking), np.arange(1, len(ranking) + 1)), "ranking_ does not give every rank once")
    chosen = np.sort(learned["selection_order_"])
    _require(np.array_equal(chosen, np.flatnonzero(support)), "selection_order_ does not list the features of support_")


def _classifier(learned: dict[str, Any]) -> None:
    n_classes, n_outputs = len(learned["classes_"]), len(learned["intercept_"])
    _require(n_classes >= 2 and n_outputs == (1 if n_classes == 2 else n_classes), "classes_ does not fit intercept_")


def _expansion(values: dict[str, Any]) -> None:
    starts, n_elements = values["starts"], len(values["values"])
    rising = np.all(np.diff(starts) >= 0) and starts[0] == 0 and starts[-1] == n_elements
    _require(rising, "starts does not cut the elements into columns")


def _cascade(learned: dict[str, Any]) -> None:
    _require(len(learned["classes_"]) == 2, "classes_ does not hold two classes")
    for name in ("rejector_", "classifier_"):
        same = np.array_equal(getattr(learned[name], "classes_", []), learned["classes_"])
        _require(same, f"{name} has other classes")
    full = learned["_full"]
    _require(full is None or len(full.intercept) == 1, "_full has several outputs")


def _nothing(values: dict[str, Any]) -> None:
    pass


_RELATIONS: dict[str, Callable[[dict[str, Any]], None]] = {
    "SieveSelector": _selection,
    "QAlphaSelector": _selection,
    "KernelQAlphaSelector": _selection,
    "FeatureMap": _selection,
    "TraceRatioSelector": _selection,
    "UnwantedVariationRemover": _nothing,
    "WeightedFeatures": _nothing,
    "ElementSelectedSVC": _classifier,
    "ElementSelectedSVR": _nothing,
    "ReducedSetSVC": _classifier,
    "RejectionCascade": _cascade,
    "ElementExpansion": _expansion,
}
"""What must hold between the parts of an object."""
