"""Bad input: the documented behaviour or an error in scikit-learn's wording that names the fix."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from eigensieve import QAlphaSelector


@pytest.fixture
def X() -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 12))
    X[:10, :3] += 4
    return X


def fails(message: str, X: object, y: object = None, **parameters: object) -> None:
    model = QAlphaSelector(**parameters)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, y)
    assert not [name for name in vars(model) if name.endswith("_")], "a failed fit must leave nothing behind"


def test_text_columns() -> None:
    fails("columns that do not hold numbers: 'b'", pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "z"]}))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def test_missing_and_infinite_values_name_their_columns(X: np.ndarray, bad: float, make) -> None:
    X[3, 2] = bad
    fails(r"Input X contains NaN or infinity in 1 of 12 columns: 2\. .*SimpleImputer", make(X))


def test_missing_values_are_named_by_column_name(X: np.ndarray) -> None:
    frame = pd.DataFrame(X, columns=[f"g{i}" for i in range(12)])
    frame.iloc[0, 1:9] = np.nan
    fails("in 8 of 12 columns: 'g1', 'g2', 'g3', 'g4', 'g5' and 3 more", frame)


def test_one_sample(X: np.ndarray) -> None:
    fails(r"1 sample\(s\).*minimum of 2.*give more of them, or transpose X", X[:1])


@pytest.mark.parametrize("shape", [(0, 5), (5, 0)])
def test_empty_matrices(shape: tuple[int, int]) -> None:
    fails(r"0 (sample|feature)\(s\)", np.empty(shape))


def test_one_dimension(X: np.ndarray) -> None:
    fails("Expected 2D array", X[0])


def test_fewer_samples_than_clusters(X: np.ndarray) -> None:
    fails(
        "'n_clusters' parameter of QAlphaSelector must be at most the number of samples.*n_clusters=21",
        X,
        n_clusters=21,
    )


def test_as_many_clusters_as_samples_is_possible(X: np.ndarray) -> None:
    assert QAlphaSelector(3, 20).fit(X).n_clusters_ == 20


@pytest.mark.parametrize("value", [0.0, 3.5])
def test_all_constant_data(value: float) -> None:
    fails("No feature varies: all 4 columns of X are constant", np.full((6, 4), value))


def test_constant_columns_are_never_selected(X: np.ndarray) -> None:
    X[:, [0, 5]] = 7.0
    model = QAlphaSelector(10).fit(X)
    assert model.weights_[0] == model.weights_[5] == 0.0
    assert not model.support_[[0, 5]].any()
    assert set(model.ranking_[[0, 5]]) == {len(model.ranking_) - 1, len(model.ranking_)}
    with pytest.warns(UserWarning, match="asks for 11 features, and only 10 of 12 vary"):
        assert QAlphaSelector(11).fit(X).support_.sum() == 10


@pytest.mark.parametrize("spectrum", ["standard", "laplacian"])
def test_constant_columns_with_every_normalisation(X: np.ndarray, spectrum: str) -> None:
    X = np.abs(X)
    X[:, 4] = 2.0
    for normalize in ("unit", "none"):
        model = QAlphaSelector(5, 2, spectrum=spectrum, normalize=normalize).fit(X)
        assert model.weights_[4] == 0.0


@pytest.mark.parametrize("count", [13, 1000])
def test_more_features_than_there_are(X: np.ndarray, count: int) -> None:
    with pytest.warns(UserWarning, match=f"asks for {count} features, and only 12 of 12 vary"):
        assert QAlphaSelector(count).fit(X).support_.all()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_features_to_select", 0),
        ("n_features_to_select", 1.5),
        ("n_features_to_select", "all"),
        ("n_clusters", 0),
        ("n_clusters", 2.5),
        ("spectrum", "normalized"),
        ("criterion", "ratio"),
        ("normalize", "standard"),
        ("solver", "fast"),
        ("strength", 0.0),
        ("solver_options", 5),
    ],
)
def test_parameters_out_of_range(X: np.ndarray, name: str, value: object) -> None:
    fails(f"The '{name}' parameter of QAlphaSelector must be", X, **{name: value})


@pytest.mark.parametrize(("name", "value"), [("init", "pca"), ("n_init", 0), ("max_iter", 0), ("tol", -1.0)])
def test_options_of_the_solver_out_of_range(X: np.ndarray, name: str, value: object) -> None:
    fails(
        "'solver_options' parameter of QAlphaSelector must hold only 'init', 'n_init'", X, solver_options={"steps": 4}
    )
    fails(f"The '{name}' parameter of QAlphaSelector.solver_options must be", X, solver_options={name: value})


def test_y_of_the_wrong_length(X: np.ndarray) -> None:
    fails("inconsistent numbers of samples", X, np.zeros(19))


def test_laplacian_of_centred_data(X: np.ndarray) -> None:
    fails("Use normalize='unit'", X, spectrum="laplacian", normalize="center")


@pytest.mark.parametrize("settings", [{}, {"spectrum": "laplacian"}, {"solver": "power"}])
def test_a_d_that_moves_without_the_printed_algorithm(X: np.ndarray, settings: dict[str, str]) -> None:
    fails("must not hold shift='moving' without", X, solver_options={"shift": "moving"}, **settings)


@pytest.mark.parametrize("shape", [(19, 2), (20, 3), (20,)])
def test_start_of_the_wrong_shape(X: np.ndarray, shape: tuple[int, ...]) -> None:
    fails(
        r"'init' parameter of QAlphaSelector must have shape \(20, 2\)",
        X,
        n_clusters=2,
        solver_options={"init": np.ones(shape)},
    )


@pytest.mark.parametrize("value", [np.nan, np.inf, 1j, "a"])
def test_start_that_is_not_finite(X: np.ndarray, value: object) -> None:
    init = np.full((20, 2), value)
    fails(
        r"'init' parameter of QAlphaSelector must have .* finite numbers",
        X,
        n_clusters=2,
        solver_options={"init": init},
    )


def test_start_with_dependent_columns(X: np.ndarray) -> None:
    fails("independent columns", X, n_clusters=2, solver_options={"init": np.ones((20, 2))})


def test_duplicated_features_share_their_weight(X: np.ndarray) -> None:
    model = QAlphaSelector(4).fit(np.hstack([X, X]))
    np.testing.assert_allclose(model.weights_[:12], model.weights_[12:], atol=1e-12)
    assert model.support_.sum() == 4


def test_features_from_tiny_to_huge(X: np.ndarray) -> None:
    scales = np.logspace(-300, 300, 12)
    expected = QAlphaSelector(3, 2, solver_options={"max_iter": 2000, "tol": 1e-10}).fit(X)
    found = QAlphaSelector(3, 2, solver_options={"max_iter": 2000, "tol": 1e-10}).fit(X * scales)
    np.testing.assert_allclose(found.weights_, expected.weights_, atol=1e-8)
    np.testing.assert_array_equal(found.support_, expected.support_)
    fails(
        "'normalize' parameter of .* must not be 'none' for features below",
        X * scales,
        normalize="none",
    )


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, bool])
def test_integers_and_booleans(kind: type) -> None:
    rng = np.random.default_rng(1)
    X = (rng.random((30, 10)) < 0.5).astype(kind)
    X[:15, :3] = True
    X[15:, :3] = False
    X[0, :3] = False
    model = QAlphaSelector(3).fit(X)
    np.testing.assert_allclose(model.weights_, QAlphaSelector(3).fit(X.astype(np.float64)).weights_, atol=1e-12)
    assert model.transform(X).dtype == X.dtype


def test_one_feature() -> None:
    model = QAlphaSelector(1).fit(np.arange(6.0)[:, None])
    np.testing.assert_allclose(model.weights_, [1.0])
    assert model.support_.all()
    with pytest.warns(UserWarning, match="found no feature that follows the others' structure"):
        assert not QAlphaSelector().fit(np.arange(6.0)[:, None]).support_.any()


def test_two_samples() -> None:
    model = QAlphaSelector(2).fit(np.array([[0.0, 1.0, 5.0], [1.0, 3.0, 5.0]]))
    assert list(model.support_) == [True, True, False]


def test_transform_before_fit_and_with_other_columns(X: np.ndarray) -> None:
    with pytest.raises(NotFittedError):
        QAlphaSelector().transform(X)
    model = QAlphaSelector(2).fit(X)
    with pytest.raises(ValueError, match="X has 11 features, but QAlphaSelector is expecting 12"):
        model.transform(X[:, :11])
