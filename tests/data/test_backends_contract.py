"""The same answers from every backend: whole selectors, on every line of the table."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from eigensieve import QAlphaSelector, SieveSelector, TraceRatioSelector, open_data, selection_stability
from eigensieve.data import as_data
from eigensieve.data.dense import DenseData
from eigensieve.data.disk.sources import ALIVE
from eigensieve.data.kinds import stored_kind
from eigensieve.data.sparse import SparseData
from support.backends import BACKENDS, DASK, ON_DISK, tolerance

pytestmark = [
    pytest.mark.filterwarnings("ignore:QAlphaSelector stopped"),
]

RELEVANT = 6


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 90))
    X[:, :RELEVANT] += 3.0 * np.eye(2)[rng.integers(0, 2, 30)] @ rng.choice([-1.0, 1.0], (2, RELEVANT))
    X[np.abs(X) < 0.3] = 0.0
    X[:, 50] = 2.0
    return X


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_gives_the_same_weights(X: np.ndarray, backend: str) -> None:
    tol = tolerance(backend, double=1e-10, single=1e-5)
    plain = QAlphaSelector(RELEVANT, 1, solver_options={"tol": tol}).fit(X)
    found = QAlphaSelector(RELEVANT, 1, solver_options={"tol": tol}).fit(BACKENDS[backend](X))
    np.testing.assert_allclose(found.weights_, plain.weights_, atol=tolerance(backend, double=1e-8, single=1e-4))
    np.testing.assert_array_equal(found.get_support(), plain.get_support())
    assert found.objective_ == pytest.approx(plain.objective_, rel=tolerance(backend, double=1e-10, single=1e-4))
    assert found.n_features_in_ == X.shape[1]


@pytest.mark.parametrize("backend", ["npy", "hdf5-rows", "dask-both"])
@pytest.mark.parametrize("settings", [{"spectrum": "laplacian"}, {"criterion": "gap"}, {"solver": "power"}], ids=str)
def test_variants_need_nothing_else_of_a_backend(X: np.ndarray, backend: str, settings: dict[str, str]) -> None:
    X = np.abs(X)[:, :40]
    limit = {"solver_options": {"max_iter": 1} if "solver" in settings else {"tol": 1e-9}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        plain = QAlphaSelector(RELEVANT, 1, **limit, **settings).fit(X)
        found = QAlphaSelector(RELEVANT, 1, **limit, **settings).fit(BACKENDS[backend](X))
    np.testing.assert_allclose(found.weights_, plain.weights_, atol=1e-8)


@pytest.mark.parametrize("backend", ["npy", "hdf5-rows", "dask-both", "dask-csr", "dask-frame"])
def test_other_selectors_run_on_stored_data(X: np.ndarray, backend: str) -> None:
    y = (X[:, 0] > 0).astype(int)
    for model in (
        SieveSelector(RELEVANT, random_state=0),
        TraceRatioSelector(RELEVANT),
        TraceRatioSelector(RELEVANT, score="laplacian"),
    ):
        plain = clone(model).fit(X, y)
        found = clone(model).fit(BACKENDS[backend](X), y)
        np.testing.assert_array_equal(found.get_support(), plain.get_support())


@pytest.mark.parametrize("backend", ["npy", "dask-both"])
def test_what_the_user_knows_steers_stored_data_too(X: np.ndarray, backend: str) -> None:
    y = (X[:, 0] > 0).astype(int)
    side = np.random.default_rng(1).standard_normal((8, X.shape[1]))
    for known in (
        {"y": y},
        {"y": np.where(np.arange(30) % 3, -1, y)},
        {"side": side},
        {"cannot_link": [[0, 1], [2, 5]]},
    ):
        plain = QAlphaSelector(RELEVANT, 1, solver_options={"tol": 1e-8}).fit(X, **known)
        found = QAlphaSelector(RELEVANT, 1, solver_options={"tol": 1e-8}).fit(BACKENDS[backend](X), **known)
        np.testing.assert_allclose(found.weights_, plain.weights_, atol=1e-7)


@pytest.mark.parametrize("backend", [*ON_DISK, *DASK])
def test_transform_gives_the_selected_columns(X: np.ndarray, backend: str) -> None:
    model = QAlphaSelector(RELEVANT, 1).fit(X)
    made = BACKENDS[backend](X)
    model.feature_names_in_ = as_data(made).feature_names
    if model.feature_names_in_ is None:
        del model.feature_names_in_
    chosen = model.transform(made)
    if backend in DASK:
        assert stored_kind(chosen) == "dask"
        chosen = chosen.compute()
    chosen = chosen.toarray() if hasattr(chosen, "toarray") else np.asarray(chosen)
    np.testing.assert_allclose(chosen, X[:, model.get_support()], rtol=1e-6)


def test_stability_runs_on_dask(X: np.ndarray) -> None:
    plain = selection_stability(QAlphaSelector(RELEVANT, 1), X, n_subsamples=2)
    found = selection_stability(QAlphaSelector(RELEVANT, 1), BACKENDS["dask-both"](X), n_subsamples=2)
    np.testing.assert_array_equal(found.selections, plain.selections)


@pytest.mark.parametrize("backend", ON_DISK)
def test_some_samples_of_stored_data(X: np.ndarray, backend: str) -> None:
    data = as_data(BACKENDS[backend](X))
    rows = np.array([0, 3, 4, 17, 29])
    some = data[rows]
    np.testing.assert_allclose(some.toarray(), X[rows], rtol=1e-6)
    V = np.random.default_rng(0).standard_normal((5, 2))
    np.testing.assert_allclose(some.project(V), X[rows].T @ V, atol=tolerance(backend, double=1e-12, single=1e-4))
    np.testing.assert_allclose(data[X[:, 0] > 0].stats().mean, X[X[:, 0] > 0].mean(axis=0), rtol=1e-5, atol=1e-6)
    for wrong in ([3, 3], [4, 1], np.zeros(30, dtype=bool)):
        with pytest.raises(IndexError, match="in increasing order"):
            data[wrong]
    with pytest.raises(TypeError, match="by samples only"):
        data[:, :3]


@pytest.mark.parametrize("backend", ["npy", "hdf5-rows", "h5ad-csc", "parquet"])
def test_stability_runs_on_disk(X: np.ndarray, backend: str) -> None:
    plain = selection_stability(QAlphaSelector(RELEVANT, 1), X, n_subsamples=2)
    found = selection_stability(QAlphaSelector(RELEVANT, 1), BACKENDS[backend](X), n_subsamples=2)
    np.testing.assert_array_equal(found.selections, plain.selections)


def test_names_come_with_the_storage(X: np.ndarray) -> None:
    for backend in ("parquet", "dask-frame"):
        model = QAlphaSelector(RELEVANT, 1).fit(BACKENDS[backend](X))
        assert list(model.get_feature_names_out()) == [f"g{i}" for i in model.get_support(indices=True)]
    anonymous = model.fit(BACKENDS["npy"](X))
    assert not hasattr(anonymous, "feature_names_in_")


@pytest.mark.parametrize("backend", ["npy", "npy-fortran", "hdf5-columns", "zarr", "parquet", "h5ad", "h5ad-csc"])
def test_reading_stays_within_the_memory_allowed(X: np.ndarray, backend: str) -> None:
    data = BACKENDS[backend](X)
    pieces = -(-data.n_features // data.width)
    assert pieces >= 2
    assert data.source.largest(data.width) * ALIVE <= 2 * X.nbytes


@pytest.mark.parametrize("backend", ["hdf5-rows", "h5ad-csr-rows"])
def test_storage_by_samples_is_read_by_samples(X: np.ndarray, backend: str) -> None:
    data = BACKENDS[backend](X)
    assert data.source.by_samples and data.height < len(X)
    data.stats()
    before = data.n_passes
    data.standardized("center").project(np.eye(30, 2))
    assert data.n_passes == before + 1


@pytest.mark.parametrize("backend", ON_DISK)
def test_blocks_may_be_kept_after_the_pass(X: np.ndarray, backend: str) -> None:
    kept = as_data(BACKENDS[backend](X)).map_blocks(lambda block: block.toarray())
    np.testing.assert_allclose(np.hstack(kept), X, rtol=1e-6)


def test_sums_do_not_depend_on_the_number_of_threads(X: np.ndarray) -> None:
    from threadpoolctl import threadpool_limits

    data = BACKENDS["npy"](X)
    W = np.random.default_rng(0).standard_normal((90, 3))
    many = data.combine(W)
    with threadpool_limits(1):
        np.testing.assert_array_equal(data.combine(W), many)


def test_progress_of_every_pass_is_shown(X: np.ndarray, capsys: pytest.CaptureFixture[str]) -> None:
    QAlphaSelector(RELEVANT, 1, verbose=2).fit(BACKENDS["npy"](X))
    shown = capsys.readouterr().err
    assert "pass 1:" in shown and "100% of 21.6 kB read from" in shown and "criterion" in shown


@pytest.mark.parametrize("backend", ["memmap", "dask-columns", "dask-frame"])
def test_open_data_takes_open_handles_too(X: np.ndarray, backend: str) -> None:
    made = BACKENDS[backend](X)
    np.testing.assert_allclose(open_data(made).take([3, 50]), X[:, [3, 50]])


def test_memory_maps_of_part_of_a_file(X: np.ndarray, tmp_path) -> None:
    np.save(tmp_path / "X.npy", X)
    view = np.load(tmp_path / "X.npy", mmap_mode="r")
    for part in (view[5:20], view[::2], view[:, 3:40], view.T, np.load(tmp_path / "X.npy", mmap_mode="c")):
        np.testing.assert_array_equal(as_data(part).take([0, 2, 1]), np.asarray(part)[:, [0, 2, 1]])


def test_anndata_backed_and_in_memory(X: np.ndarray, tmp_path) -> None:
    anndata = pytest.importorskip("anndata")
    from scipy.sparse import csc_matrix, csr_matrix

    expected = QAlphaSelector(RELEVANT, 1).fit(X).get_support()
    for number, values in enumerate((X, csr_matrix(X), csc_matrix(X))):
        adata = anndata.AnnData(values)
        adata.var_names = [f"gene{i}" for i in range(90)]
        adata.write_h5ad(tmp_path / f"{number}.h5ad")
        backed = anndata.read_h5ad(tmp_path / f"{number}.h5ad", backed="r")
        for made in (adata, backed):
            model = QAlphaSelector(RELEVANT, 1).fit(made)
            assert model.feature_names_in_[0] == "gene0"
            np.testing.assert_array_equal(model.get_support(), expected)
        backed.file.close()


def test_names_of_variables_beside_a_mask(X: np.ndarray, tmp_path) -> None:
    """Of strings that may be missing, anndata 0.13 writes values and a mask."""
    h5py = pytest.importorskip("h5py")
    names = [f"gene{i}" for i in range(90)]
    with h5py.File(tmp_path / "X.h5ad", "w") as file:
        file["X"] = X
        file["var/_index/values"], file["var/_index/mask"] = names, np.zeros(90, dtype=bool)
        file["var"].attrs["_index"] = "_index"
    assert list(open_data(tmp_path / "X.h5ad").feature_names) == names


@pytest.mark.parametrize("backend", BACKENDS)
def test_some_samples_come_into_memory_as_they_are_seen(X: np.ndarray, backend: str) -> None:
    rows = np.array([0, 3, 4, 17, 29])
    data = as_data(BACKENDS[backend](X))
    Z = X - X.mean(axis=0)
    Z[:, 50] = 0.0
    Z /= np.maximum(np.linalg.norm(Z, axis=0), 1e-300)
    close = {"atol": tolerance(backend, double=1e-12, single=1e-5)}
    some = data.standardized("center").samples(rows)
    np.testing.assert_allclose(some.take(slice(None)), Z[rows], **close)
    np.testing.assert_allclose(data.samples(rows).take(slice(None)), X[rows], **close)
    assert type(some) is (SparseData if "csr" in backend or "csc" in backend else DenseData)
    offset, factor = np.linspace(-1, 1, 90) * (np.arange(90) != 50), np.linspace(0, 2, 90)
    moved = data.standardized("center").moved(offset, factor).take(slice(None))
    np.testing.assert_allclose(moved, (Z - offset) * factor, **close)


@pytest.mark.parametrize("backend", ["npy", "hdf5-rows", "h5ad-csr-rows", "dask-both", "dask-csr"])
def test_samples_that_do_not_fit_into_memory_stay_where_they_are(
    X: np.ndarray, backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = np.array([0, 3, 4, 17, 29])
    monkeypatch.setattr("eigensieve.data.dask.matrix._BROUGHT", 0)
    monkeypatch.setattr("eigensieve.data.disk.stream.StreamedData._too_large", lambda self, rows: True)
    data = as_data(BACKENDS[backend](X)).standardized("unit")
    some = data.samples(rows)
    assert type(some) is type(data)
    expected = (X / np.linalg.norm(X, axis=0)) * (np.arange(90) != 50)
    np.testing.assert_allclose(some.take(slice(None)), expected[rows], atol=1e-12)
    V = np.random.default_rng(0).standard_normal((5, 2))
    np.testing.assert_allclose(some.project(V), expected[rows].T @ V, atol=1e-12)
