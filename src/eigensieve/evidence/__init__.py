"""How sure we are: which eigenvalues, features and selections are more than noise.

Nothing here knows how an embedding or a selection was made: Q-alpha, the sieve and any selector use it alike.
Read in this order: scores.py, exchange.py, discoveries.py, noise_edges.py, stability.py, worth.py.

Words
-----
agreement : the score of a feature against an embedding, over pairs of different samples.
null : the same score of permuted copies of features, which have no structure.
noise edge : the largest eigenvalue to expect of features without structure.
excess : how much further than light-tailed features the eigenvalues of the data's own marginals reach.
"""

from eigensieve.evidence.discoveries import Discoveries, discover, follow
from eigensieve.evidence.exchange import ANY, Exchange, OwnPairs
from eigensieve.evidence.noise_edges import (
    MAX_CLUSTERS,
    count_clusters,
    count_spikes,
    permuted_excess,
    weighted_noise_edge,
)
from eigensieve.evidence.scores import agreement, agreement_p_values, null_agreement, step_up
from eigensieve.evidence.stability import STABLE, Stability, selection_stability
from eigensieve.evidence.worth import (
    PanelComparison,
    PanelScore,
    Scorer,
    chance,
    deal_folds,
    outlived,
    random_panels,
    share_shown,
    superfluous,
    taken,
)
