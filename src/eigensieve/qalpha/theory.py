"""What the papers prove about the weights, as functions a user can call.

How much larger relevant weights are than irrelevant ones (the sparsity gap), how much weight irrelevant
features can get at most (2005 paper, section 4.2), and how likely the weights are to come out positive
(Theorem 10 there).
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import eigsh


def sparsity_gap(weights: ArrayLike, relevant: ArrayLike) -> float:
    """Ratio of the mean weight of the relevant features to the mean weight of all others.

    Parameters
    ----------
    weights : array-like of shape (n_features,)
        Feature weights alpha. Their common sign does not matter.
    relevant : array-like of bool of shape (n_features,)
        The split: true relevant features where they are known, or the selected ones.

    Returns
    -------
    gap : float
        ``mean(alpha[relevant]) / mean(alpha[~relevant])``; infinite when the irrelevant features have, on
        average, no positive weight at all.

    Notes
    -----
    Definition 6 of the 2003 paper, used for Fig. 3b of the 2005 paper. Means are of signed weights, as
    printed.
    """
    alpha = np.asarray(weights, dtype=np.float64)
    mask = np.asarray(relevant)
    if alpha.ndim != 1 or mask.shape != alpha.shape or mask.dtype != bool:
        raise ValueError(
            "The 'relevant' parameter of sparsity_gap must be a bool array with one entry for each weight. "
            f"Got shape {mask.shape} and dtype {mask.dtype} for weights of shape {alpha.shape} instead."
        )
    if mask.all() or not mask.any():
        raise ValueError(
            "The 'relevant' parameter of sparsity_gap must mark at least one feature and leave one out. "
            f"Got {int(mask.sum())} of {mask.size} marked instead."
        )
    if alpha.sum() < 0:
        alpha = -alpha
    irrelevant_mean = alpha[~mask].mean()
    return float(alpha[mask].mean() / irrelevant_mean) if irrelevant_mean > 0 else float("inf")


def two_block_sparsity_gap(
    relevant_fraction: float, *, relevant_mean: float = 0.85, irrelevant_mean: float = 1 / 6
) -> float:
    """Sparsity gap that the two-block model of G predicts for many features.

    Parameters
    ----------
    relevant_fraction : float
        p, in (0, 1]: the fraction of relevant features.
    relevant_mean : float
        mu_a: mean entry of G between two relevant features (0.85 in the paper's data).
    irrelevant_mean : float
        mu_b: mean entry of G where at least one of the two features is irrelevant.

    Returns
    -------
    gap : float
        x_1 / x_2, at least 1 when ``relevant_mean >= irrelevant_mean``.

    Notes
    -----
    Theorem 2 of the 2003 paper: (x_1, x_2) is the leading eigenvector of

    ``n [[p mu_a, (1 - p) mu_b], [p mu_b, (1 - p) mu_b]]``,

    so the gap r solves ``p mu_b r^2 + ((1 - p) mu_b - p mu_a) r - (1 - p) mu_b = 0``. The number of
    features n cancels; it only rules how closely a single draw follows. The paper takes mu_b = 1/6 from its
    Proposition 3, which the 2005 paper corrects: a random triple product has mean 1/q^2 for q samples, and
    the gap is then far larger.
    """
    p, mu_a, mu_b = relevant_fraction, relevant_mean, irrelevant_mean
    if not 0 < p <= 1:
        raise ValueError(
            "The 'relevant_fraction' parameter of two_block_sparsity_gap must be above 0 and at most 1. "
            f"Got {p} instead."
        )
    if mu_a <= 0 or mu_b <= 0:
        raise ValueError(
            "The 'relevant_mean' and 'irrelevant_mean' parameters of two_block_sparsity_gap must be positive."
            f" Got {mu_a} and {mu_b} instead."
        )
    b = p * mu_a - (1 - p) * mu_b
    root = float(np.hypot(b, 2 * np.sqrt(p * (1 - p)) * mu_b))
    if b < 0:
        # the same root, written so that nothing cancels when few features are relevant
        return 2 * (1 - p) * mu_b / (root - b)
    return (b + root) / (2 * p * mu_b)


def irrelevant_weight_bound(X_irrelevant: ArrayLike, eigenvalue: float) -> float:
    """Upper bound on the sum of the weights of a set of irrelevant features.

    Parameters
    ----------
    X_irrelevant : array-like of shape (n_samples, n_irrelevant)
        The irrelevant features' columns as the solver saw them, i.e. standardised (the papers' M_2,
        transposed).
    eigenvalue : float
        lambda: the leading eigenvalue of G, which is the criterion's value at the solution.

    Returns
    -------
    bound : float
        ``sum of alpha_i over the irrelevant features <= sqrt(sum_i gamma_i^2 / lambda)``, where gamma_i are
        the eigenvalues of M_2 M_2'.

    Notes
    -----
    Lemma 13 of the 2005 paper, for the energy criterion. ``sum_i gamma_i^2`` is the squared Frobenius norm
    of the smaller of the two Gram matrices, so no eigenvalue is needed.
    """
    X = np.asarray(X_irrelevant, dtype=np.float64)
    if X.ndim != 2:
        raise ValueError(
            "The 'X_irrelevant' parameter of irrelevant_weight_bound must be a 2D array (samples x features)."
            f" Got {X.ndim} dimension(s) instead."
        )
    _check_eigenvalue("irrelevant_weight_bound", eigenvalue)
    gram = X @ X.T if X.shape[0] <= X.shape[1] else X.T @ X
    return float(np.linalg.norm(gram) / np.sqrt(eigenvalue))


def expected_irrelevant_weight_bound(n_irrelevant: int, n_samples: int, eigenvalue: float) -> float:
    """The bound of :func:`irrelevant_weight_bound` to expect of features that are independent noise.

    Parameters
    ----------
    n_irrelevant : int
        n_2.
    n_samples : int
        q.
    eigenvalue : float
        lambda: the leading eigenvalue of G.

    Returns
    -------
    bound : float
        ``sqrt(n_2 (1 + n_2 / q) / lambda)``.

    Notes
    -----
    2005 paper, section 4.2: the second moment of a Wishart matrix, with n/q in the Narayana polynomial
    where the paper misprints n/j. Centring the features uses up one sample: then q is the number of samples
    minus 1.
    """
    for name, value in (("n_irrelevant", n_irrelevant), ("n_samples", n_samples)):
        if value < 1:
            raise ValueError(
                f"The '{name}' parameter of expected_irrelevant_weight_bound must be an int of at least 1. "
                f"Got {value!r} instead."
            )
    _check_eigenvalue("expected_irrelevant_weight_bound", eigenvalue)
    return float(np.sqrt(n_irrelevant * (1 + n_irrelevant / n_samples) / eigenvalue))


def triple_product(a: ArrayLike, b: ArrayLike, C: ArrayLike) -> float:
    """The entry of G for the features a and b: ``(a'b) sum_l (a'c_l)(b'c_l)``.

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

    Notes
    -----
    Proposition 7 of the 2005 paper (Proposition 2 of 2003) gives the minimum for one column. It holds for several as
    well: a'QQ'b = (a'b + a'Rb) / 2 with a reflection R, so the product is at least x (x - 1) / 2 for x = a'b.
    """
    first, second, Q = (np.asarray(values, dtype=np.float64) for values in (a, b, C))
    return float((first @ second) * np.sum((first @ Q) * (second @ Q)))


def expected_triple_product(inner_product: float, n_samples: int, n_clusters: int = 1) -> float:
    """The mean of :func:`triple_product` over random orthonormal C, for features with the given inner product.

    Parameters
    ----------
    inner_product : float
        a'b.
    n_samples, n_clusters : int
        q and k.

    Returns
    -------
    mean : float
        ``(k / q) (a'b)^2``.

    Notes
    -----
    Propositions 8 (k = 1) and 9 of the 2005 paper. For a and b that are random as well, (a'b)^2 is 1/q on average.
    """
    if not 1 <= n_clusters <= n_samples:
        raise ValueError(
            "The 'n_clusters' parameter of expected_triple_product must be between 1 and n_samples. "
            f"Got {n_clusters} and {n_samples} instead."
        )
    return n_clusters / n_samples * inner_product**2


def positivity_probability(
    n_features: int,
    *,
    mean: float = 1 / 6,
    deviation: float = np.sqrt(2) / 6,
    n_draws: int = 1000,
    random_state: int | np.random.Generator | None = None,
) -> float:
    """Simulated probability that a random G has a leading eigenvector of one sign.

    G is symmetric with independent ``N(mean, deviation^2)`` entries on and below the diagonal: the model of
    Theorem 10 in the 2005 paper ("probabilistic Perron-Frobenius"; Fig. 2a there, Fig. 1a of the 2003 paper).

    Parameters
    ----------
    n_features : int
        n: the order of G.
    mean, deviation : float
        mu > 0 and sigma of the entries; by default the papers' 1/6 and sqrt(2)/6.
    n_draws : int
        Number of random matrices.
    random_state : int, numpy.random.Generator or None
        Seed; the same seed gives the same result.

    Returns
    -------
    probability : float
        Fraction of draws whose leading eigenvector has entries of one sign only.

    Notes
    -----
    An entry of the eigenvector is close to ``(mu sqrt(n) + sigma g) / lambda`` with g standard normal, so the
    probability is roughly ``Phi(mu sqrt(n) / sigma)^n`` for large n. With the papers' values the simulation
    gives 0.97 at n = 20 and passes 0.99 at n = 26 (the papers: above 0.99 for n > 20). For mu = 0.1 and
    sigma = 1 the papers state more than 0.99 from n = 500; the simulation gives 0.00 there, 0.25 at n =
    1,000, 0.92 at 1,500 and 0.99 near 2,000.
    """
    if n_features < 1 or n_draws < 1:
        raise ValueError(
            "The 'n_features' and 'n_draws' parameters of positivity_probability must be at least 1. "
            f"Got {n_features} and {n_draws} instead."
        )
    if n_features == 1:
        return 1.0
    rng = np.random.default_rng(random_state)
    start = np.ones(n_features)
    positive = 0
    for _ in range(n_draws):
        G = np.tril(rng.normal(mean, deviation, size=(n_features, n_features)))
        G += np.tril(G, -1).T
        _, vectors = eigsh(G, k=1, which="LA", v0=start)
        signs = vectors[:, 0] > 0
        positive += bool(signs.all() or not signs.any())
    return positive / n_draws


def _check_eigenvalue(function: str, eigenvalue: float) -> None:
    if not eigenvalue > 0:
        raise ValueError(f"The 'eigenvalue' parameter of {function} must be positive. Got {eigenvalue!r} instead.")
