"""KernelQAlphaSelector as an estimator."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigensieve import QAlphaSelector
from eigensieve.datasets import make_hidden_signs
from eigensieve.estimators.kernel_qalpha import KernelQAlphaSelector

pytestmark = [
    pytest.mark.filterwarnings("ignore:The approximation of the kernel"),
    pytest.mark.filterwarnings("ignore:KernelQAlphaSelector stopped"),
]


@parametrize_with_checks([KernelQAlphaSelector(), KernelQAlphaSelector(kernel="rbf", n_components=10, random_state=0)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def planted(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 120))
    X[:30, :8] += 3.0
    return X


@pytest.mark.parametrize("normalize", ["center", "unit", "none"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_a_linear_kernel_gives_the_weights_of_qalpha(normalize, container):
    X = planted()
    precise = {"n_clusters": 2, "normalize": normalize, "tol": 1e-8, "max_iter": 2000}
    linear = KernelQAlphaSelector(8, kernel="linear", **precise).fit(container(X))
    plain = QAlphaSelector(8, **precise).fit(X)
    np.testing.assert_allclose(linear.weights_, plain.weights_, atol=1e-6)
    np.testing.assert_allclose(linear.eigenvalues_, plain.eigenvalues_, rtol=1e-6)
    assert linear.objective_ == pytest.approx(plain.objective_, rel=1e-8)


def test_precomputed_is_the_same_as_computed():
    X = planted()
    M = (X - X.mean(0)) / np.linalg.norm(X - X.mean(0), axis=0)
    V = (M.T @ M) ** 2
    computed = KernelQAlphaSelector(8, tol=1e-8, max_iter=2000).fit(X)
    given = KernelQAlphaSelector(8, kernel="precomputed", tol=1e-8, max_iter=2000).fit(V)
    called = KernelQAlphaSelector(8, kernel=lambda A, B: (A @ B.T) ** 2, tol=1e-8, max_iter=2000).fit(X)
    np.testing.assert_allclose(given.weights_, computed.weights_, atol=1e-6)
    np.testing.assert_allclose(called.weights_, computed.weights_, atol=1e-6)
    assert given.transform(X).shape == (60, 8)


def test_nystroem_with_all_columns_is_exact_and_with_few_reports_its_error():
    X = planted()
    exact = KernelQAlphaSelector(8, tol=1e-8, max_iter=2000).fit(X)
    whole = KernelQAlphaSelector(8, n_components=120, tol=1e-8, max_iter=2000, random_state=0).fit(X)
    with pytest.warns(UserWarning, match="leaves out .* of its trace"):
        few = KernelQAlphaSelector(8, n_components=40, random_state=0).fit(X)
    assert exact.approximation_error_ == 0.0
    assert whole.approximation_error_ < 1e-8
    np.testing.assert_allclose(whole.weights_, exact.weights_, atol=1e-5)
    assert 0.1 < few.approximation_error_ < 0.9
    assert few.n_components_ <= 40
    assert few.get_support(indices=True).tolist() == list(range(8))


def test_hidden_signs_need_the_kernel():
    X, _, relevant = make_hidden_signs(0.02, random_state=1)
    kernel = KernelQAlphaSelector(12, kernel="sections", normalize="unit").fit(X)
    assert relevant[kernel.get_support()].sum() >= 10
    assert relevant[QAlphaSelector(12).fit(X).get_support()].sum() < 10


@pytest.mark.parametrize("criterion", ["energy", "gap"])
@pytest.mark.parametrize("with_side", [False, True])
def test_the_linear_kernel_is_plain_q_alpha_with_side_data_and_either_criterion(criterion, with_side):
    X = planted()
    rng = np.random.default_rng(1)
    side = rng.normal(size=(30, X.shape[1])) * rng.uniform(0.2, 3.0, X.shape[1]) if with_side else None
    settings = {"n_clusters": 2, "criterion": criterion, "tol": 1e-8, "max_iter": 2000}
    kernel = KernelQAlphaSelector(8, kernel="linear", **settings).fit(X, side=side)
    plain = QAlphaSelector(8, **settings).fit(X, side=side)
    np.testing.assert_allclose(kernel.weights_, plain.weights_, atol=1e-5)
    assert kernel.objective_ == pytest.approx(plain.objective_, rel=1e-6)


def test_weights_are_the_leading_eigenvector_of_v_times_the_projections():
    X = planted()
    M = (X - X.mean(axis=0)).T
    M /= np.linalg.norm(M, axis=1, keepdims=True)
    V = (M @ M.T) ** 2
    model = KernelQAlphaSelector(8, n_clusters=2, tol=1e-8, max_iter=2000).fit(X)
    leading = np.linalg.eigh(V * (model.projections_ @ model.projections_.T))[1][:, -1]
    np.testing.assert_allclose(model.weights_, leading * np.sign(leading.sum()), atol=1e-5)


def test_side_data_need_the_data_not_only_their_kernel():
    with pytest.raises(ValueError, match="kernel='precomputed'"):
        KernelQAlphaSelector(kernel="precomputed").fit(np.eye(4), side=np.ones((3, 4)))


def test_duplicates_share_and_constants_get_nothing():
    X = planted()
    X[:, 50] = 7.0
    X[:, 51] = X[:, 0]
    model = KernelQAlphaSelector(9).fit(X)
    assert model.weights_[50] == 0
    assert model.ranking_[50] == len(model.ranking_)
    assert model.weights_[51] == pytest.approx(model.weights_[0], abs=1e-8)


def test_names_and_frames_pass_through():
    frame = pd.DataFrame(planted(), columns=[f"f{i}" for i in range(120)])
    model = KernelQAlphaSelector(8).set_output(transform="pandas").fit(frame)
    assert list(model.transform(frame).columns) == [f"f{i}" for i in range(8)]


def test_a_kernel_matrix_too_large_for_memory():
    X = sp.random_array((5, 400_000), density=0.5, random_state=np.random.default_rng(0), format="csc")
    with pytest.raises(MemoryError, match=r"kernel matrix of 400,000 features takes .* GB .* 'n_components' parameter"):
        KernelQAlphaSelector().fit(X)


@pytest.mark.parametrize(
    ("model", "X", "match"),
    [
        (KernelQAlphaSelector(kernel="precomputed"), np.ones((3, 4)), "must be square"),
        (KernelQAlphaSelector(kernel="precomputed"), np.array([[1.0, 2.0], [2.0, 1.0]]), "positive semidefinite"),
        (KernelQAlphaSelector(kernel=lambda A, B: A @ A.T - 5 * np.eye(len(A))), planted(), "positive semidefinite"),
        (KernelQAlphaSelector(kernel=lambda A, B: A), planted(), "must return one value for every pair"),
        (KernelQAlphaSelector(kernel="cosine"), planted(), "'kernel' parameter of KernelQAlphaSelector"),
        (KernelQAlphaSelector(), np.ones((4, 5)), "No feature varies"),
    ],
)
def test_bad_input(model, X, match):
    with pytest.raises(ValueError, match=match):
        model.fit(X)
    assert not hasattr(model, "weights_")
