"""Real sets with times to an event: bundled with scikit-survival, and others in a folder.

``EIGENSIEVE_SURVIVAL`` names a folder of .npz files with X, event and time; docs/measured/panels.md lists their
sources. Half of the sets are for choosing among variants, the others are reported.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

CHOOSE = (
    "gbsg2",  # bundled
    "veterans",
    "aids",
    "vdv",  # the studies of the Netherlands Cancer Institute share patients
    "nki70",
    "nki_subset",
    "hnscc",
    "colon_GSE24549",
    "ovary_GSE51088",
    "tcga_sig_blca",
    "tcga_ucec",  # two tables of the same patients
    "tcga_sig_ucec",
)
REPORT = (
    "breast_GSE7390",  # bundled
    "whas500",
    "flchain",
    "lung_chen",
    "pbc",
    "peakVO2",
    "bladder_GSE1827",
    "ovary_GSE30009",
    "ovary_TCGA_mirna",
    "tcga_sig_luad",
    "breast_biospear",
    "ovary_jointcox",
    "metabric",
    "rotterdam",
    "support",
)
_BUNDLED = {
    "breast_GSE7390": "load_breast_cancer",
    "gbsg2": "load_gbsg2",
    "whas500": "load_whas500",
    "flchain": "load_flchain",
    "veterans": "load_veterans_lung_cancer",
    "aids": "load_aids",
}
MOST = 2_000  # samples of a set, drawn once
KIND = [("event", bool), ("time", float)]


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return X without gaps or constant columns, and y as (event, time)."""
    if name in _BUNDLED:
        from sksurv import datasets

        frame, found = getattr(datasets, _BUNDLED[name])()
        event, time = (found[field] for field in found.dtype.names)
        X = pd.get_dummies(frame, drop_first=True, dtype=float).to_numpy(dtype=float)
    else:
        with np.load(Path(os.environ["EIGENSIEVE_SURVIVAL"]) / f"{name}.npz") as file:
            X, event, time = file["X"], file["event"], file["time"]
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    rows = np.flatnonzero(time > 0)
    rows = np.sort(np.random.default_rng(0).permutation(rows)[:MOST])
    X, event, time = X[rows], event[rows], time[rows]
    y = np.array(list(zip(event.astype(bool), time, strict=True)), dtype=KIND)
    return X[:, X.std(axis=0) > 0], y


def available(names: tuple[str, ...]) -> Iterator[str]:
    """The sets that are there; only the bundled ones where no folder is named."""
    folder = os.environ.get("EIGENSIEVE_SURVIVAL")
    return (n for n in names if n in _BUNDLED or (folder and (Path(folder) / f"{n}.npz").exists()))
