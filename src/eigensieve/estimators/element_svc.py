"""A kernel SVM for classes rewritten with a few (feature, support vector) elements."""

import numpy as np
from scipy.special import expit, softmax
from sklearn.utils.metaestimators import available_if

from eigensieve._types import Array, FloatArray, MatrixLike
from eigensieve.elements import LOGISTIC, Goal
from eigensieve.estimators.element_machine import ElementMachine
from eigensieve.estimators.small_machine import SmallClassifier


def _matches_labels(model: "ElementSelectedSVC") -> bool:
    """Return True, or raise the AttributeError that hides `predict_proba`."""
    match = getattr(model, "match_", None) or model._resolved_match()
    if match != "labels":
        raise AttributeError(f"predict_proba needs match='labels'. Got match={match!r} instead.")
    return True


class ElementSelectedSVC(SmallClassifier, ElementMachine):
    """A small classifier: a few elements of the (features x support vectors) mask of a kernel SVM.

    The machine is

        f(x) = intercept + sum_j beta_j k(x * m_j, b_j * m_j)

    with a binary mask M = (m_1, ..., m_n). Column m_j says which features vector b_j uses. Only a few hundred entries
    of M are one (Avidan, "Joint feature-basis subset selection"). Prediction then reads a few hundred numbers per
    sample instead of features x support vectors. ``fit(X, y)`` fits the labels; a fitted SVC is imitated.

    Parameters
    ----------
    estimator : SVC, default=None
        The machine to rewrite, with kernel "rbf", "poly" or "linear". A fitted one is used as it is; wrap it in
        :class:`sklearn.frozen.FrozenEstimator` if `clone` must not forget the fit. An unfitted one is fitted first,
        one-vs-rest if there are more than two classes. None means ``SVC(C=10)``. If the labels are
        matched, none is trained, and a fitted one helps with the mixtures.
    n_elements : int or "auto", default=200
        Entries of the mask to keep. If the mask has fewer, all are used and a warning says so. "auto" holds out a
        quarter of the samples. It takes the smallest number (up to 400) whose loss there is within one standard error
        of the smallest loss, and then fits on all samples. It needs the labels to be matched.
    match : {"auto", "labels", "decision", "kernel"}, default="auto"
        What the masked columns reproduce. "labels": the labels. Columns are added and all weights refitted to lower the
        logistic loss. 600 mixtures of two samples each are fitted as well, with mixed labels; if a fitted SVM is given,
        its probabilities are half of a mixture's target. Columns are bumps, max(0, 1 - gamma t^2 / 4)^4 at distance t.
        Centres and widths are free, and decision values are log-odds. 240 elements or more are the mean of several
        machines. Only for shape "element" and search "guided". "decision": the decision values K alpha of the SVM.
        "kernel": its kernel matrix K, by the paper's Algorithm 1 as printed: `intercept_` is the SVM's, the weights
        have no ridge term, and every element takes what all columns explain out of K for good. Only for shape
        "element" and search "probabilistic" or "exact". "auto": "decision" if `estimator` is fitted or the other
        options exclude the labels, else "labels".
    shape : {"element", "feature", "basis", "joint", "prototypes"}, default="element"
        "element": any entries. "feature": the same features for all support vectors. "basis": whole support vectors.
        "joint": the same features for some support vectors (rank 1). "prototypes": each used support vector sees one of
        four subsets of eight features (rank 4).
    search : {"guided", "probabilistic", "exact"}, default="guided"
        For shape "element". "guided" scores all first elements by histograms and grows the best. It also lets columns
        with p of d features use a gamma that is d / p times as large: they are then as local as the full kernel. The
        two others are the paper's, at the kernel's own gamma. "probabilistic" compares 60 random elements on a tenth of
        the samples, in chunks of ten (section 4.1). "exact" tries every element with every sample at every step and is
        for small problems.
    n_tries : int, default=3
        "probabilistic": several tries per chunk; the best is kept. "guided": support vectors grown per width and
        choice. If the labels are matched: a third of the columns that are grown per round.
    refine : bool or "auto", default="auto"
        Move the values of all chosen elements together at the end, a few steps. They are then no longer values of
        support vectors. Fewer elements give the same accuracy, and fitting takes longer. "auto" refines if the labels
        are matched. A machine that is matched on a few hundred samples is overfitted by it: check on held-out data.
    ridge : float or "auto", default="auto"
        Strength of the ridge term when the weights are solved, per sample. "auto" is 1e-6, and 3 / n_samples if the
        labels are matched (a third of it for the final weights of more than three classes).
    tol : float, default=1e-6
        Stop early when an element lowers the relative error by less than this.
    table_size : int, default=None
        If given, columns with one element are evaluated by look-up tables with this many entries per feature.
        `table_error_bound_` says how far the result can be off. None evaluates the kernel itself.
    random_state : int, RandomState, Generator or None, default=None
        Seed; the same seed gives the same result.
    verbose : int, default=0
        Whether progress is printed.

    Attributes
    ----------
    match_ : str
        The match that `match` stood for.
    mask_ : scipy.sparse.csc_array of shape (n_features, n_support_vectors)
        The binary mask.
    support_vectors_ : ndarray of shape (n_support_vectors, n_features)
        With `refine`, the chosen entries are the refined ones. If the labels are matched, one row of centres per masked
        column, zero outside the mask.
    dual_coef_ : ndarray of shape (n_outputs, n_support_vectors)
        Weights of the masked columns, zero where unused. If the labels of more than three classes are matched, three
        per column are kept on average and the others are zero.
    widths_ : ndarray of shape (n_support_vectors,)
        Factor on gamma of each masked column, zero where unused. If the labels are matched, gamma itself.
    intercept_ : ndarray of shape (n_outputs,)
    n_elements_ : int
        Entries kept.
    path_ : ndarray
        Relative squared error after each addition; if K is matched, the share of its squares that is left. If the
        labels are matched, the logistic loss of samples and mixtures as a share of what a constant leaves, before
        weights are dropped and values refined.
    threshold_ : float
        Decision values above it are the second class; 0 until `calibrate` is called. Two classes only.
    table_error_bound_ : float
        Largest possible difference to the decision value in exact arithmetic, rounding to single precision included.
        Only with `table_size`.
    prototypes_ : list of list of int
        The feature subsets. Only for shape "prototypes".
    estimator_ : SVC or OneVsRestClassifier
        The fitted machine, if there is one.
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from eigensieve import ElementSelectedSVC
    >>> X, y = make_classification(n_samples=300, n_informative=6, random_state=0)
    >>> model = ElementSelectedSVC(n_elements=40, random_state=0).fit(X, y)
    >>> model.n_elements_
    40
    """

    def _goal(self, y: Array, ridge: float) -> Goal:
        classes = np.unique(y)
        if classes.size < 2:
            raise ValueError("ElementSelectedSVC needs samples of two classes. Got one class instead.")
        # One output for two classes, else one per class.
        targets = (y[:, None] == classes[None, :]).astype(np.float64)
        return Goal(LOGISTIC, targets[:, 1:] if classes.size == 2 else targets, ridge)

    @available_if(_matches_labels)
    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """Return the probability of each class. Only if the labels are matched: decision values are then log-odds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples in rows.
        """
        decisions = self.decision_function(X)
        if decisions.ndim == 1:
            p = expit(decisions)
            return np.column_stack([1.0 - p, p])
        return np.asarray(softmax(decisions, axis=1))
