"""KernelQAlphaSelector as an estimator."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigensieve import KernelQAlphaSelector, QAlphaSelector
from eigensieve.datasets import make_hidden_signs
from reference.kernel import known_step, label_projections
from reference.pairs import pair_matrix
from reference.side import side_diagonal

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
    precise = {"n_clusters": 2, "normalize": normalize, "solver_options": {"tol": 1e-8, "max_iter": 2000}}
    linear = KernelQAlphaSelector(8, kernel="linear", **precise).fit(container(X))
    plain = QAlphaSelector(8, **precise).fit(X)
    np.testing.assert_allclose(linear.weights_, plain.weights_, atol=1e-6)
    np.testing.assert_allclose(linear.eigenvalues_, plain.eigenvalues_, rtol=1e-6)
    assert linear.objective_ == pytest.approx(plain.objective_, rel=1e-8)


def test_precomputed_is_the_same_as_computed():
    X = planted()
    M = (X - X.mean(0)) / np.linalg.norm(X - X.mean(0), axis=0)
    V = (M.T @ M) ** 2
    computed = KernelQAlphaSelector(8, solver_options={"max_iter": 2000, "tol": 1e-8}).fit(X)
    given = KernelQAlphaSelector(8, kernel="precomputed", solver_options={"max_iter": 2000, "tol": 1e-8}).fit(V)
    called = KernelQAlphaSelector(
        8, kernel=lambda A, B: (A @ B.T) ** 2, solver_options={"max_iter": 2000, "tol": 1e-8}
    ).fit(X)
    np.testing.assert_allclose(given.weights_, computed.weights_, atol=1e-6)
    np.testing.assert_allclose(called.weights_, computed.weights_, atol=1e-6)
    assert given.transform(X).shape == (60, 8)


def test_nystroem_with_all_columns_is_exact_and_with_few_reports_its_error():
    X = planted()
    exact = KernelQAlphaSelector(8, solver_options={"max_iter": 2000, "tol": 1e-8}).fit(X)
    whole = KernelQAlphaSelector(
        8, n_components=120, solver_options={"max_iter": 2000, "tol": 1e-8}, random_state=0
    ).fit(X)
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


def knowledge(X, which):
    """Some of: labels, side data and pairs that agree with the planted groups."""
    rng = np.random.default_rng(1)
    everything = {
        "y": np.repeat([0, 1, 1], [30, 20, len(X) - 50]) + np.repeat([0, 1], [50, len(X) - 50]),
        "side": rng.normal(size=(30, X.shape[1])) * rng.uniform(0.2, 3.0, X.shape[1]),
        "cannot_link": [[0, 40], [3, 55], [10, 31]],
        "must_link": [[0, 5], [31, 45]],
    }
    return {name: given for name, given in everything.items() if name in which}


WHICH = [(), ("side",), ("y",), ("cannot_link", "must_link"), ("y", "side", "cannot_link", "must_link")]


@pytest.mark.parametrize("criterion", ["energy", "gap"])
@pytest.mark.parametrize("which", WHICH)
def test_the_linear_kernel_is_plain_q_alpha_with_all_that_is_known(criterion, which):
    X = planted()
    settings = {"n_clusters": 2, "criterion": criterion, "solver_options": {"tol": 1e-8, "max_iter": 2000}}
    kernel = KernelQAlphaSelector(8, kernel="linear", **settings).fit(X, **knowledge(X, which))
    plain = QAlphaSelector(8, **settings).fit(X, **knowledge(X, which))
    np.testing.assert_allclose(kernel.weights_, plain.weights_, atol=1e-5)
    assert kernel.objective_ == pytest.approx(plain.objective_, rel=1e-6)


@pytest.mark.parametrize("criterion", ["energy", "gap"])
@pytest.mark.parametrize("which", WHICH)
@pytest.mark.parametrize("kernel", ["poly", "rbf"])
def test_the_solution_stays_where_it_is_in_a_dense_transcription(criterion, which, kernel):
    X = planted()[:, :40]
    M = (X - X.mean(axis=0)).T
    M /= np.linalg.norm(M, axis=1, keepdims=True)

    def k(A, B):
        return (A @ B.T) ** 2 if kernel == "poly" else np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2))

    known = knowledge(X, which)
    model = KernelQAlphaSelector(
        8, n_clusters=2, kernel=kernel, criterion=criterion, solver_options={"max_iter": 5000, "tol": 1e-8}
    )
    model.fit(X, **known)
    D = side_diagonal(X, known["side"]) + 0.1 if "side" in known else None
    pairs = [known.get(name, []) for name in ("cannot_link", "must_link")]
    B = pair_matrix(M, *pairs, 2.0) if "cannot_link" in known else 0.0
    labelled = "y" in known
    P = label_projections(k, M, known["y"]) if labelled else model.projections_
    np.testing.assert_allclose(P @ P.T, model.projections_ @ model.projections_.T, atol=1e-6)
    G, alpha, P_next = known_step(k(M, M), P, gap=criterion == "gap", D=D, B=B, fixed=labelled)
    np.testing.assert_allclose(model.G_, G, atol=1e-6)
    np.testing.assert_allclose(model.weights_, alpha, atol=1e-4)
    np.testing.assert_allclose(P_next @ P_next.T, P @ P.T, atol=1e-3)


def test_labels_that_a_square_hides():
    """Two classes that differ in sign section by section: only the kernel sees what the labels say."""
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 40)
    X = rng.normal(size=(80, 60))
    signs = np.repeat(rng.choice([-1.0, 1.0], size=(10, 5)), 8, axis=0)
    X[:, :5] += 2.0 * signs * (2 * y[:, None] - 1)
    kernel = KernelQAlphaSelector(5, kernel="sections").fit(X, y)
    assert kernel.get_support(indices=True).tolist() == [0, 1, 2, 3, 4]
    ignoring = KernelQAlphaSelector(5, kernel="sections", supervision="ignore").fit(X, y)
    np.testing.assert_array_equal(ignoring.weights_, KernelQAlphaSelector(5, kernel="sections").fit(X).weights_)


@pytest.mark.parametrize(
    "said", [{"y": [0, 0, 1, 1]}, {"side": np.ones((3, 4))}, {"cannot_link": [[0, 1]]}, {"must_link": [[0, 1]]}]
)
def test_what_is_said_about_samples_needs_the_data_not_only_their_kernel(said):
    with pytest.raises(ValueError, match=f"'{next(iter(said))}' parameter .* kernel='precomputed'"):
        KernelQAlphaSelector(kernel="precomputed").fit(np.eye(4), **said)


def test_some_samples_without_label_are_refused():
    X = planted()
    with pytest.raises(
        ValueError, match=r"a label for every sample. Got 10 samples without one instead; leave these samples out"
    ):
        KernelQAlphaSelector().fit(X, np.repeat([0, 1, -1], [30, 20, 10]))


def test_pairs_must_agree_with_the_labels():
    X = planted()
    with pytest.raises(ValueError, match="contradicts y"):
        KernelQAlphaSelector().fit(X, np.repeat([0, 1], 30), cannot_link=[[0, 1]])


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
        (KernelQAlphaSelector(kernel_params={"section_size": 4}), planted(), "hold only 'gamma', 'coef0', 'degree'"),
        (KernelQAlphaSelector(kernel=np.dot, kernel_params={"gamma": 4}), planted(), "must be None here. Got 'gamma'"),
        (KernelQAlphaSelector(kernel_params={"degree": 0}), planted(), "'degree' parameter of .* must be an int"),
    ],
)
def test_bad_input(model, X, match):
    with pytest.raises(ValueError, match=match):
        model.fit(X)
    assert not hasattr(model, "weights_")
