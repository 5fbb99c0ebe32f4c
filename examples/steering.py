"""One data set, two valid answers: steer Q-alpha to the one you mean.

Run: python examples/steering.py
"""

import numpy as np

from eigensieve import QAlphaSelector
from eigensieve.datasets import make_two_solutions

# Features 1, 2, 3 cluster the samples one way, A, B, C another way; 1A, 2B, 3C serve both; 11 more serve nothing.
data = make_two_solutions(random_state=0)
X, first, second = data.X, data.y[:, 0], data.y[:, 1]
names = np.asarray(data.feature_names)


def chosen(**known: object) -> str:
    y = known.pop("y", None)
    return " ".join(names[QAlphaSelector(6).fit(X, y, **known).get_support()])


print("nothing known          ", chosen())
print("labels of the second   ", chosen(y=second))

# A few labels: -1 marks the samples whose class is not known.
few = np.where(np.arange(len(X)) % 10 == 0, second, -1)
print(f"{np.sum(few != -1)} labels of {len(X)}       ", chosen(y=few))

# Side data: samples that differ in the first way only. What varies among them is not wanted.
rng = np.random.default_rng(0)
one_cluster = X[second == 0]
print("side data              ", chosen(side=one_cluster))

# Pairs: samples known to belong apart.
pairs = rng.integers(0, len(X), (600, 2))
apart = pairs[second[pairs[:, 0]] != second[pairs[:, 1]]]
print(f"{len(apart)} cannot-link pairs  ", chosen(cannot_link=apart))

# All of it together.
together = pairs[(second[pairs[:, 0]] == second[pairs[:, 1]]) & (pairs[:, 0] != pairs[:, 1])]
print("all of it              ", chosen(y=few, side=one_cluster, cannot_link=apart, must_link=together))
