"""The gene expression model of Ben-Dor, Friedman and Yakhini."""

import numpy as np

from eigensieve.datasets.synthetic.result import RandomState, SyntheticData, check_range


def make_gene_expression(
    n_features: int = 600,
    *,
    n_class_a: int = 25,
    n_class_b: int = 47,
    irrelevant_fraction: float = 0.72,
    mean_range: float = 555.0,
    spread: float = 0.75,
    random_state: RandomState = None,
) -> SyntheticData:
    """The gene expression model of Ben-Dor, Friedman and Yakhini (2001), fitted to the leukemia data.

    An irrelevant feature is ``N(0, s)`` for all samples. A relevant one is ``N(mu_A, |mu_A| s)`` for class
    A and ``N(mu_B, |mu_B| s)`` for class B, with mu_A and mu_B uniform in [-1.5 d, 1.5 d], drawn for each
    feature (2003 and 2005 papers, section 6, "Genomics"). The second argument of N is a standard deviation.

    Parameters
    ----------
    n_features : int
        The model's m.
    n_class_a, n_class_b : int
        Samples in each class, a and b.
    irrelevant_fraction : float
        e; the number of irrelevant features is ``round(e m)``.
    mean_range : float
        d.
    spread : float
        s.
    random_state : int, numpy.random.Generator or None
        Seed; the same seed gives the same result.

    Returns
    -------
    data : SyntheticData
        Label 0 for class A (first), 1 for class B.

    Notes
    -----
    The scales differ by orders of magnitude between relevant and irrelevant features, and a relevant
    feature has a non-zero mean. Q-alpha finds the relevant features when features are scaled to unit length without
    centring (``normalize="unit"``).
    """
    check_range(
        "make_gene_expression",
        n_features=(n_features, 1),
        n_class_a=(n_class_a, 0),
        n_class_b=(n_class_b, 0),
        irrelevant_fraction=(irrelevant_fraction, 0, 1),
    )
    rng = np.random.default_rng(random_state)
    n_relevant = n_features - round(irrelevant_fraction * n_features)
    y = np.repeat([0, 1], [n_class_a, n_class_b])
    means = rng.uniform(-1.5 * mean_range, 1.5 * mean_range, size=(2, n_relevant))
    X = rng.normal(scale=spread, size=(y.size, n_features))
    X[:, :n_relevant] = means[y] + np.abs(means[y]) * X[:, :n_relevant]
    return SyntheticData(X, y, np.arange(n_features) < n_relevant)
