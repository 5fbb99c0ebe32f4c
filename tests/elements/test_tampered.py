"""Stored machines whose arrays do not fit together are refused before compiled code can index by them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.svm import SVC

from eigensieve import ElementSelectedSVC, ReducedSetSVC, load_model, save_model
from eigensieve.estimators import ModelFileError
from eigensieve.estimators.element_machine import ElementMachine
from eigensieve.estimators.small_machine import SmallMachine

X = np.random.default_rng(0).standard_normal((80, 6))
y = X[:, 0] * X[:, 1] > 0


def written(model: Any, path: Path) -> Path:
    """Write a file as an attacker would: with fitting checksums, and without the checks of loading."""
    with pytest.MonkeyPatch.context() as patch:
        for owner in (ElementMachine, SmallMachine):
            patch.setattr(owner, "__setstate__", BaseEstimator.__setstate__)
        patch.setattr("eigensieve.estimators.persistence.misfit", lambda model: None)
        save_model(model, path)
    return path


def shorter(values: np.ndarray) -> np.ndarray:
    return values[:-1]


def repeated(values: np.ndarray) -> np.ndarray:
    return np.concatenate([values, values])


def huge(values: np.ndarray) -> np.ndarray:
    return np.full_like(values, 10**9)


def negative(values: np.ndarray) -> np.ndarray:
    return np.full_like(values, -(10**6))


def missing(values: np.ndarray) -> np.ndarray:
    return np.full(values.shape, np.nan)


def reversed_order(values: np.ndarray) -> np.ndarray:
    return values[::-1].copy()


TAMPERS = [
    *(("starts", change) for change in (shorter, repeated, huge, negative, reversed_order, missing)),
    *(("features", change) for change in (shorter, repeated, huge, negative, missing)),
    *((name, change) for name in ("values", "factors", "weights", "intercept") for change in (shorter, missing)),
]


@pytest.mark.filterwarnings("ignore:.* elements were found")
@pytest.mark.parametrize(("name", "change"), TAMPERS)
@pytest.mark.parametrize("table_size", [None, 64])
def test_a_tampered_machine_with_fitting_checksums_is_refused(name, change, table_size, tmp_path: Path) -> None:
    model = ElementSelectedSVC(n_elements=20, table_size=table_size, random_state=0).fit(X, y)
    vars(model._expansion)[name] = change(getattr(model._expansion, name))
    file = written(model, tmp_path / "m.skops")
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(file)


@pytest.mark.filterwarnings("ignore:.* elements were found")
@pytest.mark.parametrize(("name", "value"), [("_low", X[0, :3]), ("_high", X[0, :3]), ("n_features_in_", 5)])
def test_ranges_and_features_must_fit(name: str, value: object, tmp_path: Path) -> None:
    model = ElementSelectedSVC(n_elements=20, random_state=0).fit(X, y)
    setattr(model, name, value)
    file = written(model, tmp_path / "m.skops")
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(file)


@pytest.mark.parametrize(("name", "value"), [("kind", 7), ("gamma", float("nan")), ("degree", 10**9), ("coef0", "1")])
def test_the_kernel_must_be_one_of_an_svc(name: str, value: object, tmp_path: Path) -> None:
    model = ElementSelectedSVC(SVC(kernel="poly"), match="decision", n_elements=6, random_state=0).fit(X, y)
    vars(model._expansion.kernel)[name] = value
    file = written(model, tmp_path / "m.skops")
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(file)


@pytest.mark.parametrize("name", ["basis", "alpha", "intercept"])
def test_reduced_sets_must_fit_together(name: str, tmp_path: Path) -> None:
    model = ReducedSetSVC(n_vectors=4, random_state=0).fit(X, y)
    vars(model._expansion)[name] = shorter(getattr(model._expansion, name))
    file = written(model, tmp_path / "m.skops")
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(file)


def test_an_untouched_machine_comes_back(tmp_path: Path) -> None:
    model = ElementSelectedSVC(n_elements=20, table_size=64, random_state=0).fit(X, y)
    save_model(model, tmp_path / "m.skops")
    np.testing.assert_array_equal(load_model(tmp_path / "m.skops").decision_function(X), model.decision_function(X))
