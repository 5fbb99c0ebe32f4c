"""Pictures of element selection: the mask over the features, the error path, rejection curves."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.metrics import roc_auc_score
from sklearn.utils.validation import check_is_fitted

from eigensieve._types import FloatArray, IntArray, JsonDict, MatrixLike
from eigensieve.estimators import positive_scores
from eigensieve.plotting.axes import Axes, Display, ModelDisplay


@dataclass(eq=False, repr=False)
class ElementMaskDisplay(ModelDisplay):
    """How often each feature is used by the masked support vectors, as an image or as bars.

    Parameters
    ----------
    counts : ndarray of shape (n_features,)
        Elements in each row of the mask.
    image_shape : tuple of int, default=None
        Height and width when the features are the pixels of an image, row by row.
    feature_names : ndarray of str, default=None
        Names at the bars; None shows column numbers.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
    """

    counts: IntArray
    _: KW_ONLY
    image_shape: tuple[int, int] | None = None
    feature_names: Any = None

    def __post_init__(self) -> None:
        if self.image_shape is not None and np.prod(self.image_shape) != self.counts.size:
            raise ValueError(
                f"The 'image_shape' parameter must multiply to the number of features, {self.counts.size}. "
                f"Got {self.image_shape} instead."
            )

    @staticmethod
    def _parameters_of(estimator: BaseEstimator) -> JsonDict:
        counts = np.asarray(estimator.mask_.sum(axis=1)).ravel()
        return {"counts": counts, "feature_names": getattr(estimator, "feature_names_in_", None)}

    def _draw(self, ax: Axes, **kwargs: Any) -> None:
        if self.image_shape is not None:
            image = ax.imshow(self.counts.reshape(self.image_shape), **{"cmap": "magma", **kwargs})
            ax.figure.colorbar(image, ax=ax, label="elements")
            ax.set(xticks=[], yticks=[], title=f"{int(self.counts.sum())} elements")
        else:
            used = np.flatnonzero(self.counts)
            used = used[np.argsort(self.counts[used], kind="stable")]
            names = used.astype(str) if self.feature_names is None else np.asarray(self.feature_names)[used]
            ax.barh(np.arange(used.size), self.counts[used], **kwargs)
            ax.set(yticks=np.arange(used.size), yticklabels=names, xlabel="elements", ylabel="feature")


@dataclass(eq=False, repr=False)
class ElementPathDisplay(ModelDisplay):
    """The relative error after each addition (the paper's figures 3 and 5, for the matched values).

    Parameters
    ----------
    path : ndarray of shape (n_steps,)
        Relative squared error after each addition.
    label : str, default=None
        Name of the line in the legend; no legend without it.

    Attributes
    ----------
    ax_, line_, figure_ : matplotlib artists
    """

    path: FloatArray
    _: KW_ONLY
    label: str | None = None

    @staticmethod
    def _parameters_of(estimator: BaseEstimator) -> JsonDict:
        return {"path": estimator.path_}

    def _draw(self, ax: Axes, **kwargs: Any) -> None:
        (self.line_,) = ax.plot(np.arange(1, self.path.size + 1), self.path, label=self.label, **kwargs)
        ax.set(xlabel="elements", ylabel="relative squared error", yscale="log")
        if self.label is not None:
            ax.legend()


@dataclass(eq=False, repr=False)
class RejectionCurveDisplay(Display):
    """Negatives rejected against positives lost, one line per model (the paper's figures 2 and 4).

    The ROC curve seen from the rejector: x is the false-negative rate at a threshold and y the true-negative rate.

    Parameters
    ----------
    curves : dict of str to tuple
        False-negative rates, rejection rates and area under the curve, by the name in the legend.

    Attributes
    ----------
    ax_, lines_, figure_ : matplotlib artists
    """

    curves: Mapping[str, tuple[FloatArray, FloatArray, float]]

    @classmethod
    def from_estimators(
        cls, estimators: Mapping[str, Any], X: MatrixLike, y: Any, *, ax: Axes = None, **kwargs: Any
    ) -> Self:
        """Draw one line per model.

        Parameters
        ----------
        estimators : dict of str to classifier
            Fitted classifiers of two classes, by the name in the legend.
        X : array-like of shape (n_samples, n_features)
            Samples to reject or keep.
        y : array-like of shape (n_samples,)
            Their classes.
        ax : matplotlib Axes, default=None
            Where to draw; None makes a figure.
        **kwargs
            For :meth:`plot`.
        """
        curves = {}
        for name, estimator in estimators.items():
            check_is_fitted(estimator)
            scores, positive = positive_scores(estimator, X), np.asarray(y) == estimator.classes_[1]
            positives, negatives = np.sort(scores[positive]), np.sort(scores[~positive])
            lost = np.arange(positives.size) / positives.size
            rejected = np.searchsorted(negatives, positives, side="left") / negatives.size
            curves[name] = (lost, rejected, float(roc_auc_score(positive, scores)))
        return cls(curves).plot(ax, **kwargs)

    def _draw(self, ax: Axes, **kwargs: Any) -> None:
        self.lines_ = [
            ax.plot(lost, rejected, label=f"{name} (area {area:.4f})", **kwargs)[0]
            for name, (lost, rejected, area) in self.curves.items()
        ]
        ax.axvline(0.02, color="0.7", linewidth=1, linestyle=":")
        ax.set(xlabel="positives lost", ylabel="negatives rejected", xlim=(0, 0.2), ylim=(0, 1.02))
        ax.legend(loc="lower right")
