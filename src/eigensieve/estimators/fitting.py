"""Fitting as a whole or not at all."""

from collections.abc import Callable
from functools import wraps
from typing import Any


def all_or_nothing(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `fit` that leaves the estimator as it was when it is interrupted or fails."""

    @wraps(fit)
    def whole(self: Any, *arguments: Any, **options: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *arguments, **options)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return whole
