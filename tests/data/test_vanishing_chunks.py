"""Zarr reads a chunk that is gone as fill values: a fit must not go on with them."""

import numpy as np
import pytest

from eigensieve import QAlphaSelector, SieveSelector, open_data
from eigensieve._progress import progress_to

zarr = pytest.importorskip("zarr")


def stored(tmp_path, version):
    X = np.random.default_rng(0).normal(size=(20, 12))
    array = zarr.create_array(tmp_path / "x.zarr", shape=X.shape, chunks=(10, 4), dtype=X.dtype, zarr_format=version)
    array[:] = X
    return array, X


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("opened", ["path", "handle"])
@pytest.mark.parametrize("change", ["remove", "rewrite", "cut"])
def test_chunks_that_change_are_noticed(tmp_path, version, opened, change):
    array, X = stored(tmp_path, version)
    data = open_data(tmp_path / "x.zarr" if opened == "path" else array)
    np.testing.assert_array_equal(data.toarray(), X)
    chunk = max(path for path in (tmp_path / "x.zarr").rglob("*") if path.is_file() and path.suffix != ".json")
    content = chunk.read_bytes()
    if change == "remove":
        chunk.unlink()
    else:
        chunk.write_bytes(content if change == "rewrite" else content[:-3])
    with pytest.raises(OSError, match=r"x\.zarr"):
        data.stats()


def test_a_chunk_that_vanishes_in_the_middle_of_a_pass(tmp_path):
    stored(tmp_path, 3)
    data = open_data(tmp_path / "x.zarr")
    chunks = [path for path in (tmp_path / "x.zarr" / "c").rglob("*") if path.is_file()]

    def remove_one(block):
        if chunks:
            chunks.pop().unlink()

    with pytest.raises(OSError, match="added or removed"):
        data.map_blocks(remove_one)


@pytest.mark.parametrize("selector", [QAlphaSelector(3, 2, random_state=0), SieveSelector(3, random_state=0)])
def test_a_chunk_that_vanishes_during_a_fit(tmp_path, selector):
    """It is removed after the first pass over the data, when the fit has read all of it once."""
    stored(tmp_path, 3)
    data = open_data(tmp_path / "x.zarr")
    chunks = [path for path in (tmp_path / "x.zarr" / "c").rglob("*") if path.is_file()]

    def remove_one(message):
        if chunks and data.n_passes:
            chunks.pop().unlink()

    with progress_to(remove_one), pytest.raises(OSError, match=r"x\.zarr"):
        selector.fit(data)
    assert data.n_passes and not hasattr(selector, "weights_")


def test_damaged_metadata_names_the_array(tmp_path):
    stored(tmp_path, 3)
    (tmp_path / "x.zarr" / "zarr.json").write_text("{")
    with pytest.raises(OSError, match=r"x\.zarr cannot be opened as Zarr"):
        open_data(tmp_path / "x.zarr")


@pytest.mark.parametrize("part", ["indices", "indptr"])
def test_sparse_parts_beyond_the_shape_are_refused(tmp_path, part):
    h5py = pytest.importorskip("h5py")
    parts = {"data": np.ones(3), "indices": np.array([0, 1, 2]), "indptr": np.array([0, 1, 2, 3])}
    parts[part] = np.array([0, 1, 2**30]) if part == "indices" else np.array([0, 2, 1, 3])
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", (3, 3)
        for name, values in parts.items():
            group[name] = values
    with pytest.raises((OSError, ValueError), match=r"x\.h5ad"):
        open_data(tmp_path / "x.h5ad").stats()
