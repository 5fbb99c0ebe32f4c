"""Time and memory of select_genes beside the scanpy steps that follow it, on simulated counts of any size.

``python benchmarks/single_cell/size.py`` makes counts of 100,000 cells x 20,000 genes, 5 % of them not zero, and prints
the time of choosing 2,000 genes, in memory and backed by a file, over the time of PCA and neighbours of these genes in
the same run, and the memory on top of the counts over that of the counts. ``--cells 3000 15000 --genes 9292`` times
smaller ones; ``--turns`` repeats all of it. Growth is the time per cell of the last number of cells over the first.

``--backed`` writes the counts to a file in parts and reads them from there only, so the cells need not fit into memory:
``--backed --cells 10000 30000 100000 --genes 30000`` prints processor time and memory, the cost model (seconds and MB
per million stored counts), what it says of 1,000,000 cells, and whether types of 1 in 5,000 cells are still found.
``--dask`` does the same on Dask. The folder for the file is that of ``TMPDIR``.
"""

import argparse
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, vstack
from sklearn.neighbors import NearestNeighbors

from eigensieve import select_genes
from eigensieve.datasets import make_single_cells

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from benchmarks.measure import extra_bytes, seconds, verdict
from benchmarks.single_cell.data import Cells, normalized
from benchmarks.single_cell.scoring import components, majority

N_CHOSEN = 2_000
_SHARES = (0.25, 0.2, 0.15, 0.12, 0.1, 0.08, 0.05, 0.03, 0.015, 0.005)
_RARE, _NONE = 1 / 5_000, 1e-9  # share of each of three more types with --backed
_STRENGTHS = (0.8, 2.0, 0.0)  # of its genes: as of the large types; far more; 0 is a type with genes of its own
_OWN, _OWN_MEAN = 40, 1e-3  # so many, and most molecules per other cell
_PLANNED = 1_000_000
_LARGE = 100_000  # from here on the ratios have limits; below, fixed costs count and they are only printed
_DIFFERENT = 20_000  # cells that are drawn; more are these again, with molecules lost at random


def parts(n_cells: int, n_genes: int, density: float, shares: tuple[float, ...] = _SHARES) -> Iterator[tuple]:
    """Yield counts of which about `density` are not zero, and types, a part of the cells at a time."""
    depth = density * n_genes * 1.6
    few = min(n_cells, _DIFFERENT)
    first = make_single_cells(few, n_genes, group_shares=shares, depth=depth, dispersion=0.0, random_state=0)
    rng = np.random.default_rng(1)
    for start in range(0, n_cells, few):
        part = first.X[: n_cells - start].copy()
        if start:
            part.data = rng.binomial(part.data.astype(np.int64), 0.9).astype(np.float32)
            part.eliminate_zeros()
        yield part, first.y[: n_cells - start]


def counts(n_cells: int, n_genes: int, density: float) -> csr_matrix:
    """Return counts of which about `density` are not zero."""
    return csr_matrix(vstack([part for part, _ in parts(n_cells, n_genes, density)], format="csr"))


def written(path: Path, n_cells: int, n_genes: int, density: float) -> tuple[np.ndarray, int]:
    """Write counts to an h5ad file part by part; return the types and the number of stored counts."""
    import anndata
    import h5py
    import pandas as pd

    types, stored = [], 0
    with h5py.File(path, "w") as file:
        for turn, (part, y) in enumerate(parts(n_cells, n_genes, density, (*_SHARES, _NONE))):
            part, y = with_rare(part, y, density, turn)
            if types:
                anndata.io.sparse_dataset(file["X"]).append(part)
            else:
                part.indptr = part.indptr.astype(np.int64)  # 1,000,000 cells hold more than 2**31 counts
                anndata.io.write_elem(file, "X", part)
            types.append(y)
            stored += part.nnz
        for name, size in (("obs", n_cells), ("var", n_genes)):
            anndata.io.write_elem(file, name, pd.DataFrame(index=np.arange(size).astype(str)))
        file.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
    return np.concatenate(types), stored


@cache
def own_genes(n_genes: int, density: float) -> np.ndarray:
    """Genes of the last rare type's own: of those with less than 1 molecule in 1,000 other cells, the most frequent."""
    mean = _mean(next(parts(_DIFFERENT // 2, n_genes, density))[0])
    order = np.argsort(mean, kind="stable")
    return order[mean[order] < _OWN_MEAN][-_OWN:]


def rare_cells(count: int, drawn: int, n_genes: int, density: float, kind: int) -> csr_matrix:
    """Return the last `count` of `drawn` cells of a rare type.

    The factors of its genes have this standard deviation, or 2 molecules of each of its own genes are added on average.
    """
    made = make_single_cells(  # the seed fixes the type, the number of cells fixes the cells
        drawn,
        n_genes,
        group_shares=(*[_NONE] * len(_SHARES), 1.0),
        depth=density * n_genes * 1.6,
        marker_strength=_STRENGTHS[kind] or _STRENGTHS[0],
        dispersion=0.0,
        random_state=0,
    ).X[drawn - count :]
    if _STRENGTHS[kind]:
        return made
    values = np.random.default_rng(drawn).poisson(2.0, (count, _OWN)).astype(np.float32).ravel()
    places = np.repeat(np.arange(count), _OWN), np.tile(own_genes(n_genes, density), count)
    return csr_matrix(made + csr_matrix((values, places), shape=made.shape))


def with_rare(part: csr_matrix, y: np.ndarray, density: float, turn: int) -> tuple[csr_matrix, np.ndarray]:
    """Put cells of the rare types in place of the last ones; none of them is drawn twice."""
    count = max(1, round(_RARE * len(y)))
    kinds = range(len(_STRENGTHS))
    rare = [rare_cells(count, count * (turn + 1), part.shape[1], density, kind) for kind in kinds]
    kept = len(y) - count * len(rare)
    types = np.repeat(len(_SHARES) + np.array(kinds), count)
    return csr_matrix(vstack([part[:kept], *rare])), np.concatenate([y[:kept], types])


def rare_genes(n_genes: int, density: float) -> list[np.ndarray]:
    """Return the genes that each rare type raises to four times the others' mean or more, and to 0.1 molecules."""
    others = _mean(next(parts(2_000, n_genes, density))[0])
    means = [_mean(rare_cells(2_000, 2_000, n_genes, density, kind)) for kind in range(len(_STRENGTHS))]
    found = [np.flatnonzero((mean > 4 * others) & (mean > 0.1)) for mean in means]
    return [own if s else own_genes(n_genes, density) for own, s in zip(found, _STRENGTHS, strict=True)]


def _mean(X: csr_matrix) -> np.ndarray:
    return np.asarray(X.mean(axis=0)).ravel()


def rare_found(path: Path, genes: np.ndarray, y: np.ndarray) -> list[float]:
    """The share of each rare type's cells whose 5 nearest cells say so, among these and 20,000 others."""
    import anndata

    rng = np.random.default_rng(0)
    rows = np.union1d(np.flatnonzero(y >= len(_SHARES)), rng.permutation(len(y))[:_DIFFERENT])
    X = normalized(csr_matrix(anndata.read_h5ad(path, backed="r")[rows].X[:]))
    values, kinds = np.unique(y[rows], return_inverse=True)
    P = components(Cells("", X, X, False, kinds, None), genes)
    near = NearestNeighbors(n_neighbors=5).fit(P).kneighbors(return_distance=False)
    right = majority(kinds[near]) == kinds
    return [float(np.mean(right[kinds == kind])) for kind in np.flatnonzero(values >= len(_SHARES))]


def chosen_from(path: Path, dask: bool) -> np.ndarray:
    """Choose genes of a file, backed or on Dask in blocks of 10,000 cells."""
    import anndata
    import h5py

    if not dask:
        adata = anndata.read_h5ad(path, backed="r")
        genes = select_genes(adata, N_CHOSEN, inplace=False)["highly_variable"]
        adata.file.close()
        return np.flatnonzero(genes)
    with h5py.File(path) as file:
        X = anndata.experimental.read_elem_lazy(file["X"], chunks=(10_000, file["X"].attrs["shape"][1]))
        return np.flatnonzero(select_genes(anndata.AnnData(X), N_CHOSEN, inplace=False)["highly_variable"])


def measure_stored(n_cells: int, n_genes: int, density: float, folder: Path, dask: bool) -> tuple[float, float, float]:
    """Print one size; return stored counts in millions, seconds of the processor, MB."""
    path, found = folder / f"{n_cells}.h5ad", {}
    y, stored = written(path, n_cells, n_genes, density)

    def choose() -> None:
        begin = time.process_time()
        found["genes"] = chosen_from(path, dask)
        found["seconds"] = time.process_time() - begin

    memory = extra_bytes(choose) / 1e6
    by_chance = np.random.default_rng(0).permutation(n_genes)[:N_CHOSEN]
    print(f"{n_cells:,} x {n_genes:,}, {stored / 1e6:.0f} million counts: {found['seconds']:.1f} s, {memory:.0f} MB")
    markers = rare_genes(n_genes, density)
    for name, genes in (("ours", found["genes"]), ("random genes", by_chance)):
        for strength, own, cells in zip(_STRENGTHS, markers, rare_found(path, genes, y), strict=True):
            kept = f"{np.isin(own, genes).sum()} of {len(own)} genes chosen, {cells:.2f} of the cells found"
            kind = f"of strength {strength}" if strength else "with genes of its own"
            print(f"  {name}, rare type {kind}: {kept}", flush=True)
    path.unlink()
    return stored / 1e6, found["seconds"], memory


def cost_model(rows: list[tuple[float, float, float]], per_cell: float) -> None:
    """Print lines through seconds and MB, and what they say of 1,000,000 cells."""
    sizes = np.array([row[0] for row in rows])
    for column, unit in ((1, "s"), (2, "MB")):
        slope, start = np.polyfit(sizes, [row[column] for row in rows], 1)
        planned = max(start + slope * per_cell * _PLANNED / 1e6, *(row[column] for row in rows))
        print(f"{start:.1f} {unit} + {slope:.3f} {unit} per million counts; {_PLANNED:,} cells: {planned:,.0f} {unit}")


def following(adata: Any) -> None:
    """Run the steps of scanpy that follow the choice: logarithms of the chosen genes, PCA, neighbours.

    The neighbours are searched as scanpy does, but not by its own call, which fails with recent versions of scipy. The
    weights of the graph are left out, so this is a little faster than scanpy.
    """
    import scanpy as sc
    from pynndescent import NNDescent

    chosen = adata[:, adata.var["highly_variable"]].copy()
    sc.pp.normalize_total(chosen)
    sc.pp.log1p(chosen)
    sc.pp.pca(chosen, n_comps=50)
    NNDescent(chosen.obsm["X_pca"], n_neighbors=15, random_state=0).neighbor_graph  # noqa: B018


def measure(n_cells: int, n_genes: int, density: float, turns: int, folder: Path) -> float:
    """Print one size; return the seconds per cell in memory."""
    import anndata

    X = counts(n_cells, n_genes, density)
    size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    adata, path = anndata.AnnData(X), folder / "cells.h5ad"
    adata.write_h5ad(path)
    where = f"{n_cells:,} x {n_genes:,}, {X.nnz / np.prod(X.shape, dtype=float):.1%} not zero, {size / 1e6:.0f} MB"
    print(where, flush=True)

    def backed() -> None:
        stored = anndata.read_h5ad(path, backed="r")
        select_genes(stored, N_CHOSEN)
        stored.file.close()

    times: dict[str, list[float]] = {"in memory": [], "backed": [], "PCA and neighbours": []}
    for _ in range(turns):
        times["in memory"].append(seconds(lambda: select_genes(adata, N_CHOSEN)))
        times["PCA and neighbours"].append(seconds(lambda: following(adata)))
        times["backed"].append(seconds(backed))
    medians = {name: statistics.median(values) for name, values in times.items()}
    print("  " + "   ".join(f"{name} {value:.2f} s" for name, value in medians.items()), flush=True)
    after = medians["PCA and neighbours"]
    figures = [
        (f"{n_cells:,} cells {name}, time over PCA and neighbours", medians[name] / after, 1.5)
        for name in ("in memory", "backed")
    ]
    for name, call in (("in memory", lambda: select_genes(adata, N_CHOSEN)), ("backed", backed)):
        figures.append((f"{n_cells:,} cells {name}, extra memory over the counts", extra_bytes(call) / size, 2.0))
    for name, figure, limit in figures:
        if n_cells >= _LARGE:
            verdict(name, figure, limit)
        else:
            print(f"     {name}: {figure:.3g}x", flush=True)
    if n_cells <= 3_000:
        verdict(f"{n_cells:,} cells, seconds", medians["in memory"], 2.0, unit=" s")
    return medians["in memory"] / n_cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, nargs="+", default=[100_000])
    parser.add_argument("--genes", type=int, default=20_000)
    parser.add_argument("--density", type=float, default=0.05)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--backed", action="store_true", help="from a file only, with the cost model")
    parser.add_argument("--dask", action="store_true", help="the same, on Dask")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    import anndata

    warm = anndata.AnnData(counts(2_500, 1_000, 0.1))  # compiles
    select_genes(warm, 100)
    if arguments.backed or arguments.dask:
        sizes = (arguments.genes, arguments.density)
        with tempfile.TemporaryDirectory() as folder:
            rows = [measure_stored(n_cells, *sizes, Path(folder), arguments.dask) for n_cells in arguments.cells]
        return cost_model(rows, rows[-1][0] * 1e6 / arguments.cells[-1]) if len(rows) > 1 else None
    following(warm)
    with tempfile.TemporaryDirectory() as folder:
        per_cell = [
            measure(n_cells, arguments.genes, arguments.density, arguments.turns, Path(folder))
            for n_cells in arguments.cells
        ]
    if len(per_cell) > 1:
        first, last = arguments.cells[0], arguments.cells[-1]
        verdict(f"time per cell at {last:,} over {first:,} cells", per_cell[-1] / per_cell[0], 1.2)


if __name__ == "__main__":
    main()
