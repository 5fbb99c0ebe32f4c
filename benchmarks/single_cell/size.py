"""Time and memory of select_genes beside the scanpy steps that follow it, on simulated counts of any size.

``python benchmarks/single_cell/size.py`` makes counts of 100,000 cells x 20,000 genes, 5 % of them not zero, and prints
the time of choosing 2,000 genes, in memory and backed by a file, over the time of PCA and neighbours of these genes in
the same run, and the memory on top of the counts over that of the counts. ``--cells 3000 15000 --genes 9292`` times
smaller ones; ``--turns`` repeats all of it. Growth is the time per cell of the last number of cells over the first.
"""

import argparse
import statistics
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, vstack

from eigensieve import select_genes
from eigensieve.datasets import make_single_cells

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from measure import extra_bytes, seconds, verdict

N_CHOSEN = 2_000
_SHARES = (0.25, 0.2, 0.15, 0.12, 0.1, 0.08, 0.05, 0.03, 0.015, 0.005)
_LARGE = 100_000  # from here on the ratios have limits; below, fixed costs count and they are only printed
_DIFFERENT = 20_000  # cells that are drawn; more are these again, with molecules lost at random


def counts(n_cells: int, n_genes: int, density: float) -> csr_matrix:
    """Return counts of which about `density` are not zero."""
    depth = density * n_genes * 1.6
    few = min(n_cells, _DIFFERENT)
    first = make_single_cells(few, n_genes, group_shares=_SHARES, depth=depth, dispersion=0.0, random_state=0).X
    rng, parts = np.random.default_rng(1), []
    for start in range(0, n_cells, few):
        part = first[: n_cells - start].copy()
        if start:
            part.data = rng.binomial(part.data.astype(np.int64), 0.9).astype(np.float32)
            part.eliminate_zeros()
        parts.append(part)
    return csr_matrix(vstack(parts, format="csr")) if len(parts) > 1 else parts[0]


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
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    import anndata

    warm = anndata.AnnData(counts(2_500, 1_000, 0.1))  # compiles
    select_genes(warm, 100)
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
