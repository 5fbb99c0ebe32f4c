"""PCA and the two variants that use side data: constrained and oriented PCA."""

import numpy as np
import scipy.linalg

from experiments.frame import Array


def directions(main: Array, side: Array, ridge: float = 1e-3, removed: int | None = None) -> dict[str, Array]:
    """Return the directions of PCA, constrained PCA (CPCA) and oriented PCA (OPCA), best first, in columns.

    Constrained PCA first takes `removed` leading directions of the side data out of the main data: if None, a quarter
    of all directions, at most those in which the side data vary. Oriented PCA maximises the variance of the
    main data over that of the side data, plus `ridge` times its mean variance.
    """
    C, S = np.cov(main.T), np.cov(side.T)
    count = removed or max(1, min(len(C) // 4, len(side) - 1))
    side_leading = np.linalg.eigh(S)[1][:, ::-1][:, :count]
    off = np.eye(len(C)) - side_leading @ side_leading.T
    floor = ridge * np.trace(S) / len(S) + 1e-12
    return {
        "PCA": np.linalg.eigh(C)[1][:, ::-1],
        "CPCA": np.linalg.eigh(off @ C @ off)[1][:, ::-1],
        "OPCA": scipy.linalg.eigh(C, S + floor * np.eye(len(S)))[1][:, ::-1],
    }
