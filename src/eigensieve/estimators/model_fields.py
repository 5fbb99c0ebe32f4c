"""Shapes and ranges of everything that a saved model holds: one line per attribute.

Sizes have names. The first array that uses a name sets the size, and all others must agree. `save_model` refuses a
model with an attribute that is not listed here, so a new learned attribute needs a line.
"""

from dataclasses import dataclass, replace

import numpy as np

_MOST = float(np.finfo(np.float64).max)
MORE = "+1"


@dataclass(frozen=True)
class Numbers:
    """An array, or a plain number if `shape` is empty.

    Parameters
    ----------
    kinds : str
        Letters of numpy's ``dtype.kind``.
    shape : tuple of str or int
        Names of sizes.
    low, high : float or str
        Range of the values. The name of a size is an open end: values index an axis of this size.
    rising : bool
        Each value is larger than the one before, as in a sorted array without duplicates.
    listed : bool
        A list instead of an array.
    optional : bool
        None is allowed, and so is a missing attribute.
    """

    kinds: str
    shape: tuple[str | int, ...] = ()
    low: float = -_MOST
    high: float | str = _MOST
    rising: bool = False
    listed: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Text:
    """A string."""

    optional: bool = False


@dataclass(frozen=True)
class Sparse:
    """A scipy.sparse matrix, with all its indices in bounds."""

    shape: tuple[str | int, ...]
    optional: bool = False


@dataclass(frozen=True)
class Part:
    """A nested object of one of these types; the sizes in `own` are not those of the object around it."""

    types: tuple[str, ...]
    own: tuple[str, ...] = ()
    optional: bool = False


@dataclass(frozen=True)
class Each:
    """A list; its length is the size named `length`."""

    item: "Field"
    length: str | None = None
    optional: bool = False


@dataclass(frozen=True)
class Fitted:
    """A fitted estimator, of eigensieve or scikit-learn, with the same features."""

    optional: bool = False


@dataclass(frozen=True)
class Ignored:
    """An attribute that scikit-learn keeps for itself."""

    optional: bool = True


Field = Numbers | Text | Sparse | Part | Each | Fitted | Ignored
Fields = dict[str, Field]


def real(*shape: str | int, low: float = -_MOST, high: float = _MOST) -> Numbers:
    """Return finite numbers."""
    return Numbers("f" if shape else "fiu", shape, low, high)


def figure(*shape: str | int) -> Numbers:
    """Return numbers that are shown and not computed with: they may be infinite or NaN."""
    return Numbers("f" if shape else "fiu", shape, np.nan, np.nan)


def count(low: int = 0, high: float = 2**62) -> Numbers:
    """Return a whole number."""
    return Numbers("iu", (), low, high)


def index(*shape: str, of: str, rising: bool = False) -> Numbers:
    """Return positions on an axis."""
    return Numbers("i", shape, 0, of, rising)


def optional(field: Numbers) -> Numbers:
    return replace(field, optional=True)


FLAG = Numbers("b")
LABELS = Numbers("biufUSO", ("classes",), np.nan, np.nan)
COMMON: Fields = {
    "n_features_in_": count(1),
    "feature_names_in_": Numbers("O", ("features",), np.nan, np.nan, optional=True),
    "_sklearn_output_config": Ignored(),
    "_metadata_request": Ignored(),
}
_SELECTION: Fields = {
    "support_": Numbers("b", ("features",)),
    "ranking_": Numbers("iu", ("features",), 1, 2**62),
    "selection_order_": index("selected", of="features"),
}
_SOLUTION: Fields = {
    "weights_": real("features"),
    "eigenvalues_": real("eigenvalues"),
    "objective_": real(),
    "start_objectives_": figure("starts"),
    "n_iter_": count(),
    "converged_": FLAG,
    "sparsity_gap_": figure(),
    "negative_weight_fraction_": real(low=0, high=1),
}
_SMALL_MACHINE: Fields = {
    "intercept_": real("outputs"),
    "estimator_": Fitted(),
}
_SMALL_CLASSIFIER: Fields = {"classes_": LABELS, "threshold_": Numbers("fiu", (), -np.inf, np.inf)}
_ELEMENTS: Fields = {
    **_SMALL_MACHINE,
    "support_vectors_": real("basis", "features"),
    "dual_coef_": real("outputs", "basis"),
    "widths_": real("basis", low=0),
    "mask_": Sparse(("features", "basis")),
    "n_elements_": count(),
    "path_": figure("steps"),
    "prototypes_": Each(Each(Numbers("iu", (), 0, "features")), optional=True),
    "table_error_bound_": optional(real(low=0)),
    "match_": Text(),
    "_low": real("features"),
    "_high": real("features"),
    "_single": FLAG,
    "_expansion": Part(("ElementExpansion",)),
    "_predictor": Ignored(),  # not stored; built from the expansion on loading
}
ESTIMATOR_FIELDS: dict[str, Fields] = {
    "SieveSelector": {
        **_SELECTION,
        "weights_": real("features"),
        "p_values_": optional(real("features", low=0, high=1)),
        "embedding_": real("samples", "components"),
        "n_passes_": count(),
        "n_directions_": count(),
        "null_quantile_": figure(),
        "structure_shown_": optional(figure("sizes", 2)),
        "supervised_": FLAG,
        "scored_by_": Text(),
        "scale_used_": FLAG,
    },
    "QAlphaSelector": {
        **_SELECTION,
        **_SOLUTION,
        "p_values_": optional(real("features", low=0, high=1)),
        "embedding_": real("samples", "components"),
        "n_clusters_": count(),
        "objective_history_": figure("steps"),
        "n_passes_": count(),
    },
    "KernelQAlphaSelector": {
        **_SELECTION,
        **_SOLUTION,
        "mapped_features_": real("features", "components"),
        "embedding_": real("components", "clusters"),
        "projections_": real("features", "clusters"),
        "approximation_error_": figure(),
        "n_components_": count(),
    },
    "FeatureMap": {
        **_SELECTION,
        "weights_": real("features", "rounds"),
        "relevance_": real("features", "rounds"),
        "coordinates_": real("features", "rounds"),
        "embeddings_": real("rounds", "samples", "components"),
        "objectives_": real("rounds"),
        "start_objectives_": figure("rounds", "starts"),
        "overlaps_": figure("rounds"),
        "same_structure_": Numbers("b", ("rounds",)),
        "n_iter_": count(),
        "converged_": FLAG,
        "rounds_": Numbers("i", ("features",), -1, "rounds"),
    },
    "TraceRatioSelector": {
        **_SELECTION,
        "between_scatter_": figure("features"),
        "within_scatter_": figure("features"),
        "scores_": figure("features"),
        "subset_score_": figure(),
        "scale_": optional(real("features", low=0)),
        "graph_": Sparse(("samples", "samples"), optional=True),
        "n_iter_": count(),
        "history_": replace(figure("steps"), listed=True),
    },
    "UnwantedVariationRemover": {
        "mean_": real("features"),
        "scale_": real("features", low=0),
        "directions_": real("features", "directions"),
        "n_directions_": count(),
    },
    "WeightedFeatures": {"selector_": Fitted(), "scale_": real("features", low=0)},
    "ElementSelectedSVC": {**_ELEMENTS, **_SMALL_CLASSIFIER},
    "ElementSelectedSVR": _ELEMENTS,
    "ReducedSetSVC": {
        **_SMALL_MACHINE,
        **_SMALL_CLASSIFIER,
        "vectors_": real("basis", "features"),
        "dual_coef_": real("outputs", "basis"),
        "n_iter_": count(),
        "n_numbers_": count(),
        "_expansion": Part(("FullExpansion",)),
    },
    "RejectionCascade": {
        "classes_": LABELS,
        "threshold_": Numbers("fiu", (), -np.inf, np.inf),
        "rejector_": Fitted(),
        "classifier_": Fitted(),
        "rejection_rate_": figure(),
        "false_negative_rate_": figure(),
        "false_negative_bound_": figure(),
        "_full": Part(("FullExpansion",), optional=True),
    },
}
"""What `fit` of every estimator learns, besides `COMMON`."""

PART_FIELDS: dict[str, Fields] = {
    "MaskedKernel": {
        "kind": count(high=2),
        "gamma": real(low=0),
        "degree": count(high=1000),
        "coef0": real(),
    },
    "ElementExpansion": {
        "kernel": Part(("MaskedKernel",)),
        "n_features": count(1),
        "starts": Numbers("i", ("columns+1",), 0, 2**62),
        "features": index("elements", of="features"),
        "values": real("elements"),
        "factors": real("columns", low=0),
        "weights": real("columns", "outputs"),
        "intercept": real("outputs"),
    },
    "FullExpansion": {
        "kernel": Part(("MaskedKernel",)),
        "basis": real("basis", "features"),
        "alpha": real("basis", "outputs"),
        "intercept": real("outputs"),
    },
}
"""Our own nested objects."""

SVM_FIELDS: Fields = {
    "_sparse": FLAG,
    "_gamma": real(low=0),
    "support_": Numbers("i", ("vectors",), 0, 2**31),
    "_n_support": Numbers("i", ("machine classes",), 0, 2**31),
    "intercept_": real("pairs"),
    "_intercept_": real("pairs"),
    "_probA": real("pairs with probabilities"),
    "_probB": real("pairs with probabilities"),
    "class_weight_": optional(figure("machine classes")),
    "classes_": Numbers("biufUSO", ("machine classes",), np.nan, np.nan, optional=True),
}
"""What libsvm reads of an SVC or SVR of scikit-learn, besides its support vectors and their coefficients."""
