"""
Genes of single cells
=====================

The tutorial on 2,700 blood cells (pbmc3k), twice: once with 2,000 highly variable genes, once with 2,000 genes of
``select_genes``. All other steps are scanpy's, and the same.

Where the counts of pbmc3k are not in the folder of real data, simulated cells stand in for them.
"""

import warnings

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from eigensieve import select_genes
from eigensieve.datasets import load_real, make_single_cells

try:
    import scanpy as sc
except ImportError as missing:
    raise ImportError('This page needs scanpy. Add it with: pip install "eigensieve[docs]"') from missing

warnings.simplefilter("ignore")
try:
    found = load_real("pbmc3k_raw")
    adata = anndata.AnnData(found.data, var=pd.DataFrame(index=np.asarray(found.feature_names).astype(str)))
    title = "pbmc3k"
except FileNotFoundError:
    shares = (0.44, 0.18, 0.13, 0.12, 0.06, 0.05, 0.015, 0.005)
    adata = anndata.AnnData(make_single_cells(2_700, 8_000, group_shares=shares, random_state=0).X)
    title = "simulated cells"
adata.var_names_make_unique()

# %%
# Cells and genes are filtered as in the tutorial. ``select_genes`` takes the raw counts.
sc.pp.filter_cells(adata, min_genes=200)
sc.pp.filter_genes(adata, min_cells=3)
mitochondrial = adata.var_names.str.startswith("MT-")
share = np.asarray(adata.X[:, mitochondrial].sum(axis=1)).ravel() / np.asarray(adata.X.sum(axis=1)).ravel()
adata = adata[share < 0.05].copy()

chosen = {}
select_genes(adata, 2_000)
chosen["select_genes"] = adata.var["highly_variable"].to_numpy().copy()
sc.pp.normalize_total(adata, target_sum=1e4)
sc.pp.log1p(adata)
sc.pp.highly_variable_genes(adata, n_top_genes=2_000)
chosen["highly variable"] = adata.var["highly_variable"].to_numpy().copy()
both = int(np.sum(chosen["select_genes"] & chosen["highly variable"]))
print(f"{title}: {adata.n_obs} cells, {adata.n_vars} genes; {both} of 2,000 genes are in both choices")

# %%
# PCA, neighbours, UMAP and Leiden clusters of each choice.
views = {}
for name, genes in chosen.items():
    view = adata[:, genes].copy()
    sc.pp.scale(view, max_value=10)
    sc.pp.pca(view, n_comps=40)
    sc.pp.neighbors(view, n_neighbors=10)
    sc.tl.leiden(view, flavor="igraph", n_iterations=2, random_state=0)
    sc.tl.umap(view)
    views[name] = view

fig, axes = plt.subplots(1, 2, figsize=(9, 4.2))
for ax, (name, view) in zip(axes, views.items(), strict=True):
    ax.scatter(*view.obsm["X_umap"].T, c=view.obs["leiden"].cat.codes, cmap="tab20", s=3)
    ax.set(title=f"{title}: {name}, {view.obs['leiden'].nunique()} clusters", xlabel="UMAP 1", ylabel="UMAP 2")
    ax.set(xticks=[], yticks=[])
fig.tight_layout()
plt.show()

# %%
# The marker genes that the tutorial names: how many are in each choice?
named = ["IL7R", "CD14", "LYZ", "MS4A1", "CD8A", "GNLY", "NKG7", "FCGR3A", "MS4A7", "FCER1A", "CST3", "PPBP"]
known = np.flatnonzero(np.isin(adata.var_names, named))
for name, genes in chosen.items():
    if len(known):
        print(f"{name}: {int(genes[known].sum())} of {len(known)} marker genes of the tutorial")

# %%
# The marker genes of the clusters, from all genes.
for name, view in views.items():
    adata.obs["cluster"] = view.obs["leiden"]
    sc.tl.rank_genes_groups(adata, "cluster", method="t-test")
    best = pd.DataFrame(adata.uns["rank_genes_groups"]["names"]).head(4)
    print(f"\n{name}\n{best.to_string(index=False)}")
