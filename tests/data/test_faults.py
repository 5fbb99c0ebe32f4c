"""What goes wrong in long runs: lost workers, interruptions, files that change, full disks, late NaN."""

import errno
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from eigensieve import FeatureMap, KernelQAlphaSelector, QAlphaSelector, SieveSelector, TraceRatioSelector, open_data
from eigensieve.data import as_data
from eigensieve.qalpha import subspace
from eigensieve.qalpha.checkpoint import Checkpoint

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")
from dask import delayed  # noqa: E402


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 400))
    X[:20, :8] += 2.0
    return X


@pytest.fixture
def on_disk(X: np.ndarray, tmp_path: Path) -> Path:
    np.save(tmp_path / "X.npy", X)
    return tmp_path / "X.npy"


def selector(**settings: Any) -> QAlphaSelector:
    return QAlphaSelector(8, 2, **{"solver_options": {"tol": 1e-6}, **settings})


def interrupt(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """Raise KeyboardInterrupt when the solver begins step `at`."""
    steps = iter(range(1, 10**6))
    plain = subspace._Solve._expand

    def expand(self: Any) -> float:
        if next(steps) == at:
            raise KeyboardInterrupt
        return plain(self)

    monkeypatch.setattr(subspace._Solve, "_expand", expand)


@pytest.mark.parametrize("storage", ["disk", "dask"])
@pytest.mark.parametrize("criterion", ["energy", "gap"])
def test_a_resumed_run_equals_the_uninterrupted_one(
    X: np.ndarray, on_disk: Path, tmp_path: Path, storage: str, criterion: str
) -> None:
    def data() -> Any:
        return open_data(on_disk, max_memory="100kB") if storage == "disk" else da.from_array(X, chunks=(40, 150))

    whole = selector(criterion=criterion).fit(data())
    model = selector(criterion=criterion)
    with pytest.MonkeyPatch.context() as monkeypatch:
        interrupt(monkeypatch, at=6)
        with pytest.raises(KeyboardInterrupt):
            model.fit(data(), checkpoint=tmp_path / "steps")
    assert not hasattr(model, "weights_")
    assert [path.name for path in (tmp_path / "steps" / "start-0").iterdir()] == ["step-000005"]
    model.fit(data(), checkpoint=tmp_path / "steps")
    np.testing.assert_array_equal(model.weights_, whole.weights_)
    np.testing.assert_array_equal(model.objective_history_, whole.objective_history_)
    assert model.n_iter_ == whole.n_iter_
    assert model.n_passes_ < whole.n_passes_


@pytest.mark.parametrize("solver", ["basic", "power", "ritz"])
def test_the_papers_solvers_resume_too(X: np.ndarray, tmp_path: Path, solver: str) -> None:
    settings: dict[str, Any] = {"solver": solver, "solver_options": {"tol": 1e-6, "max_iter": 3}}
    with pytest.warns(ConvergenceWarning):
        whole = selector(**settings).fit(X[:, :60])
    with pytest.warns(ConvergenceWarning):
        selector(solver=solver, solver_options={"tol": 1e-6, "max_iter": 2}).fit(X[:, :60], checkpoint=tmp_path)
    with pytest.warns(ConvergenceWarning):
        resumed = selector(**settings).fit(X[:, :60], checkpoint=tmp_path)
    np.testing.assert_array_equal(resumed.weights_, whole.weights_)


@pytest.mark.parametrize("storage", ["memory", "dask"])
@pytest.mark.parametrize(("folder", "at"), [("start-0", 3), ("climb-1", 6), ("start-[1-3]", 2)])
def test_several_starts_are_resumed_where_they_stopped(
    X: np.ndarray, tmp_path: Path, storage: str, folder: str, at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted in the first search, while the others climb, and in the search from the best of them."""
    data = X if storage == "memory" else da.from_array(X, chunks=(40, 150))
    settings: dict[str, Any] = {"solver_options": {"init": "random", "n_init": 4, "tol": 1e-6}, "random_state": 0}
    whole = selector(**settings).fit(data)
    plain = Checkpoint.save

    def save(self: Checkpoint, step: int, *arrays: Any) -> None:
        plain(self, step, *arrays)
        if self.folder.match(folder) and step == at:
            raise KeyboardInterrupt

    model = selector(**settings)
    with monkeypatch.context() as context:
        context.setattr(Checkpoint, "save", save)
        with pytest.raises(KeyboardInterrupt):
            model.fit(data, checkpoint=tmp_path)
    model.fit(data, checkpoint=tmp_path)
    assert model.n_passes_ < whole.n_passes_
    np.testing.assert_array_equal(model.weights_, whole.weights_)
    np.testing.assert_array_equal(model.start_objectives_, whole.start_objectives_)
    again = selector(**settings).fit(data, checkpoint=tmp_path)
    np.testing.assert_array_equal(again.start_objectives_, whole.start_objectives_)
    assert again.n_passes_ < 8  # statistics and the check of the data alone


def test_a_checkpoint_of_another_run_is_refused(X: np.ndarray, tmp_path: Path) -> None:
    model = selector().fit(X, checkpoint=str(tmp_path))
    with pytest.raises(ValueError, match="belongs to another run: data differs"):
        model.fit(X**3, checkpoint=str(tmp_path))
    with pytest.raises(ValueError, match="belongs to another run: n_clusters differs"):
        model.set_params(n_clusters=3).fit(X, checkpoint=str(tmp_path))


def test_a_full_disk_leaves_the_earlier_checkpoint_intact(
    X: np.ndarray, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = selector().fit(X)
    fitted = selector()
    plain = np.save
    with monkeypatch.context() as context:

        def full(path: Any, *arguments: Any) -> None:
            if "step-000004" in str(path) and "P.npy" in str(path):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            plain(path, *arguments)

        context.setattr(np, "save", full)
        with pytest.raises(
            OSError, match=r"step 4 could not be written .*No space left.*Earlier checkpoints are intact"
        ):
            fitted.fit(X, checkpoint=tmp_path)
    assert [path.name for path in (tmp_path / "start-0").iterdir()] == ["step-000003"]
    np.testing.assert_array_equal(fitted.fit(X, checkpoint=tmp_path).weights_, whole.weights_)


def test_a_file_that_shrinks_during_the_run(on_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = selector().fit(open_data(on_disk, max_memory="100kB"))
    before = model.weights_
    interrupted = subspace._Solve._expand

    def expand(self: Any) -> float:
        os.truncate(on_disk, on_disk.stat().st_size // 2)
        return interrupted(self)

    monkeypatch.setattr(subspace._Solve, "_expand", expand)
    with pytest.raises(OSError, match="changed size while it was being read"):
        model.fit(open_data(on_disk, max_memory="100kB"))
    assert model.weights_ is before


def test_a_file_that_is_rewritten_or_removed_during_the_run(X: np.ndarray, on_disk: Path) -> None:
    data = open_data(on_disk)
    data.stats()
    os.utime(on_disk, ns=(1, 1))
    with pytest.raises(OSError, match="was written to or replaced"):
        data.project(np.eye(40, 2))
    data = open_data(on_disk)
    on_disk.unlink()
    with pytest.raises(OSError, match="was removed"):
        data.stats()


@pytest.mark.parametrize("suffix", ["npy", "h5", "parquet"])
def test_a_truncated_file_is_named(X: np.ndarray, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"X.{suffix}"
    if suffix == "npy":
        np.save(path, X)
    elif suffix == "h5":
        import h5py

        with h5py.File(path, "w") as file:
            file["X"] = X
    else:
        import pandas as pd

        pd.DataFrame(X, columns=[str(i) for i in range(400)]).to_parquet(path)
    os.truncate(path, path.stat().st_size - 3000)
    with pytest.raises((OSError, ValueError), match=r"X\.\w+|Parquet"):
        open_data(path).stats()


@pytest.mark.parametrize("storage", ["disk", "dask"])
def test_nan_in_a_late_block(X: np.ndarray, tmp_path: Path, storage: str) -> None:
    model = selector().fit(X)
    before = model.weights_
    X = X.copy()
    X[39, 399] = np.nan
    np.save(tmp_path / "X.npy", X)
    made = open_data(tmp_path / "X.npy", max_memory="50kB") if storage == "disk" else da.from_array(X, chunks=(20, 150))
    with pytest.raises(ValueError, match="contains NaN or infinity in 1 of 400 columns: 399"):
        model.fit(made)
    assert model.weights_ is before


def test_chunks_that_do_not_match(X: np.ndarray) -> None:
    wrong = [delayed(X[:, :200]), delayed(X[:30, 200:])]
    made = da.concatenate([da.from_delayed(part, (40, 200), dtype=float) for part in wrong], axis=1)
    with pytest.raises(ValueError, match=r"does not match its announced shape: samples 0 to 39 should be 40 x 200"):
        selector().fit(made)


def test_unknown_chunk_sizes_are_found_out_with_a_message(X: np.ndarray) -> None:
    made = da.from_array(X, chunks=(10, 400))
    made = made[da.from_array(np.arange(40) % 4 > 0, chunks=10)]
    with pytest.warns(UserWarning, match="compute_chunk_sizes"):
        data = as_data(made)
    assert data.shape == (30, 400)


@pytest.mark.parametrize("labels", ["array", "dask", "dask of unknown size"])
@pytest.mark.parametrize(
    "estimator", [SieveSelector(3), QAlphaSelector(3), FeatureMap(3), TraceRatioSelector(3), KernelQAlphaSelector(3)]
)
def test_unknown_chunk_sizes_and_labels(X: np.ndarray, estimator: Any, labels: str) -> None:
    values, kept, y = X[:, :20], np.arange(40) % 4 > 0, np.repeat([0, 1], 20)
    made = da.from_array(values, chunks=(10, 20))[da.from_array(kept, chunks=10)]
    known = {"array": y[kept], "dask": da.from_array(y[kept], chunks=10)}
    given = known.get(labels, da.from_array(y, chunks=10)[da.from_array(kept, chunks=10)])
    with pytest.warns(UserWarning, match="compute_chunk_sizes"):
        found = clone(estimator).fit(made, given)
    expected = clone(estimator).fit(values[kept], y[kept])
    np.testing.assert_array_equal(found.get_support(), expected.get_support())
    with pytest.warns(UserWarning, match="compute"), pytest.raises(ValueError, match="inconsistent numbers"):
        clone(estimator).fit(made, y)


def test_columns_that_are_not_numbers_are_named(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2.0], "who": ["x", "y"]})
    frame.to_parquet(tmp_path / "X.parquet")
    with pytest.raises(ValueError, match=r"must be numeric\. Got 'who'"):
        open_data(tmp_path / "X.parquet")
    dd = pytest.importorskip("dask.dataframe")
    with pytest.raises(ValueError, match=r"must be numeric\. Got 'who'"):
        as_data(dd.from_pandas(frame, npartitions=1))


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["float64", "bool"], np.float64),
        (["float32", "bool"], np.float32),
        (["float32", "int8"], np.float32),
        (["float64", "Int64"], np.float64),
        (["Int8", "boolean"], np.float32),
        (["Float32", "Float32"], np.float32),
        (["float64", "int64[pyarrow]"], np.float64),
        (["float64", "Sparse[float64]"], np.float64),
    ],
)
def test_columns_of_several_numeric_types_are_taken(types: list[str], expected: type) -> None:
    import pandas as pd

    dd = pytest.importorskip("dask.dataframe")
    values = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    frame = pd.DataFrame({"a": values[:, 0], "b": values[:, 1]}).astype(dict(zip("ab", types, strict=True)))
    data = as_data(dd.from_pandas(frame, npartitions=2))
    assert data.dtype == expected
    np.testing.assert_array_equal(data.take([0, 1]), values)


@pytest.mark.parametrize("kind", ["Int64", "boolean", "int64[pyarrow]"])
def test_missing_values_of_any_numeric_type_are_found(kind: str) -> None:
    import pandas as pd

    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.array([1, None], dtype=kind)})
    assert as_data(dd.from_pandas(frame, npartitions=1)).stats().finite.tolist() == [True, False]


@pytest.mark.parametrize("memory", ["lots", "", 0, "10 parsecs", None, True])
def test_a_bad_max_memory_is_refused(on_disk: Path, memory: Any) -> None:
    with pytest.raises(ValueError, match="The 'max_memory' parameter of open_data must be"):
        open_data(on_disk, max_memory=memory)


def test_too_little_memory_says_how_much_is_needed(on_disk: Path) -> None:
    with pytest.raises(ValueError, match=r"must be at least 960 B .* Got 900 B instead"):
        open_data(on_disk, max_memory=900)


def test_paths_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no file .*nothing\.npy"):
        open_data(tmp_path / "nothing.npy")
    (tmp_path / "X.txt").write_text("1 2")
    with pytest.raises(ValueError, match=r"unsupported file ending.*\.npy"):
        open_data(tmp_path / "X.txt")
    np.save(tmp_path / "vector.npy", np.ones(3))
    with pytest.raises(ValueError, match="2-dimensional"):
        open_data(tmp_path / "vector.npy")


# -- on a cluster -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster() -> Any:
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        yield cluster


def during_pass(monkeypatch: pytest.MonkeyPatch, number: int, action: Any) -> None:
    """Do something when the given pass is about to be waited for."""
    from eigensieve.data.dask import graph as waiting

    passes = iter(range(1, 10**6))
    plain = waiting._wait

    def wait(futures: list[Any]) -> None:
        if next(passes) == number:
            action()
        plain(futures)

    monkeypatch.setattr(waiting, "_wait", wait)


def test_a_killed_worker_changes_nothing(X: np.ndarray, cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    local = selector().fit(X)
    with distributed.Client(cluster) as client:
        made = da.from_array(X, chunks=(20, 100)).persist()
        undisturbed = selector().fit(made)
        killed = []

        def kill() -> None:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

        during_pass(monkeypatch, 12, kill)
        found = selector().fit(made)
    assert killed
    np.testing.assert_array_equal(found.weights_, undisturbed.weights_)
    np.testing.assert_allclose(found.weights_, local.weights_, atol=1e-5)


def worker_of(client: Any, futures: list[Any]) -> int:
    """Return the process that holds one of these results."""
    holders = client.who_has(futures)
    addresses = {address for found in holders.values() for address in found}
    return int(client.run(os.getpid, workers=sorted(addresses)[:1]).popitem()[1])


def test_results_lost_after_the_wait_are_computed_again(
    X: np.ndarray, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, passes = distributed.wait, iter(range(1, 10**6))
    lost = []
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        made = da.from_array(X, chunks=(40, 100)).persist()
        expected = selector().fit(made).weights_

        def wait(futures: list[Any], **settings: Any) -> Any:
            found = plain(futures, **settings)
            if next(passes) == 8:
                os.kill(worker_of(client, futures), signal.SIGKILL)
                end = time.monotonic() + 10
                while not lost and time.monotonic() < end:
                    lost.extend(future for future in futures if future.status == "lost")
            return found

        monkeypatch.setattr(distributed, "wait", wait)
        found = selector().fit(made)
    assert lost
    np.testing.assert_array_equal(found.weights_, expected)


def test_input_that_cannot_be_computed_again(X: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        chunk = client.scatter(X)  # it is on one worker, and nowhere else
        made = da.from_delayed(delayed(chunk), X.shape, dtype=float)
        during_pass(monkeypatch, 4, lambda: os.kill(worker_of(client, [chunk]), signal.SIGKILL))
        model = selector()
        with pytest.raises(RuntimeError, match="lost or cancelled the tasks"):
            model.fit(made)
        assert not hasattr(model, "weights_")


def test_a_cluster_that_loses_all_workers(X: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    from eigensieve.data.dask import graph as waiting

    monkeypatch.setattr(waiting, "_PATIENCE", 1.0)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        during_pass(monkeypatch, 5, lambda: cluster.scale(0))
        model = selector()
        with pytest.raises(RuntimeError, match="no workers"):
            model.fit(da.from_array(X, chunks=(40, 100)))
        assert not hasattr(model, "weights_")
