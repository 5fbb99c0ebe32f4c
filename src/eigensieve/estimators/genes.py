"""Selection for AnnData, in the style of scanpy's preprocessing functions: results are kept in the object itself."""

from typing import Any

from sklearn.base import BaseEstimator, clone

from eigensieve._extras import require


def select_genes(
    adata: Any,
    selector: BaseEstimator | None = None,
    *,
    layer: str | None = None,
    key_added: str = "eigensieve",
    subset: bool = False,
    copy: bool = False,
) -> Any:
    """Select the genes that follow the clusters of the cells, and keep the result in `adata`.

    Parameters
    ----------
    adata : AnnData
        Cells x genes, in memory or backed by a file; dense, sparse or Dask. Normalise the counts and take logarithms
        first, as for other methods.
    selector : selector, optional
        Any of the library's selectors, with its settings. None means `SieveSelector()`. It is cloned, not changed.
    layer : str, optional
        Use this layer instead of ``adata.X``.
    key_added : str, default="eigensieve"
        The names under which results are kept begin with this.
    subset : bool, default=False
        Keep the selected genes only.
    copy : bool, default=False
        Work on a copy and return it.

    Returns
    -------
    adata : AnnData or None
        None unless `copy` is set. The following is added:

        ``adata.var["eigensieve"]`` : bool, the selected genes;
        ``adata.var["eigensieve_weight"]`` : float, their weights (or scores);
        ``adata.var["eigensieve_rank"]`` : int, 1 for the best gene;
        ``adata.obsm["X_eigensieve"]`` : the cells' embedding, where the selector finds one;
        ``adata.uns["eigensieve"]`` : the settings.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from eigensieve import QAlphaSelector
    >>> X = np.random.default_rng(0).standard_normal((60, 200))
    >>> X[:30, :8] += 3.0
    >>> adata = anndata.AnnData(X)
    >>> select_genes(adata, QAlphaSelector(8))
    >>> int(adata.var["eigensieve"].sum())
    8
    """
    anndata = require("anndata", extra="anndata")
    if not isinstance(adata, anndata.AnnData):
        raise TypeError(
            f"The 'adata' parameter of select_genes must be an AnnData. Got {type(adata).__name__} instead."
        )
    if layer is not None and layer not in adata.layers:
        raise ValueError(
            f"The 'layer' parameter of select_genes must be None or one of {sorted(adata.layers)}. "
            f"Got {layer!r} instead."
        )
    if selector is None:
        from eigensieve.estimators.sieve_selector import SieveSelector

        selector = SieveSelector()
    model = clone(selector).fit(adata.X if layer is None else adata.layers[layer])
    if copy:
        adata = adata.to_memory() if adata.isbacked else adata.copy()
    weights = getattr(model, "weights_", None)
    adata.var[key_added] = model.get_support()
    adata.var[f"{key_added}_weight"] = model.scores_ if weights is None else weights
    adata.var[f"{key_added}_rank"] = model.ranking_
    if getattr(model, "embedding_", None) is not None:
        adata.obsm[f"X_{key_added}"] = model.embedding_
    settings = {name: value for name, value in model.get_params().items() if isinstance(value, str | int | float)}
    adata.uns[key_added] = {"selector": type(model).__name__, "layer": layer or "X", "params": settings}
    if subset:
        adata._inplace_subset_var(model.get_support())
    return adata if copy else None
