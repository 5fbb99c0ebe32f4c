"""Small sound files, one or more per reader, that damage begins from."""

import gzip
import io
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.io import savemat
from scipy.sparse import csc_matrix, csr_matrix, random_array, save_npz

from eigensieve.tables import Column, Table, write_table

Files = dict[str, bytes]
"""One file, or the files of a folder, by their names."""

_X = np.round(np.random.default_rng(0).normal(size=(7, 5)), 3)
_S = csr_matrix(random_array((7, 5), density=0.5, random_state=np.random.default_rng(1), format="csr"))
_NAMES = ["a", "b<c>", "d,e", "\N{DNA DOUBLE HELIX}", "f"]
_FULL = Table(
    X=_X,
    feature_names=_NAMES,
    sample_names=[f"s{row}" for row in range(7)],
    format="csv",
    apart={"label": Column("y", np.array(list("uvuvuvu")))},
    id_name="who",
)
_TEXTS = {
    "comma.csv": b'who,y,a,"b ""c""",d\ns0,u,1,2.5,-3e4\ns1,v,,inf,5\ns2,u,"7",8,9.25\n',
    "tab.tsv": b"gene\ts1\ts2\ts3\nA\t1\t2\t3\nB\t4\t5\t6\nC\t100\t101\t99\n",
    "semicolon.csv": b"y;a;b\n1;1,5;2\n2;2,5;3\n1;3,5;4\n",
    "bare.txt": b"1 2 3\n4 5 6\n7 8 9\n",
}


def seeds(folder: Path) -> dict[str, list[Files]]:
    """Sound files by reader. `folder` is for files that libraries insist on writing themselves."""
    return {name: make(folder) for name, make in _MAKERS.items()}


def _written(folder: Path, name: str, table: Table) -> Files:
    place = folder / name
    write_table(place, table, force=True)
    return {name: place.read_bytes()}


def _csv(folder: Path) -> list[Files]:
    return [_written(folder, "full.csv", _FULL), *({name: text} for name, text in _TEXTS.items())]


def _csv_gz(folder: Path) -> list[Files]:
    return [{f"{name}.gz": gzip.compress(text)} for name, text in _TEXTS.items()]


def _parquet(folder: Path) -> list[Files]:
    return [_written(folder, "full.parquet", _FULL), *_plain_parquet(folder)]


def _plain_parquet(folder: Path) -> list[Files]:
    """Files that are mostly numbers, so that most damage hits those."""
    import pyarrow as pa
    from pyarrow import parquet

    values = np.round(np.random.default_rng(2).normal(size=(600, 3)), 2)
    columns = {
        "a": values[:, 0],
        "b": pa.array(values[:, 1], mask=values[:, 2] > 1),
        "c": np.arange(600),
        "d": values[:, 2].astype(np.float32),
    }
    found = []
    for compression, whole in (("none", True), ("snappy", False), ("zstd", True)):
        out = io.BytesIO()
        parquet.write_table(
            pa.table(columns),
            out,
            compression=compression,
            use_dictionary=whole,
            row_group_size=250,
            data_page_size=999,
        )
        found.append({f"{compression}.parquet": out.getvalue()})
    return found


def _feather(folder: Path) -> list[Files]:
    import pyarrow as pa
    from pyarrow import feather

    columns = {
        "who": [f"s{i}" for i in range(7)],
        "y": pa.array(list("uvuvuvu")).dictionary_encode(),
        "a": _X[:, 0],
        "b": pa.array([1, None, 3, 4, 5, 6, 7]),
        "c": pa.array([True, False, None, True, True, False, True]),
    }
    found = [_written(folder, "full.feather", _FULL)]
    for compression in ("uncompressed", "zstd"):
        out = io.BytesIO()
        feather.write_feather(pa.table(columns), out, compression=compression)
        found.append({f"{compression}.feather": out.getvalue()})
    return found


def _xlsx(folder: Path) -> list[Files]:
    return [{name: _undated(data) for name, data in _written(folder, "full.xlsx", _FULL).items()}]


def _undated(workbook: bytes) -> bytes:
    """The same workbook whenever it is made: without the times that it was written at."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"2000-01-01T00:00:00Z", old.read(name))
            new.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _npy(folder: Path) -> list[Files]:
    found = []
    for values in (_X, _X.astype(np.float32).T, np.arange(12).reshape(4, 3)):
        out = io.BytesIO()
        np.save(out, values)
        found.append({"x.npy": out.getvalue()})
    return found


def _npz(folder: Path) -> list[Files]:
    out = io.BytesIO()
    save_npz(out, csc_matrix(_S))
    sparse = replace(_FULL, X=_S)
    return [_written(folder, "full.npz", _FULL), _written(folder, "sparse.npz", sparse), {"scipy.npz": out.getvalue()}]


def _mat(folder: Path) -> list[Files]:
    cells = np.array(_NAMES, dtype=object)
    found = [_written(folder, "full.mat", _FULL)]
    for X in (_X, csc_matrix(_S)):
        out = io.BytesIO()
        savemat(out, {"X": X, "feature_names": cells, "y": np.array([[1, 2, 1, 2, 1, 2, 1]], dtype=np.uint8)})
        found.append({"plain.mat": out.getvalue()})
    out = io.BytesIO()
    savemat(out, {"X": _X}, format="4")
    return [*found, {"four.mat": out.getvalue()}]


def _hdf5(folder: Path) -> list[Files]:
    """MATLAB 7.3 and plain HDF5: dense, chunked and compressed, sparse."""
    import h5py

    place = folder / "x.mat"
    with h5py.File(place, "w", userblock_size=512) as file:
        file["X"] = _X.T
        group = file.create_group("S")
        stored = csc_matrix(_S)
        group.attrs["MATLAB_sparse"] = np.uint64(7)
        group["data"], group["ir"], group["jc"] = stored.data, stored.indices, stored.indptr
    content = b"MATLAB 7.3 MAT-file".ljust(512) + place.read_bytes()[512:]
    with h5py.File(place, "w") as file:
        file.create_dataset("data", data=_X.T, chunks=(2, 3), compression="gzip", shuffle=True)
    return [{"x.mat": content}, {"chunked.mat": place.read_bytes()}]


def _h5ad(folder: Path) -> list[Files]:
    return [_written(folder, "full.h5ad", _FULL), _written(folder, "sparse.h5ad", replace(_FULL, X=_S))]


def _svmlight(folder: Path) -> list[Files]:
    return [
        _written(folder, "full.svm", replace(_FULL, apart={}, X=_S)),
        {"comments.svm": b"# about\n1 qid:1 1:0.5 3:2 # one\n-1 qid:2 2:1e-3\n"},
        {"x.svm.gz": gzip.compress(b"1 1:0.5 3:2\n2 2:1\n")},
    ]


def _mtx(folder: Path) -> list[Files]:
    return [
        _written(folder, "sparse.mtx", replace(_FULL, X=_S, apart={}, sample_names=None)),
        _written(folder, "dense.mtx", replace(_FULL, apart={}, sample_names=None)),
        {"s.mtx": b"%%MatrixMarket matrix coordinate pattern symmetric\n% about\n3 3 2\n1 1\n3 2\n"},
        {"i.mtx.gz": gzip.compress(b"%%MatrixMarket matrix coordinate integer general\n2 3 2\n1 1 5\n2 3 6\n")},
    ]


def _10x(folder: Path) -> list[Files]:
    matrix = b"%%MatrixMarket matrix coordinate integer general\n3 2 3\n1 1 5\n2 1 1\n3 2 6\n"
    features = b"ENSG1\tA\tGene Expression\nENSG2\tB\tGene Expression\nENSG3\tA\tGene Expression\n"
    plain = {"matrix.mtx": matrix, "features.tsv": features, "barcodes.tsv": b"AAAC-1\nAAAG-1\n"}
    return [plain, {f"{name}.gz": gzip.compress(content) for name, content in plain.items()}]


def _open_hdf5(folder: Path) -> list[Files]:
    return [{"x.h5": content} for files in _hdf5(folder) for content in files.values()]


def _open_parquet(folder: Path) -> list[Files]:
    numbers = _written(folder, "numbers.parquet", replace(_FULL, apart={}, sample_names=None))
    return [numbers, *_plain_parquet(folder)]


def _open_zarr(folder: Path) -> list[Files]:
    import zarr

    found = []
    for version in (2, 3):
        place = folder / f"{version}.zarr"
        array = zarr.create_array(place, shape=_X.shape, chunks=(4, 3), dtype=_X.dtype, zarr_format=version)
        array[:] = _X
        files = [path for path in sorted(place.rglob("*")) if path.is_file()]
        found.append({f"x.zarr/{path.relative_to(place)}": path.read_bytes() for path in files})
    return found


_MAKERS: dict[str, Callable[[Path], list[Files]]] = {
    "csv": _csv,
    "csv.gz": _csv_gz,
    "parquet": _parquet,
    "feather": _feather,
    "xlsx": _xlsx,
    "npy": _npy,
    "npz": _npz,
    "mat": _mat,
    "mat 7.3": _hdf5,
    "svmlight": _svmlight,
    "mtx": _mtx,
    "10x": _10x,
    "h5ad": _h5ad,
    "open npy": _npy,
    "open hdf5": _open_hdf5,
    "open h5ad": _h5ad,
    "open parquet": _open_parquet,
    "open zarr": _open_zarr,
}
