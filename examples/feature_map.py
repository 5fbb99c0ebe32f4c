"""The topographical map of two solutions, as a table and as a picture.

Run: python examples/feature_map.py [picture.png]
"""

import sys

import pandas as pd

from eigensieve import FeatureMap
from eigensieve.datasets import make_two_solutions

data = make_two_solutions(random_state=0)
X = pd.DataFrame(data.X, columns=data.feature_names)

feature_map = FeatureMap(n_rounds=2).fit(X)
print(feature_map.to_frame().round(2))
print("taken in round 1:", *X.columns[feature_map.rounds_ == 0])
print("taken in round 2:", *X.columns[feature_map.rounds_ == 1])

if len(sys.argv) > 1:
    feature_map.plot().figure_.savefig(sys.argv[1], dpi=100)
    print("picture in", sys.argv[1])
