"""Element selection: a kernel machine rewritten with few (feature, basis vector) elements (Avidan)."""

from typing import TYPE_CHECKING

from eigensieve._door import open_door

if TYPE_CHECKING:
    from eigensieve.elements.expansion import ElementExpansion
    from eigensieve.elements.export_c import expansion_to_c
    from eigensieve.elements.export_onnx import expansion_to_onnx
    from eigensieve.elements.full import FullExpansion
    from eigensieve.elements.kernel import KIND_NAMES, MaskedKernel, check_kernel_name
    from eigensieve.elements.predictor import Predictor, TablePredictor, fastest_predictor
    from eigensieve.elements.reduced import construct_vectors, refine_vectors, select_vectors
    from eigensieve.elements.refine import refine_values
    from eigensieve.elements.rejection import rejection_rates, rejection_threshold
    from eigensieve.elements.selection import Plan, Selection, select
    from eigensieve.elements.state import Column, SelectionState
    from eigensieve.elements.weights import solve_weights

__getattr__, __dir__, __all__ = open_door(__name__, __file__)
