"""Side data: (D + lambda I)^-1 G in its symmetric form."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from eigensieve import QAlphaSelector, check_symmetric_operator, open_data
from eigensieve.data import as_data
from eigensieve.operators import LaplacianAffinity, StandardAffinity
from eigensieve.qalpha import Problem, ProblemGram
from reference import side as naive
from reference.supervised import unit_rows


def two_structures(seed=0, q=60, n=40):
    """Features 0-5 carry the wanted clusters, 6-15 stronger unwanted ones; side samples vary in the unwanted way
    only."""
    rng = np.random.default_rng(seed)
    wanted, unwanted = rng.integers(0, 3, q), rng.integers(0, 3, q)
    centers = 2.0 * rng.standard_normal((3, 6)), 2.0 * rng.standard_normal((3, 10))
    X = rng.standard_normal((q, n))
    X[:, :6] += centers[0][wanted]
    X[:, 6:16] += centers[1][unwanted]
    side = rng.standard_normal((50, n))
    side[:, 6:16] += centers[1][rng.integers(0, 3, 50)]
    return X, side


@pytest.mark.parametrize("strength", [0.1, 1.0])
def test_weights_match_the_transcription(strength):
    X, side = two_structures()
    M = unit_rows(X)
    D = naive.side_diagonal(X, side)
    model = QAlphaSelector(
        1, n_clusters=2, strength=0.1 / strength, solver_options={"max_iter": 2000, "tol": 1e-9}
    ).fit(X, side=side)
    weights, _, value = naive.side_weights(M, D, strength, model.embedding_)
    np.testing.assert_allclose(model.weights_, weights, atol=1e-6)
    assert model.objective_ == pytest.approx(value, rel=1e-8)
    A = M.T @ (model.weights_[:, None] * M)
    np.testing.assert_allclose(A @ model.embedding_, model.embedding_ * model.eigenvalues_, atol=1e-5)


def test_side_data_turns_the_answer():
    X, side = two_structures()
    assert (QAlphaSelector(6).fit(X).get_support(indices=True) >= 6).all()
    chosen = QAlphaSelector(5).fit(X, side=side).get_support(indices=True)
    assert (chosen < 6).all()


def test_side_data_of_constant_variance_changes_nothing():
    X, _ = two_structures()
    plain = QAlphaSelector(1, n_clusters=2, solver_options={"max_iter": 1000, "tol": 1e-8}).fit(X).weights_
    same = (
        QAlphaSelector(1, n_clusters=2, solver_options={"max_iter": 1000, "tol": 1e-8}).fit(X, side=X).weights_
    )  # every D_i is 1
    np.testing.assert_allclose(same, plain, atol=1e-7)


def test_a_large_strength_drowns_the_side_data():
    X, side = two_structures()
    plain = QAlphaSelector(1, n_clusters=2, solver_options={"max_iter": 1000, "tol": 1e-8}).fit(X).weights_
    weak = (
        QAlphaSelector(1, n_clusters=2, solver_options={"max_iter": 1000, "tol": 1e-8}, strength=1e-10)
        .fit(X, side=side)
        .weights_
    )
    np.testing.assert_allclose(weak, plain, atol=1e-6)


def test_sparse_side_data_is_the_same_as_dense():
    X, side = two_structures()
    side[np.abs(side) < 1] = 0
    model = QAlphaSelector(1, n_clusters=2, solver_options={"max_iter": 1000, "tol": 1e-7})
    dense = model.fit(X, side=side).weights_
    for kind in (sp.csr_array, sp.csc_matrix):
        np.testing.assert_allclose(model.fit(X, side=kind(side)).weights_, dense, atol=1e-6)
    np.testing.assert_allclose(model.fit(sp.csr_array(X), side=sp.csr_array(side)).weights_, dense, atol=1e-6)


def test_side_data_on_disk(tmp_path):
    X, side = two_structures()
    np.save(tmp_path / "side.npy", side)
    stored = QAlphaSelector(1).fit(X, side=open_data(tmp_path / "side.npy"))
    np.testing.assert_allclose(stored.weights_, QAlphaSelector(1).fit(X, side=side).weights_, atol=1e-9)


def test_units_of_the_features_do_not_matter():
    X, side = two_structures()
    scale, shift = np.logspace(-3, 3, 40), np.linspace(-9, 9, 40)
    model = QAlphaSelector(1, n_clusters=2, solver_options={"max_iter": 1000, "tol": 1e-7})
    expected = model.fit(X, side=side).weights_
    moved = model.fit(X * scale + shift, side=side * scale + shift).weights_
    np.testing.assert_allclose(moved, expected, atol=1e-6)


@pytest.mark.parametrize("affinity", [StandardAffinity, LaplacianAffinity])
def test_scaled_affinity_is_s_g_s(affinity):
    X = two_structures()[0][:, :12]
    base = affinity(as_data(X).standardized("unit"))
    scale = np.linspace(0.2, 3.0, 12)
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((60, 2)))[0]
    for tau in (0.0, 0.5):
        problem = Problem(base, 2, tau, np.ones(12, dtype=bool))
        dense = ProblemGram(problem, Q).to_dense() * np.outer(scale, scale)
        check_symmetric_operator(ProblemGram(replace(problem, affinity=base.scaled(scale)), Q), dense)


@pytest.mark.parametrize(
    ("side", "match"),
    [
        (np.zeros((5, 3)), r"same columns as X \(40 features\). Got 3 features instead"),
        (np.zeros((0, 40)), "at least 2 samples"),
        (np.zeros((1, 40)), "at least 2 samples"),
        (np.full((4, 40), np.nan), "Input side contains NaN or infinity in 40 of 40 columns"),
    ],
)
def test_bad_side_data(side, match):
    X, _ = two_structures()
    with pytest.raises(ValueError, match=match):
        QAlphaSelector(1).fit(X, side=side)


def test_side_names_must_be_those_of_x():
    X, side = two_structures()
    names = [f"f{i}" for i in range(40)]
    main = pd.DataFrame(X, columns=names)
    with pytest.raises(ValueError, match="same names in another order"):
        QAlphaSelector(1).fit(main, side=pd.DataFrame(side, columns=names[::-1]))
    with pytest.raises(ValueError, match=r"other names \(only in side: \['g'\]; only in X: \['f39'\]"):
        QAlphaSelector(1).fit(main, side=pd.DataFrame(side, columns=[*names[:-1], "g"]))
    named = QAlphaSelector(1).fit(main, side=pd.DataFrame(side, columns=names))
    # pandas 3 copies into another layout, whose sums are rounded in another order
    np.testing.assert_allclose(named.weights_, QAlphaSelector(1).fit(main, side=side).weights_, rtol=1e-6)
