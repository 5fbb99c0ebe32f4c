"""eigensieve: find the few features that matter in wide data, with or without labels."""

from typing import TYPE_CHECKING

from eigensieve._door import open_door

if TYPE_CHECKING:
    from eigensieve.data import open_data
    from eigensieve.estimators import (
        ElementSelectedSVC,
        FeatureMap,
        KernelQAlphaSelector,
        QAlphaSelector,
        ReducedSetSVC,
        RejectionCascade,
        SieveSelector,
        TraceRatioSelector,
        fisher_score,
        laplacian_score,
        load_model,
        save_model,
        select_genes,
    )
    from eigensieve.evidence import selection_stability
    from eigensieve.operators import check_symmetric_operator
    from eigensieve.qalpha import (
        expected_irrelevant_weight_bound,
        irrelevant_weight_bound,
        positivity_probability,
        sparsity_gap,
        two_block_sparsity_gap,
    )

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
__all__ += ["__version__"]
