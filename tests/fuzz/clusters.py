"""Trouble on a Dask cluster: the result is the undisturbed one, or an error of our own says what happened."""

import os
import signal
import threading
import time
import warnings
from typing import Any

import numpy as np

from eigensieve import QAlphaSelector

Spec = dict[str, Any]

PREFIX = "cluster, "
SECONDS = 120


def draw(rng: np.random.Generator, target: str) -> Spec:
    return {
        "trouble": target.removeprefix(PREFIX),
        "after": float(rng.random() * 2.0),
        "persisted": bool(rng.random() < 0.5),
        "labels": bool(rng.random() < 0.3),
        "seed": int(rng.integers(2**31)),
    }


def check(spec: Spec) -> str:
    import dask
    import dask.array as da
    import distributed

    rng = np.random.default_rng(spec["seed"])
    X, y = rng.standard_normal((60, 2000)), np.arange(60) % 2
    X[:30, :10] += 2.0
    known = {"y": y} if spec["labels"] else {}
    expected = QAlphaSelector(10, 2, solver_options={"tol": 1e-6}).fit(X, **known).weights_
    limit = "800MB" if spec["trouble"] == "little memory" else "auto"
    spill = {"distributed.worker.memory.spill": 0.02, "distributed.worker.memory.target": 0.01}
    with (
        dask.config.set(spill if limit != "auto" else {}),
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=limit, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        warnings.simplefilter("ignore")
        D = da.from_array(X, chunks=(30, 500))
        D = D.persist() if spec["persisted"] else D
        worker = next(iter(client.run(os.getpid).values()))
        timer = threading.Timer(spec["after"], _trouble, (spec["trouble"], worker, cluster))
        timer.start()
        try:
            found = QAlphaSelector(10, 2, solver_options={"tol": 1e-6}).fit(D, **known).weights_
        except RuntimeError as error:
            if spec["trouble"] == "dead scheduler" and "Dask" in str(error):
                return f"refused: {error}"
            raise
        finally:
            timer.cancel()
            timer.join()
    np.testing.assert_allclose(found, expected, atol=1e-5)
    return "the same result"


def _trouble(kind: str, worker: int, cluster: Any) -> None:
    if kind == "killed worker":
        os.kill(worker, signal.SIGKILL)
    elif kind == "slow worker":
        for _ in range(5):
            os.kill(worker, signal.SIGSTOP)
            time.sleep(0.3)
            os.kill(worker, signal.SIGCONT)
            time.sleep(0.1)
    elif kind == "dead scheduler":
        cluster.sync(cluster.scheduler.close)
