"""What every search for elements shares: its limits, when it stops, and the budget check."""

from collections.abc import Callable
from dataclasses import dataclass

from eigensieve._progress import Progress, silent
from eigensieve.elements.state import SelectionState

GROWN = 4
"""A column is grown to at most so many features."""


@dataclass(frozen=True)
class Limits:
    """How far a search goes.

    Parameters
    ----------
    n_elements : int
        Elements wanted in total.
    tol : float
        Stop when an element (the mean over a chunk) lowers the relative error by less than this.
    widths : tuple of float
        Factors on gamma that a new masked column may take; (1.0,) is the paper's kernel.
    progress : callable
        Told, in a line, how far the search has got.
    """

    n_elements: int
    tol: float = 0.0
    widths: tuple[float, ...] = (1.0,)
    progress: Progress = silent


Search = Callable[[SelectionState, Limits], SelectionState]
"""Takes a state and returns one with more elements; stops at the limits or when nothing is gained."""
