"""Where chunks are: tasks and feature arrays are asked to stay beside them.

Dask weighs the time to move a chunk against the work waiting where it is, from guesses of both; a chunk of a hundred
megabytes moved on a wrong guess costs more than the pass. Asking is all that is done: tasks run elsewhere when the
worker is gone.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil
from typing import Any

_BUNDLE = 1 << 29  # bytes of data a task works on at most, unless one chunk has more


def futures_in(X: Any) -> dict[Any, Any]:
    """The chunks of a Dask collection that are on workers already, or on their way there, by their keys."""
    try:
        from distributed import futures_of
    except ImportError:
        return {}
    return {future.key: future for future in futures_of(X)}


def homes(futures: Mapping[Any, Any], groups: Sequence[Sequence[Any]]) -> list[str | None]:
    """Return, for every group of chunks, the worker that holds most of them; None where there is none yet.

    Where several hold as many (copies stay behind when chunks have been looked at elsewhere), the one with the least to
    do: otherwise one worker might be given everything.

    Parameters
    ----------
    futures : mapping
        What `futures_in` found.
    groups : sequence of lists of keys
        The chunks that tasks will need together.
    """
    if not futures:
        return [None] * len(groups)
    holders = next(iter(futures.values())).client.who_has(list(futures.values()))
    choices = [_most(Counter(w for chunk in group for w in holders.get(chunk, ()))) for group in groups]
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


def bundles(homes: Sequence[str | None], sizes: Sequence[float], threads: Mapping[str, int]) -> list[list[int]]:
    """Put groups that are on the same worker together, into as many tasks as it has threads.

    A task more costs the scheduler more than the arithmetic of a small group. Groups without a home stay alone, and no
    bundle is large: when its worker is lost, another must take all of it.

    Parameters
    ----------
    homes : sequence of str or None
        The worker of each group.
    sizes : sequence of float
        Bytes of each group.
    threads : mapping
        Threads of each worker.
    """
    found = [[g] for g, home in enumerate(homes) if home is None]
    for worker in sorted({home for home in homes if home is not None}):
        mine = [g for g, home in enumerate(homes) if home == worker]
        total = sum(sizes[g] for g in mine)
        count = min(len(mine), max(threads.get(worker, 1), ceil(total / _BUNDLE)))
        edges = [len(mine) * i // count for i in range(count + 1)]
        found += [mine[first:last] for first, last in pairwise(edges)]
    return sorted(found)


def threads_of(futures: Mapping[Any, Any]) -> dict[str, int]:
    """Threads of every worker of the cluster that holds chunks; none where Dask runs in this process."""
    return dict(next(iter(futures.values())).client.nthreads()) if futures else {}
