"""Every selector on a cluster of worker processes: the answers of memory, and the data stays where it is."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from eigensieve import QAlphaSelector, SieveSelector, TraceRatioSelector
from eigensieve.amount.stability import selection_stability
from eigensieve.data import as_data

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

RELEVANT = 6


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 240))
    X[:20, :RELEVANT] += 3.0
    return X


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def stored(client: Any, X: np.ndarray) -> Any:
    """Chunked along both axes."""
    stored = da.from_array(X, chunks=(20, 120)).persist()
    distributed.wait(stored)
    return stored


def test_selectors_give_the_answers_of_memory(X: np.ndarray, stored: Any) -> None:
    y = np.arange(40) // 20
    side = np.random.default_rng(1).standard_normal((8, X.shape[1]))
    for model, known in (
        (QAlphaSelector(RELEVANT, 1), {"y": y}),
        (QAlphaSelector(RELEVANT, 1), {"y": np.where(np.arange(40) % 3, -1, y)}),
        (QAlphaSelector(RELEVANT, 1), {"side": side}),
        (SieveSelector(RELEVANT, 2, random_state=0), {}),
        (TraceRatioSelector(RELEVANT), {"y": y}),
        (TraceRatioSelector(RELEVANT, score="laplacian"), {}),
    ):
        wanted = model.fit(X, **known).get_support()
        np.testing.assert_array_equal(model.fit(stored, **known).get_support(), wanted)


def test_stability_gives_the_answers_of_memory(X: np.ndarray, stored: Any) -> None:
    plain = selection_stability(QAlphaSelector(RELEVANT, 1), X, n_subsamples=2)
    found = selection_stability(QAlphaSelector(RELEVANT, 1), stored, n_subsamples=2)
    np.testing.assert_array_equal(found.selections, plain.selections)


def test_passes_run_where_the_chunks_are(client: Any) -> None:
    X = da.random.default_rng(0).standard_normal((40, 8_000), chunks=(40, 1_000)).persist()
    distributed.wait(X)
    data = as_data(X)
    holders = client.who_has(X)
    where = [(holders[key], bundle.home) for bundle in data.grid for group in bundle.raws for key in group]
    assert [held for held, _ in where] == [(home,) for _, home in where]
    assert len(where) == 8 and len(data.grid) == 2  # one task a thread
    QAlphaSelector(5, 2, max_iter=5, tol=1.0).fit(X)
    assert client.who_has(X) == holders  # no chunk was copied to another worker


def test_a_home_that_is_gone_is_no_obstacle(client: Any, X: np.ndarray) -> None:
    data = as_data(da.from_array(X, chunks=(40, 60)).persist())
    data.grid = [replace(bundle, home="tcp://127.0.0.1:1") for bundle in data.grid]
    np.testing.assert_allclose(data.project(np.eye(40, 2)), X.T[:, :2], atol=1e-12)
