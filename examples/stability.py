"""
How sure is the choice?
=======================

Three questions to a choice: how far do the chosen features stand out, do they beat permuted copies, and are they chosen
again on half of the samples?
"""

import matplotlib.pyplot as plt
import numpy as np

from eigensieve import SieveSelector, selection_stability
from eigensieve.datasets import make_planted_clusters
from eigensieve.plotting import StabilityDisplay, WeightsDisplay

X, _, relevant = make_planted_clusters(80, 400, 12, center_scale=1.2, random_state=0)

# %%
# Weights by rank. The cut is where the false discovery rate ends the choice.

selector = SieveSelector(random_state=0).fit(X)
WeightsDisplay.from_estimator(selector)
print(f"{selector.support_.sum()} selected, {relevant[selector.support_].sum()} of the 12 relevant ones among them")

# %%
# p-values against permuted copies. Those of noise are spread evenly.

figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
bins = np.linspace(0, 1, 21)
axes.hist([selector.p_values_[~relevant], selector.p_values_[relevant]], bins=bins, stacked=True, color=["0.75", "C3"])
axes.set(xlabel="p-value", ylabel="features")
axes.legend(["noise", "relevant"], frameon=False)

# %%
# The same choice on twenty random halves of the samples.

stability = selection_stability(SieveSelector(12), X, n_subsamples=20)
StabilityDisplay.from_stability(stability, max_features=30)
