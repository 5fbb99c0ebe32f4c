"""Files read around the system's cache: the same numbers as through it, in memory a piece fits in."""

from pathlib import Path

import numpy as np
import pytest

from eigensieve import QAlphaSelector, open_data
from eigensieve.data.disk import npy
from eigensieve.data.disk.npy import npy_source


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose files are all too large for memory, and whose file system can read around the cache."""
    monkeypatch.setattr(npy, "memory_size", lambda: 0)
    monkeypatch.setattr(npy, "_SHORTEST", 1)
    (tmp_path / "probe").write_bytes(bytes(8192))
    if not npy.goes_around(tmp_path / "probe", 8192):
        pytest.skip("this file system cannot read around the cache")
    return tmp_path


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("shape", "dtype"), [((7, 1001), np.float32), ((13, 5003), np.float64), ((3, 9000), np.int16)])
def test_any_range_of_features_is_what_is_stored(folder: Path, shape: tuple[int, int], dtype: type, order: str) -> None:
    X = np.asarray((100 * np.random.default_rng(0).standard_normal(shape)).astype(dtype), order=order)
    np.save(folder / "X.npy", X)
    source = npy_source(folder / "X.npy")
    assert source.around_cache
    last = shape[1]
    for start, stop in ((0, last), (0, 1), (last - 1, last), (5, 77), (100, 1001)):
        buffer = source.memory(min(stop - start + 3, last))
        assert buffer.nbytes <= source.largest(min(stop - start + 3, last))
        found = source.columns(start, stop, buffer)
        assert np.shares_memory(found, buffer)
        np.testing.assert_array_equal(found, X[:, start:stop])
        np.testing.assert_array_equal(source.columns(start, stop), X[:, start:stop])


def test_a_fit_is_the_same_as_in_memory(folder: Path) -> None:
    X = np.random.default_rng(1).standard_normal((40, 3000))
    X[:20, :10] += 2.0
    np.save(folder / "X.npy", X)
    data = open_data(folder / "X.npy", max_memory="3MB")
    assert data.width < 3000
    found = QAlphaSelector(10, solver_options={"tol": 1e-10}).fit(data)
    np.testing.assert_allclose(
        found.weights_, QAlphaSelector(10, solver_options={"tol": 1e-10}).fit(X).weights_, atol=1e-8
    )


def test_a_file_cut_off_is_an_error(folder: Path) -> None:
    X = np.ones((30, 3000))
    np.save(folder / "X.npy", X)
    source = npy_source(folder / "X.npy")
    with open(folder / "X.npy", "r+b") as file:
        file.truncate(500_000)
    with pytest.raises(EOFError, match="the file ends"):
        source.columns(0, 3000)
    with pytest.raises(OSError, match="changed size"):
        source.check()


def test_files_that_stay_in_memory_go_through_the_cache(tmp_path: Path) -> None:
    np.save(tmp_path / "X.npy", np.ones((30, 300)))
    assert not npy_source(tmp_path / "X.npy").around_cache


def test_short_rows_go_through_the_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npy, "_SHORTEST", 64 * 1024)
    np.save(folder / "X.npy", np.ones((30, 300)))
    data = open_data(folder / "X.npy")
    assert not data.source.around_cache
    np.testing.assert_array_equal(data.take([3, 5]), np.ones((30, 2)))
