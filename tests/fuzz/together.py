"""Several processes at once: two that write the same files, forks after a fit, searches in parallel."""

import os
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import parallel_backend
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import eigensieve
from eigensieve import CheckpointError, QAlphaSelector, load_model, save_model, selection_stability
from eigensieve.tables import read_table
from fuzz import relations
from fuzz.interruptions import be_the_command_line

Spec = dict[str, Any]

SECONDS = 60
_PATIENCE = 120.0
_SELECTORS = ("SieveSelector", "QAlphaSelector", "TraceRatioSelector", "KernelQAlphaSelector")
_FORKED = (*_SELECTORS, "FeatureMap", "ElementSelectedSVC", "ElementSelectedSVR", "ReducedSetSVC")


def draw(rng: np.random.Generator, target: str) -> Spec:
    names = _FORKED if target == "fork after fit" else _SELECTORS
    return {
        "kind": target,
        "estimator": names[int(rng.integers(len(names)))],
        "backend": ("loky", "threading")[int(rng.integers(2))],
        "delay": float(rng.random() ** 2 * 0.05),
        "seed": int(rng.integers(2**31)),
    }


def check(spec: Spec) -> str:
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        return _KINDS[spec["kind"]](spec, Path(folder))


def _in_fork(action: Callable[[], None]) -> int:
    """Do something in a fork of this process; return its number."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            action()
            code = 0
        except (CheckpointError, OSError) as error:
            code = 3 if "checkpoint" in str(error) or "results" in str(error) else 1
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return child


def _codes(children: list[int]) -> list[int]:
    """Return the exit codes; raise if a process does not end."""
    end, found = time.monotonic() + _PATIENCE, {}
    while len(found) < len(children):
        for child in children:
            if child not in found:
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    found[child] = os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            for child in set(children) - set(found):
                os.kill(child, 9)
                os.waitpid(child, 0)
            raise AssertionError(f"a fork did not end in {_PATIENCE:g} seconds")
        time.sleep(0.002)
    return [found[child] for child in children]


def _data(seed: int) -> np.ndarray:
    X = np.random.default_rng(seed).standard_normal((30, 12))
    X[:15, :4] += 2.0
    return X


def _two_writers(spec: Spec, folder: Path) -> str:
    """Write two models, again and again, to one file; a reader sees one or the other, whole."""
    X = _data(spec["seed"])
    models = [QAlphaSelector(n).fit(X) for n in (3, 5)]
    path = folder / "model.skops"
    save_model(models[0], path)

    def write(model: Any) -> None:
        for _ in range(10):
            save_model(model, path)
            time.sleep(spec["delay"])

    children = [_in_fork(lambda model=model: write(model)) for model in models]
    for _ in range(20):
        assert int(load_model(path).support_.sum()) in (3, 5)
        time.sleep(spec["delay"])
    assert _codes(children) == [0, 0]
    assert [file.name for file in folder.iterdir()] == ["model.skops"], "something was left behind"
    return "whole"


def _two_outputs(spec: Spec, folder: Path) -> str:
    """Write the same table and report with two commands, which choose another number of features: those of one."""
    pd.DataFrame(_data(spec["seed"])).add_prefix("g").to_csv(folder / "table.csv", index=False)
    out = folder / "out"
    out.mkdir()

    def select(n: int) -> None:
        time.sleep(spec["delay"] * (n == 5))
        parts = [
            "select",
            folder / "table.csv",
            "--method",
            "qalpha",
            "-n",
            n,
            "-o",
            out / "x.csv",
            "-r",
            out / "r.html",
        ]
        be_the_command_line([*map(str, parts), "-r", str(out / "r.html"), "--force"], folder / f"said {n}")

    codes = _codes([_in_fork(lambda n=n: select(n)) for n in (3, 5)])
    assert codes == [0, 0], [codes, *(file.read_text() for file in folder.glob("said*"))]
    assert sorted(file.name for file in out.iterdir()) == ["r.html", "x.csv"], "something was left behind"
    assert read_table(out / "x.csv").X.shape in ((30, 3), (30, 5)), "the table of both"
    assert (out / "r.html").read_text().rstrip().endswith("</html>"), "the report is cut"
    return "whole"


def _two_caches(spec: Spec, folder: Path) -> str:
    """Compile with two programs into one folder of numba's cache; a third one finds it. All compute the same, but for
    rounding: what numba loads and what it has just compiled were seen to differ by 5e-7."""
    code = (
        "import numpy, eigensieve\n"
        f"rng = numpy.random.default_rng({spec['seed']})\n"
        "X, y = rng.standard_normal((40, 6)), numpy.arange(40) % 2\n"
        "model = eigensieve.ElementSelectedSVC(n_elements=5, random_state=0).fit(X, y)\n"
        "print(*model.decision_function(X))"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    own = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": os.pathsep.join(sys.path)}

    def started() -> subprocess.Popen[str]:
        return subprocess.Popen(command, env=own, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    said = [program.communicate(timeout=2 * _PATIENCE) for program in (started(), started())]
    said.append(started().communicate(timeout=_PATIENCE))
    assert all(out and not err for out, err in said), said
    first, *others = (np.array(out.split(), dtype=float) for out, _ in said)
    for other in others:
        np.testing.assert_allclose(other, first, rtol=0, atol=1e-4 * np.abs(first).max())
    return "the same answer"


def _two_checkpoints(spec: Spec, folder: Path) -> str:
    """Use one checkpoint folder, or one results file, from two processes: the right result, or an error."""
    X = _data(spec["seed"])
    stability = spec["seed"] % 2 == 0

    def run(place: Path | None) -> np.ndarray:
        if stability:
            kept = None if place is None else place / "runs.npz"
            return selection_stability(
                VarianceThreshold(1.0), X, n_subsamples=4, random_state=0, results=kept
            ).selections
        kept = None if place is None else place / "steps"
        return QAlphaSelector(4, 2).fit(X, checkpoint=kept).weights_

    expected = run(None)

    def compare() -> None:
        np.testing.assert_array_equal(run(folder), expected)

    codes = _codes([_in_fork(compare) for _ in range(2)])
    assert set(codes) <= {0, 3}, f"exit codes {codes}"
    try:
        compare()
    except CheckpointError:
        codes.append(3)
    return "the same result" if set(codes) == {0} else "refused: one of them"


def _fork_after_fit(spec: Spec, folder: Path) -> str:
    """Fit, fork, and do the same in the fork."""
    case = {"relation": "the same again", "known": "labels", "settings": {}, "n_samples": 40, "n_features": 12}
    own = {**case, "estimator": spec["estimator"], "seed": spec["seed"]}
    data = relations.case_of(own)
    model = relations.fit(own, data)
    expected = relations.answer(model, data)

    def same() -> None:
        np.testing.assert_array_equal(relations.answer(model, data), expected)
        np.testing.assert_array_equal(relations.answer(relations.fit(own, data), data), expected)

    assert _codes([_in_fork(same)]) == [0]
    return "the same answer"


def _grid_search(spec: Spec, folder: Path) -> str:
    """Search over sizes, one after the other and in parallel: the same scores."""
    X, y = _data(spec["seed"]), np.repeat([0, 1], 15)
    pipeline = make_pipeline(getattr(eigensieve, spec["estimator"])(), KNeighborsClassifier(3))
    grid = {f"{spec['estimator'].lower()}__n_features_to_select": [2, 4]}

    def search(n_jobs: int) -> np.ndarray:
        return GridSearchCV(pipeline, grid, cv=3, n_jobs=n_jobs).fit(X, y).cv_results_["mean_test_score"]

    expected = search(1)
    with parallel_backend(spec["backend"]):
        np.testing.assert_array_equal(search(2), expected)
    return "the same scores"


_KINDS: dict[str, Callable[[Spec, Path], str]] = {
    "two writers": _two_writers,
    "two outputs": _two_outputs,
    "two caches": _two_caches,
    "two checkpoints": _two_checkpoints,
    "fork after fit": _fork_after_fit,
    "grid search": _grid_search,
}
