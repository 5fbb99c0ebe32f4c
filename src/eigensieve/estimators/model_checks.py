"""Checks of a model from a file, whoever wrote it: every part has its declared shape and range.

Compiled code, ours and that of scikit-learn, reads positions from these arrays without looking at bounds. So all of
them are checked before anything is computed. `save_model` refuses a model with an attribute that has no line in the
tables here, so a new learned attribute needs one.
"""

import warnings
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from eigensieve._types import JsonDict
from eigensieve.estimators.model_fields import (
    FLAG,
    IGNORED,
    TEXT,
    Field,
    Misfit,
    Sizes,
    check_sparse,
    count,
    numbers,
    optional,
    real,
    require,
    shown,
    sparse,
)

Fields = dict[str, Field]
_SVMS = (SVC, NuSVC, SVR, NuSVR)


def misfit(model: BaseEstimator) -> str | None:
    """Return the fault of an estimator from a file, or None if all its parts fit together."""
    try:
        _check_estimator(model, "")
    except Misfit as problem:
        return str(problem)
    except Exception as error:  # a model of unknown content may raise anything, for example for a missing setting
        return f"{type(error).__name__} while checking it: {error}"
    return None


def _check_estimator(model: BaseEstimator, where: str) -> None:
    """Check the settings and everything learned of an estimator, ours or scikit-learn's."""
    model._validate_params()
    name = type(model).__name__
    if name not in _LEARNED:
        _check_foreign(model, where)
        return
    settings = model.get_params(deep=False)
    learned = {key: value for key, value in vars(model).items() if key not in settings}
    _check_inside(settings.values(), where)
    if learned.keys() - _COMMON.keys():  # otherwise it is not fitted
        _check_fields(learned, {**_COMMON, **_LEARNED[name]}, {}, where)
        if name in _RELATIONS:
            _RELATIONS[name](learned)


def _check_fields(values: JsonDict, fields: Fields, sizes: Sizes, where: str) -> None:
    unknown = sorted(values.keys() - fields.keys())
    require(not unknown, f"{where}{', '.join(unknown)} of it is not known to this version of eigensieve")
    for name, field in fields.items():
        value = values.get(name)
        if value is None:
            require(field.optional, f"it has no {where}{name}")
            continue
        field.check(value, sizes, f"{where}{name}")
        if name in ("n_features_in_", "n_features"):
            require(sizes.setdefault("features", int(value)) == value, f"{where}{name} is {value}")


def _part(name: str) -> Field:
    """Return the check of a nested object of ours."""

    def check(value: Any, sizes: Sizes, where: str) -> None:
        ours = type(value).__module__.startswith("eigensieve.") and type(value).__name__ == name
        require(ours, f"{where} is a {type(value).__name__}")
        _check_fields(vars(value), _PARTS[name], sizes, f"{where}.")
        if name in _RELATIONS:
            _RELATIONS[name](vars(value))

    return Field(check)


def _check_fitted(value: Any, sizes: Sizes, where: str) -> None:
    """Check a fitted estimator, of eigensieve or scikit-learn, with the same features."""
    require(isinstance(value, BaseEstimator), f"{where} is not an estimator")
    n_features = getattr(value, "n_features_in_", sizes["features"])
    require(n_features == sizes["features"], f"{where} has {n_features} features")
    _check_estimator(value, f"{where}.")
    if not type(value).__module__.startswith("eigensieve."):
        _check_predicts(value, sizes["features"], where)


def _check_predicts(value: Any, n_features: int, where: str) -> None:
    """Let an estimator of scikit-learn predict once: which attributes it needs is known to it alone."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # about names of features
        try:
            value.predict(np.zeros((1, n_features)))
        except Exception as error:
            # To some estimators, but not to these, zeros are no data.
            machine = isinstance(value, (*_SVMS, OneVsRestClassifier))
            if machine or isinstance(error, AttributeError | TypeError | LookupError):
                raise Misfit(f"{where} cannot predict ({error})") from error


def _check_prototypes(value: Any, sizes: Sizes, where: str) -> None:
    lists = isinstance(value, list) and all(isinstance(subset, list) for subset in value)
    require(lists, f"{where} is not a list of lists")
    for feature in chain.from_iterable(value):
        _FEATURE.check(feature, sizes, where)


def _check_foreign(model: BaseEstimator, where: str) -> None:
    """Check an estimator of scikit-learn: support vector machines, which libsvm walks through. Its other estimators
    that skops loads compute with numpy. Trees, whose nodes are positions too, are not loaded."""
    if isinstance(model, _SVMS) and any(name.endswith("_") for name in vars(model)):  # fitted
        _check_svm(model, where)
    _check_inside((step for _, step in model.steps) if isinstance(model, Pipeline) else vars(model).values(), where)


def _check_inside(values: Iterable[Any], where: str) -> None:
    """Check the values of settings, or of attributes of scikit-learn's estimators."""
    for value in values:
        if isinstance(value, BaseEstimator):
            _check_estimator(value, where)
        elif issparse(value):
            check_sparse(value, where)
        elif isinstance(value, dict):
            _check_inside(value.values(), where)
        elif isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.dtype == object):
            _check_inside(np.ravel(value) if isinstance(value, np.ndarray) else value, where)


def _check_svm(svm: BaseEstimator, where: str) -> None:
    """Check the arrays that libsvm walks through."""
    sizes: Sizes = {"features": svm.n_features_in_}
    for name, field in _SVM.items():
        if hasattr(svm, name) or not field.optional:
            found = getattr(svm, name)
            field.check(found, sizes, f"{where}{name}")
            require(getattr(found, "dtype", None) != np.float32, f"{where}{name} holds float32")
    classes, n_vectors = sizes["machine classes"], sizes["vectors"]
    types = all(array.dtype == np.int32 for array in (svm.support_, svm._n_support))
    require(types and svm.n_support_.sum() == n_vectors, f"{where}_n_support does not fit")
    require(classes == len(getattr(svm, "classes_", "ab")), f"{where}classes_ does not fit")
    require(sizes["pairs"] == classes * (classes - 1) // 2, f"{where}intercept_ does not fit")
    probabilities = len(svm._probA) == len(svm._probB) and len(svm._probA) in (0, sizes["pairs"])
    require(probabilities, f"{where}_probA does not fit")
    matrix = sparse("rows", "columns") if svm._sparse else real("rows", "columns")
    for name in ("support_vectors_", "dual_coef_", "_dual_coef_"):
        found = getattr(svm, name)
        matrix.check(found, {}, f"{where}{name}")
        wanted = (n_vectors, svm.n_features_in_) if name == "support_vectors_" else (classes - 1, n_vectors)
        full = (svm._sparse and name == "support_vectors_") or found.size == wanted[0] * wanted[1]
        require(found.shape == wanted and full and found.dtype == np.float64, f"{where}{name} does not fit")


def _selection(learned: JsonDict) -> None:
    ranking, support = learned["ranking_"], learned["support_"]
    require(np.array_equal(np.sort(ranking), np.arange(1, len(ranking) + 1)), "ranking_ does not give every rank once")
    chosen = np.sort(learned["selection_order_"])
    require(np.array_equal(chosen, np.flatnonzero(support)), "selection_order_ does not list the features of support_")


def _classifier(learned: JsonDict) -> None:
    n_classes, n_outputs = len(learned["classes_"]), len(learned["intercept_"])
    require(n_classes >= 2 and n_outputs == (1 if n_classes == 2 else n_classes), "classes_ does not fit intercept_")


def _expansion(values: JsonDict) -> None:
    starts, n_elements = values["starts"], len(values["values"])
    rising = np.all(np.diff(starts) >= 0) and starts[0] == 0 and starts[-1] == n_elements
    require(rising, "starts does not cut the elements into columns")


def _cascade(learned: JsonDict) -> None:
    require(len(learned["classes_"]) == 2, "classes_ does not hold two classes")
    for name in ("rejector_", "classifier_"):
        same = np.array_equal(getattr(learned[name], "classes_", []), learned["classes_"])
        require(same, f"{name} has other classes")
    full = learned["_full"]
    require(full is None or len(full.intercept) == 1, "_full has several outputs")


_RELATIONS: dict[str, Callable[[JsonDict], None]] = {
    **dict.fromkeys(("SieveSelector", "QAlphaSelector", "KernelQAlphaSelector"), _selection),
    **dict.fromkeys(("FeatureMap", "TraceRatioSelector"), _selection),
    "ElementSelectedSVC": _classifier,
    "ReducedSetSVC": _classifier,
    "RejectionCascade": _cascade,
    "ElementExpansion": _expansion,
}
"""What must hold between the parts of an object."""

_FITTED = Field(_check_fitted)
_FEATURE = numbers("iu", low=0, high="features")
_LABELS = numbers("biufUSO", "classes", low=np.nan)
_THRESHOLD = numbers("fiu", low=-np.inf, high=np.inf)
_P_VALUES = optional(real("features", low=0, high=1))
_COMMON: Fields = {
    "n_features_in_": count(1),
    "feature_names_in_": optional(numbers("O", "features", low=np.nan)),
    "_sklearn_output_config": IGNORED,
    "_metadata_request": IGNORED,
}
_SELECTION: Fields = {
    "support_": numbers("b", "features"),
    "ranking_": numbers("iu", "features", low=1, high=2**62),
    "selection_order_": numbers("i", "selected", low=0, high="features"),
}
_SOLUTION: Fields = {
    "weights_": real("features"),
    "eigenvalues_": real("eigenvalues"),
    "objective_": real(),
    "start_objectives_": shown("starts"),
    "starts_finished_": optional(numbers("b", "starts")),
    "n_iter_": count(),
    "converged_": FLAG,
    "sparsity_gap_": shown(),
    "negative_weight_fraction_": real(low=0, high=1),
}
_SMALL_MACHINE: Fields = {"intercept_": real("outputs"), "estimator_": _FITTED}
_SMALL_CLASSIFIER: Fields = {"classes_": _LABELS, "threshold_": _THRESHOLD}
_ELEMENTS: Fields = {
    **_SMALL_MACHINE,
    "estimator_": Field(_check_fitted, optional=True),
    "support_vectors_": real("basis", "features"),
    "dual_coef_": real("outputs", "basis"),
    "widths_": real("basis", low=0),
    "mask_": sparse("features", "basis"),
    "n_elements_": count(),
    "path_": shown("steps"),
    "prototypes_": Field(_check_prototypes, optional=True),
    "table_error_bound_": optional(real(low=0)),
    "match_": TEXT,
    "_low": real("features"),
    "_high": real("features"),
    "_single": FLAG,
    "_expansion": _part("ElementExpansion"),
    "_predictor": IGNORED,  # not stored; built from the expansion on loading
}
_LEARNED: dict[str, Fields] = {
    "SieveSelector": {
        **_SELECTION,
        "weights_": real("features"),
        "p_values_": _P_VALUES,
        "embedding_": real("samples", "components"),
        "n_passes_": count(),
        "n_directions_": count(),
        "null_quantile_": shown(),
        "structure_shown_": optional(shown("sizes", 2)),
        "supervised_": FLAG,
        "scored_by_": TEXT,
        "scale_used_": FLAG,
    },
    "QAlphaSelector": {
        **_SELECTION,
        **_SOLUTION,
        "p_values_": _P_VALUES,
        "embedding_": real("samples", "components"),
        "n_clusters_": count(),
        "objective_history_": shown("steps"),
        "n_passes_": count(),
    },
    "KernelQAlphaSelector": {
        **_SELECTION,
        **_SOLUTION,
        "mapped_features_": real("features", "components"),
        "embedding_": real("components", "clusters"),
        "projections_": real("features", "clusters"),
        "approximation_error_": shown(),
        "n_components_": count(),
    },
    "FeatureMap": {
        **_SELECTION,
        "weights_": real("features", "rounds"),
        "relevance_": real("features", "rounds"),
        "coordinates_": real("features", "rounds"),
        "embeddings_": real("rounds", "samples", "components"),
        "objectives_": real("rounds"),
        "start_objectives_": shown("rounds", "starts"),
        "starts_finished_": optional(numbers("b", "rounds", "starts")),
        "overlaps_": shown("rounds"),
        "same_structure_": numbers("b", "rounds"),
        "n_iter_": count(),
        "converged_": FLAG,
        "rounds_": numbers("i", "features", low=-1, high="rounds"),
    },
    "TraceRatioSelector": {
        **_SELECTION,
        "between_scatter_": shown("features"),
        "within_scatter_": shown("features"),
        "scores_": shown("features"),
        "subset_score_": shown(),
        "scale_": optional(real("features", low=0)),
        "graph_": optional(sparse("samples", "samples")),
        "n_iter_": count(),
        "history_": shown("steps", container=list),
    },
    "UnwantedVariationRemover": {
        "mean_": real("features"),
        "scale_": real("features", low=0),
        "directions_": real("features", "directions"),
        "n_directions_": count(),
    },
    "WeightedFeatures": {"selector_": _FITTED, "scale_": real("features", low=0)},
    "ElementSelectedSVC": {**_ELEMENTS, **_SMALL_CLASSIFIER},
    "ElementSelectedSVR": _ELEMENTS,
    "ReducedSetSVC": {
        **_SMALL_MACHINE,
        **_SMALL_CLASSIFIER,
        "vectors_": real("basis", "features"),
        "dual_coef_": real("outputs", "basis"),
        "n_iter_": count(),
        "n_numbers_": count(),
        "_expansion": _part("FullExpansion"),
    },
    "RejectionCascade": {
        "classes_": _LABELS,
        "threshold_": _THRESHOLD,
        "rejector_": _FITTED,
        "classifier_": _FITTED,
        "rejection_rate_": shown(),
        "false_negative_rate_": shown(),
        "false_negative_bound_": shown(),
        "_full": optional(_part("FullExpansion")),
    },
}
"""The attributes that `fit` of every estimator learns, besides `_COMMON`."""

_PARTS: dict[str, Fields] = {
    "MaskedKernel": {"kind": count(high=3), "gamma": real(low=0), "degree": count(high=1000), "coef0": real()},
    "ElementExpansion": {
        "kernel": _part("MaskedKernel"),
        "n_features": count(1),
        "starts": numbers("i", "columns+1", low=0, high=2**62),
        "features": numbers("i", "elements", low=0, high="features"),
        "values": real("elements"),
        "factors": real("columns", low=0),
        "weights": real("columns", "outputs"),
        "intercept": real("outputs"),
    },
    "FullExpansion": {
        "kernel": _part("MaskedKernel"),
        "basis": real("basis", "features"),
        "alpha": real("basis", "outputs"),
        "intercept": real("outputs"),
    },
}
"""Our own nested objects."""

_SVM: Fields = {
    "_sparse": FLAG,
    "_gamma": real(low=0),
    "support_": numbers("i", "vectors", low=0, high=2**31),
    "_n_support": numbers("i", "machine classes", low=0, high=2**31),
    "intercept_": real("pairs"),
    "_intercept_": real("pairs"),
    "_probA": real("pairs with probabilities"),
    "_probB": real("pairs with probabilities"),
    "class_weight_": optional(shown("machine classes")),
    "classes_": optional(numbers("biufUSO", "machine classes", low=np.nan)),
}
"""What libsvm reads of an SVC or SVR of scikit-learn, besides its support vectors and their coefficients."""
