"""The compiled passes against the same block functions in numpy."""

import numpy as np
import pytest

from eigensieve.data import as_data, dense
from eigensieve.data.dense import DenseData
from eigensieve.operators import ExpandStep, LaplacianAffinity, SpreadStep, StandardAffinity
from eigensieve.operators.steps import MOST_COLUMNS
from eigensieve.qalpha import Problem, SolveSettings, solve

TOLERANCE = {np.float32: 2e-4, np.float64: 1e-11}


@pytest.fixture(autouse=True)
def always_compiled(monkeypatch):
    monkeypatch.setattr(dense, "_ENTRIES", 0)
    monkeypatch.setattr(dense, "_COMPILED_DATA", 0)
    monkeypatch.setattr(DenseData, "block_size", lambda self: 500)


class InNumpy:
    """A block function without its compiled form."""

    def __init__(self, step):
        self.step = step

    def __call__(self, *arguments):
        return self.step(*arguments)


def made(n_samples, n_features, dtype, *, layout="rows", far=True):
    rng = np.random.default_rng(n_features)
    X = rng.standard_normal((n_samples, n_features)) + rng.normal(0, 0.5, n_features)
    X[:, 3] = 7.0  # constant
    if far:
        X[:, 5] += 1e4  # its block is standardised first, in numpy
    X = X.astype(dtype)
    if layout == "part":
        wider = np.zeros((n_samples, n_features + 9), dtype)
        wider[:, 4 : 4 + n_features] = X
        return wider[:, 4 : 4 + n_features]
    return np.asfortranarray(X) if layout == "columns" else X


def expand_step(affinity, dtype, k, old, n_new):
    rng = np.random.default_rng(k)
    kept = min(2 * k, 3 * k - n_new)
    return ExpandStep(
        affinity,
        rng.standard_normal((old + 1, old)),
        rng.standard_normal((3 * k, kept)).astype(dtype),
        rng.standard_normal((kept, k)).astype(dtype),
        rng.standard_normal((n_new, k)).astype(dtype),
        0.7,
        0.25,
        1.3,
        n_new,
        0,
        3 * k,
        False,
    )


def compare(found, expected, tolerance):
    pairs = zip(found.state, expected.state, strict=True)
    for ours, theirs in (*pairs, (found.back, expected.back), (found.total, expected.total)):
        assert ours.dtype == theirs.dtype
        scale = np.abs(theirs).max(initial=0.0)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance * max(scale, 1e-300))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("normalize", ["center", "unit"])
@pytest.mark.parametrize("layout", ["rows", "part", "columns"])
@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize(
    ("k", "old", "n_new", "shape"), [(1, 1, 1, (9, 40)), (2, 2, 2, (30, 3000)), (3, 2, 1, (61, 2049))]
)
def test_a_step_is_the_same_compiled(dtype, normalize, layout, far, k, old, n_new, shape):
    data = as_data(made(*shape, dtype, layout=layout, far=far)).standardized(normalize)
    data.n_segments = 2
    rng = np.random.default_rng(1)
    state = (rng.standard_normal((shape[1], old + 1)), rng.standard_normal((shape[1], 3 * k)).astype(dtype))
    state = (*state, np.empty((shape[1], 0)))
    V = rng.standard_normal((shape[0], n_new))
    step = expand_step(StandardAffinity(data), dtype, k, old, n_new)
    expected = data.sweep(V, InNumpy(step), state)
    compare(data.sweep(V, step, state), expected, TOLERANCE[dtype])
    donated = tuple(array.copy() for array in state)
    compare(data.sweep(V, step, donated, donate=True), expected, TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("keep", [0, 6])
@pytest.mark.parametrize("n_columns", [1, 4])
def test_spreading_is_the_same_compiled(dtype, keep, n_columns):
    data = as_data(made(30, 3000, dtype)).standardized("center")
    data.n_segments = 2
    rng = np.random.default_rng(2)
    weights, V = rng.standard_normal(3000), rng.standard_normal((30, n_columns))
    step = SpreadStep(StandardAffinity(data), keep)
    compare(data.sweep(V, step, (weights,)), data.sweep(V, InNumpy(step), (weights,)), TOLERANCE[dtype])


def test_what_is_compiled_and_what_is_not():
    data = as_data(made(30, 400, np.float64)).standardized("unit")
    columns = data.stored(10, 400)
    assert columns is not None and columns.memory[1:] == (400, 30, 390)
    assert data.stored(0, 10) is None  # the far column
    assert as_data(made(30, 400, np.float64)).stored(10, 400) is None  # no scale
    state, V = (np.ones(390),), np.ones((30, 2))
    assert SpreadStep(LaplacianAffinity(data)).fused(columns, V, state, (), None) is None
    many = np.ones((30, MOST_COLUMNS + 1))
    assert SpreadStep(StandardAffinity(data)).fused(columns, many, state, (), None) is None


@pytest.mark.parametrize("k", [1, 3])
def test_the_solver_reaches_the_same_weights(monkeypatch, k):
    X = made(40, 1500, np.float64)
    X[:20, :60] += 2.0
    data = as_data(X).standardized("center")
    usable = np.ones(1500, dtype=bool)
    problem = Problem(StandardAffinity(data), k, 0.0, usable)
    compiled = solve(problem, SolveSettings(tol=1e-6, max_iter=400))
    monkeypatch.setattr(ExpandStep, "fused", lambda *_: None)
    monkeypatch.setattr(SpreadStep, "fused", lambda *_: None)
    plain = solve(problem, SolveSettings(tol=1e-6, max_iter=400))
    np.testing.assert_allclose(np.abs(compiled.weights), np.abs(plain.weights), atol=1e-8)
