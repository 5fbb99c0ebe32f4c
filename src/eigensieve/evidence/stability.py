"""Stability: how often each feature is selected when samples are left out."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from eigensieve._errors import check_range, wrong_parameter
from eigensieve._files import CheckpointError, staged
from eigensieve._progress import Progress, progress_for
from eigensieve._sklearn import num_samples, safe_indexing
from eigensieve._types import Array, BoolArray, FloatArray, IntArray, JsonDict, MatrixLike, OneEach, RandomState
from eigensieve.data import as_data, fingerprint, is_stored

STABLE = 0.8
"""The fraction of subsamples from which a feature counts as stable: inside Meinshausen and Bühlmann's 0.6 to 0.9."""
_NAME = "selection_stability"


@dataclass(frozen=True)
class Stability:
    """Selections over subsamples.

    Parameters
    ----------
    selections : ndarray of bool of shape (n_subsamples, n_features)
        Which features were selected on which subsample.
    feature_names : ndarray of str, default=None
        Their names, where they have names.
    """

    selections: BoolArray
    feature_names: Array | None = None

    @property
    def frequencies(self) -> FloatArray:
        """Fraction of the subsamples on which each feature was selected."""
        return np.asarray(self.selections.mean(axis=0))

    def stable(self, threshold: float = STABLE) -> IntArray:
        """Return the features that were selected often, most frequent first.

        Parameters
        ----------
        threshold : float, default=0.8
            On which fraction of the subsamples a feature must have been selected.

        Returns
        -------
        features : ndarray of int
            Column numbers.
        """
        order = np.lexsort((np.arange(self.selections.shape[1]), -self.frequencies))
        return order[self.frequencies[order] >= threshold]


def selection_stability(
    selector: BaseEstimator,
    X: MatrixLike,
    y: OneEach = None,
    *,
    groups: OneEach = None,
    fit_params: Callable[[IntArray], JsonDict] | None = None,
    n_subsamples: int = 50,
    fraction: float = 0.5,
    random_state: RandomState = 0,
    n_jobs: int | None = None,
    results: str | os.PathLike[str] | None = None,
    verbose: int = 0,
    progress: Progress | None = None,
) -> Stability:
    """Fit clones of a selector on random subsamples of the samples and count what each selects.

    Subsample r depends only on `random_state` and r. So the result is the same for any number of jobs, and an
    interrupted run continues where it stopped if `results` names a file.

    Parameters
    ----------
    selector : estimator
        Any selector with `fit` and `get_support`. It is cloned and not changed.
    X : array-like, sparse matrix, or stored or distributed data, of shape (n_samples, n_features)
        Samples in rows.
    y : array-like of shape (n_samples,), optional
        Labels, for selectors that use them.
    groups : array-like of shape (n_samples,), optional
        The donor of each sample, where donors give several: subsamples then hold all samples of some of the groups.
        They are passed on to `fit` if it takes `groups`.
    fit_params : callable, optional
        Returns further arguments of `fit` for a subsample, given the indices of its samples.
    n_subsamples : int, default=50
        How many subsamples are fitted.
    fraction : float, default=0.5
        Fraction of the samples, or of the groups, in a subsample.
    random_state : int, RandomState, Generator or None, default=0
        Seed; the same seed gives the same result. It must be a number where `results` names a file.
    n_jobs : int or None, default=None
        Number of jobs that joblib runs at once.
    results : path or None, default=None
        Selections are written to this file (.npz) after every subsample and read from it at the start. A file of
        another selector, other data, labels, settings or `fit_params` is refused, and so is a damaged one.
    verbose : int, default=0
        Whether progress is printed.
    progress : callable, optional
        Called with a message after every subsample, instead of printing what `verbose` asks for.

    Raises
    ------
    CheckpointError
        The file `results` is of another run, or damaged.

    References
    ----------
    N. Meinshausen and P. Bühlmann, "Stability selection", Journal of the Royal Statistical Society B 72, 2010.
    """
    if not 0.0 < fraction < 1.0:
        raise wrong_parameter("fraction", _NAME, "be between 0 and 1", fraction)
    check_range(_NAME, n_subsamples=(n_subsamples, 1))
    X = _checked(X, y)
    seed = _seed(random_state, kept=results is not None)
    n_samples, n_features = X.shape
    units = np.arange(n_samples) if groups is None else _units(groups, n_samples)
    n_units = int(units.max()) + 1
    size = max(1, round(fraction * n_units))
    progress = progress_for("selection_stability", verbose) if progress is None else progress

    def rows(run: int) -> IntArray:
        chosen = np.random.default_rng([seed, run]).permutation(n_units)[:size]
        return np.sort(chosen) if groups is None else np.flatnonzero(np.isin(units, chosen))

    def known_of(run: int) -> JsonDict:
        known = {} if fit_params is None else fit_params(rows(run))
        own = {} if groups is None or not has_fit_parameter(selector, "groups") else {"groups": units[rows(run)]}
        return own | known

    identity = "" if results is None else _identity(selector, X, y, known_of(0), size, seed)
    store = _Store(results, identity, n_features)
    missing = [run for run in range(n_subsamples) if run not in store.selections]

    def job(run: int) -> Any:
        return delayed(_selected)(clone(selector), X, y, rows(run), known_of(run), run)

    jobs = (job(run) for run in missing)
    for run, support in Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs):
        store.add(run, support)
        progress(f"{len(store.selections)} of {n_subsamples} subsamples")
    selections = np.stack([store.selections[run] for run in range(n_subsamples)])
    return Stability(selections, _names(X))


def _checked(X: MatrixLike, y: OneEach) -> Any:
    """Return X in a form from which samples can be cut, once its shape and the length of y are checked."""
    if hasattr(X, "tocsr"):
        X = X if X.format in ("csr", "csc") else X.tocsr()
    elif not hasattr(X, "shape"):
        X = np.asarray(X)
    if len(X.shape) != 2 or not isinstance(X.shape[0], Integral):
        must = "have samples in rows and features in columns, and a known number of both"
        fix = "of a Dask frame take X.to_dask_array(lengths=True)"
        raise wrong_parameter("X", _NAME, must, f"shape {X.shape}", fix)
    if y is not None and num_samples(y) != X.shape[0]:
        raise wrong_parameter("y", _NAME, f"have one label per sample of X ({X.shape[0]})", num_samples(y))
    return X


def _units(groups: OneEach, n_samples: int) -> IntArray:
    words = np.asarray(groups).reshape(-1)
    if len(words) != n_samples:
        raise wrong_parameter("groups", _NAME, f"have one value per sample of X ({n_samples})", len(words))
    return np.unique(words.astype(str), return_inverse=True)[1].reshape(-1)


def _seed(random_state: RandomState, *, kept: bool) -> int:
    """Return the seed of all subsamples. Where results are kept, another call must find the same one."""
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return int(random_state)
    if kept:
        must = "be a number from 0 on where 'results' names a file: another call would draw other subsamples and could "
        raise wrong_parameter("random_state", _NAME, f"{must}not go on", repr(random_state))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31))
    return int(check_random_state(random_state).randint(2**31))


def _names(X: MatrixLike) -> Array | None:
    """Return the names of the features, where the data has names: a frame, an AnnData or a data matrix."""
    found = (getattr(X, where, None) for where in ("columns", "var_names", "feature_names"))
    names = next((some for some in found if some is not None), None)
    return None if names is None else np.asarray(names, dtype=str)


def _selected(
    selector: BaseEstimator, X: MatrixLike, y: OneEach, rows: IntArray, known: JsonDict, run: int
) -> tuple[int, BoolArray]:
    labels = None if y is None else safe_indexing(y, rows)
    return run, np.asarray(selector.fit(safe_indexing(X, rows), labels, **known).get_support(), dtype=bool)


def _identity(selector: BaseEstimator, X: MatrixLike, y: OneEach, known: JsonDict, size: int, random_state: int) -> str:
    """Return the settings that a results file must agree with. `known` are the `fit_params` of the first subsample."""
    settings = {
        "selector": type(selector).__name__,
        "parameters": joblib.hash(selector.get_params()),
        "X": _digest(X),
        "y": None if y is None else joblib.hash(np.asarray(y)),
        "fit_params": {name: _digest(value) for name, value in known.items()},
        "size": size,
        "random_state": random_state,
    }
    return json.dumps(settings, sort_keys=True)


def _digest(X: MatrixLike) -> str:
    """Return a fingerprint of data of any kind, or of any other argument."""
    if not is_stored(X) and hasattr(X, "to_numpy"):
        X = X.to_numpy()
    try:
        return fingerprint(as_data(X))
    except TypeError:  # not a matrix of numbers
        return str(joblib.hash(X))


class _Store:
    """Selections by subsample, in memory. If a path is given, also in a file that every addition replaces."""

    def __init__(self, path: str | os.PathLike[str] | None, fingerprint: str, n_features: int) -> None:
        self.path = None if path is None else Path(path)
        self.fingerprint = fingerprint
        self.selections: dict[int, BoolArray] = {}
        if self.path is not None and self.path.exists():
            try:
                self.selections = self._read(self.path, n_features)
            except CheckpointError:
                raise
            except Exception as error:  # a damaged file may raise anything
                raise CheckpointError(
                    f"The 'results' file {str(self.path)!r} of selection_stability is damaged: {error}. Remove it to "
                    "start afresh."
                ) from error

    def _read(self, path: Path, n_features: int) -> dict[int, BoolArray]:
        with np.load(path, allow_pickle=False) as stored:
            runs, packed = stored["runs"], stored["selections"]
            if str(stored["fingerprint"]) != self.fingerprint:
                raise CheckpointError(
                    f"The 'results' parameter of selection_stability must name a file of the same selector, data "
                    f"and settings. Got {str(path)!r}, which is of another run; remove it or name another."
                )
        selections = np.unpackbits(packed, axis=1, count=n_features).astype(bool)
        return dict(zip(runs.tolist(), selections, strict=True))

    def add(self, run: int, support: BoolArray) -> None:
        self.selections[run] = support
        if self.path is None:
            return
        runs = np.array(sorted(self.selections))
        packed = np.packbits(np.stack([self.selections[r] for r in runs.tolist()]), axis=1)
        with staged(self.path) as file, file.open("wb") as stream:  # the archive keeps a checksum of every array
            np.savez(stream, runs=runs, selections=packed, fingerprint=np.array(self.fingerprint))
