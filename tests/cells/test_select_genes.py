"""Genes of single cells: scanpy's words and columns, counts and batches, the same backed, on Dask and in memory."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from eigensieve import select_genes
from eigensieve.cells.choice import relative_effect
from eigensieve.datasets import make_single_cells

anndata = pytest.importorskip("anndata")

MARKERS = 10


@pytest.fixture
def adata() -> Any:
    """Counts of 120 cells x 150 genes: three types told apart by ten genes, library sizes that differ eightfold."""
    rng = np.random.default_rng(0)
    types = np.arange(120) % 3
    rates = np.tile(rng.gamma(2.0, 1.5, 150), (120, 1))
    rates[:, :MARKERS] *= np.array([0.3, 1.0, 4.0])[rng.permuted(np.tile(np.arange(3), (MARKERS, 1)), axis=1).T[types]]
    rates *= rng.uniform(0.5, 4.0, (120, 1))
    made = anndata.AnnData(csr_matrix(rng.poisson(rates).astype(np.float64)))
    made.var_names = [f"gene{i}" for i in range(150)]
    made.obs["type"] = pd.Categorical(np.array(["a", "b", "c"])[types])
    made.obs["batch"] = np.array(["x", "y"])[(np.arange(120) // 3) % 2]
    totals = made.X.toarray().sum(axis=1, keepdims=True)
    made.layers["log"] = csr_matrix(np.log1p(made.X.toarray() * np.median(totals) / totals))
    return made


def markers(adata: Any) -> int:
    return int(adata.var["highly_variable"].iloc[:MARKERS].sum())


def test_results_are_in_scanpys_words(adata: Any) -> None:
    before = adata.X.toarray().copy()
    assert select_genes(adata, MARKERS) is None
    assert markers(adata) == MARKERS
    np.testing.assert_array_equal(adata.X.toarray(), before)
    ranks = adata.var["highly_variable_rank"]
    assert sorted(ranks.dropna()) == list(range(MARKERS))
    np.testing.assert_array_equal(ranks.notna(), adata.var["highly_variable"])
    assert "highly_variable_nbatches" not in adata.var
    assert adata.obsm["X_eigensieve"].shape[0] == 120
    assert adata.uns["hvg"]["flavor"] == "eigensieve"
    assert adata.uns["hvg"]["log_normalized"]


def test_scanpy_takes_the_columns_as_they_are(adata: Any) -> None:
    select_genes(adata, MARKERS, batch_key="batch")
    kinds = {"highly_variable": "b", "highly_variable_rank": "f", "eigensieve_weight": "f"}
    for name, kind in (kinds | {"highly_variable_nbatches": "i"}).items():
        assert adata.var[name].dtype.kind == kind
        assert list(adata.var[name].index) == list(adata.var_names)
    scanpy = pytest.importorskip("scanpy")
    scanpy.pp.pca(adata, n_comps=5, mask_var="highly_variable", layer="log")
    used = np.abs(adata.varm["PCs"]).sum(axis=1) > 0
    np.testing.assert_array_equal(used, adata.var["highly_variable"])


def test_it_says_what_it_did(adata: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    select_genes(adata, MARKERS, batch_key="batch", side=adata.X[:30], verbose=1)
    said = capsys.readouterr().err
    assert "120 cells x 150 genes of X: counts are log-normalised; what follows the library size is taken off" in said
    assert "differences between batches (batch) are taken off; what side cells do is taken off" in said
    adata.write_h5ad(tmp_path / "cells.h5ad")
    kept = anndata.read_h5ad(tmp_path / "cells.h5ad").uns["hvg"]
    assert kept["log_normalized"] and kept["depth_removed"] and kept["side"]
    assert (kept["n_top_genes"], kept["layer"], kept["batch_key"], kept["labels_key"]) == (MARKERS, "X", "batch", "")
    select_genes(adata, "auto", layer="log", labels_key="type", verbose=1)
    assert "genes of log: values are taken as they are; genes are to tell type apart" in capsys.readouterr().err
    assert not adata.uns["hvg"]["depth_removed"] and adata.uns["hvg"]["n_top_genes"] == "auto"
    select_genes(adata, MARKERS)
    assert capsys.readouterr().err == ""


def test_cells_without_a_type_may_be_missing(adata: Any) -> None:
    adata.obs["some"] = adata.obs["type"].astype(object).where(np.arange(120) % 2 == 0, None)
    select_genes(adata, MARKERS, labels_key="some")
    assert markers(adata) >= MARKERS - 1


def test_noise_of_counting_is_not_selected_and_faint_genes_are() -> None:
    """Much is seen of 100 genes that vary by counting alone; 30 genes that types change are seen in few cells."""
    rng = np.random.default_rng(0)
    rates = np.tile(np.concatenate([np.full(30, 0.15), np.full(100, 60.0), np.full(270, 0.15)]), (400, 1))
    types = np.arange(400) % 3
    for kind in range(3):
        rates[np.ix_(types == kind, np.arange(10) + 10 * kind)] *= 8.0
    counts = rng.poisson(rates * np.exp(rng.normal(0.0, 0.4, (400, 1)))).astype(float)
    assert counts[:, 30:130].var(axis=0).min() > 20 * counts[:, :30].var(axis=0).max()
    found = select_genes(anndata.AnnData(csr_matrix(counts)), "auto", random_state=0, inplace=False)["highly_variable"]
    assert found.iloc[:30].sum() >= 28
    assert found.iloc[30:].sum() <= 0.2 * found.sum()


def test_what_side_cells_do_is_not_selected(adata: Any) -> None:
    """A cycle that changes 30 genes is structure, unless cells that differ in nothing else are given."""
    rng = np.random.default_rng(1)
    cycle = np.ones((120, 150))
    cycle[:, 100:130] = np.exp(1.5 * rng.standard_normal((120, 1)))
    counts = rng.poisson(adata.X.toarray() * cycle).astype(np.float64)
    among = np.exp(1.5 * rng.standard_normal((80, 1)))
    side = rng.poisson(3.0 * np.where((np.arange(150) >= 100) & (np.arange(150) < 130), among, 1.0)).astype(np.float64)
    cycling = anndata.AnnData(csr_matrix(counts))
    without = select_genes(cycling, 30, inplace=False)["highly_variable"].to_numpy()
    given = select_genes(cycling, 30, side=side, inplace=False)["highly_variable"].to_numpy()
    assert without[100:130].sum() > 10
    assert given[100:130].sum() < without[100:130].sum() / 2
    assert given[:MARKERS].sum() == MARKERS


def test_backed_cells_in_their_thousands(tmp_path: Path) -> None:
    """Above 2,000 cells landmarks show the structure: of rare cells, too, and the same from a file."""
    made = make_single_cells(
        2_400, 300, group_shares=(0.6, 0.37, 0.03), marker_share=0.1, marker_strength=2.0, depth=600, random_state=0
    )
    cells = anndata.AnnData(made.X)
    select_genes(cells, 40)
    # At one library size, strong markers make a few other genes follow the types, too.
    assert made.relevant[cells.var["highly_variable"]].mean() > 0.75 > 2 * made.relevant.mean()
    Q = cells.obsm["X_eigensieve"]
    rare = np.where(made.y == 2, 1.0, 0.0) - np.mean(made.y == 2)
    basis = np.linalg.qr(Q)[0]
    assert np.linalg.norm(basis.T @ rare) / np.linalg.norm(rare) > 0.9  # the rare type is a direction of the structure
    cells.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    select_genes(backed, 40)
    np.testing.assert_allclose(backed.var["eigensieve_weight"], cells.var["eigensieve_weight"], atol=1e-4)
    assert (backed.var["highly_variable"] == cells.var["highly_variable"]).mean() > 0.98
    backed.file.close()


def test_a_rare_type_with_genes_of_its_own_is_kept_among_many_cells() -> None:
    """Of 6,000 cells 2,000 are compared, and 4 of 12 would be among them by chance."""
    counts = make_single_cells(6_000, 1_500, depth=400, random_state=0).X.toarray()
    own = np.argsort(counts.mean(axis=0), kind="stable")[:20]
    counts[:12, own] += np.random.default_rng(0).poisson(2.0, (12, 20))
    found = select_genes(anndata.AnnData(csr_matrix(counts)), 60, inplace=False)
    assert found["highly_variable"].to_numpy()[own].all()


def test_counts_are_log_normalised_and_logarithms_left_alone(adata: Any) -> None:
    by_layer = select_genes(adata, MARKERS, layer="log", inplace=False)
    as_given = select_genes(adata, MARKERS, layer="log", transform="none", inplace=False)
    pd.testing.assert_frame_equal(by_layer, as_given)
    counts = select_genes(adata, MARKERS, inplace=False)
    assert np.corrcoef(counts["eigensieve_weight"], by_layer["eigensieve_weight"])[0, 1] > 0.95
    as_they_are = select_genes(adata, MARKERS, transform="none", inplace=False)
    assert np.abs(as_they_are["eigensieve_weight"] - by_layer["eigensieve_weight"]).max() > 0.01


def test_amounts_too_large_for_logarithms_are_log_normalised(adata: Any) -> None:
    counts = adata.X.toarray()
    adata.layers["tpm"] = 1e6 * counts / counts.sum(axis=1, keepdims=True)
    found = select_genes(adata, MARKERS, layer="tpm", inplace=False)
    pd.testing.assert_frame_equal(found, select_genes(adata, MARKERS, layer="tpm", transform="log", inplace=False))
    select_genes(adata, MARKERS, layer="tpm")
    assert adata.uns["hvg"]["log_normalized"] and not adata.uns["hvg"]["depth_removed"]  # sums of TPM are no depth


def test_weights_are_the_agreement_with_the_cells_that_are_returned(adata: Any) -> None:
    """u_i = sum over pairs of different cells of m_ti m_si (QQ')_ts, for the genes without their depth."""
    select_genes(adata, MARKERS)
    logs, totals = adata.layers["log"].toarray(), adata.X.toarray().sum(axis=1)
    depth = np.column_stack([np.ones(120), np.log(totals)])
    left = logs - depth @ np.linalg.lstsq(depth, logs, rcond=None)[0]
    M = left / np.linalg.norm(left, axis=0)
    affinity = adata.obsm["X_eigensieve"] @ adata.obsm["X_eigensieve"].T
    np.fill_diagonal(affinity, 0.0)
    expected = np.einsum("ti,ts,si->i", M, affinity, M)
    np.testing.assert_allclose(adata.var["eigensieve_weight"], expected, atol=1e-8)


def test_batches_labels_and_side_cells(adata: Any) -> None:
    shifted = adata.copy()
    shifted.X = csr_matrix(
        adata.X.toarray() * np.where(np.arange(150) >= 100, 6, 1) ** (adata.obs["batch"] == "y").to_numpy()[:, None]
    )
    select_genes(shifted, MARKERS, batch_key="batch")
    assert markers(shifted) == MARKERS
    assert shifted.var["highly_variable_nbatches"].between(0, 2).all()
    assert (shifted.var["highly_variable_nbatches"].iloc[:MARKERS] == 2).mean() > 0.7
    select_genes(adata, MARKERS, labels_key="type")
    assert markers(adata) == MARKERS
    select_genes(adata, MARKERS, side=adata.X[:30])
    assert adata.uns["hvg"]["flavor"] == "eigensieve"


def test_batches_that_nobody_named_are_told() -> None:
    made = make_single_cells(300, 1_000, group_shares=(1.0,) * 3, n_batches=2, batch_strength=0.3, random_state=0)
    adata = anndata.AnnData(made.X)
    adata.obs["Batch"] = pd.Categorical(made.batches.astype(str))
    with pytest.warns(UserWarning, match="batch_key='Batch'"):
        select_genes(adata, 50)
    select_genes(adata, 50, batch_key="Batch")
    adata.obs["Batch"] = np.random.default_rng(0).permutation(made.batches)
    select_genes(adata, 50)


def test_the_number_is_found_and_genes_are_kept(adata: Any) -> None:
    select_genes(adata, "auto", random_state=0)
    assert markers(adata) >= MARKERS - 1
    assert adata.var["highly_variable"].sum() <= MARKERS + 3  # one in ten may be false
    smaller = adata.copy()
    select_genes(smaller, 5, subset=True)
    assert smaller.shape == (120, 5)
    assert list(select_genes(adata, 5, inplace=False, subset=True).index) == list(smaller.var_names)


@pytest.mark.parametrize("labels", [None, "type"])
@pytest.mark.parametrize("count", [8, "auto"])
def test_genes_are_kept_excluded_and_limited(adata: Any, labels: str | None, count: Any) -> None:
    adata.var["pathway"] = [f"pathway {i // 2}" for i in range(150)]
    settings: dict[str, Any] = {"labels_key": labels, "keep": ["gene40", "gene0"], "exclude": np.arange(150) == 2}
    genes = select_genes(adata, count, gene_groups="pathway", inplace=False, **settings)
    chosen = genes.index[genes["highly_variable"]]
    assert list(genes["highly_variable_rank"].dropna().sort_values().index[:2]) == ["gene40", "gene0"]
    assert "gene2" not in chosen and "gene1" not in chosen
    assert adata.var.loc[chosen, "pathway"].is_unique
    if count == "auto":  # of the other markers one per pathway: the second has lost one of its genes
        assert {name for name in chosen if int(name[4:]) < MARKERS} >= {"gene0", "gene3"}


def test_excluded_genes_show_the_cells(adata: Any) -> None:
    plain, without = (select_genes(adata, 5, exclude=e, inplace=False) for e in (None, ["gene0"]))
    np.testing.assert_array_equal(plain["eigensieve_weight"], without["eigensieve_weight"])


@pytest.mark.parametrize("labels", [None, "type"])
def test_genes_are_chosen_for_their_money(adata: Any, labels: str | None) -> None:
    adata.var["price"] = np.where(np.arange(150) % 2, 1.0, 4.0)
    genes = select_genes(adata, 50, labels_key=labels, gene_costs="price", max_cost=9.0, inplace=False)
    chosen = genes["highly_variable"].to_numpy()
    assert 8.0 < adata.var["price"][chosen].sum() <= 9.0
    assert chosen[1:MARKERS:2].sum() == 5  # the cheap markers
    prices = adata.var["price"].iloc[::-1]  # a Series is read by the names of the genes
    again = select_genes(adata, 50, labels_key=labels, gene_costs=prices, max_cost=9.0, inplace=False)
    np.testing.assert_array_equal(again["highly_variable"], chosen)


def test_library_size_is_not_selected() -> None:
    """Genes that only follow the depth of sequencing are noise once it is taken off."""
    rng = np.random.default_rng(3)
    depth = np.exp(rng.normal(0, 0.8, 200))[:, None]
    counts = rng.poisson(depth * rng.gamma(2.0, 1.0, 300))
    with pytest.warns(UserWarning, match="found no feature"):
        select_genes(anndata.AnnData(counts.astype(float)), "auto", random_state=0)


def test_a_small_change_of_much_is_no_large_effect() -> None:
    """20 genes seen 200 times per cell differ by 15 % between unnamed batches, 20 seen twice 4-fold between types."""
    rng = np.random.default_rng(1)
    rates = np.full((300, 200), 2.0)
    rates[:, :20] = 200.0
    types, batches = np.arange(300) % 2 == 0, np.arange(300) % 3 == 0
    rates[np.ix_(batches, np.arange(20))] *= np.tile([1.15, 0.85], 10)  # the library stays as it is
    rates[np.ix_(types, np.arange(20, 40))] *= 4.0
    found = select_genes(anndata.AnnData(rng.poisson(rates).astype(float)), 40, inplace=False)
    share = found["eigensieve_weight"]
    assert share[:20].mean() > share[40:].max()  # both are structure
    first = np.argsort(found["highly_variable_rank"].to_numpy())[:20]
    assert np.count_nonzero(first >= 20) >= 15


def test_effects_are_deviations_over_means() -> None:
    found = relative_effect(np.array([0.25, 0.25, -0.1]), np.array([2.0, 1.0, 1.0]), np.array([0.99, 0.0, 1.0]))
    np.testing.assert_allclose(found, [1.0, 50.0, 0.0], rtol=1e-12)


def test_data_with_negative_values_has_no_effects(adata: Any) -> None:
    """Centred data is chosen by the score alone: its means say nothing."""
    logs = adata.layers["log"].toarray()
    centred = anndata.AnnData(logs - logs.mean(axis=0))
    found = select_genes(centred, MARKERS, inplace=False)
    best = np.argsort(-found["eigensieve_weight"].to_numpy(), kind="stable")[:MARKERS]
    np.testing.assert_array_equal(np.argsort(found["highly_variable_rank"].to_numpy())[:MARKERS], best)


def test_negative_values_are_not_log_normalised(adata: Any) -> None:
    logs = adata.layers["log"].toarray()
    adata.layers["scaled"] = (logs - logs.mean(axis=0)) / logs.std(axis=0)
    with pytest.raises(ValueError, match=r"adata\.layers\['scaled'\] must not be negative .*transform='none'"):
        select_genes(adata, MARKERS, layer="scaled", transform="log")
    with pytest.raises(ValueError, match="values of side must not be negative"):
        select_genes(adata, MARKERS, side=adata.layers["scaled"])
    assert "hvg" not in adata.uns
    select_genes(adata, MARKERS, layer="scaled", transform="none")
    assert not adata.uns["hvg"]["log_normalized"]


@pytest.mark.filterwarnings("ignore:.*Trying to modify attribute")
@pytest.mark.parametrize("view", [False, True])
def test_nothing_is_left_of_an_earlier_call(adata: Any, view: bool) -> None:
    select_genes(adata, MARKERS, batch_key="batch")
    assert "highly_variable_nbatches" in adata.var
    adata = adata[:100] if view else adata
    select_genes(adata, MARKERS)
    assert "highly_variable_nbatches" not in adata.var and adata.uns["hvg"]["batch_key"] == ""
    pd.testing.assert_frame_equal(adata.var, select_genes(adata, MARKERS, inplace=False))


def test_backed_and_dask_give_the_same_genes(adata: Any, tmp_path: Path) -> None:
    import dask.array as da

    expected = select_genes(adata, MARKERS, batch_key="batch", inplace=False)
    path = tmp_path / "cells.h5ad"
    adata.write_h5ad(path)
    backed = anndata.read_h5ad(path, backed="r")
    found = select_genes(backed, MARKERS, batch_key="batch", inplace=False)
    pd.testing.assert_frame_equal(found, expected, atol=1e-8)
    dask = anndata.AnnData(da.from_array(adata.X.toarray(), chunks=(60, 50)), obs=adata.obs, var=adata.var)
    pd.testing.assert_frame_equal(select_genes(dask, MARKERS, batch_key="batch", inplace=False), expected, atol=1e-8)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"layer": "raw"}, r"must be None or one of \['log'\]. Got 'raw'"),
        ({"batch_key": "plate"}, r"must name a column of adata.obs, one of \['type', 'batch'\]. Got 'plate'"),
        ({"labels_key": "cell"}, "must name a column of adata.obs"),
        ({"transform": "sqrt"}, "must be 'auto', 'log' or 'none'"),
        ({"n_top_genes": "many"}, "'n_top_genes' .* at least 1, or 'auto'. Got 'many'"),
        ({"n_top_genes": 0.5}, "Got 0.5 instead"),
        ({"keep": ["nobody"]}, "'keep' parameter of select_genes must name columns of X. Got 'nobody'"),
        ({"n_top_genes": 1, "keep": [1, 2]}, "2 features for n_top_genes=1 instead; raise the number"),
        ({"gene_groups": "pathway"}, r"column of adata.var, one of \[\], or hold one value per gene. Got 'pathway'"),
        (
            {"n_top_genes": 5, "max_per_group": 2},
            "'max_per_group' parameter of select_genes must be 1 without gene_groups. Got 2",
        ),
        (
            {"n_top_genes": 5, "gene_costs": [1.0]},
            "'gene_costs' parameter of select_genes must hold one number per gene",
        ),
        (
            {"n_top_genes": 5, "max_cost": 3.0},
            "'max_cost' parameter of select_genes must be None without gene_costs",
        ),
    ],
)
def test_wrong_input_is_refused(adata: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        select_genes(adata, **settings)
    with pytest.raises(TypeError, match="must be an AnnData"):
        select_genes(adata.X)


def test_cells_are_compared_between_donors():
    """Genes that differ between donors alone are not chosen."""
    rng = np.random.default_rng(0)
    donor, kind = np.repeat(np.arange(12), 20), np.tile(np.arange(2), 120)
    rates = np.full((240, 120), 3.0)
    rates[:, :10] *= np.where(rng.random((2, 10)) < 0.5, 1.0, 4.0)[kind]
    rates[:, 20:] *= np.exp(0.8 * rng.standard_normal((12, 100)))[donor]
    cells = anndata.AnnData(rng.poisson(rates).astype(float))
    cells.obs["donor"] = [f"d{i}" for i in donor]
    with pytest.warns(UserWarning, match="explain"):
        plain = select_genes(cells, "auto", inplace=False)["highly_variable"].to_numpy()
    found = select_genes(cells, "auto", donor_key="donor", inplace=False)["highly_variable"].to_numpy()
    assert plain[20:].mean() > 0.8
    assert found[10:].mean() < 0.1
    assert found[:10].sum() >= 2
