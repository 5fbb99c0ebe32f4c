"""Column statistics that stay on the workers until they are asked for."""

from collections.abc import Callable
from functools import cached_property

from eigensieve._types import Array
from eigensieve.data.stats import ColumnStats


class WorkerStats(ColumnStats):
    """What every fit asks for is here, a bit a feature; means and norms are brought when they are wanted.

    Parameters
    ----------
    finite, constant : ndarray of bool
    n_samples : int
    bring : callable
        Returns a statistic of all features, by name.
    """

    _bring: Callable[[str], Array]

    def __init__(self, finite: Array, constant: Array, n_samples: int, bring: Callable[[str], Array]) -> None:
        for name, value in (("finite", finite), ("constant", constant), ("n_samples", n_samples), ("_bring", bring)):
            object.__setattr__(self, name, value)

    @cached_property
    def mean(self) -> Array:  # type: ignore[override]
        return self._bring("mean")

    @cached_property
    def centered_norm(self) -> Array:  # type: ignore[override]
        return self._bring("centered_norm")
