"""A kernel SVM for classes rewritten with a few (feature, support vector) elements."""

from typing import Any

from sklearn.utils.metaestimators import available_if

from eigensieve._types import Array
from eigensieve.elements import LOGISTIC, Goal
from eigensieve.estimators.element_machine import ElementMachine
from eigensieve.estimators.element_options import label_probabilities, label_targets, matches_labels
from eigensieve.estimators.kernel_machine import KernelMachine
from eigensieve.estimators.small_machine import SmallClassifier


class ElementSelectedSVC(SmallClassifier, ElementMachine):
    """A kernel SVM rewritten with few elements of its (features x support vectors) mask.

    A trained machine f(x) = sum_j alpha_j k(x, b_j) is approximated by

        f(x) ~ intercept + sum_j beta_j k(x * m_j, b_j * m_j)

    with a binary mask M = (m_1, ..., m_n). Column m_j says which features support vector b_j uses. Only a few hundred
    entries of M are one (Avidan, "Joint feature-basis subset selection"). Prediction then reads a few hundred numbers
    per sample instead of features x support vectors.

    Parameters
    ----------
    estimator : SVC, default=None
        The machine to rewrite, with kernel "rbf", "poly" or "linear". A fitted one is used as it is; wrap it in
        :class:`sklearn.frozen.FrozenEstimator` if `clone` must not forget the fit. An unfitted one is fitted first,
        one-vs-rest if there are more than two classes. None means ``SVC()``.
    n_elements : int or "auto", default=200
        Entries of the mask to keep. If the mask has fewer, all are used and a warning says so. "auto", for
        ``match="labels"`` only, holds out a quarter of the samples. It takes the smallest number (up to 400) whose loss
        there is within one standard error of the smallest loss, and then fits on all samples.
    shape : {"element", "feature", "basis", "joint", "prototypes"}, default="element"
        "element": any entries. "feature": the same features for all support vectors. "basis": whole support vectors.
        "joint": the same features for some support vectors (rank 1). "prototypes": each used support vector sees one of
        `n_prototypes` feature subsets (rank r).
    match : {"decision", "kernel", "labels"}, default="decision"
        What the masked columns reproduce: the decision values K alpha, the kernel matrix K as in the paper's
        Algorithm 1, or the labels themselves. With "labels", columns are added and all weights refitted to lower the
        logistic loss. Centres and widths are free, and decision values are log-odds. Only for the rbf kernel, shape
        "element" and search "guided".
    search : {"guided", "probabilistic", "exact"}, default="guided"
        For shape "element". "guided" scores all first elements by histograms and grows the best; "probabilistic" is the
        paper's section 4.1; "exact" tries every element with every sample at every step and is for small problems.
    widths : {"auto", "native"}, default="auto"
        "native" keeps gamma for every masked column, as in the paper. "auto" also lets columns with p of d features use
        a gamma that is d / p times as large. They are then as local as the full kernel.
    n_candidates : int, default=60
        Random elements that are compared for one choice (for shapes "feature" and "joint": rows or columns). Not used
        by "guided" and "exact".
    sample_fraction : float, default=0.1
        Share of the samples on which candidates are compared; "guided" and the shapes use at least 350.
    chunk_size : int, default=10
        "probabilistic": elements chosen ahead in one try.
    n_tries : int, default=3
        "probabilistic": tries per chunk, of which the best is kept. "guided": support vectors grown per width and
        choice.
    n_prototypes : int, default=4
        Shape "prototypes": number of feature subsets.
    prototype_size : int, default=8
        Shape "prototypes": features in a subset.
    tol : float, default=1e-6
        Stop early when an element lowers the relative error by less than this.
    refine : bool, default=False
        Move the values of all chosen elements together at the end, a few steps, so that they match the machine better.
        They are then no longer values of support vectors. Fewer elements give the same accuracy, and fitting takes
        longer. With only a few hundred samples this overfits: check on held-out data.
    ridge : float or "auto", default="auto"
        Strength of the ridge term when the weights are solved, per sample. "auto" is 1e-6, and 3 / n_samples with
        ``match="labels"`` (a third of it for the final weights of more than three classes).
    table_size : int, default=None
        If given, columns with one element are evaluated by look-up tables with this many entries per feature.
        `table_error_bound_` says how far the result can be off. None evaluates the kernel itself.
    warm_start : bool, default=False
        Keep the elements of the last fit and add to them up to `n_elements`.
    random_state : int, RandomState instance or None, default=None
        Seed; the same seed gives the same result.
    verbose : int, default=0
        Whether progress is printed.

    Attributes
    ----------
    mask_ : scipy.sparse.csc_array of shape (n_features, n_support_vectors)
        The binary mask.
    support_vectors_ : ndarray of shape (n_support_vectors, n_features)
        With `refine`, the chosen entries are the refined ones. With ``match="labels"``, one row of centres per
        masked column, zero outside the mask; the columns of `mask_` belong to these rows.
    dual_coef_ : ndarray of shape (n_outputs, n_support_vectors)
        Weights of the masked columns, zero where unused. With ``match="labels"`` and more than three classes, three
        per column are kept on average and the others are zero.
    widths_ : ndarray of shape (n_support_vectors,)
        Factor on gamma of each masked column, zero where unused.
    intercept_ : ndarray of shape (n_outputs,)
    n_elements_ : int
        Entries kept.
    path_ : ndarray
        Relative squared error of what is matched, after each addition. With ``match="labels"``, the logistic loss as
        a share of what a constant leaves, before weights are dropped and values refined.
    threshold_ : float
        Decision values above it are the second class; 0 until `calibrate` is called. Two classes only.
    table_error_bound_ : float
        Largest possible difference to the decision value in exact arithmetic, rounding to single precision included.
        Only with `table_size`.
    prototypes_ : list of list of int
        The feature subsets. Only for shape "prototypes".
    estimator_ : SVC or OneVsRestClassifier
        The fitted machine.
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.svm import SVC
    >>> from eigensieve import ElementSelectedSVC
    >>> X, y = make_classification(n_samples=300, n_informative=6, random_state=0)
    >>> model = ElementSelectedSVC(SVC(C=10), n_elements=40, random_state=0).fit(X, y)
    >>> model.n_elements_
    40
    """

    def _goal(self, machine: KernelMachine, y: Array, ridge: float) -> Goal:
        return Goal(LOGISTIC, label_targets(y, machine.classes), ridge)

    @available_if(matches_labels)
    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class. Only with ``match="labels"``, whose decision values are log-odds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples in rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        return label_probabilities(self.decision_function(X))
