"""Q-alpha: feature weights from the spectrum of the weighted affinity (Wolf and Shashua, 2003, 2004 and 2005).

Read in this order: problem.py, solving.py (the one entry to all solvers), subspace.py (the fast solver), alternating.py
(the papers' own algorithms), starts.py (further starts), checkpoint.py, knowledge/ (labels, pairs, side data),
class_blocks.py, search.py, topographical_map.py, mercer.py.

Words
-----
weights : w, one per feature (alpha in the papers).
embedding : Q, samples x clusters, orthonormal.
criterion : the function that is maximised; "energy" or "gap".
spectrum : which affinity L(w) is used; "standard" or "laplacian".
G : the features x features matrix whose leading eigenvector is w for a fixed Q.
"""

from eigensieve.qalpha.alternating import ProblemGram
from eigensieve.qalpha.knowledge.checks import check_combination, check_pairs_against_labels, check_start, read_pairs
from eigensieve.qalpha.knowledge.labels import (
    UNLABELLED,
    Labels,
    as_values,
    class_indicators,
    marked_labels,
    missing_labels,
    read_labels,
)
from eigensieve.qalpha.knowledge.pairs import PairPenalty
from eigensieve.qalpha.knowledge.steered import (
    PAIR_STRENGTH,
    SIDE_STRENGTH,
    Knowledge,
    inhibition,
    side_variances,
    solve_steered,
)
from eigensieve.qalpha.mercer import KERNELS, KernelSettings, check_likeness, map_features
from eigensieve.qalpha.problem import TAU, Problem, Result, SolveSettings, spectrum_affinity
from eigensieve.qalpha.search import Search
from eigensieve.qalpha.solving import SOLVERS, solve
from eigensieve.qalpha.topographical_map import SAME_STRUCTURE, Round, map_rounds, overlaps
