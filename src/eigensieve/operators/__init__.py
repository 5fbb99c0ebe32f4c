"""Products with the matrices of Q-alpha, which are never formed.

Read in this order: affinity.py, axes.py, symmetric.py, steps.py (the work of one pass of a solver step on each block of
features; _steps_numba.py: the same compiled, for dense columns in memory).

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
