"""Run Dask tasks and wait for them; a cluster that is gone is an error, not an endless wait."""

import time
from typing import Any

from eigensieve.data.threads import limited_blas

_PATIENCE = 30.0  # seconds a cluster may be without any worker
_LOOK = 1.0


def computed(tasks: Any, n_wanted: int) -> tuple[list[Any], list[Any]]:
    """Compute a collection of tasks; return the first values, and handles on the others, which stay where they are.

    Parameters
    ----------
    tasks : dask collection
        Persisting it gives a list of futures, or of values where Dask runs in this process.
    n_wanted : int
    """
    import dask

    with limited_blas():
        (held,) = dask.persist(tasks, optimize_graph=False)
        wanted, rest = held[:n_wanted], held[n_wanted:]
        if wanted and _is_future(wanted[0]):
            _wait(wanted)
            wanted = wanted[0].client.gather(wanted)
    return list(wanted), list(rest)  # what goes wrong with the rest shows in the pass that needs it


def _is_future(value: Any) -> bool:
    try:
        from distributed import Future
    except ImportError:
        return False
    return isinstance(value, Future)


def _wait(futures: list[Any]) -> None:
    from distributed import wait

    client = futures[0].client
    seen = time.monotonic()
    while True:
        try:
            wait(futures, timeout=_LOOK, return_when="ALL_COMPLETED")
            break
        except TimeoutError:
            if client.nthreads():
                seen = time.monotonic()
            elif time.monotonic() - seen > _PATIENCE:
                raise RuntimeError(
                    f"The Dask cluster has had no workers for {_PATIENCE:.0f} seconds, so the pass cannot "
                    "go on. Start "
                    "workers again and call fit once more; with checkpoint= it resumes from the last "
                    "completed step."
                ) from None
    for future in futures:
        if future.status == "error":
            error = future.exception()
            if type(error).__name__ == "KilledWorker":
                raise RuntimeError(
                    "Dask gave up on a chunk because the workers that held it died one after the other, "
                    "usually for want of "
                    "memory. Give the workers more memory or make the chunks smaller, then call fit once "
                    "more."
                ) from error
            raise error
        if future.status in ("cancelled", "lost"):
            raise RuntimeError(
                "The Dask scheduler lost or cancelled the tasks of this pass. Check that the cluster is "
                "still running "
                "and that the input was not cancelled, then call fit once more."
            )
