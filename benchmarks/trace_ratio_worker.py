"""One measured run in a process of its own: ``python trace_ratio_worker.py TASK DATA.npz RESULT.npz``.

Runs under the peers' Python (scikit-feature, ITMO-FS) or under eigensieve's, so it imports nothing of either before
the task is known. Seconds (wall and processor) are medians of the call alone; memory is how far the process grew above
its size with the data loaded, or what a short run allocated if that is more.
"""

import resource
import sys
import time
import tracemalloc
import warnings

import numpy as np

N_SELECTED = 100


def skfeature_fisher(X, y):
    from skfeature.function.similarity_based.trace_ratio import trace_ratio

    return lambda: {"subset": trace_ratio(X, y, N_SELECTED, mode="raw", style="fisher")[0][:N_SELECTED]}


def itmo_fisher(X, y):
    from ITMO_FS.filters.multivariate import TraceRatioFisher

    def run():
        selector = TraceRatioFisher(N_SELECTED)
        selector.fit(X, y)
        return {"subset": np.asarray(selector.selected_features)}

    return run


def eigensieve_fisher(X, y):
    from eigensieve.estimators.trace_ratio import TraceRatioSelector

    TraceRatioSelector(2).fit(X[:, :50], y)  # first use: imports
    return lambda: {"subset": TraceRatioSelector(N_SELECTED).fit(X, y).get_support(indices=True)}


def skfeature_laplacian(X, y):
    from skfeature.function.similarity_based import lap_score
    from skfeature.utility.construct_W import construct_W

    squared = ((X[:50, None, :] - X[None, :50, :]) ** 2).sum(axis=2)
    options = {
        "metric": "euclidean",
        "neighbor_mode": "knn",
        "weight_mode": "heat_kernel",
        "k": 5,
        "t": np.sqrt(squared.mean() / 2),
    }

    def run():
        # mode="index" gives the ranking itself: the default converts it to ranks in a loop that is quadratic in the
        # number of features and takes far longer than the score (half a minute at 20,000 features).
        return {"ranking": lap_score.lap_score(X, W=construct_W(X, **options), mode="index")}

    def scores():
        kept = {}

        def keep_score(frame, event, argument):
            # The function returns no scores; they are read as it returns.
            if event == "return" and frame.f_code.co_name == "lap_score":
                kept["scores"] = frame.f_locals["score"]

        W = construct_W(X, **options)
        sys.setprofile(keep_score)
        try:
            lap_score.lap_score(X, W=W, mode="index")
        finally:
            sys.setprofile(None)
        W = W.tocoo()
        return {"scores": kept["scores"], "row": W.row, "col": W.col, "weight": W.data}

    run.untimed = scores
    return run


def eigensieve_laplacian(X, y):
    from eigensieve.estimators.trace_ratio_scores import laplacian_score

    laplacian_score(X[:, :50])  # first use: imports
    return lambda: {"scores": laplacian_score(X)}


TASKS = {
    task.__name__: task
    for task in (skfeature_fisher, itmo_fisher, eigensieve_fisher, skfeature_laplacian, eigensieve_laplacian)
}


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    task, data, out = sys.argv[1:]
    warnings.simplefilter("ignore")
    stored = np.load(data)
    X, y = stored["X"], stored["y"]
    run = TASKS[task](X, y)
    before = peak_megabytes()
    wall, cpu = [], []
    while not wall or (len(wall) < 5 and sum(wall) < 10):
        start, start_cpu = time.perf_counter(), time.process_time()
        result = run()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - start_cpu)
    grown = peak_megabytes() - before
    if sum(wall) < 10:
        # The peak of the process may date from loading the data and hide a small run: count its allocations as well.
        tracemalloc.start()
        run()
        grown = max(grown, tracemalloc.get_traced_memory()[1] / 2**20)
        tracemalloc.stop()
    if hasattr(run, "untimed"):
        result |= run.untimed()
    np.savez(out, seconds=np.median(wall), cpu_seconds=np.median(cpu), megabytes=grown, **result)


if __name__ == "__main__":
    main()
