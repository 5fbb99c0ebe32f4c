"""Dask on two local workers against the same fit in memory, and what travels in an iteration.

Run: python benchmarks/any_size_dask.py [--features 1000000] [--samples 200] [--chunks 8]

Time: the same selector on the same numbers, in turns. Bytes: everything the process of client and scheduler
writes to its connections, and what the workers' own transfer counters (as the scheduler reads them) say they
sent to each other, per iteration: the difference between a long and a short run. They are shown for twice
the features in as many chunks, twice the chunks and twice the samples, so that the law O((n_chunks +
n_samples) k) can be read off.
"""

import argparse
import statistics
import time
import warnings

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from distributed.comm import tcp

from eigensieve import QAlphaSelector

K = 2
_written = 0


def count_writes() -> None:
    """Count the bytes this process writes to its connections."""
    plain = tcp.TCP.write

    async def write(self: tcp.TCP, *arguments: object, **settings: object) -> int:
        global _written
        size: int = await plain(self, *arguments, **settings)
        _written += size
        return size

    tcp.TCP.write = write  # type: ignore[method-assign]


def make(n_features: int, n_samples: int, n_chunks: int) -> da.Array:
    """Noise with 1,000 features that tell two groups of samples apart, made chunk by chunk on the workers."""
    width = -(-n_features // n_chunks)

    def chunk(block_info: dict) -> np.ndarray:  # type: ignore[type-arg]
        (first, last) = block_info[None]["array-location"][1]
        rng = np.random.default_rng(first)
        X = rng.standard_normal((n_samples, last - first), dtype=np.float32)
        X[: n_samples // 2, :: n_features // 1_000] += 2.0
        return X

    chunks = ((n_samples,), (width,) * (n_features // width) + ((n_features % width,) if n_features % width else ()))
    return da.map_blocks(chunk, chunks=chunks, dtype=np.float32, meta=np.empty((0, 0), np.float32))


def selector(max_iter: int = 200) -> QAlphaSelector:
    return QAlphaSelector(1_000, n_clusters=K, max_iter=max_iter, tol=0.0 if max_iter < 200 else 5e-3)


def sent_by_workers(client: Client) -> int:
    return sum(client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total).values())


def moved(client: Client, n_features: int, n_samples: int, n_chunks: int) -> tuple[float, float]:
    """Bytes an iteration: written by client and scheduler, sent by the workers."""
    X = make(n_features, n_samples, n_chunks).persist()
    figures = []
    selector(4).fit(X)
    for steps in (4, 14):
        time.sleep(1.0)
        before = _written, sent_by_workers(client)
        selector(steps).fit(X)
        figures.append((_written - before[0], sent_by_workers(client) - before[1]))
    short, long = figures
    return (long[0] - short[0]) / 10, (long[1] - short[1]) / 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", type=int, default=1_000_000)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--chunks", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    n, q, chunks = options.features, options.samples, options.chunks
    count_writes()
    # equal chunks on equal workers: moving one to balance the load would only blur the counters
    dask.config.set({"distributed.scheduler.work-stealing": False})
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        X = make(n, q, chunks).persist()
        local = X.compute()
        times: dict[str, list[float]] = {"in memory": [], "Dask, 2 workers": []}
        for _ in range(options.repeats):
            for name, data in (("in memory", local), ("Dask, 2 workers", X)):
                begin = time.perf_counter()
                model = selector().fit(data)
                times[name].append(time.perf_counter() - begin)
                chosen = model.get_support(indices=True)
                print(f"  {name}: {times[name][-1]:.2f} s, {model.n_passes_} passes, first {chosen[:3]}", flush=True)
        memory, cluster_time = (statistics.median(values) for values in times.values())
        print(f"{n:,} features x {q} samples float32, {chunks} chunks, k = {K}")
        print(
            f"in memory {memory:.2f} s, Dask {cluster_time:.2f} s, ratio {cluster_time / memory:.2f} "
            "(wanted: at most 1.5)"
        )
        del X, local
        small = n // 10
        print("bytes an iteration   features  samples  chunks   client+scheduler   worker to worker")
        for features, samples, pieces in (
            (small, q, chunks),
            (2 * small, q, chunks),
            (small, q, 2 * chunks),
            (small, 2 * q, chunks),
        ):
            written, sent = moved(client, features, samples, pieces)
            print(
                f"                    {features:>9,} {samples:>8} {pieces:>7} {written:>18,.0f} {sent:>18,.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
