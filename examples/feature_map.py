"""
The topographical map of two solutions
======================================

Features 1, 2, 3 cluster 150 samples one way, A, B, C another way; 1A, 2B, 3C are their sums, 11 more serve nothing.
Each feature is an ellipse: wide ones serve the first solution, tall ones the second, round ones both.
"""

import pandas as pd

from eigensieve import FeatureMap
from eigensieve.datasets import make_two_solutions

data = make_two_solutions(random_state=0)
X = pd.DataFrame(data.X, columns=data.feature_names)

feature_map = FeatureMap(n_rounds=2).fit(X)
feature_map.plot()

# %%
# The numbers behind the picture:

print("taken in round 1:", *X.columns[feature_map.rounds_ == 0])
print("taken in round 2:", *X.columns[feature_map.rounds_ == 1])
feature_map.to_frame().round(2)
