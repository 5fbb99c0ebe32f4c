"""
In memory, on disk, on Dask: the same features
==============================================

The solvers ask the data for column statistics and for products with a few vectors. So the same code handles data that
does not fit in memory, exactly.
"""

import tempfile
from pathlib import Path

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client

from eigensieve import QAlphaSelector, open_data

rng = np.random.default_rng(0)
X = rng.standard_normal((100, 10_000)).astype(np.float32)
X[:50, :60] += 3.0

in_memory = QAlphaSelector(60, n_clusters=1).fit(X)
print("in memory:", in_memory.get_support(indices=True)[[0, 1, 58, 59]])

# %%
# On disk, with a quarter of the file in memory at a time. The checkpoint lets an interrupted run go on.

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "X.npy"
    np.save(path, X)
    data = open_data(path, max_memory="1MB")
    on_disk = QAlphaSelector(60, n_clusters=1).fit(data, checkpoint=Path(folder) / "steps")
    print("selected columns, in memory:", on_disk.transform(data).shape)

# %%
# On Dask. Here the workers are threads of this process; ``Client("tcp://scheduler:8786")`` would be a cluster.

with Client(processes=False, dashboard_address=None):
    distributed = da.from_array(X, chunks=(100, 2_500)).persist()
    on_workers = QAlphaSelector(60, n_clusters=1).fit(distributed)
    print("selected columns, still on Dask:", on_workers.transform(distributed).shape)

# %%
# All three give the same weights.

figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
axes.plot(in_memory.weights_[:200], color="0.75", linewidth=5, label="in memory")
axes.plot(on_disk.weights_[:200], color="C0", linewidth=2.5, label="on disk")
axes.plot(on_workers.weights_[:200], color="C3", linewidth=0.8, label="on Dask")
axes.set(xlabel="feature (the first 200 of 10,000)", ylabel="weight")
axes.legend(frameon=False)
