"""Every selector on a cluster of worker processes: the answers of memory, and the data stays where it is."""

import os
import signal
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from eigensieve import QAlphaSelector, SieveSelector, TraceRatioSelector, selection_stability
from eigensieve.data import as_data
from eigensieve.data.dask.tasks import Filled, results, sum_up, sums_from

dask = pytest.importorskip("dask")
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


def on_workers(X: np.ndarray, chunks: tuple[int, int]) -> Any:
    stored = da.from_array(X, chunks=chunks).persist()
    distributed.wait(stored)
    return stored


@pytest.fixture(scope="module")
def stored(client: Any, X: np.ndarray) -> Any:
    """Chunked along both axes."""
    return on_workers(X, (20, 120))


def test_selectors_give_the_answers_of_memory(X: np.ndarray, stored: Any) -> None:
    y = np.arange(40) // 20
    side = np.random.default_rng(1).standard_normal((8, X.shape[1]))
    for model, known in (
        (QAlphaSelector(RELEVANT, 1), {"y": y}),
        (QAlphaSelector(RELEVANT, 1), {"y": np.where(np.arange(40) % 3, -1, y)}),
        (QAlphaSelector(RELEVANT, 1), {"side": side}),
        (SieveSelector(RELEVANT, random_state=0), {}),
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
    QAlphaSelector(5, 2, solver_options={"max_iter": 5, "tol": 1.0}).fit(X)
    assert client.who_has(X) == holders  # no chunk was copied to another worker


def test_a_home_that_is_gone_is_no_obstacle(client: Any, X: np.ndarray) -> None:
    data = as_data(da.from_array(X, chunks=(40, 60)).persist())
    data.grid = [replace(bundle, home="tcp://127.0.0.1:1") for bundle in data.grid]
    np.testing.assert_allclose(data.project(np.eye(40, 2)), X.T[:, :2], atol=1e-12)


@pytest.fixture(scope="module")
def by_columns(client: Any, X: np.ndarray) -> Any:
    """Chunked along the features: those on the same worker are worked on together."""
    return on_workers(X, (40, 30))


@pytest.mark.filterwarnings("ignore:Running on a single-machine scheduler")  # intended here; Dask of 2024 warns
def test_which_worker_adds_what_changes_no_bit(X: np.ndarray, by_columns: Any) -> None:
    assert len(as_data(by_columns).grid) == 2
    together = QAlphaSelector(RELEVANT, 2, solver_options={"tol": 1e-6}).fit(by_columns)
    with dask.config.set(scheduler="synchronous"):
        alone = QAlphaSelector(RELEVANT, 2, solver_options={"tol": 1e-6}).fit(da.from_array(X, chunks=(40, 30)))
    np.testing.assert_array_equal(together.weights_, alone.weights_)
    assert together.n_passes_ == alone.n_passes_


def test_passes_over_several_chunks_at_once(X: np.ndarray, by_columns: Any) -> None:
    data, plain = as_data(by_columns), as_data(X)
    rng = np.random.default_rng(0)
    W, weights = rng.standard_normal((240, 3)), rng.random(240)
    np.testing.assert_allclose(data.stats().centered_norm, plain.stats().centered_norm)
    for normalize in ("center", "unit", "none"):
        view, wanted = data.standardized(normalize), plain.standardized(normalize)
        np.testing.assert_allclose(view.combine(W), wanted.combine(W), atol=1e-12)
        np.testing.assert_allclose(view.gram(weights), wanted.gram(weights), atol=1e-12)
        np.testing.assert_allclose(view.take([200, 3, 77]), wanted.take([200, 3, 77]), atol=1e-12)
        np.testing.assert_array_equal(view.scale, wanted.scale)
    view = data.rescaled(plain.stats().mean, None)
    np.testing.assert_allclose(
        np.hstack(view.map_blocks(lambda block: block.toarray())), X - X.mean(axis=0), atol=1e-12
    )
    placed = data.place(W)
    np.testing.assert_array_equal(data.collect(placed), W)
    np.testing.assert_allclose(data.collect(placed @ W[:3, 0]), W @ W[:3, 0])
    np.testing.assert_allclose(data.inner(placed, W), W.T @ W)


def test_what_need_not_be_sent_is_not(by_columns: Any) -> None:
    data = as_data(by_columns)
    equal = data.place(np.full((240, 2), 0.5))
    assert all(isinstance(held, Filled) for held in equal.held)
    np.testing.assert_array_equal(data.collect(equal), np.full((240, 2), 0.5))
    assert data.place(np.arange(240.0)) is data.place(np.arange(240.0))
    assert data.place(np.arange(240.0)) is not data.place(np.arange(240))


def test_large_feature_arrays_are_sent_without_a_word(by_columns: Any) -> None:
    data = as_data(by_columns)
    A = np.random.default_rng(0).standard_normal((240, 100))
    with warnings.catch_warnings(), dask.config.set({"distributed.admin.large-graph-warning-threshold": "100kB"}):
        warnings.simplefilter("error")
        np.testing.assert_array_equal(data.collect(data.place(A)), A)


def test_arrays_derived_from_stored_ones(X: np.ndarray, by_columns: Any) -> None:
    np.testing.assert_allclose(as_data(2.0 * by_columns).stats().mean, 2.0 * X.mean(axis=0), atol=1e-12)
    V = np.eye(40, 2)
    np.testing.assert_allclose(as_data(by_columns[:, 15:]).project(V), X.T[15:, :2], atol=1e-12)


def test_empty_chunks(X: np.ndarray) -> None:
    """As they are left behind when samples are chosen."""
    made = da.concatenate(
        [da.from_array(X[:, :100], chunks=(20, 50)), da.from_array(X[:, 100:], chunks=(20, 70))], axis=1
    )
    made = da.concatenate([made[:20], made[:0], made[20:]])
    np.testing.assert_allclose(as_data(made).project(np.eye(40, 2)), X.T[:, :2], atol=1e-12)


def test_a_worker_lost_with_all_its_chunks_changes_nothing(X: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    from eigensieve.data.dask import graph as waiting

    plain, passes = waiting._wait, iter(range(100))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        made = da.from_array(X, chunks=(40, 30)).persist()
        distributed.wait(made)
        undisturbed = QAlphaSelector(RELEVANT, 2, solver_options={"tol": 1e-6}).fit(made)

        def wait(futures: list[Any]) -> None:
            if next(passes) == 6:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            plain(futures)

        monkeypatch.setattr(waiting, "_wait", wait)
        found = QAlphaSelector(RELEVANT, 2, solver_options={"tol": 1e-6}).fit(made)
    assert next(passes) > 6
    np.testing.assert_array_equal(found.weights_, undisturbed.weights_)


@pytest.mark.parametrize(
    ("trouble", "told"),
    [
        (
            distributed.comm.CommClosedError("Stream is closed"),
            "The Dask scheduler lost",
        ),
        (distributed.CancelledError("x-1"), "The Dask scheduler lost"),
        (distributed.KilledWorker("x-1", None, 3), "Dask gave up on a chunk"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_trouble_of_the_cluster_is_told(
    X: np.ndarray, stored: Any, monkeypatch: pytest.MonkeyPatch, trouble: Exception, told: str
) -> None:
    """Whatever asks the scheduler may find that it has gone, such as the question which workers there are."""

    def fail(futures: list[Any]) -> None:
        raise trouble

    monkeypatch.setattr("eigensieve.data.dask.graph._wait", fail)
    with pytest.raises(RuntimeError, match=told):
        QAlphaSelector(RELEVANT, 2).fit(stored)


def test_sums_do_not_depend_on_their_order() -> None:
    rng = np.random.default_rng(0)
    parts = [rng.standard_normal((5, 3)) * 10.0 ** rng.integers(-8, 8) for _ in range(30)]
    forward = results([sums_from(part, None) for part in parts])
    few = [sum_up([sums_from(part, None) for part in parts[at::4]]) for at in range(4)]
    np.testing.assert_array_equal(results(few[::-1])[0], forward[0])
    assert forward[1] is None
    np.testing.assert_allclose(forward[0], np.sum(parts, axis=0), rtol=1e-9)
    np.testing.assert_array_equal(results([sums_from(np.array([np.inf, 1.0]))])[0], [np.inf, 1.0])
