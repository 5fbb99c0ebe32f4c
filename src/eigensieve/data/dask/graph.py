"""The tasks of one pass as one Dask graph, put together by hand.

A pass is a handful of tasks. Made one by one as delayed objects, each would carry a graph of its own, and merging
those takes the client longer than the smaller passes take the workers.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eigensieve.data.dask.tasks import sum_of
from eigensieve.data.dask.wait import computed

_FAN = 8  # sums of this many parts at a time, so that no worker needs them all
_FEW = 4  # as many parts come to the client, and as many tasks get their own copy of what it sends


@dataclass(frozen=True, eq=False)
class Held:
    """What a task left on the workers, or in this process where Dask runs in it; `which`: one array of several."""

    key: str
    value: Any
    which: int | None = None


class PassGraph:
    """Tasks to be run together.

    Parameters
    ----------
    source : HighLevelGraph
        Where the chunks come from.
    futures : dict
        Chunks that are on the workers already, by their keys.
    """

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
        """A value for all tasks: within them where they are few, else a task that workers get it from one another."""
        if n_tasks <= _FEW:
            return value
        key = f"eigensieve-{self._name}"
        self._sent[key] = value
        return key

    def summed(self, parts: list[str]) -> list[str]:
        """Add up small arrays on the workers, a few at a time, until few enough are left for the client."""
        while len(parts) > _FEW:
            parts = [self.task(sum_of, parts[at : at + _FAN]) for at in range(0, len(parts), _FAN)]
        return parts

    def run(self, wanted: Sequence[str], keep: Sequence[str] = ()) -> tuple[list[Any], list[Held]]:
        """Compute and return `wanted`; `keep` is computed too, but stays on the workers."""
        results, held = computed(_Tasks(self._graph(), [*wanted, *keep]), len(wanted))
        return results, [Held(key, value) for key, value in zip(keep, held, strict=True)]

    def _argument(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._argument(part) for part in value]
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

    def __dask_layers__(self) -> tuple[str, ...]:
        return tuple(self.graph.layers)

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
