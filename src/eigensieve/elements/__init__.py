"""Element selection: a kernel machine rewritten with few (feature, basis vector) elements of its mask (Avidan).

The package owns the masked kernel, the searches for elements, fast prediction and export, reduced sets (Burges) and the
threshold of a rejector. It knows arrays only; the estimators with their checks live in ``estimators``.

Read the files in this order:

- ``kernel``: the masked kernel and its sum over features (``_kernel_numba``: the same for compiled loops)
- ``state``: the columns selected so far, and the residual; ``printed``: the same for Algorithm 1 as printed
- ``selection``: the settings of a selection, and the entry that picks the search
- ``greedy``: the paper's two searches, exact and probabilistic; ``guided``: the search by histograms
- ``shapes``: searches for masks of another shape (features, basis, joint, prototypes)
- ``penalised``: losses, the weights that make a loss small, and the refinement; ``labels``: columns that match labels
- ``expansion``: the result as plain arrays, its weights, the full machine to compare with, bounds on rounding
- ``refine``: moves the values of the selected elements closer to the full machine
- ``predictor``: fast evaluation of an expansion; ``export_c``, ``export_onnx``: the same outside Python
- ``fixed_point``: an expansion in whole numbers, and as C
- ``reduced``: reduced sets of whole vectors
- ``rejection``: the threshold of a rejector

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
