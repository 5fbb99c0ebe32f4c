"""What must not change the weights, and what must change them in a known way."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eigensieve import QAlphaSelector

SLOW = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
SEEDS = st.integers(0, 10_000)


def example(seed: int) -> np.ndarray:
    """A clear two-cluster structure on 5 of 25 features, so that there is one maximum to find."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((24, 25))
    X[:12, :5] += 4.0
    return X


def weights(X: np.ndarray, **options: object) -> np.ndarray:
    return QAlphaSelector(5, 1, solver_options={"max_iter": 2000, "tol": 1e-9}, **options).fit(X).weights_


@SLOW
@given(SEEDS)
def test_order_of_samples_does_not_matter(seed: int) -> None:
    X = example(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    np.testing.assert_allclose(weights(X[order]), weights(X), atol=1e-7)


@SLOW
@given(SEEDS)
def test_order_of_features_carries_over(seed: int) -> None:
    X = example(seed)
    order = np.random.default_rng(seed).permutation(X.shape[1])
    np.testing.assert_allclose(weights(X[:, order]), weights(X)[order], atol=1e-7)


@SLOW
@given(SEEDS, st.floats(-1e6, 1e6).filter(lambda scale: abs(scale) > 1e-6), st.floats(-1e3, 1e3))
def test_scaling_flipping_and_shifting_a_feature_do_not_matter(seed: int, scale: float, shift: float) -> None:
    """With centred unit columns, which is the default for the standard spectrum."""
    X = example(seed)
    changed = X.copy()
    changed[:, 3] = changed[:, 3] * scale
    changed[:, 7] = changed[:, 7] + shift
    np.testing.assert_allclose(weights(changed), weights(X), atol=1e-6)


@SLOW
@given(SEEDS, st.floats(1e-6, 1e6))
def test_scaling_a_feature_does_not_matter_to_the_laplacian(seed: int, scale: float) -> None:
    X = np.abs(example(seed))
    changed = X.copy()
    changed[:, 3] = changed[:, 3] * scale
    options = {"spectrum": "laplacian"}
    np.testing.assert_allclose(weights(changed, **options), weights(X, **options), atol=1e-6)


@SLOW
@given(SEEDS, st.integers(2, 4))
def test_repeating_all_samples_does_not_matter(seed: int, times: int) -> None:
    X = example(seed)
    np.testing.assert_allclose(weights(np.vstack([X] * times)), weights(X), atol=1e-7)


@SLOW
@given(SEEDS)
def test_a_duplicated_feature_gets_the_same_weight(seed: int) -> None:
    X = example(seed)
    found = weights(np.column_stack([X, X[:, 2], -X[:, 2]]))
    np.testing.assert_allclose(found[[25, 26]], found[2], atol=1e-8)


@SLOW
@given(SEEDS, st.floats(-1e3, 1e3))
def test_a_constant_feature_gets_nothing_and_changes_nothing(seed: int, value: float) -> None:
    X = example(seed)
    found = weights(np.insert(X, 4, value, axis=1))
    assert found[4] == 0.0
    np.testing.assert_allclose(np.delete(found, 4), weights(X), atol=1e-7)
