"""The automatic number is the same for any order of samples and features: draws follow the values."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from eigensieve import QAlphaSelector, SieveSelector, select_genes

Case = Callable[[np.ndarray, np.ndarray, np.random.Generator], tuple[np.ndarray, Any, dict[str, np.ndarray]]]


def _half_known(X: np.ndarray, y: np.ndarray, _: np.random.Generator) -> tuple[np.ndarray, Any, dict[str, np.ndarray]]:
    return X, np.where(np.arange(len(y)) < 40, y, -1), {}


def _gaps(X: np.ndarray, _: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, Any, dict[str, np.ndarray]]:
    return np.where(rng.random(X.shape) < 0.1, np.nan, X), None, {}


CASES: dict[str, Case] = {
    "no labels": lambda X, y, rng: (X, None, {}),
    "two values": lambda X, y, rng: ((X > -0.3).astype(float), None, {}),
    "gaps": _gaps,
    "batches": lambda X, y, rng: (X, None, {"batches": rng.integers(0, 3, len(X))}),
    "donors": lambda X, y, rng: (X, None, {"groups": np.repeat(np.arange(len(X) // 2), 2)}),
    "classes": lambda X, y, rng: (X, y, {}),
    "numbers": lambda X, y, rng: (X, y + rng.standard_normal(len(X)), {}),
    "a few labels": _half_known,
    "narrow": lambda X, y, rng: (X[:, 8:20], None, {}),
}


@pytest.mark.parametrize("case", CASES)
def test_another_order_selects_the_same(case: str) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.standard_normal((90, 150))
    X[:, :16] += rng.normal(0, 2.0, (3, 16))[y]
    X, target, known = CASES[case](X, y, rng)
    first = SieveSelector().fit(X, target, **known)
    assert first.p_values_ is not None
    for _ in range(2):
        rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
        moved = {name: values[rows] for name, values in known.items()}
        other = SieveSelector().fit(X[rows][:, columns], None if target is None else target[rows], **moved)
        np.testing.assert_array_equal(other.support_, first.support_[columns])
        np.testing.assert_allclose(other.p_values_, first.p_values_[columns], atol=1e-12)
        assert other.null_quantile_ == pytest.approx(first.null_quantile_, abs=1e-9)


def test_landmarks_follow_the_values() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((2_500, 40))
    X[:, :10] += rng.normal(0, 1.5, (4, 10))[np.arange(2_500) % 4]
    rows, columns = rng.permutation(2_500), rng.permutation(40)
    first, other = SieveSelector(10).fit(X), SieveSelector(10).fit(X[rows][:, columns])
    np.testing.assert_array_equal(other.support_, first.support_[columns])
    np.testing.assert_allclose(other.weights_, first.weights_[columns], atol=1e-5)


def test_q_alpha_and_genes_too() -> None:
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 80))
    X[:, :12] += rng.normal(0, 2.0, (3, 12))[np.arange(60) % 3]
    rows, columns = rng.permutation(60), rng.permutation(80)
    first, other = (
        QAlphaSelector("auto", random_state=0).fit(X),
        QAlphaSelector("auto", random_state=0).fit(X[rows][:, columns]),
    )
    np.testing.assert_array_equal(other.support_, first.support_[columns])
    anndata = pytest.importorskip("anndata")
    counts = rng.poisson(np.exp(1.0 + X[:, :60])).astype(float)
    tables = [anndata.AnnData(counts), anndata.AnnData(counts[rows][:, columns[columns < 60]])]
    for table in tables:
        select_genes(table, n_top_genes="auto")
    chosen = [table.var["highly_variable"].to_numpy() for table in tables]
    np.testing.assert_array_equal(chosen[1], chosen[0][columns[columns < 60]])
