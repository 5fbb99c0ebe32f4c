"""Products with the matrices of Q-alpha, which are never formed.

Read in this order:

affinity.py : L(w) = sum_i w_i L_i for the standard and the Laplacian spectrum, its adjoint, its leading eigenvectors.
axes.py : the same eigenvectors for weights that are not negative, approximate and faster.
symmetric.py : operators known by their products, and the check that every operator passes.
steps.py : the work of one pass of a solver step on each block of features.
_steps_numba.py : the same steps compiled, for dense columns in memory. The chain of one solver step is in these two.

Words
-----
affinity : the linear map from feature weights w to a samples x samples matrix L(w).
pull, spread, mass, gather : the four parts of an affinity's products; the first three work on one block of features.
step : the block function of one pass, between the product with the data (projection) and the product back.
tile : features of a block that a compiled step keeps in the cache.
"""

from eigensieve.operators.affinity import Affinity, LaplacianAffinity, StandardAffinity, leading_eigenvectors
from eigensieve.operators.axes import leading_axes, principal_axes
from eigensieve.operators.steps import ExpandStep, SpreadStep
from eigensieve.operators.symmetric import SymmetricOperator, check_symmetric_operator
