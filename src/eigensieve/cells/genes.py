"""Genes of single cells, in the words of scanpy's preprocessing functions: results are kept in the object itself."""

from numbers import Integral
from typing import Any, Literal

import numpy as np

from eigensieve._errors import wrong_parameter
from eigensieve._extras import require
from eigensieve._progress import progress_for
from eigensieve._types import Array, FloatArray, IntArray, JsonDict, MatrixLike, OneEach, RandomState
from eigensieve._version import __version__
from eigensieve.cells.choice import Choice, choose
from eigensieve.data import DataMatrix, as_data, kind_of_values, log_counts
from eigensieve.estimators import Known, SieveSelector, as_indices, by_name, warn_user
from eigensieve.evidence import agreement

AnnData = Any
"""Of the package anndata, which is imported when it is used."""

_NAME = "select_genes"
_N_BATCHES = "highly_variable_nbatches"
_LIKE_BATCHES = ("batch", "donor", "library", "patient", "plate", "sample", "study")
_SHOWN = 0.02  # share of the structure between batches, beyond chance; batches that nobody named show 0.03 to 0.42


def select_genes(
    adata: AnnData,
    n_top_genes: int | Literal["auto"] = 2000,
    *,
    batch_key: str | None = None,
    layer: str | None = None,
    labels_key: str | None = None,
    donor_key: str | None = None,
    side: MatrixLike = None,
    transform: Literal["auto", "log", "none"] = "auto",
    keep: OneEach = None,
    exclude: OneEach = None,
    gene_groups: str | OneEach = None,
    max_per_group: int = 1,
    gene_costs: str | OneEach = None,
    max_cost: float | None = None,
    fdr: float = 0.1,
    random_state: RandomState = 0,
    subset: bool = False,
    inplace: bool = True,
    verbose: int = 0,
) -> Any:
    """Select the genes that follow the structure of the cells, in place of highly variable ones.

    Works on raw counts and on log-normalised data, and writes what the next steps of scanpy and scvi-tools read. Counts
    are log-normalised inside, and what genes share with the library size is taken off. `adata` keeps its counts.

    The structure V of the cells comes from random walks along their neighbour graph. A gene is scored by how well it
    agrees with V, over pairs of different cells: a gene that varies by chance alone scores about 0, however much it
    varies. The scores weight the genes of a second round.

    Parameters
    ----------
    adata : AnnData
        Cells x genes, in memory or backed by a file; dense, sparse or Dask. Missing values (NaN) of a dense array in
        memory are no evidence, as in :class:`~eigensieve.SieveSelector`; counts must be complete.
    n_top_genes : int or "auto", default=2000
        Number of genes to keep. ``"auto"`` keeps all genes that follow a structure shown by the others, at a false
        discovery rate of `fdr`.
    batch_key : str, optional
        Column of ``adata.obs`` that names the batch. Differences between batches are taken off before anything is
        looked for, and genes that differ between batches come later.
    layer : str, optional
        Use this layer instead of ``adata.X``.
    labels_key : str, optional
        Column of ``adata.obs`` with cell types. Genes that tell them apart are chosen, by
        :class:`~eigensieve.SieveSelector`. Cells without a type may be missing values.
    donor_key : str, optional
        Column of ``adata.obs`` that names the donor. Cells of one donor are not independent: cells are then compared
        with those of other donors, and permuted copies move whole donors.
    side : array-like of shape (n_side_cells, n_genes), optional
        Cells that vary in unwanted ways, in the same form as the data: cells of one type in all phases of the cell
        cycle, for example. The directions in which they vary are taken off. No gene is treated by its name.
    transform : {"auto", "log", "none"}, default="auto"
        ``"log"`` log-normalises, ``"none"`` takes the values as they are. ``"auto"`` log-normalises whole numbers, and
        other amounts if some are above 50, such as TPM. Negative values have no logarithms and need ``"none"``.
    keep, exclude : array-like, optional
        Names, indices or a mask of genes that are selected in any case, and of genes that are never selected. Excluded
        genes still help to find the structure.
    gene_groups : str or array-like of shape (n_genes,), optional
        A label per gene, or the column of ``adata.var`` that holds it.
    max_per_group : int, default=1
        Most selected genes with the same label in `gene_groups`.
    gene_costs : str or array-like of shape (n_genes,), optional
        What each gene costs, or the column of ``adata.var`` that holds it. Genes are then chosen by score per cost.
    max_cost : float, optional
        Most that the selected genes may cost together.
    fdr : float, default=0.1
        False discovery rate of ``n_top_genes="auto"``.
    random_state : int, RandomState, Generator or None, default=0
        For the permuted copies behind ``"auto"``.
    subset : bool, default=False
        Keep the selected genes only.
    inplace : bool, default=True
        Write the result into `adata`. Otherwise return it as a DataFrame with one row per gene.
    verbose : int, default=0
        1 prints progress, at most twice a second; 2 prints every step.

    Returns
    -------
    genes : pandas.DataFrame or None
        None when `inplace`: the columns then stand in ``adata.var``. They are:

        ``highly_variable`` : bool, the selected genes;
        ``highly_variable_rank`` : float, from 0 for the best selected gene, missing for the others, as in scanpy;
        ``eigensieve_weight`` : float, the score, about 0 for noise;
        ``means``, ``dispersions``, ``dispersions_norm`` : float, mean, variance over mean, and the score again, for
        ``scanpy.pl.highly_variable_genes``;
        ``highly_variable_nbatches`` : int, with `batch_key`, the number of batches in which the gene is among the best;
        without it, the column of an earlier call is removed.

        ``adata.uns["hvg"]`` says what was done: whether counts were log-normalised, whether depth was removed, and
        which layer, batches, labels and number of genes were asked for. `verbose` prints it.
        ``adata.obsm["X_eigensieve"]`` holds the cells' embedding.

    See Also
    --------
    SieveSelector : For any other data.

    Notes
    -----
    Let m_i be gene i: log(1 + x_ti s / s_t), without mean, batch means and, for counts, depth log(s_t), of unit norm;
    s_t is the library size of cell t and s their median. Let V be the structure of the cells, as in
    :class:`SieveSelector`. The score is

        u_i = m_i'(VV' - diag(VV'))m_i.

    Genes are chosen by u_i sqrt(e_i) w_i. The effect e_i = sqrt(u_i) d_i / (a_i + 0.01) compares the deviation that
    follows the structure with the mean; d_i and a_i are deviation and mean of the logarithms. Data with negative values
    has no e_i. w_i is the part of the variance that batches and depth leave, to the power 12 with batches.

    The graph is made with the 4,000 genes of the largest variance. With more than 2,000 cells it holds 2,000 of them, a
    tenth of these with genes that few cells have. V is carried over to the others by their nearest neighbours among
    these. Every gene is scored by all cells. So time grows linearly. At most 2,000 cells x 4,000 genes are made dense.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from eigensieve import select_genes
    >>> rng = np.random.default_rng(0)
    >>> rates = np.full((90, 200), 2.0)
    >>> for kind in range(3):  # three types of cells, 8 genes each
    ...     rates[30 * kind : 30 * kind + 30, 8 * kind : 8 * kind + 8] *= 4
    >>> adata = anndata.AnnData(rng.poisson(rates).astype(float))
    >>> select_genes(adata, 24)
    >>> int(adata.var["highly_variable"].iloc[:24].sum())
    24
    """
    _check(adata, n_top_genes, layer, transform)
    X = adata.X if layer is None else adata.layers[layer]
    kind = kind_of_values(X)
    logged = transform == "log" or (transform == "auto" and kind in ("counts", "amounts"))
    if logged and isinstance(X, np.ndarray) and np.isnan(X).any():
        fix = "write 0 where nothing was counted, or log-normalise first and use transform='none'."
        raise ValueError(
            f"The counts of adata must not be missing to be log-normalised by select_genes. Got NaN: {fix}"
        )
    if logged:
        _check_amounts(X, "adata.X" if layer is None else f"adata.layers[{layer!r}]")
    data, depth = log_counts(X) if logged else (as_data(X), None)
    # Shallow cells stay noisier: sequencing depth must not count as structure. The sum of other amounts is no depth.
    depth = depth[:, None] if depth is not None and kind == "counts" else None
    batches = None if batch_key is None else _column(adata, batch_key, "batch_key")
    labels = None if labels_key is None else _column(adata, labels_key, "labels_key")
    donors = None if donor_key is None else _column(adata, donor_key, "donor_key")
    if side is not None and logged:
        _check_amounts(side, "side")
        side = log_counts(side)[0]
    model = _Genes(
        n_top_genes,
        keep=_genes(adata, keep, "keep"),
        exclude=_genes(adata, exclude, "exclude"),
        feature_groups=_per_gene(adata, gene_groups, "gene_groups"),
        max_per_group=max_per_group,
        feature_costs=_per_gene(adata, gene_costs, "gene_costs"),
        max_cost=max_cost,
        fdr=fdr,
        random_state=random_state,
        verbose=verbose,
    )
    model._validate_params()
    done = {"flavor": "eigensieve", "n_top_genes": n_top_genes, "layer": layer or "X", "log_normalized": logged}
    done |= {"depth_removed": depth is not None, "batch_key": batch_key or "", "labels_key": labels_key or ""}
    done |= {"donor_key": donor_key or "", "side": side is not None, "version": __version__}
    progress_for("select_genes", verbose)(_in_words(adata, done))
    known = Known(labels, side, batches=batches, covariates=depth, groups=donors)
    found = choose(model, data, known, amounts=logged or kind != "signed")
    if batch_key is None and labels_key is None:
        _warn_of_batches(adata, found.embedding, donor_key)
    genes = _table(adata, found, data, batches)
    if not inplace:
        return genes[genes["highly_variable"]] if subset else genes
    for name, column in genes.items():
        adata.var[name] = column
    if batches is None and _N_BATCHES in adata.var:  # of an earlier call
        del adata.var[_N_BATCHES]
    adata.uns["hvg"] = done
    adata.obsm["X_eigensieve"] = found.embedding
    if subset:
        adata._inplace_subset_var(genes["highly_variable"].to_numpy())
    return None


class _Genes(SieveSelector):
    """A selector that speaks of its parameters in the words of select_genes."""

    def _wrong(self, parameter: str, must: str, got: object, fix: str = "") -> ValueError:
        parameter = parameter.removeprefix("fit.")
        for word, ours in (("feature_", "gene_"), ("n_features_to_select", "n_top_genes"), ("feature", "gene")):
            parameter, must, fix = (text.replace(word, ours) for text in (parameter, must, fix))
        return wrong_parameter(parameter, _NAME, must, str(got).replace("n_features_to_select", "n_top_genes"), fix)


_Genes.__name__ = _NAME  # messages begin with it


def _check(adata: AnnData, n_top_genes: Any, layer: str | None, transform: str) -> None:
    anndata = require("anndata", extra="anndata")
    if not isinstance(adata, anndata.AnnData):
        raise TypeError(
            f"The 'adata' parameter of select_genes must be an AnnData. Got {type(adata).__name__} instead."
        )
    if n_top_genes != "auto" and not (isinstance(n_top_genes, Integral) and int(n_top_genes) >= 1):
        raise wrong_parameter("n_top_genes", _NAME, "be an int of at least 1, or 'auto'", repr(n_top_genes))
    if layer is not None and layer not in adata.layers:
        raise wrong_parameter("layer", _NAME, f"be None or one of {sorted(filter(None, adata.layers))}", repr(layer))
    if transform not in ("auto", "log", "none"):
        raise wrong_parameter("transform", _NAME, "be 'auto', 'log' or 'none'", repr(transform))


def _check_amounts(X: MatrixLike, given: str) -> None:
    if kind_of_values(X) == "signed":
        raise ValueError(
            f"The values of {given} must not be negative to be log-normalised by select_genes. Got negative values, "
            "as in data that was centred or scaled; give counts, for example a layer of them, or use transform='none'."
        )


def _in_words(adata: AnnData, done: JsonDict) -> str:
    """Put ``adata.uns["hvg"]`` into words: how values are read, and which differences are removed."""
    parts = ["counts are log-normalised" if done["log_normalized"] else "values are taken as they are"]
    parts += ["what follows the library size is taken off"] if done["depth_removed"] else []
    parts += [f"differences between batches ({done['batch_key']}) are taken off"] if done["batch_key"] else []
    parts += [f"cells are compared between donors ({done['donor_key']})"] if done["donor_key"] else []
    parts += ["what side cells do is taken off"] if done["side"] else []
    parts += [f"genes are to tell {done['labels_key']} apart"] if done["labels_key"] else []
    return f"{adata.n_obs} cells x {adata.n_vars} genes of {done['layer']}: " + "; ".join(parts)


def _column(adata: AnnData, key: str, parameter: str) -> Array:
    if key not in adata.obs:
        known = [str(name) for name in adata.obs.columns]
        raise wrong_parameter(parameter, _NAME, f"name a column of adata.obs, one of {known}", repr(key))
    return np.asarray(adata.obs[key].to_numpy(), dtype=object)


def _genes(adata: AnnData, given: OneEach, parameter: str) -> IntArray | None:
    return None if given is None else as_indices(given, adata.n_vars, adata.var_names, parameter, _NAME)


def _per_gene(adata: AnnData, given: Any, parameter: str) -> Any:
    """Return one value per gene: as given, or of a column of ``adata.var``."""
    if not isinstance(given, str):
        return by_name(given, adata.var_names)
    if given not in adata.var:
        known = [str(name) for name in adata.var.columns]
        must = f"be a column of adata.var, one of {known}, or hold one value per gene"
        raise wrong_parameter(parameter, _NAME, must, repr(given))
    return adata.var[given].to_numpy()


def _warn_of_batches(adata: AnnData, V: FloatArray, donor_key: str | None) -> None:
    """Warn of columns of ``adata.obs`` that are called like batches and that the structure follows."""
    V = V - V.mean(axis=0)
    for name in adata.obs.columns.drop(donor_key, errors="ignore"):
        codes, values = adata.obs[name].factorize(use_na_sentinel=False)
        if not any(word in str(name).lower() for word in _LIKE_BATCHES) or not 2 <= len(values) <= len(codes) // 4:
            continue
        sums = np.zeros((len(values), V.shape[1]))
        np.add.at(sums, codes, V)
        shown = float(np.sum(np.sum(sums**2, axis=1) / np.bincount(codes)) / max(np.sum(V**2), 1e-300))
        if shown - (len(values) - 1) / (len(codes) - 1) > _SHOWN:
            warn_user(
                f"The groups of adata.obs[{name!r}] explain {shown:.0%} of the structure behind the chosen genes. "
                f"If they are batches, use batch_key={name!r}."
            )


def _table(adata: AnnData, found: Choice, data: DataMatrix, batches: Array | None) -> Any:
    """Return the results, one row per gene, in scanpy's words."""
    import pandas as pd

    rank = np.full(adata.n_vars, np.nan)
    rank[found.order] = np.arange(len(found.order))
    stats = data.stats()
    columns = {"highly_variable": ~np.isnan(rank), "highly_variable_rank": rank, "eigensieve_weight": found.scores}
    # scanpy's plot of highly variable genes reads these three.
    columns |= {"means": stats.mean, "dispersions_norm": found.scores}
    columns["dispersions"] = stats.variance / np.maximum(np.abs(stats.mean), np.finfo(np.float64).tiny)
    if batches is not None:
        columns[_N_BATCHES] = _batches_that_agree(found, data, batches)
    return pd.DataFrame(columns, index=adata.var_names)


def _batches_that_agree(found: Choice, data: DataMatrix, batches: Array) -> IntArray:
    """Return the number of batches in which each gene is among those, as many as chosen, that follow the cells best."""
    standard, agreeing = data.standardized("center"), np.zeros(data.n_features, dtype=np.int64)
    for batch in dict.fromkeys(batches):
        here = (batches == batch)[:, None]
        Q = np.where(here, found.embedding - found.embedding[here[:, 0]].mean(axis=0), 0.0)
        scores = agreement(standard, Q)
        agreeing[np.argsort(-scores, kind="stable")[: len(found.order)]] += 1
    return agreeing
