"""The ways to choose genes: ours, scanpy's flavours with and without batch key, triku, chance, all genes."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from eigensieve import select_genes

from .data import Cells

Chooser = Callable[[Cells, int, int], np.ndarray]
"""choose(cells, count, seed) -> indices of the chosen genes"""


def _adata(cells: Cells, X: Any) -> Any:
    import anndata
    import pandas as pd

    made = anndata.AnnData(X.copy())
    if cells.batches is not None:
        made.obs["batch"] = pd.Categorical(cells.batches.astype(str))
    return made


def ours(*, batches: bool = False) -> Chooser:
    def choose(cells: Cells, count: int, seed: int) -> np.ndarray:
        adata = _adata(cells, cells.counts if cells.are_counts else cells.log)
        found = select_genes(adata, count, batch_key="batch" if batches else None, inplace=False)
        return np.flatnonzero(found["highly_variable"])

    return choose


def highly_variable(flavor: str, *, batches: bool = False) -> Chooser:
    def choose(cells: Cells, count: int, seed: int) -> np.ndarray:
        import scanpy as sc

        of_counts = flavor in ("seurat_v3", "pearson_residuals")
        adata = _adata(cells, cells.counts if of_counts else cells.log)
        settings: dict[str, Any] = {"n_top_genes": count, "flavor": flavor, "batch_key": "batch" if batches else None}
        if of_counts:
            settings["check_values"] = False
        sc.pp.filter_genes(adata, min_cells=1)  # the flavours fail on, or choose, genes that are nowhere
        function = (
            sc.experimental.pp.highly_variable_genes if flavor == "pearson_residuals" else sc.pp.highly_variable_genes
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(adata, **settings)
        kept = np.flatnonzero(np.asarray(cells.counts.astype(bool).sum(axis=0)).reshape(-1) >= 1)
        return kept[adata.var["highly_variable"].to_numpy()]

    return choose


def triku(cells: Cells, count: int, seed: int) -> np.ndarray:
    import scanpy as sc
    import triku as tk

    adata = _adata(cells, cells.log)
    # triku refuses genes seen in no cell
    kept = np.flatnonzero(np.asarray((adata.X != 0).sum(axis=0)).reshape(-1) >= 3)
    adata = adata[:, kept].copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sc.pp.pca(adata)
        sc.pp.neighbors(adata)
        tk.tl.triku(adata, n_features=count, verbose="error")
    return kept[adata.var["highly_variable"].to_numpy()]


def random(cells: Cells, count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(cells.counts.shape[1])[:count]


def everything(cells: Cells, count: int, seed: int) -> np.ndarray:
    return np.arange(cells.counts.shape[1])


CHOOSERS: dict[str, Chooser] = {
    "eigensieve": ours(),
    "seurat": highly_variable("seurat"),
    "cell_ranger": highly_variable("cell_ranger"),
    "seurat_v3": highly_variable("seurat_v3"),
    "pearson": highly_variable("pearson_residuals"),
    "triku": triku,
    "random": random,
    "all": everything,
}
WITH_BATCHES: dict[str, Chooser] = {
    "eigensieve, batches": ours(batches=True),
    "seurat, batches": highly_variable("seurat", batches=True),
    "cell_ranger, batches": highly_variable("cell_ranger", batches=True),
    "seurat_v3, batches": highly_variable("seurat_v3", batches=True),
    "pearson, batches": highly_variable("pearson_residuals", batches=True),
}
