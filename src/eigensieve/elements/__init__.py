"""Element selection: a kernel machine rewritten with few (feature, basis vector) elements of its mask (Avidan).

The package owns the masked kernel, the searches for elements, fast prediction and export, reduced sets (Burges) and the
threshold of a rejector. It knows arrays only; the estimators with their checks live in ``estimators``.

Read ``kernel``, ``state``, ``selection`` (which picks the search), ``greedy``, ``guided``, ``shapes`` first, then
``penalised`` and ``labels``, which match labels. ``expansion`` is the result. ``refine`` improves it; ``predictor``,
``export_c``, ``export_onnx`` and ``fixed_point`` evaluate it. ``reduced`` and ``rejection`` stand alone.

Words: a *basis vector* is a support vector of the machine. An *element* is one entry of the mask (features x basis
vectors). A *column* is a basis vector seen through its elements. A *width* is a factor on gamma. The *path* is the
relative error after each addition.
"""

from eigensieve.elements.expansion import ElementExpansion, FullExpansion, solve_weights
from eigensieve.elements.export_c import Interface, expansion_to_c
from eigensieve.elements.export_onnx import expansion_to_onnx
from eigensieve.elements.fixed_point import FixedPoint, fixed_to_c
from eigensieve.elements.kernel import BUMP, KIND_NAMES, RBF, MaskedKernel, check_kernel_name
from eigensieve.elements.labels import LARGEST, as_columns, fit_labels, held_out_size
from eigensieve.elements.penalised import LOGISTIC, SQUARED, Goal
from eigensieve.elements.predictor import Predictor, TablePredictor, TiledPredictor, single_is_enough
from eigensieve.elements.printed import PrintedState
from eigensieve.elements.reduced import construct_vectors, refine_vectors, select_vectors
from eigensieve.elements.refine import refine_values
from eigensieve.elements.rejection import false_negative_bound, rejection_rates, rejection_threshold
from eigensieve.elements.selection import Plan, Selection, select
from eigensieve.elements.state import Column, SelectionState
