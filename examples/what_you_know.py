"""
Tell the selector what you know
===============================

Natural data has several valid answers. Batches, a few labels, side data or pairs say which one you mean.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigensieve import QAlphaSelector, SieveSelector
from eigensieve.datasets import make_two_solutions

# %%
# Three kinds of samples, measured in two runs: 10 features tell the kinds apart, 100 others the runs.

rng = np.random.default_rng(0)
kind, run = np.arange(120) % 3, np.arange(120) // 3 % 2
X = rng.standard_normal((120, 600))
X[:, :10] += rng.normal(0, 2, (3, 10))[kind]
X[:, 100:200] += rng.normal(0, 3, 100) * run[:, None]

few = np.where(np.arange(120) < 15, kind, -1)  # -1: no label
knowledge = {
    "nothing": {},
    "the runs": {"batches": run},
    "15 labels": {"y": few},
    "15 labels and the runs": {"y": few, "batches": run},
    "all labels": {"y": kind},
}
found = {
    name: int(np.sum(SieveSelector(10).fit(X, **known).selection_order_ < 10)) for name, known in knowledge.items()
}

figure, axes = plt.subplots(figsize=(7, 2.8), layout="constrained")
axes.barh(list(found), list(found.values()))
axes.invert_yaxis()
axes.set(xlim=(0, 10), xlabel="found, of the ten features that tell the kinds apart", title="SieveSelector is told")

# %%
# The papers' method on data with two valid answers: features 1, 2, 3 cluster the samples one way, A, B, C another way;
# 1A, 2B, 3C serve both, 11 more serve nothing.

data = make_two_solutions(random_state=0)
X, second = data.X, data.y[:, 1]
names = np.asarray(data.feature_names)
pairs = rng.integers(0, len(X), (600, 2))
apart = pairs[second[pairs[:, 0]] != second[pairs[:, 1]]]
knowledge = {
    "nothing": {},
    "labels of the second": {"y": second},
    "15 labels": {"y": np.where(np.arange(len(X)) % 10 == 0, second, -1)},
    "side data: one cluster": {"side": X[second == 0]},
    f"{len(apart)} cannot-link pairs": {"cannot_link": apart},
}
for name, known in knowledge.items():
    chosen = QAlphaSelector(6).fit(X, **known)
    print(f"{name:24}{' '.join(names[chosen.get_support()])}")
