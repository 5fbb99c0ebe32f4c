"""
Hidden signs: features that only a kernel relates
=================================================

12 of 60 features are relevant. Every 8 samples each feature draws a new sign, so that no two features are correlated. A
kernel that compares features section by section sees the relation all the same.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigensieve import KernelQAlphaSelector, QAlphaSelector
from eigensieve.datasets import make_hidden_signs

X, _, relevant = make_hidden_signs(0.02, random_state=1)
sections = KernelQAlphaSelector(12, kernel="sections", normalize="unit")
models = {"plain data": QAlphaSelector(12).fit(X), "section kernel": sections.fit(X)}

figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    order = np.argsort(model.ranking_)
    colours = np.where(relevant[order], "#d1495b", "#b9bec7")
    ax.bar(np.arange(1, 61), model.weights_[order], color=colours, width=1.0)
    right = relevant[model.get_support()].sum()
    ax.set(title=f"{name}: {right} of 12 right", xlabel="features, best first", ylabel="weight")

# %%
# The kernel matrix is features x features. For many features, some of its columns are enough.

approximate = KernelQAlphaSelector(12, kernel="sections", normalize="unit", n_components=50, random_state=0).fit(X)
print(
    f"50 columns: {relevant[approximate.get_support()].sum()} of 12 relevant; "
    f"left out of the kernel matrix: {approximate.approximation_error_:.1%} of its trace"
)
