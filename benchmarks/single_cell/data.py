"""The sets: counts, labels, batches, and on which half each is.

Real sets alternate in alphabetical order, simulated ones by their draw: even ones are chosen on, odd ones reported.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from eigensieve.datasets import load_real, make_single_cells

REAL = (
    "camp_cortex",
    "Goolam_embryo",
    "mESC_buettner",
    "mouse_bladder",
    "pbmc68k_reduced",
    "pollen",
    "sc_celseq2_5cl",
    "stemcells_mint",
    "yan_embryo",
)
LOGARITHMS = {"mESC_buettner": 10.0, "pbmc68k_reduced": np.e, "pollen": 10.0, "stemcells_mint": None}
"""Real sets that come as logarithms, of this base; None where the values are what they are."""
RARE = 0.05
"""A type of fewer cells than this share is rare."""

_LARGE = (0.25, 0.2, 0.2, 0.15, 0.12)
_KINDS: dict[str, dict[str, Any]] = {
    "groups": {"group_shares": (1.0,) * 8},
    "batches": {"group_shares": (1.0,) * 6, "n_batches": 3, "batch_strength": 0.15},
    "rare": {"group_shares": (*_LARGE, 0.03, 0.015)},
    "rare_batches": {"group_shares": (*_LARGE, 0.03, 0.02), "n_batches": 2, "batch_strength": 0.15},
    "branches": {"group_shares": (1.0,) * 4, "structure": "branches"},
}
_STRENGTHS = {"weak": 0.5, "strong": 0.7}
_ON_BRANCHES = 1.5  # a cell is half of the way along its branch on average


@dataclass(frozen=True)
class Cells:
    """One set.

    Attributes
    ----------
    counts : sparse matrix or ndarray
        Counts; where the set comes as logarithms, what they are logarithms of.
    log : the same, log-normalised, or as the set comes.
    are_counts : bool
        Whether the set comes as counts.
    labels : ndarray of int
    batches : ndarray of int or None
    as_given : whether `log` is how the set comes, so that it is never made from `counts`.
    """

    name: str
    counts: Any
    log: Any
    are_counts: bool
    labels: np.ndarray
    batches: np.ndarray | None
    as_given: bool = False

    @property
    def rare(self) -> np.ndarray:
        """The types that are rare and have at least 5 cells."""
        sizes = np.bincount(self.labels)
        return np.flatnonzero((sizes < RARE * len(self.labels)) & (sizes >= 5))


def chosen_on(name: str) -> bool:
    """Whether the set is in the half that forms are chosen on."""
    return REAL.index(name) % 2 == 0 if name in REAL else name.endswith("_a")


def simulated() -> list[str]:
    return [f"{kind}_{level}_{draw}" for kind in _KINDS for level in _STRENGTHS for draw in "ab"]


def load(name: str) -> Cells:
    return _real(name) if name in REAL else _simulated(name)


def _real(name: str) -> Cells:
    found = load_real(name)
    labels = np.unique(found.target, return_inverse=True)[1].reshape(-1)
    batches = getattr(found, "batch", None)
    batches = None if batches is None else np.unique(batches, return_inverse=True)[1].reshape(-1)
    X = csr_matrix(found.data, dtype=np.float32)
    if name not in LOGARITHMS:
        whole = bool((X.data == np.round(X.data)).all())
        return Cells(name, X, normalized(X), whole, labels, batches)
    base = LOGARITHMS[name]
    return Cells(name, _amounts(X, base), X, False, labels, batches, as_given=True)


def read(path: Path) -> Cells:
    """Read a file that holds X, or the parts of a CSR matrix, y and, where there are some, batches (batch).

    The values are counts or other amounts, or their logarithms of the base that the file holds (base).
    """
    stored = np.load(path, allow_pickle=False)
    parts = (stored["X_data"], stored["X_indices"], stored["X_indptr"]) if "X_data" in stored else stored["X"]
    X = csr_matrix(parts, shape=tuple(stored["X_shape"]) if "X_shape" in stored else None, dtype=np.float32)
    batches = stored["batch"] if "batch" in stored and len(np.unique(stored["batch"])) > 1 else None
    if "base" in stored:
        return Cells(path.stem, _amounts(X, float(stored["base"])), X, False, stored["y"], batches, as_given=True)
    return Cells(path.stem, X, normalized(X), True, stored["y"], batches)


def _simulated(name: str) -> Cells:
    kind, level, draw = name.rsplit("_", 2)
    seed = [list(_KINDS).index(kind), list(_STRENGTHS).index(level), "ab".index(draw)]
    made = make_single_cells(
        1_000,
        6_000,
        marker_strength=_STRENGTHS[level] * (_ON_BRANCHES if kind == "branches" else 1.0),
        random_state=np.random.default_rng(seed),
        **_KINDS[kind],
    )
    labels = made.y
    if kind == "branches":  # the common start is a type, and so are the two halves of the rest of each branch
        labels = np.where(made.position < 1 / 3, 0, 1 + 2 * made.y + (made.position > 2 / 3))
    batches = made.batches if "n_batches" in _KINDS[kind] else None
    return Cells(name, made.X, normalized(made.X), True, labels, batches)


def normalized(X: Any) -> Any:
    """Return log(1 + x s / s_t), s the median library size."""
    totals = np.asarray(X.sum(axis=1)).reshape(-1)
    X = X.tocsr().copy()
    X.data = np.log1p(X.data * np.repeat(np.median(totals) / np.maximum(totals, 1e-12), np.diff(X.indptr)))
    return X.astype(np.float32)


def _amounts(X: Any, base: float | None) -> Any:
    """What X holds logarithms of, or X itself."""
    if base is None:
        return X
    X = X.copy()
    X.data = np.expm1(X.data.astype(np.float64) * np.log(base)).astype(np.float32)
    return X
