"""From a laptop's memory to a file to a cluster: the same selector, the same features.

Run: python examples/any_size.py
"""

import tempfile
from pathlib import Path

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from eigensieve import QAlphaSelector
from eigensieve.data import open_data


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 10_000)).astype(np.float32)
    X[:50, :60] += 3.0

    in_memory = QAlphaSelector(60, n_clusters=1).fit(X)
    print("in memory:", in_memory.get_support(indices=True)[[0, 1, 58, 59]])

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        np.save(path, X)
        data = open_data(path, max_memory="1MB")
        on_disk = QAlphaSelector(60, n_clusters=1, checkpoint=Path(folder) / "steps").fit(data)
        print(f"on disk, 1 of {X.nbytes / 1e6:.0f} MB in memory:", on_disk.get_support(indices=True)[[0, 1, 58, 59]])
        print("selected columns, in memory:", on_disk.transform(data).shape)

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        distributed = da.from_array(X, chunks=(100, 2_500)).persist()
        on_workers = QAlphaSelector(60, n_clusters=1).fit(distributed)
        print("on two workers:", on_workers.get_support(indices=True)[[0, 1, 58, 59]])
        print("selected columns, still on Dask:", on_workers.transform(distributed))


if __name__ == "__main__":
    main()
