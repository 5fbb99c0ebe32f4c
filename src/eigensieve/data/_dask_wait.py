"""Run Dask tasks and wait for them; a cluster that is gone is an error, not an endless wait."""

import time
from collections.abc import Sequence
from typing import Any

from eigensieve.data._threads import limited_blas

_PATIENCE = 30.0  # seconds a cluster may be without any worker
_LOOK = 1.0


def finished(roots: Sequence[Any], *, keep: Sequence[Sequence[Any]] | None = None) -> Any:
    """Compute `roots` and return them; `keep` is computed too, but stays on the workers.

    Returns
    -------
    results : list
        With `keep`: the results (the single one when there is one root), and `keep` with handles on computed
        values.
    """
    import dask

    flat = [part for parts in keep or () for part in parts]
    with limited_blas():
        held = dask.persist(*roots, *flat, optimize_graph=False)
        futures = _futures(held)
        if futures and not roots:
            results = []  # nothing is wanted here: what goes wrong shows in the pass that needs it
        elif futures:
            _wait(futures)
            results = futures[0].client.gather([_futures([root])[0] for root in held[: len(roots)]])
        else:
            results = list(dask.compute(*held[: len(roots)], optimize_graph=False))
    if keep is None:
        return results
    rest = iter(held[len(roots) :])
    return (results[0] if len(results) == 1 else results), [[next(rest) for _ in parts] for parts in keep]


def _futures(held: Sequence[Any]) -> list[Any]:
    """The futures behind persisted tasks; none where Dask runs in this process."""
    try:
        from distributed import futures_of
    except ImportError:
        return []
    return list(futures_of(held))


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
