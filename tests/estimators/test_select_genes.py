"""AnnData in, AnnData out: the same genes backed and in memory, and results where scanpy's users look for them."""

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from eigensieve import QAlphaSelector, TraceRatioSelector
from eigensieve.estimators.genes import select_genes

anndata = pytest.importorskip("anndata")


@pytest.fixture
def adata() -> object:
    X = np.random.default_rng(0).standard_normal((60, 120))
    X[:30, :8] += 3.0
    found = anndata.AnnData(X, layers={"counts": np.abs(X)})
    found.var_names = [f"gene{i}" for i in range(120)]
    return found


def test_results_land_in_the_object(adata) -> None:  # type: ignore[no-untyped-def]
    assert select_genes(adata, QAlphaSelector(random_state=0)) is None
    model = QAlphaSelector(random_state=0).fit(adata.X)
    chosen = set(adata.var_names[adata.var["eigensieve"]])
    assert {f"gene{i}" for i in range(8)} <= chosen and len(chosen) <= 10  # one in ten may be false
    np.testing.assert_array_equal(adata.var["eigensieve"], model.support_)
    np.testing.assert_array_equal(adata.var["eigensieve_weight"], model.weights_)
    assert adata.var["eigensieve_rank"].iloc[model.selection_order_[0]] == 1
    np.testing.assert_array_equal(adata.obsm["X_eigensieve"], model.embedding_)
    assert adata.uns["eigensieve"]["selector"] == "QAlphaSelector"


def test_layers_copies_subsets_and_other_selectors(adata) -> None:  # type: ignore[no-untyped-def]
    settings = {"layer": "counts", "key_added": "ratio", "subset": True, "copy": True}
    found = select_genes(adata, TraceRatioSelector(5, score="laplacian"), **settings)
    assert found.shape == (60, 5) and found.var["ratio"].all()
    assert adata.shape == (60, 120) and "ratio" not in adata.var
    select_genes(adata)
    assert adata.uns["eigensieve"]["selector"] == "SieveSelector"


def test_wrong_input_is_refused(adata) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TypeError, match="must be an AnnData"):
        select_genes(adata.X)
    with pytest.raises(ValueError, match=r"must be None or one of \['counts'\]. Got 'raw'"):
        select_genes(adata, layer="raw")


def test_pbmc3k_backed_and_in_memory_give_the_same_genes(tmp_path: Path) -> None:
    from eigensieve.datasets import load_real

    try:
        X = load_real("pbmc3k_raw").data
    except (FileNotFoundError, OSError) as error:
        pytest.skip(f"needs the real data set pbmc3k_raw: {error}")
    counts = csr_matrix(X, dtype=np.float32)
    assert counts.shape == (2700, 32738)
    logged = counts.multiply(1e4 / counts.sum(axis=1)).log1p()
    for number, values in enumerate((csr_matrix(logged), csr_matrix(logged).tocsc())):
        memory = anndata.AnnData(values.astype(np.float32))
        memory.write_h5ad(tmp_path / f"{number}.h5ad")
        backed = anndata.read_h5ad(tmp_path / f"{number}.h5ad", backed="r")
        for made in (memory, backed):
            select_genes(made, QAlphaSelector(100, n_clusters=3))
        assert memory.var["eigensieve"].sum() == 100
        assert list(memory.var_names[memory.var["eigensieve"]]) == list(backed.var_names[backed.var["eigensieve"]])
        np.testing.assert_allclose(memory.var["eigensieve_weight"], backed.var["eigensieve_weight"], atol=1e-3)
        backed.file.close()
