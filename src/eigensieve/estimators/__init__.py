"""The selectors and classifiers: the only code that faces scikit-learn."""

from typing import TYPE_CHECKING

from eigensieve._door import open_door

if TYPE_CHECKING:
    from eigensieve.estimators.calibration import positive_scores
    from eigensieve.estimators.element_svc import ElementSelectedSVC
    from eigensieve.estimators.feature_map import FeatureMap
    from eigensieve.estimators.genes import select_genes
    from eigensieve.estimators.kernel_qalpha import KernelQAlphaSelector
    from eigensieve.estimators.outcome import Findings
    from eigensieve.estimators.persistence import (
        ModelFileError,
        estimator_class,
        load_model,
        read_model_header,
        save_model,
        selected_features,
    )
    from eigensieve.estimators.qalpha_selector import QAlphaSelector
    from eigensieve.estimators.reduced_set import ReducedSetSVC
    from eigensieve.estimators.rejection_cascade import RejectionCascade
    from eigensieve.estimators.sieve_selector import SieveSelector
    from eigensieve.estimators.trace_ratio import TraceRatioSelector
    from eigensieve.estimators.trace_ratio_scores import fisher_score, laplacian_score

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
