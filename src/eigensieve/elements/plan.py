"""The settings of a selection: one object for every search and every shape of the mask."""

from dataclasses import dataclass

import numpy as np

from eigensieve._progress import Progress, silent
from eigensieve.elements.kernel import LINEAR
from eigensieve.elements.state import SelectionState


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to select and how. Most fields are parameters of `ElementSelectedSVC`.

    Parameters
    ----------
    n_elements : int
        Elements wanted in total.
    shape : {"element", "feature", "basis", "joint", "prototypes"}
    search : {"guided", "probabilistic", "exact"}
        For shape "element".
    rescale : bool
        Let masked columns use a larger gamma, so that they are as local as the full kernel.
    n_candidates : int
        Random candidates compared per choice.
    sample_fraction : float
        Share of the samples on which candidates are compared.
    least_samples : int
        The least number of those samples. The probabilistic search ignores it, as the paper does.
    chunk_size : int
        Elements that the probabilistic search chooses per try.
    n_tries : int
        Tries per chunk in the probabilistic search; columns grown per choice in the guided search.
    n_prototypes, prototype_size : int
        Number of feature subsets, and features per subset, for shape "prototypes".
    grown_to : int
        The guided search grows a column to at most this many features.
    fill : bool
        Let the guided search grow every column as far as it can, not only as far as the gain per element is largest.
    tol : float
        Stop when an element lowers the relative error by less than this (mean over the elements added together).
    progress : callable
        Called with one line each time the search has got further.
    """

    n_elements: int
    shape: str = "element"
    search: str = "guided"
    rescale: bool = True
    n_candidates: int = 60
    sample_fraction: float = 0.1
    least_samples: int = 350
    chunk_size: int = 10
    n_tries: int = 3
    n_prototypes: int = 4
    prototype_size: int = 8
    grown_to: int = 4
    fill: bool = False
    tol: float = 0.0
    progress: Progress = silent

    def smallest(self, n_basis: int, n_features: int) -> int:
        """Return how many elements the smallest mask of the shape has."""
        size = min(self.prototype_size, n_features)
        return {"basis": n_features, "feature": n_basis, "prototypes": size}.get(self.shape, 1)

    def sample_size(self, n_samples: int) -> int:
        """Return on how many samples candidates are compared."""
        return max(self.least_samples, int(np.ceil(self.sample_fraction * n_samples)))

    def width(self, state: SelectionState, n_seen: int) -> float:
        """Return the factor d / p on gamma: with it, a column that sees p of d features is as local as the full kernel.

        It is 1 without `rescale` and for the linear kernel.
        """
        return state.B.shape[1] / n_seen if self.rescale and state.kernel.kind != LINEAR else 1.0

    def widths(self, state: SelectionState) -> tuple[float, ...]:
        """Return the factors on gamma that a new masked column may take; (1.0,) is the paper's kernel."""
        local = self.width(state, self.grown_to)
        if self.fill:
            return (local,)
        return (1.0, local) if local > 1.0 else (1.0,)

    def gain_died_out(self, state: SelectionState, error_before: float, n_added: int) -> bool:
        """Report the progress, and return whether the added elements gained less than `tol` each."""
        self.progress(f"{state.n_elements} elements, error {state.relative_error:.4g}")
        state.finished = error_before - state.relative_error < self.tol * n_added
        return state.finished
