"""Matplotlib displays in scikit-learn's convention: ``SomethingDisplay.from_estimator(model)``."""

from typing import TYPE_CHECKING

from eigensieve._door import open_door

if TYPE_CHECKING:
    from eigensieve.plotting.elements import ElementMaskDisplay, ElementPathDisplay, RejectionCurveDisplay
    from eigensieve.plotting.feature_map import FeatureMapDisplay
    from eigensieve.plotting.null import null_quantiles, null_weight
    from eigensieve.plotting.path import TraceRatioPathDisplay
    from eigensieve.plotting.stability import StabilityDisplay
    from eigensieve.plotting.weights import WeightsDisplay

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
