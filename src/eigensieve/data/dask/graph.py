"""The tasks of one pass as one Dask graph: put together by hand, run, and waited for.

Delayed objects would each carry a graph, and merging these takes the client longer than small passes take the workers.
A cluster without workers is an error, not an endless wait.
"""

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eigensieve.data.dask.tasks import sum_up
from eigensieve.data.passes import limited_blas

_FAN = 8  # terms that one task adds up, so that no worker needs them all
_FEW = 4  # up to this many sums come to the client, and up to this many tasks get their own copy of a sent value
_PATIENCE = 30.0  # seconds a cluster may be without any worker
_LOOK = 1.0


@dataclass(frozen=True, eq=False)
class Held:
    """The result of a task on the workers, or in this process if Dask runs here; `which` names one array of several."""

    key: str
    value: Any
    which: int | None = None


class PassGraph:
    """Tasks to be run together; `source` makes the chunks, `futures` are those that are on the workers already."""

    def __init__(self, source: Any, futures: Mapping[Any, Any]) -> None:
        self._name = uuid.uuid4().hex
        self._count = 0
        self._source = source
        self._sent: dict[Any, Any] = dict(futures)
        self._homes: dict[str | None, dict[str, Any]] = {}

    def task(self, fn: Callable[..., Any], *arguments: Any, home: str | None = None) -> str:
        """Add a task and return its key; other keys, also in lists, and `Held` stand for their values."""
        self._count += 1
        key = f"{fn.__name__}-{self._name}-{self._count}"
        self._homes.setdefault(home, {})[key] = (fn, *map(self._argument, arguments))
        return key

    def sent(self, value: Any, n_tasks: int) -> Any:
        """A value for all tasks: sent within them where they are few, else once, and workers pass it on."""
        if n_tasks <= _FEW:
            return value
        key = f"eigensieve-{self._name}"
        self._sent[key] = value
        return key

    def summed(self, terms: list[str]) -> list[str]:
        """Add up small arrays on the workers, a few at a time, until few enough are left for the client."""
        while len(terms) > _FEW:
            terms = [self.task(sum_up, terms[at : at + _FAN]) for at in range(0, len(terms), _FAN)]
        return terms

    def run(self, wanted: Sequence[str], keep: Sequence[str] = ()) -> tuple[list[Any], list[Held]]:
        """Compute and return `wanted`; `keep` is computed too, but stays on the workers."""
        import dask

        with limited_blas():
            (values,) = dask.persist(_Tasks(self._graph(), [*wanted, *keep]), optimize_graph=False)
            results, rest = values[: len(wanted)], values[len(wanted) :]
            if results and hasattr(results[0], "client"):  # a future
                _wait(results)
                results = results[0].client.gather(results)
        # an error in the rest shows in the pass that needs it
        return list(results), [Held(key, value) for key, value in zip(keep, rest, strict=True)]

    def _argument(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._argument(item) for item in value]
        if not isinstance(value, Held):
            return value
        self._sent[value.key] = value.value
        return value.key if value.which is None else [value.key, value.which]

    def _graph(self) -> Any:
        from dask.highlevelgraph import HighLevelGraph, MaterializedLayer

        name = self._name
        below = {*self._source.layers, f"sent-{name}"}
        layers = {**self._source.layers, f"sent-{name}": MaterializedLayer(self._sent)}
        depends = {**self._source.dependencies, f"sent-{name}": set()}
        for number, (home, some) in enumerate(self._homes.items()):
            if home is not None:
                asked = {"workers": [home], "allow_other_workers": True}
                layers[f"home-{number}-{name}"] = MaterializedLayer(some, annotations=asked)
                depends[f"home-{number}-{name}"] = below
        layers[f"rest-{name}"] = MaterializedLayer(self._homes.get(None, {}))
        depends[f"rest-{name}"] = set(depends)
        return HighLevelGraph(layers, depends)


class _Tasks:
    """A Dask collection of tasks, of any kind, with one graph."""

    def __init__(self, graph: Any, keys: list[str]) -> None:
        self.graph = graph
        self.keys = keys

    def __dask_graph__(self) -> Any:
        return self.graph

    def __dask_keys__(self) -> list[str]:
        return self.keys

    def __dask_tokenize__(self) -> list[str]:
        return self.keys

    def __dask_postcompute__(self) -> tuple[Any, tuple[()]]:
        return list, ()

    def __dask_postpersist__(self) -> tuple[Any, tuple[()]]:
        return self._values, ()

    def _values(self, found: Mapping[str, Any], *, rename: Any = None) -> list[Any]:
        return [found[key] for key in self.keys]

    @staticmethod
    def __dask_optimize__(graph: Any, keys: Any, **_: Any) -> Any:
        return graph

    @staticmethod
    def __dask_scheduler__(*arguments: Any, **settings: Any) -> Any:
        from dask.threaded import get

        return get(*arguments, **settings)


def _wait(futures: list[Any]) -> None:
    """Wait until all futures are finished. Results that died with a worker are computed again."""
    from distributed import CancelledError, wait

    client = futures[0].client
    seen = time.monotonic()
    unfinished = futures
    while unfinished:
        try:
            wait(futures, timeout=_LOOK, return_when="ALL_COMPLETED")
        except TimeoutError:
            if client.nthreads():
                seen = time.monotonic()
            elif time.monotonic() - seen > _PATIENCE:
                raise RuntimeError(
                    f"The Dask cluster has had no workers for {_PATIENCE:.0f} seconds, so the pass cannot go on. "
                    "Start workers again and call fit once more; with checkpoint= it resumes from the last completed "
                    "step."
                ) from None
        except CancelledError as cancelled:
            raise RuntimeError(_GONE) from cancelled
        unfinished = [future for future in futures if future.status in ("pending", "lost")]
        lost = [future.key for future in unfinished if future.status == "lost"]
        if lost:  # the scheduler forgets tasks whose input cannot be computed again
            states = client.sync(client.scheduler.get_task_status, keys=lost)
            if any(state in (None, "lost", "forgotten") for state in states.values()):
                raise RuntimeError(_GONE)
    for future in futures:
        if future.status == "cancelled":
            raise RuntimeError(_GONE)
        if future.status == "error":
            error = future.exception()
            if type(error).__name__ == "KilledWorker":
                raise RuntimeError(
                    "Dask gave up on a chunk because the workers that held it died one after the other, usually "
                    "because they ran out of memory. Give the workers more memory or make the chunks smaller, then "
                    "call fit once more."
                ) from error
            raise error


_GONE = (
    "The Dask scheduler lost or cancelled the tasks of this pass. Check that the cluster is still running "
    "and that the input was not cancelled, then call fit once more."
)
