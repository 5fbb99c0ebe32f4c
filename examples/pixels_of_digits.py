"""
The pixels that tell digits apart
=================================

Neighbouring pixels are near-copies. The sieve spreads its choice over the picture; the top weights of Q-alpha crowd in
one place. No labels are used for choosing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score

from eigensieve import QAlphaSelector, SieveSelector

digits = load_digits()
X = digits.images[:1000].reshape(1000, -1)
target = digits.target[:1000]

selectors = {"SieveSelector": SieveSelector(10), "QAlphaSelector": QAlphaSelector(10, n_clusters=10)}
figure, axes = plt.subplots(1, 2, figsize=(7.5, 4), layout="constrained")
for ax, (name, selector) in zip(axes, selectors.items(), strict=True):
    chosen = selector.fit(X).selection_order_
    rows, columns = np.divmod(chosen, 8)
    clusters = KMeans(10, n_init=3, random_state=0).fit_predict(X[:, chosen])
    agreement = normalized_mutual_info_score(target, clusters)
    ax.imshow(X.mean(axis=0).reshape(8, 8), cmap="Greys")
    ax.plot(columns, rows, "o", color="#d1495b", markersize=11)
    ax.set(title=f"{name}: 10 pixels\nk-means agrees with the digits: {agreement:.2f}", xticks=[], yticks=[])
