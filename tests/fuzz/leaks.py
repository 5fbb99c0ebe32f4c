"""Many calls in one process: no memory, file or thread is kept."""

import gc
import tempfile
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from eigensieve import load_model, open_data, save_model
from fuzz import relations

Spec = dict[str, Any]

PREFIX = "leaks "
SECONDS = 600

CALLS = 1000
_BEFORE = 15  # calls that fill caches
_MEGABYTES = 8.0


def draw(rng: np.random.Generator, target: str) -> Spec:
    return {"estimator": target.removeprefix(PREFIX), "seed": int(rng.integers(2**31))}


def check(spec: Spec) -> str:
    process = psutil.Process()
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        for number in range(_BEFORE + CALLS):
            if number == _BEFORE:
                gc.collect()
                memory, files, threads = process.memory_info().rss, process.num_fds(), threading.active_count()
            _call(spec, Path(folder))
        gc.collect()
        grown = (process.memory_info().rss - memory) / 1e6
        assert process.num_fds() <= files, f"{process.num_fds() - files} more open files"
        assert threading.active_count() <= threads, f"{threading.active_count() - threads} more threads"
        assert grown < _MEGABYTES, f"{grown:.1f} MB more after {CALLS} calls"
    return f"{CALLS} calls"


def _call(spec: Spec, folder: Path) -> None:
    if spec["estimator"] == "open_data":
        np.save(folder / "X.npy", np.random.default_rng(spec["seed"]).standard_normal((30, 40)))
        open_data(folder / "X.npy", max_memory="10kB").stats()
        return
    known = relations.KNOWN.get(spec["estimator"], ("labels",))[0]
    own = {"relation": "the same again", "known": known, "settings": {}, "n_samples": 36, "n_features": 12, **spec}
    data = relations.case_of(own)
    model = relations.fit(own, data)
    relations.answer(model, data)
    save_model(model, folder / "model.skops")
    load_model(folder / "model.skops")
