from .elements import ElementMaskDisplay as ElementMaskDisplay
from .elements import ElementPathDisplay as ElementPathDisplay
from .elements import RejectionCurveDisplay as RejectionCurveDisplay
from .feature_map import FeatureMapDisplay as FeatureMapDisplay
from .panels import PanelScoresDisplay as PanelScoresDisplay
from .path import TraceRatioPathDisplay as TraceRatioPathDisplay
from .stability import StabilityDisplay as StabilityDisplay
from .weights import WeightsDisplay as WeightsDisplay
