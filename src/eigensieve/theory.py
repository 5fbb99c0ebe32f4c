"""The papers' theorems about the weights, as functions.

How much larger relevant weights are than irrelevant ones (the sparsity gap), how much weight irrelevant features can
get at most (2005 paper, section 4.2), how likely the weights are to come out positive (section 4.1), and what sparse
weights do for generalisation (section 4.3).
"""

from math import comb
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import eigsh

from eigensieve._errors import check_range, wrong_parameter

__all__ = [
    "expected_irrelevant_weight_bound",
    "expected_triple_product",
    "irrelevant_weight_bound",
    "leading_eigenvalue_estimate",
    "norm_tail_bound",
    "positivity_probability",
    "sparsity_gap",
    "trace_bound",
    "triple_product",
    "two_block_sparsity_gap",
    "wishart_moment",
]


def sparsity_gap(weights: ArrayLike, relevant: ArrayLike) -> float:
    """Ratio of the mean weight of the relevant features to the mean weight of all others.

    Definition 6 of the 2003 paper, used for Fig. 3b of the 2005 paper. Means are of signed weights, as printed.

    Parameters
    ----------
    weights : array-like of shape (n_features,)
        Feature weights alpha. Their common sign does not matter.
    relevant : array-like of bool of shape (n_features,)
        The split: true relevant features where they are known, or the selected ones.

    Returns
    -------
    gap : float
        Infinite when the irrelevant features have, on average, no positive weight at all.
    """
    alpha = np.asarray(weights, dtype=np.float64)
    mask = np.asarray(relevant)
    if not (alpha.ndim == 1 and mask.shape == alpha.shape and mask.dtype == bool):
        got = f"shape {mask.shape} and dtype {mask.dtype} for weights of shape {alpha.shape}"
        raise wrong_parameter("relevant", "sparsity_gap", "be a bool array with one entry for each weight", got)
    if mask.all() or not mask.any():
        got = f"{int(mask.sum())} of {mask.size} marked"
        raise wrong_parameter("relevant", "sparsity_gap", "mark at least one feature and leave one out", got)
    if alpha.sum() < 0:
        alpha = -alpha
    irrelevant_mean = alpha[~mask].mean()
    return float(alpha[mask].mean() / irrelevant_mean) if irrelevant_mean > 0 else float("inf")


def two_block_sparsity_gap(
    relevant_fraction: float, *, relevant_mean: float = 0.85, irrelevant_mean: float = 1 / 6
) -> float:
    """Sparsity gap that the two-block model of G predicts for many features.

    Theorem 2 of the 2003 paper: the leading eigenvector (x_1, x_2) of
    ``n [[p mu_a, (1 - p) mu_b], [p mu_b, (1 - p) mu_b]]`` has the gap r = x_1 / x_2 with
    ``p mu_b r^2 + ((1 - p) mu_b - p mu_a) r - (1 - p) mu_b = 0``. The number of features n cancels. The
    paper takes mu_b = 1/6 from its Proposition 3, which the 2005 paper corrects to 1/q^2.

    Parameters
    ----------
    relevant_fraction : float
        p, in (0, 1]: the fraction of relevant features.
    relevant_mean, irrelevant_mean : float
        mu_a and mu_b: mean entry of G between two relevant features (0.85 in the paper's data), and where one of them
        or both are irrelevant.

    Returns
    -------
    gap : float
        At least 1 when ``relevant_mean >= irrelevant_mean``.
    """
    p, mu_a, mu_b = relevant_fraction, relevant_mean, irrelevant_mean
    if not 0 < p <= 1:
        raise wrong_parameter("relevant_fraction", "two_block_sparsity_gap", "be above 0 and at most 1", p)
    for name, value in (("relevant_mean", mu_a), ("irrelevant_mean", mu_b)):
        if not value > 0:
            raise wrong_parameter(name, "two_block_sparsity_gap", "be positive", value)
    b = p * mu_a - (1 - p) * mu_b
    root = float(np.hypot(b, 2 * np.sqrt(p * (1 - p)) * mu_b))
    if b < 0:
        # the same root, written so that nothing cancels when few features are relevant
        return 2 * (1 - p) * mu_b / (root - b)
    return (b + root) / (2 * p * mu_b)


def irrelevant_weight_bound(X_irrelevant: ArrayLike, eigenvalue: float) -> float:
    """Upper bound on the sum of the weights of a set of irrelevant features, for the energy criterion.

    Lemma 13 of the 2005 paper: ``sqrt(sum_i gamma_i^2 / lambda)``, where gamma_i are the eigenvalues of M_2 M_2'.
    ``sum_i gamma_i^2`` is the squared Frobenius norm of the smaller Gram matrix, so no eigenvalue is needed.

    Parameters
    ----------
    X_irrelevant : array-like of shape (n_samples, n_irrelevant)
        Their columns as the solver saw them, i.e. standardised (the papers' M_2, transposed).
    eigenvalue : float
        lambda: the leading eigenvalue of G, which is the criterion's value at the solution.
    """
    X = np.asarray(X_irrelevant, dtype=np.float64)
    if X.ndim != 2:
        must = "be a 2D array (samples x features)"
        raise wrong_parameter("X_irrelevant", "irrelevant_weight_bound", must, f"{X.ndim} dimension(s)")
    if not eigenvalue > 0:
        raise wrong_parameter("eigenvalue", "irrelevant_weight_bound", "be positive", eigenvalue)
    gram = X @ X.T if X.shape[0] <= X.shape[1] else X.T @ X
    return float(np.linalg.norm(gram) / np.sqrt(eigenvalue))


def expected_irrelevant_weight_bound(n_irrelevant: int, n_samples: int, eigenvalue: float) -> float:
    """The bound of :func:`irrelevant_weight_bound` to expect of features that are independent noise.

    2005 paper, section 4.2: ``sqrt(n_2 (1 + n_2 / q) / lambda)``, from the second moment of a Wishart matrix
    (:func:`wishart_moment`). Centring the features uses up one sample: then q is the number of samples minus 1.

    Parameters
    ----------
    n_irrelevant, n_samples : int
        n_2 and q.
    eigenvalue : float
        lambda: the leading eigenvalue of G.
    """
    if not eigenvalue > 0:
        raise wrong_parameter("eigenvalue", "expected_irrelevant_weight_bound", "be positive", eigenvalue)
    return float(np.sqrt(n_irrelevant * wishart_moment(2, n_irrelevant, n_samples) / eigenvalue))


def wishart_moment(order: int, n_features: int, n_samples: int) -> float:
    """Moment of the eigenvalues of a Gram matrix of independent noise features, for many features and samples.

    The limit of ``trace(W^k) / n`` for ``W = M M' / q``, with the entries of M (n x q) independent, of mean 0 and
    variance 1: ``sum_{j < k} (n / q)^j / (j + 1) * binom(k, j) * binom(k - 1, j)``. The first three are 1, 1 + c and
    1 + 3 c + c^2 with c = n / q. These are the Narayana polynomials of the 2005 paper, section 4.2, which misprints
    (n / j)^j for (n / q)^j.

    Parameters
    ----------
    order : int
        k, at least 1.
    n_features, n_samples : int
        n and q.
    """
    check_range("wishart_moment", order=(order, 1), n_features=(n_features, 1), n_samples=(n_samples, 1))
    ratio = n_features / n_samples
    return sum(ratio**j / (j + 1) * comb(order, j) * comb(order - 1, j) for j in range(order))


def triple_product(a: ArrayLike, b: ArrayLike, C: ArrayLike) -> float:
    """The entry of G for the features a and b: ``(a'b) sum_l (a'c_l)(b'c_l)``.

    Proposition 7 of the 2005 paper (Proposition 2 of 2003) gives the minimum for one column. It holds for several as
    well: a'QQ'b = (a'b + a'Rb) / 2 with a reflection R, so the product is at least x (x - 1) / 2 for x = a'b.

    Parameters
    ----------
    a, b : array-like of shape (n_samples,)
        Features of unit norm.
    C : array-like of shape (n_samples,) or (n_samples, n_clusters)
        One unit vector, or several orthonormal ones (Q).

    Returns
    -------
    product : float
        Between -1/8 and 1: -1/8 for instance when a'b = 1/2 and a'c = -b'c = 1/2, and 1 when all three are equal.
    """
    first, second, Q = (np.asarray(values, dtype=np.float64) for values in (a, b, C))
    return float((first @ second) * np.sum((first @ Q) * (second @ Q)))


def expected_triple_product(inner_product: float, n_samples: int, n_clusters: int = 1) -> float:
    """The mean of :func:`triple_product` over random orthonormal C: ``(k / q) (a'b)^2``.

    Propositions 8 (k = 1) and 9 of the 2005 paper. For a and b that are random as well, (a'b)^2 is 1/q on average.

    Parameters
    ----------
    inner_product : float
        a'b.
    n_samples, n_clusters : int
        q and k.
    """
    if not 1 <= n_clusters <= n_samples:
        got = f"{n_clusters} for {n_samples} samples"
        raise wrong_parameter("n_clusters", "expected_triple_product", "be between 1 and n_samples", got)
    return n_clusters / n_samples * inner_product**2


def positivity_probability(
    n_features: int,
    *,
    mean: float = 1 / 6,
    deviation: float = np.sqrt(2) / 6,
    entries: Literal["normal", "uniform"] = "normal",
    n_draws: int = 1000,
    random_state: int | np.random.Generator | None = None,
) -> float:
    """Simulated probability that a random G has a leading eigenvector of one sign.

    G is symmetric with independent entries on and below the diagonal: the model of Theorem 10 in the 2005 paper
    ("probabilistic Perron-Frobenius"; Fig. 2a there, Fig. 1a of the 2003 paper). An entry of the eigenvector is close
    to ``(mu sqrt(n) + sigma g) / lambda`` with g standard normal, so the probability is roughly
    ``Phi(mu sqrt(n) / sigma)^n`` for large n.

    Parameters
    ----------
    n_features : int
        n: the order of G.
    mean, deviation : float
        mu > 0 and sigma of the entries; by default the papers' 1/6 and sqrt(2)/6.
    entries : {"normal", "uniform"}, default="normal"
        Distribution of the entries. Uniform ones are bounded, by mu +- sqrt(3) sigma: the case of Lemmas 11 and 12.
    n_draws : int
        Number of random matrices.
    random_state : int, numpy.random.Generator or None
        Seed; the same seed gives the same result.
    """
    check_range("positivity_probability", n_features=(n_features, 1), n_draws=(n_draws, 1))
    if entries not in ("normal", "uniform"):
        raise wrong_parameter("entries", "positivity_probability", "be 'normal' or 'uniform'", repr(entries))
    if n_features == 1:
        return 1.0
    rng = np.random.default_rng(random_state)
    start = np.ones(n_features)
    half = np.sqrt(3) * deviation
    size = (n_features, n_features)
    positive = 0
    for _ in range(n_draws):
        normal = entries == "normal"
        G = np.tril(rng.normal(mean, deviation, size) if normal else rng.uniform(mean - half, mean + half, size))
        G += np.tril(G, -1).T
        _, vectors = eigsh(G, k=1, which="LA", v0=start)
        signs = vectors[:, 0] > 0
        positive += bool(signs.all() or not signs.any())
    return positive / n_draws


def leading_eigenvalue_estimate(G: ArrayLike) -> float:
    """Leading eigenvalue to expect of a symmetric matrix with independent entries of positive mean.

    2005 paper, section 4.1 (Furedi and Komlos, 1981): ``sum(G) / n + sigma^2 / mu``, the mean row sum plus the variance
    of the entries over their mean. The error is of order ``1 / sqrt(n)``.

    Parameters
    ----------
    G : array-like of shape (n_features, n_features)
        Its entries on and below the diagonal are taken as draws of one distribution.
    """
    matrix = np.asarray(G, dtype=np.float64)
    must = "be a square matrix with entries of positive mean"
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise wrong_parameter("G", "leading_eigenvalue_estimate", must, f"shape {matrix.shape}")
    drawn = matrix[np.tril_indices(len(matrix))]
    if not drawn.mean() > 0:
        raise wrong_parameter("G", "leading_eigenvalue_estimate", must, f"a mean of {drawn.mean()}")
    return float(matrix.sum() / len(matrix) + drawn.var() / drawn.mean())


def norm_tail_bound(squared_norm: float, n_features: int, *, largest: float, second_moment: float) -> float:
    """Upper bound on the probability that a vector g of bounded independent entries is longer than given.

    Lemma 12 of the 2005 paper with its constant written out, ``exp(-2 (t - n E g_i^2)^2 / (n M^4))``: Hoeffding's
    inequality (Lemma 11) for the g_i^2. It takes the place of the Gaussian tail in the proof of Theorem 10, with
    t = n^(3/2). Printed is M^2; the width of g_i^2 gives M^4.

    Parameters
    ----------
    squared_norm : float
        t; the bound is 1 up to ``n_features * second_moment``, which is the mean.
    n_features : int
        n: the length of g.
    largest, second_moment : float
        M: no entry exceeds it in absolute value; and E g_i^2, at most M^2.
    """
    check_range("norm_tail_bound", n_features=(n_features, 1))
    if not 0 < second_moment <= largest**2:
        must = "be above 0 and at most 'largest' squared"
        raise wrong_parameter("second_moment", "norm_tail_bound", must, f"{second_moment} for {largest}")
    excess = max(0.0, squared_norm - n_features * second_moment)
    return float(np.exp(-2 * excess**2 / (n_features * largest**4)))


def trace_bound(weights: ArrayLike, n_samples: int, *, radius: float = 1.0) -> float:
    """Upper bound on how well linear functions of the weighted features fit random labels.

    ``(radius / q) sqrt(sum_i |alpha_i|)``, at most ``radius n^(1/4) / q`` for alpha of norm 1 (2005 paper, section
    4.3). The kernel matrix A_alpha has the trace ``sum_i alpha_i``, and the Rademacher complexity
    ``E max_{|f| <= radius} (1/q) sum_t s_t f(x_t)`` over random signs s is at most ``(radius / q) sqrt(trace)``
    (Bousquet and Herrmann, 2003). So sparse weights give a smaller gap between training and test error.

    Parameters
    ----------
    weights : array-like of shape (n_features,)
        alpha, for features of norm 1. Negative weights count by their absolute value.
    n_samples : int
        q.
    radius : float, default=1.0
        Largest norm of the functions.
    """
    alpha = np.abs(np.asarray(weights, dtype=np.float64))
    if alpha.ndim != 1:
        raise wrong_parameter("weights", "trace_bound", "have one dimension", f"shape {alpha.shape}")
    check_range("trace_bound", n_samples=(n_samples, 1), radius=(radius, 0))
    return float(radius / n_samples * np.sqrt(alpha.sum()))
