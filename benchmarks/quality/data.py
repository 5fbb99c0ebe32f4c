"""Labelled data sets by name, ready for selectors: dense float32, missing values filled in by the mean."""

from functools import lru_cache

import numpy as np

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


def part_of(name: str) -> str:
    """Return which part a set belongs to: sets read from files are a part of their own."""
    if name.endswith(".npz"):
        return "files"
    return "chosen-on" if name in CHOSEN_ON else "reported"


@lru_cache(maxsize=2)
def load(name: str, max_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return X (samples x features) and labels 0..c-1, at most `max_samples` rows drawn once and for all.

    ``NAME.npz`` paths are read as well, so that sets outside the data folder can be run: they need X and y.
    """
    if name.endswith(".npz"):
        with np.load(name, allow_pickle=False) as stored:
            X, y = stored["X"], stored["y"]
    else:
        bunch = load_real(name)
        X, y = bunch.data, bunch.target
    y = np.asarray(y)
    if len(y) > max_samples:
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[:max_samples])
        X, y = X[rows], y[rows]
    X = np.array(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float32)
    missing = np.isnan(X)
    if missing.any():
        means = np.nanmean(np.where(missing.all(axis=0), 0.0, X), axis=0)
        X = np.where(missing, means.astype(np.float32), X)
    return X[:, X.std(axis=0) > 0], np.unique(y, return_inverse=True)[1]


def standardized(X: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and deviation 1; constant columns 0."""
    Z = X.astype(np.float64)
    Z -= Z.mean(axis=0)
    deviation = Z.std(axis=0)
    vary = deviation > 1e-9 * max(1e-300, deviation.max())
    return np.where(vary, Z / np.where(vary, deviation, 1.0), 0.0)
