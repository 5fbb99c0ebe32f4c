"""The demo's data: real measurements hidden among shuffled copies of themselves."""

import numpy as np
from sklearn.utils import Bunch

from eigensieve._errors import wrong_parameter
from eigensieve.datasets.synthetic import features_at


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
