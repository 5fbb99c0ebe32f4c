"""Where chunks are: tasks and feature arrays are asked to stay beside them.

Dask weighs the time to move a chunk against the work waiting where it is, from guesses of both; a chunk of a hundred
megabytes moved on a wrong guess costs more than the pass. Asking is all that is done: tasks run elsewhere when the
worker is gone.
"""

from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any


def homes(X: Any, groups: Sequence[Sequence[Any]]) -> list[str | None]:
    """Return, for every group of chunks, the worker that holds most of them; None where there is none yet.

    Where several hold as many (copies stay behind when chunks have been looked at elsewhere), the one with the least to
    do: otherwise one worker might be given everything.

    Parameters
    ----------
    X : dask collection
    groups : sequence of lists of Delayed
        The chunks of `X` that tasks will need together.
    """
    try:
        from distributed import futures_of
    except ImportError:
        return [None] * len(groups)
    futures = futures_of(X)
    if not futures:
        return [None] * len(groups)
    holders = futures[0].client.who_has(futures)
    choices = [_most(Counter(w for chunk in group for w in holders.get(chunk.key, ()))) for group in groups]
    found: list[str | None] = [None] * len(groups)
    given: Counter[str] = Counter()
    for g in sorted(range(len(groups)), key=lambda g: len(choices[g])):  # those without a choice first
        if choices[g]:
            home = min(choices[g], key=lambda worker: (given[worker], worker))
            found[g] = home
            given[home] += 1
    return found


def _most(count: "Counter[str]") -> list[str]:
    """The workers with the highest count."""
    return [worker for worker, held in count.items() if held == max(count.values())]


def beside(home: str | None) -> AbstractContextManager[Any]:
    """A context in which tasks are made that should run on a worker."""
    if home is None:
        return nullcontext()
    import dask

    annotated: AbstractContextManager[Any] = dask.annotate(workers=[home], allow_other_workers=True)
    return annotated
