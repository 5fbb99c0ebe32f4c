"""
Real measurements among shuffled ones
=====================================

569 tumours, 30 real measurements, and 1,970 shuffled copies of them. A copy has the distribution of its original and no
relation to anything else. No labels are used. The picture is the one in the README.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigensieve import QAlphaSelector, SieveSelector
from eigensieve.datasets import load_demo

demo = load_demo()
model = QAlphaSelector(30).fit(demo.data)
order = np.argsort(model.ranking_)
real = np.asarray(demo.relevant)[order]
weights = model.weights_[order]
rank = np.arange(1, len(weights) + 1)

figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
axes.bar(rank[~real], weights[~real], width=1.0, color="#b9bec7", label="shuffled copies (irrelevant)")
axes.bar(rank[real], weights[real], width=1.0, color="#d1495b", label="real measurements")
axes.set(xlim=(0, 120), xlabel="features, best first (first 120 of 2,000)", ylabel="weight")
axes.spines[["top", "right"]].set_visible(False)
axes.set_title("569 tumours, no labels: the 30 real measurements among 1,970 shuffled ones", fontsize=11)
axes.legend(frameon=False, loc="upper right")

# %%
# The recommended selector is ``SieveSelector``. Without a number it also says how many there are.

sieve = SieveSelector(30).fit(demo.data)
print(demo.relevant[sieve.support_].sum(), "of the 30 features that the sieve chose are real")
