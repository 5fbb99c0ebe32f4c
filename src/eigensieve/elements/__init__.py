"""Element selection: a kernel machine rewritten with few (feature, basis vector) elements of its mask (Avidan).

The package owns the masked kernel, the searches for elements, fast prediction and export, reduced sets (Burges) and the
threshold of a rejector. It knows arrays only; the estimators with their checks live in ``estimators``.

Read the files in this order:

- ``kernel``: the masked kernel and its sum over features (``_kernel_numba``: the same for compiled loops)
- ``state``: what has been selected so far, and the residual
- ``plan``: the settings of a selection, one object for all searches
- ``selection``: the entry; it picks the search
- ``guided``: the default search; ``probabilistic`` and ``exact``: the paper's two searches
- ``bins``: features cut into bins, for ``guided`` and ``labels``
- ``sampling``: the gain of candidates on a sample of the data, for ``guided`` and ``probabilistic``
- ``shapes``: searches for masks of another shape (features, basis, joint, prototypes)
- ``losses``: of classes and of numbers; ``penalised``: weights that make a loss small, and the refinement
- ``labels``: columns that match the labels
- ``expansion``: the result as plain arrays, its weights, and the full machine to compare with
- ``refine``: moves the values of the selected elements
- ``rounding``: how far single precision can be off
- ``predictor``: fast evaluation of an expansion; ``export_c``, ``export_onnx``: the same outside Python
- ``export_names``: the names that a C file states; ``export_scaled``: an ONNX model that standardises
- ``fixed_point``: an expansion in whole numbers; ``export_fixed``: the same in C
- ``reduced``: reduced sets of whole vectors
- ``rejection``: the threshold of a rejector

Words: a *basis vector* is a support vector of the machine. An *element* is one entry of the mask (features x basis
vectors). A *column* is a basis vector seen through its elements. A *width* is a factor on gamma. The *path* is the
relative error after each addition.
"""

from eigensieve.elements.expansion import ElementExpansion, FullExpansion, solve_weights
from eigensieve.elements.export_c import expansion_to_c
from eigensieve.elements.export_fixed import fixed_to_c
from eigensieve.elements.export_names import Interface
from eigensieve.elements.export_onnx import expansion_to_onnx
from eigensieve.elements.export_scaled import scaled_onnx
from eigensieve.elements.fixed_point import FixedPoint
from eigensieve.elements.kernel import KIND_NAMES, RBF, MaskedKernel, check_kernel_name
from eigensieve.elements.labels import LARGEST, as_columns, fit_labels, held_out_size
from eigensieve.elements.losses import LOGISTIC, SQUARED
from eigensieve.elements.penalised import Goal
from eigensieve.elements.plan import Plan
from eigensieve.elements.predictor import Predictor, TablePredictor, fastest_predictor
from eigensieve.elements.reduced import construct_vectors, refine_vectors, select_vectors
from eigensieve.elements.refine import refine_values
from eigensieve.elements.rejection import false_negative_bound, rejection_rates, rejection_threshold
from eigensieve.elements.selection import Selection, select
from eigensieve.elements.state import Column, SelectionState
