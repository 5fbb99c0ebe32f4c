"""eigensieve: find the few features that matter in wide data, with or without labels.

This file lists the public names and nothing else. The code lives in rooms (folders). Each room has a door (its
``__init__``) that says what the room owns and exports what other rooms may use. A room imports only from the rooms
below it:

``cli``, ``report``, ``plotting``, ``experiments``         what people run and look at
``estimators``                                             what faces scikit-learn
``sieve``, ``qalpha``, ``traceratio``, ``elements``        the methods
``evidence``, ``graphs``, ``operators``                    what the methods share
``data``, ``tables``, ``datasets``                         matrices, files, examples

All rooms may use the files beside this one: ``_door``, ``_extras``, ``_files``, ``_progress``, ``_types``.
"""

from typing import TYPE_CHECKING

from eigensieve._door import open_door

if TYPE_CHECKING:
    from eigensieve._files import CheckpointError
    from eigensieve.data import open_data
    from eigensieve.estimators import (
        ElementSelectedSVC,
        ElementSelectedSVR,
        FeatureMap,
        KernelQAlphaSelector,
        QAlphaSelector,
        ReducedSetSVC,
        RejectionCascade,
        SieveSelector,
        TraceRatioSelector,
        UnwantedVariationRemover,
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
        expected_triple_product,
        irrelevant_weight_bound,
        positivity_probability,
        sparsity_gap,
        triple_product,
        two_block_sparsity_gap,
    )

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
__all__ += ["__version__"]
