"""Q-alpha: feature weights from the spectrum of the weighted affinity (Wolf and Shashua, 2003 and 2005)."""

from typing import TYPE_CHECKING

from eigensieve._door import open_door

if TYPE_CHECKING:
    from eigensieve.qalpha.class_blocks import read_settings
    from eigensieve.qalpha.knowledge.combinations import Request, check_combination, check_start
    from eigensieve.qalpha.knowledge.labels import Labels, class_span, read_labels
    from eigensieve.qalpha.knowledge.pairs import read_pairs
    from eigensieve.qalpha.knowledge.side import inhibition, side_variances
    from eigensieve.qalpha.knowledge.steered import Knowledge, solve_steered
    from eigensieve.qalpha.mercer_factor import Factor, exact_factor, nystroem_factor
    from eigensieve.qalpha.mercer_kernels import (
        KERNELS,
        ComputedKernel,
        FeatureKernel,
        GivenKernel,
        KernelSettings,
        UnitKernel,
        kernel_function,
    )
    from eigensieve.qalpha.problem import TAU, Problem, Result
    from eigensieve.qalpha.solving import SOLVERS, solve
    from eigensieve.qalpha.start import leading_eigenvectors
    from eigensieve.qalpha.theory import (
        expected_irrelevant_weight_bound,
        irrelevant_weight_bound,
        positivity_probability,
        sparsity_gap,
        two_block_sparsity_gap,
    )
    from eigensieve.qalpha.topographical_map import Round, map_rounds

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
