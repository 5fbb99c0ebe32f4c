"""Labelled data sets by name, ready for selectors: dense float32, missing values filled in by the mean."""

import csv
import hashlib
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from eigensieve.datasets import load_real

CHOSEN_ON = (
    # looked at throughout the development of the sieve
    "BASEHOCK",
    "COIL20",
    "GLIOMA",
    "Isolet",
    "ORL_32x32",
    "USPS",
    "Yale_32x32",
    "arrhythmia",
    "colon_alon",
    "leukemia_golub",
    "pbmc68k_reduced",
    "UMIST",
    "warpPIE10P",
    "yan_embryo",
    # every second of the others by name: for choosing among variants
    "ALL_subtype",
    "CNAE9",
    "Goolam_embryo",
    "OSULeaf",
    "TOX_171",
    "UCR_Meat",
    "UCR_SwedishLeaf",
    "bladderbatch",
    "camp_cortex",
    "coffee_ir",
    "cox2",
    "diverse16S_HMP",
    "eHGDP",
    "forages_nir",
    "liver_toxicity_dose",
    "lung_discrete",
    "lymphoma_alizadeh3",
    "mESC_buettner",
    "mfeat",
    "mouse_bladder",
    "optdigits",
    "pollen",
    "ravel_nugent",
    "satimage",
    "semeion",
    "sorlie",
    "stemcells_mint",
    "yeoh_ALL_6types",
)
"""Sets on which something about the sieve was chosen. Its figures there are too good."""

REPORTED = (
    "BA",
    "BBCSport",
    "CNS_outcome_pomeroy",
    "CSTR",
    "DLBCL_outcome_shipp",
    "LSVT_voice",
    "MetRef_donor",
    "NCI60",
    "SRBCT_khan",
    "UCR_Adiac",
    "UCR_Plane",
    "armstrong_ALL_vs_rest",
    "breast_west_nodal",
    "chowdary",
    "cora",
    "enterotype",
    "gtzan_features",
    "leaf_flavia",
    "libras",
    "lung_gordon",
    "mdrr",
    "microbov",
    "qsar_biodeg",
    "reuters70",
    "sc_celseq2_5cl",
    "sms_spam",
    "tissue_dslabs",
)
"""Sets on which nothing was chosen."""

PARTS = {"reported": REPORTED, "chosen-on": CHOSEN_ON}


@cache
def _gathered() -> dict[str, str]:
    """The part of each set of docs/measured/fresh-sets.md: every second by name, without regard to case."""
    with Path(__file__).with_name("gathered.tsv").open(newline="", encoding="utf-8") as stream:
        return {row["name"]: row["part"] for row in csv.DictReader(stream, delimiter="\t")}


def part_of(name: str) -> str:
    """Return which part a set belongs to, by its name or that of its file. Files not known are a part of their own."""
    known = dict.fromkeys(REPORTED, "reported") | dict.fromkeys(CHOSEN_ON, "chosen-on") | _gathered()
    return known.get(Path(name).stem if name.endswith(".npz") else name, "files")


EXPRESSION = (
    "ALL_subtype",
    "CNS_outcome_pomeroy",
    "DLBCL_outcome_shipp",
    "GLIOMA",
    "NCI60",
    "SRBCT_khan",
    "TOX_171",
    "breast_west_nodal",
    "colon_alon",
    "leukemia_golub",
    "lung_gordon",
    "lymphoma_alizadeh3",
)
"""Expression sets whose files do not name their kind."""


def is_wide_expression(row: dict) -> bool:
    """Whether a row of the results is about bulk expression or methylation with at least 10 features per sample."""
    kind = row.get("kind", "")
    bulk = any(word in kind for word in ("expression", "methylation", "microarray"))
    return bulk and row["features"] >= 10 * row["samples"]


@lru_cache(maxsize=2)
def load(name: str, max_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return X (samples x features) and labels 0..c-1, at most `max_samples` rows drawn once and for all.

    ``NAME.npz`` paths are read as well, so that sets outside the data folder can be run. They need y, and X or the
    parts of a CSR matrix: X_data, X_indices, X_indptr and X_shape.
    """
    X, y, _ = _stored(name)
    if len(y) > max_samples:
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[:max_samples])
        X, y = X[rows], y[rows]
    X = np.array(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float32)
    missing = np.isnan(X)
    if missing.any():
        means = np.nanmean(np.where(missing.all(axis=0), 0.0, X), axis=0)
        X = np.where(missing, means.astype(np.float32), X)
    return X[:, X.std(axis=0) > 0], np.unique(y, return_inverse=True)[1]


@lru_cache(maxsize=2)
def about(name: str, max_samples: int) -> dict:
    """Return how many samples and features the stored set has, its kind, and a digest of X and y as selectors see them.

    Those who run the same set have the same digest.
    """
    stored, _, kind = _stored(name)
    X, y = load(name, max_samples)
    digest = hashlib.sha256(np.ascontiguousarray(X).tobytes() + y.astype(np.int64).tobytes()).hexdigest()[:12]
    return {"samples": stored.shape[0], "features": stored.shape[1], "kind": kind, "digest": digest}


def _stored(name: str) -> tuple[np.ndarray | csr_matrix, np.ndarray, str]:
    """X, y and kind as they are stored."""
    if not name.endswith(".npz"):
        bunch = load_real(name)
        kind = str(bunch.get("kind") or ("expression" if name in EXPRESSION else ""))
        return bunch.data, np.asarray(bunch.target), kind
    with np.load(Path(name), allow_pickle=False) as stored:
        kind = str(stored["kind"]) if "kind" in stored else ""
        if "X" in stored:
            return stored["X"], stored["y"], kind
        parts = (stored["X_data"], stored["X_indices"], stored["X_indptr"])
        return csr_matrix(parts, shape=tuple(stored["X_shape"])), stored["y"], kind


def standardized(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and deviation 1; constant columns 0."""
    Z = X.astype(np.float64)
    Z -= Z.mean(axis=0)
    deviation = Z.std(axis=0)
    vary = deviation > 1e-9 * max(1e-300, deviation.max())
    return np.where(vary, Z / np.where(vary, deviation, 1.0), 0.0)
