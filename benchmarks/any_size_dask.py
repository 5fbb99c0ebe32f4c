"""Dask on two local workers against the same fit in memory, and what travels in an iteration.

Run: python benchmarks/any_size_dask.py [--features 1000000] [--samples 200] [--chunks 8]

Time: the same selector on the same numbers, in turns. Bytes per iteration: the difference between a long and a short
run, from Dask's own counters:

messages
    `byte_count` of the streams between client, scheduler and workers, both ways: tasks and their states.
results
    The bytes that the workers' transfer logs say they sent to the client.
between workers
    What the transfer logs say they sent to each other.

They are shown for twice the features in as many chunks, twice the chunks, twice the samples and twice the clusters, so
that the law O((n_chunks + n_samples) k) can be read off.
"""

import argparse
import statistics
import time
import warnings
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait

from eigensieve import QAlphaSelector

K = 2


def make(n_features: int, n_samples: int, n_chunks: int) -> da.Array:
    """Noise with 1,000 features that tell two groups of samples apart, made chunk by chunk on the workers."""
    width = -(-n_features // n_chunks)

    def chunk(block_info: dict) -> np.ndarray:
        (first, last) = block_info[None]["array-location"][1]
        rng = np.random.default_rng(first)
        X = rng.standard_normal((n_samples, last - first), dtype=np.float32)
        X[: n_samples // 2, :: n_features // 1_000] += 2.0
        return X

    chunks = ((n_samples,), (width,) * (n_features // width) + ((n_features % width,) if n_features % width else ()))
    return da.map_blocks(chunk, chunks=chunks, dtype=np.float32, meta=np.empty((0, 0), np.float32))


def selector(max_iter: int = 200, n_clusters: int = K) -> QAlphaSelector:
    return QAlphaSelector(
        1_000, n_clusters=n_clusters, solver_options={"max_iter": max_iter, "tol": 0.0 if max_iter < 200 else 5e-3}
    )


def processor_seconds(client: Client) -> float:
    """Time on the processors so far, of this process and the workers: hardly depends on what else is running."""
    return time.process_time() + sum(client.run(time.process_time).values())


def counters(client: Client) -> np.ndarray:
    """Bytes so far: messages, results sent to the client, data sent between workers."""

    def of_scheduler(dask_scheduler: Any) -> int:
        streams = [*dask_scheduler.stream_comms.values(), *dask_scheduler.client_comms.values()]
        return sum(stream.byte_count for stream in streams)

    def of_worker(dask_worker: Any) -> tuple[int, list[tuple[str, int]]]:
        sent = [(entry["who"], entry["total"]) for entry in dask_worker.transfer_outgoing_log]
        return dask_worker.batched_stream.byte_count, sent

    workers = client.run(of_worker)
    messages = client.run_on_scheduler(of_scheduler) + client.scheduler_comm.byte_count
    messages += sum(count for count, _ in workers.values())
    sent = [entry for _, entries in workers.values() for entry in entries]
    between = sum(size for who, size in sent if who in workers)
    return np.array([messages, sum(size for _, size in sent) - between, between], dtype=float)


def moved(client: Client, n_features: int, n_samples: int, n_chunks: int, n_clusters: int) -> np.ndarray:
    """Bytes an iteration, by kind."""
    X = make(n_features, n_samples, n_chunks).persist()
    wait(X)
    figures = []
    selector(4, n_clusters).fit(X)
    for steps in (4, 14):
        time.sleep(1.0)  # heartbeats and late messages
        before = counters(client)
        selector(steps, n_clusters).fit(X)
        time.sleep(1.0)
        figures.append(counters(client) - before)
    return (figures[1] - figures[0]) / 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", type=int, default=1_000_000)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--chunks", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    n, q, chunks = options.features, options.samples, options.chunks
    # equal chunks on equal workers: moving one to balance the load would only blur the counters
    dask.config.set({"distributed.scheduler.work-stealing": False})
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        X = make(n, q, chunks).persist()
        wait(X)
        local = make(n, q, chunks).compute(scheduler="threads")  # made here: the cluster's own copy stays where it is
        for data in (local, X):  # compiled loops are loaded, in the workers too
            selector(3).fit(data)
        times: dict[str, list[float]] = {"in memory": [], "Dask, 2 workers": []}
        for _ in range(options.repeats):
            for name, data in (("in memory", local), ("Dask, 2 workers", X)):
                begin, busy = time.perf_counter(), processor_seconds(client)
                model = selector().fit(data)
                times[name].append(time.perf_counter() - begin)
                busy = processor_seconds(client) - busy
                chosen = model.get_support(indices=True)
                seconds = f"{times[name][-1]:.2f} s, {busy:.2f} s of the processors"
                print(f"  {name}: {seconds}, {model.n_passes_} passes, first {chosen[:3]}", flush=True)
        memory, cluster_time = (statistics.median(values) for values in times.values())
        print(f"{n:,} features x {q} samples float32, {chunks} chunks, k = {K}")
        print(
            f"in memory {memory:.2f} s, Dask {cluster_time:.2f} s, ratio {cluster_time / memory:.2f} "
            "(wanted: at most 1.5)"
        )
        del X, local
        small = n // 10
        print("bytes per iteration  features  samples  chunks   k    messages     results  between workers")
        for features, samples, pieces, clusters in (
            (small, q, chunks, K),
            (2 * small, q, chunks, K),
            (small, q, 2 * chunks, K),
            (small, 2 * q, chunks, K),
            (small, q, chunks, 2 * K),
        ):
            messages, results, between = moved(client, features, samples, pieces, clusters)
            print(
                f"                    {features:>9,} {samples:>8} {pieces:>7} {clusters:>3} "
                f"{messages:>11,.0f} {results:>11,.0f} {between:>16,.0f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
