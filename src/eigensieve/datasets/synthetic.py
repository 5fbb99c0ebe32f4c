"""Data whose relevant features are known: planted clusters, counts of single cells after Splatter, and the demo's data.

A generator returns a named tuple that begins with ``X, y, relevant``. The relevant features come first, as in the
papers, except in ``make_planted_clusters`` and ``make_single_cells``.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from os import cpu_count
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_matrix, vstack
from sklearn.utils import Bunch

from eigensieve._errors import check_range, wrong_parameter

RandomState = int | np.random.Generator | None


class SyntheticData(NamedTuple):
    """Samples, labels and the truth about the features.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Samples in rows.
    y : ndarray of shape (n_samples,)
        Integer labels. They describe how the data was made; unsupervised methods must not see them.
    relevant : ndarray of bool of shape (n_features,)
        True for the features that carry the structure.
    """

    X: np.ndarray
    y: np.ndarray
    relevant: np.ndarray


def features_at(positions: np.ndarray, n_features: int) -> np.ndarray:
    mask = np.zeros(n_features, dtype=bool)
    mask[positions] = True
    return mask


_AT_ONCE = 2**22  # rates of cells that are held at a time
BLOCK_SIZE = 2**20
"""Values drawn from one stream of random numbers."""


def make_planted_clusters(
    n_samples: int = 200,
    n_features: int = 1000,
    n_relevant: int = 20,
    *,
    n_clusters: int = 3,
    center_scale: float = 1.5,
    dtype: DTypeLike = np.float64,
    random_state: RandomState = None,
) -> SyntheticData:
    """Plant clusters in a few features among pure noise.

    Feature `i` of a sample in cluster `c` is ``mu_ci + N(0, 1)`` when relevant, with ``mu_ci ~ N(0, center_scale^2)``,
    and ``N(0, 1)`` otherwise. Clusters are as equal in size as possible. Samples come in random order. Relevant
    features stand at random positions, so that breaking ties by position gains nothing.

    Parameters
    ----------
    n_samples, n_features, n_relevant : int
        How many samples, features, and features that carry the clusters.
    n_clusters : int
        How many clusters.
    center_scale : float
        Standard deviation of the cluster centres, in units of the noise: how easy the problem is.
    dtype : numpy dtype
        ``numpy.float32`` or ``numpy.float64``.
    random_state : int, numpy.random.Generator or None
        Seed; the same seed gives the same result.

    Notes
    -----
    The noise is drawn straight into the result, by several threads, so no second array of its size exists. The result
    depends on `random_state` alone, not on the number of threads.

    Examples
    --------
    >>> from eigensieve.datasets import make_planted_clusters
    >>> X, y, relevant = make_planted_clusters(100, 5000, 50, random_state=0)
    >>> X.shape, int(relevant.sum())
    ((100, 5000), 50)
    """
    check_range(
        "make_planted_clusters",
        n_samples=(n_samples, 1),
        n_features=(n_features, 1),
        n_relevant=(n_relevant, 0, n_features),
        n_clusters=(n_clusters, 1),
    )
    rng = np.random.default_rng(random_state)
    y = rng.permutation(np.arange(n_samples) % n_clusters)
    columns = np.sort(rng.choice(n_features, size=n_relevant, replace=False))
    centers = rng.normal(scale=center_scale, size=(n_clusters, n_relevant)).astype(dtype)
    X = _noise(rng, n_samples, n_features, dtype)
    for row, cluster in zip(X, y, strict=True):
        row[columns] += centers[cluster]
    return SyntheticData(X, y, features_at(columns, n_features))


def _noise(rng: np.random.Generator, n_samples: int, n_features: int, dtype: DTypeLike) -> np.ndarray:
    """Standard normal values, drawn in place; each block of rows has a random stream of its own."""
    X = np.empty((n_samples, n_features), dtype=dtype)
    rows = max(1, BLOCK_SIZE // n_features)
    starts = range(0, n_samples, rows)

    def fill(start: int, stream: np.random.Generator) -> None:
        stream.standard_normal(out=X[start : start + rows], dtype=X.dtype.type)

    with ThreadPoolExecutor(cpu_count()) as threads:
        for _ in threads.map(fill, starts, rng.spawn(len(starts))):
            pass
    return X


class SingleCells(NamedTuple):
    """Counts of single cells and how they were made.

    Attributes
    ----------
    X : csr_matrix of shape (n_cells, n_genes)
        Molecules per cell and gene, in float32.
    y : ndarray of shape (n_cells,)
        The type of each cell, or the branch that it is on. Types are numbered in the order of `group_shares`.
    relevant : ndarray of bool of shape (n_genes,)
        True for genes whose rate differs between types.
    batches : ndarray of shape (n_cells,)
        The batch of each cell, from 0.
    position : ndarray of shape (n_cells,)
        How far each cell is along its branch, from 0 to 1. 1 for all cells where types are groups.
    """

    X: csr_matrix
    y: np.ndarray
    relevant: np.ndarray
    batches: np.ndarray
    position: np.ndarray


def make_single_cells(
    n_cells: int = 500,
    n_genes: int = 2000,
    *,
    group_shares: Sequence[float] = (0.4, 0.3, 0.3),
    structure: Literal["groups", "branches"] = "groups",
    n_batches: int = 1,
    marker_share: float = 0.05,
    marker_strength: float = 0.8,
    batch_strength: float = 0.3,
    depth: float = 2000.0,
    depth_spread: float = 0.4,
    dispersion: float = 0.1,
    random_state: RandomState = None,
) -> SingleCells:
    """Draw counts of single cells whose types, batches and marker genes are known.

    This is the model of Splatter (Zappia, Phipson and Oshlack 2017) with fewer settings. The mean of a gene is
    Gamma(0.6, 1/0.3). A type multiplies the means of `marker_share` of the genes by exp(N(0, marker_strength^2)), and
    a batch those of all genes by exp(N(0, batch_strength^2)). The means of a cell are scaled to its library size,
    which is log-normal. The count is Poisson of the mean times Gamma noise of variance `dispersion`.

    Parameters
    ----------
    n_cells, n_genes : int
        Size of the table of counts.
    group_shares : sequence of float
        Expected share of the cells per type. They are divided by their sum. A small share makes a rare type.
    structure : {"groups", "branches"}
        Types are groups of like cells, or branches that all start from one state: a cell that is a part t of the way
        along its branch has the type's factors to the power t.
    n_batches : int
        Each cell is in a random batch. With one batch there is no batch effect.
    marker_share : float
        Share of the genes that each type changes; drawn anew per type.
    marker_strength, batch_strength : float
        Standard deviations of the logarithms of the factors.
    depth : float
        Median number of molecules per cell.
    depth_spread : float
        Standard deviation of the logarithm of that number.
    dispersion : float
        Variance of a gene's true level in like cells, over the square of its mean. 0 leaves the Poisson noise alone.
    random_state : int, numpy.random.Generator or None
        Seed; the same seed gives the same cells.

    Notes
    -----
    Cells are made little by little, so no dense matrix of all cells exists.

    Examples
    --------
    >>> from eigensieve.datasets import make_single_cells
    >>> cells = make_single_cells(300, 1000, group_shares=(0.5, 0.48, 0.02), n_batches=2, random_state=0)
    >>> cells.X.shape, sorted(set(cells.y.tolist())), sorted(set(cells.batches.tolist()))
    ((300, 1000), [0, 1, 2], [0, 1])
    """
    shares = np.asarray(group_shares, dtype=np.float64)
    name = "make_single_cells"
    check_range(
        name,
        n_cells=(n_cells, 1),
        n_genes=(n_genes, 1),
        n_batches=(n_batches, 1),
        marker_share=(marker_share, 0, 1),
        marker_strength=(marker_strength, 0),
        batch_strength=(batch_strength, 0),
        depth=(depth, 1),
        depth_spread=(depth_spread, 0),
        dispersion=(dispersion, 0),
    )
    if shares.ndim != 1 or not len(shares) or not (np.isfinite(shares).all() and (shares > 0).all()):
        raise wrong_parameter("group_shares", name, "be one positive number per type", shares.tolist())
    if structure not in ("groups", "branches"):
        raise wrong_parameter("structure", name, "be 'groups' or 'branches'", repr(structure))
    rng = np.random.default_rng(random_state)
    means = np.log(rng.gamma(0.6, 1.0 / 0.3, n_genes) + np.finfo(np.float64).tiny)
    markers = rng.random((len(shares), n_genes)) < marker_share
    by_type = np.where(markers, rng.normal(0.0, marker_strength, markers.shape), 0.0)
    by_batch = rng.normal(0.0, batch_strength, (n_batches, n_genes)) if n_batches > 1 else np.zeros((1, n_genes))
    y = rng.choice(len(shares), n_cells, p=shares / shares.sum())
    batches = rng.integers(0, n_batches, n_cells)
    position = np.ones(n_cells) if structure == "groups" else rng.random(n_cells)
    sizes = depth * np.exp(rng.normal(0.0, depth_spread, n_cells))
    some = max(1, _AT_ONCE // n_genes)
    parts = []
    for start in range(0, n_cells, some):
        here = slice(start, start + some)
        rates = np.exp(means + position[here, None] * by_type[y[here]] + by_batch[batches[here]])
        rates *= (sizes[here] / rates.sum(axis=1))[:, None]
        if dispersion > 0:
            rates *= rng.standard_gamma(1.0 / dispersion, rates.shape) * dispersion
        parts.append(csr_matrix(rng.poisson(rates).astype(np.float32)))
    X = csr_matrix(vstack(parts, format="csr"))
    return SingleCells(X, y, np.asarray(markers.any(axis=0)), batches, position)


def load_demo(n_features: int = 2000, *, random_state: int | np.random.Generator | None = 0) -> Bunch:
    """Load real tumour measurements hidden among shuffled copies of themselves.

    The 30 measurements of the 569 tumours in scikit-learn's breast cancer data (Wisconsin, 1995) are the relevant
    features. Every other feature is a copy of one of them whose values are shuffled over the tumours. A copy has the
    distribution of its original, so no single column gives it away, but it has no relation to anything else. Relevant
    features stand at random positions. No file comes with eigensieve and nothing is downloaded.

    Parameters
    ----------
    n_features : int
        Number of features in all, at least 31.
    random_state : int, numpy.random.Generator or None
        Seed; the same seed gives the same result.

    Returns
    -------
    bunch : sklearn.utils.Bunch
        With these keys:

        - data : ndarray of shape (569, n_features)
        - feature_names : list of str; the real names, and "shuffled mean radius (1)" and so on
        - relevant : ndarray of bool of shape (n_features,); true for the 30 real features
        - target : ndarray of shape (569,); the diagnosis, to look at afterwards: 0 malignant, 1 benign
        - class_names : list of str
        - source : str

    Examples
    --------
    >>> from eigensieve.datasets import load_demo
    >>> demo = load_demo()
    >>> demo.data.shape, int(demo.relevant.sum())
    ((569, 2000), 30)
    """
    from sklearn.datasets import load_breast_cancer

    real = load_breast_cancer()
    n_samples, n_relevant = real.data.shape
    if n_features <= n_relevant:
        raise wrong_parameter("n_features", "load_demo", f"be an int above {n_relevant}", repr(n_features))
    rng = np.random.default_rng(random_state)
    places = rng.permutation(n_features)
    data = np.empty((n_samples, n_features))
    names = [""] * n_features
    for position, place in enumerate(places):
        copy, source = divmod(position, n_relevant)
        column, name = real.data[:, source], str(real.feature_names[source])
        data[:, place] = rng.permutation(column) if copy else column
        names[place] = f"shuffled {name} ({copy})" if copy else name
    return Bunch(
        data=data,
        target=real.target,
        feature_names=names,
        class_names=[str(name) for name in real.target_names],
        relevant=features_at(places[:n_relevant], n_features),
        source="scikit-learn's load_breast_cancer (Wisconsin diagnostic breast cancer, 1995)",
    )
