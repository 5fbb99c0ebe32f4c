"""The probabilistic and the guided search, and the compiled gains under them."""

import numpy as np
import pytest

from eigensieve.elements import RBF, MaskedKernel, Plan, PrintedState, SelectionState
from eigensieve.elements.greedy import SampledData, select_exact, select_probabilistic, sketch
from eigensieve.elements.guided import select_guided
from eigensieve.elements.kernel import LINEAR, POLY
from eigensieve.elements.state import Trial
from reference.elements import algorithm_one, squared_error

KERNELS = {
    "rbf": MaskedKernel(RBF, gamma=0.3),
    "poly": MaskedKernel(POLY, gamma=0.3, degree=3, coef0=1.0),
    "linear": MaskedKernel(LINEAR),
}


def state_for(kernel, seed=0, n_samples=150, n_features=6, n_basis=20, outputs=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features))
    B = X[:n_basis].copy()
    return SelectionState(kernel, X, B, KERNELS["rbf"].full(X, B) @ rng.normal(size=(n_basis, outputs)))


def probabilistic(state, n_elements, seed=0, n_tries=3):
    plan = Plan(n_elements=n_elements, rescale=False, sample_fraction=0.3, chunk_size=5, n_tries=n_tries)
    return select_probabilistic(state, plan, np.random.default_rng(seed))


def guided(state, n_elements, seed=0):
    plan = Plan(n_elements=n_elements, rescale=False, sample_fraction=0.0, least_samples=100)
    return select_guided(state, plan, np.random.default_rng(seed))


def exact(state, n_elements):
    return select_exact(state, Plan(n_elements=n_elements, rescale=False))


@pytest.mark.parametrize("name", list(KERNELS))
def test_compiled_gains_equal_the_formula(name):
    kernel = KERNELS[name]
    state = state_for(kernel, outputs=2)
    state.add_element(3, 1)
    sample = SampledData.draw(state, 10_000, np.random.default_rng(0))
    residuals = sample.residuals(state.residual)
    sums = sample.sums(kernel, state.columns[0])
    gains = sample.gains(kernel, 3, np.arange(6), sums, residuals)
    for i in range(6):
        features = [1, i]
        total = kernel.terms(state.X[:, features], state.B[3, features]).sum(axis=1)
        c = kernel.finish(total) - kernel.finish(total).mean()
        expected = ((state.residual.T @ c) ** 2).sum() / (c @ c) / len(c)
        assert gains[i] == pytest.approx(expected, rel=2e-3, abs=1e-7)


@pytest.mark.parametrize("name", list(KERNELS))
@pytest.mark.parametrize("search", [probabilistic, guided])
def test_searches_lower_the_error_they_report(name, search):
    state = state_for(KERNELS[name])
    found = search(state, 12)
    assert 1 <= found.n_elements <= 12
    error = squared_error(found.design(found.columns), found.targets) / found.start_error
    assert found.relative_error == pytest.approx(error, abs=1e-9)
    assert found.path[-1] == pytest.approx(error, abs=1e-9)
    assert len(found.path) == found.n_elements
    assert state.n_elements == 0  # the state handed in is left alone


def test_probabilistic_with_all_candidates_and_samples_starts_like_exact():
    state = state_for(KERNELS["rbf"], n_basis=6)
    best = exact(state, 1)
    plan = Plan(n_elements=1, rescale=False, n_candidates=36, sample_fraction=1.0, chunk_size=1, n_tries=1)
    found = select_probabilistic(state, plan, np.random.default_rng(0))
    assert (found.columns[0].basis, found.columns[0].features) == (best.columns[0].basis, best.columns[0].features)


def test_probabilistic_with_all_candidates_and_samples_is_algorithm_one():
    rng = np.random.default_rng(0)
    X, alpha = rng.normal(size=(40, 4)), rng.normal(size=5)
    kernel = MaskedKernel(RBF, gamma=0.6)
    state = PrintedState(kernel, X, X[:5].copy())
    plan = Plan(n_elements=8, rescale=False, n_candidates=20, sample_fraction=1.0, chunk_size=1, n_tries=1)
    found = select_probabilistic(state, plan, np.random.default_rng(0))
    M, _, path = algorithm_one(X, X[:5], alpha, 8, 0.6)
    assert M.sum(axis=0).max() > 1  # some columns grew
    assert {(i, c.basis) for c in found.columns for i in c.features} == set(zip(*np.nonzero(M), strict=True))
    np.testing.assert_allclose(np.array(found.path) * state.start_error, path, rtol=1e-9)


def test_algorithm_one_where_columns_depend_on_each_other_on_the_sample():
    """Whole numbers repeat, and a tenth of the samples has fewer rows than there are columns."""
    X = np.round(np.random.default_rng(16).normal(size=(34, 4)))
    state = PrintedState(KERNELS["poly"], X, X[:20].copy())
    found = probabilistic(state, 35)
    assert found.n_elements > 20 and (np.diff(found.path) <= 1e-12).all()


def test_more_tries_are_better_on_average():
    few = [probabilistic(state_for(KERNELS["rbf"]), 15, seed, n_tries=1).relative_error for seed in range(3)]
    many = [probabilistic(state_for(KERNELS["rbf"]), 15, seed, n_tries=5).relative_error for seed in range(3)]
    assert np.mean(many) < np.mean(few)


def test_guided_picks_the_best_first_element_up_to_binning():
    for seed in range(5):
        state = state_for(KERNELS["rbf"], seed, n_basis=40)
        best, found = exact(state, 1), guided(state, 1)
        assert best.relative_error <= found.relative_error + 1e-12
        assert found.relative_error < best.relative_error + 0.01


def test_guided_grows_columns_for_features_that_count_together():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 8))
    targets = np.exp(-4 * ((X[:, [2, 5]] - 0.2) ** 2).sum(axis=1))[:, None]
    B = X[np.argsort(((X[:, [2, 5]] - 0.2) ** 2).sum(axis=1))[:10]]
    kernel = MaskedKernel(RBF, gamma=2.0)
    state = SelectionState(kernel, X, B, targets)
    found = select_guided(state, Plan(n_elements=2, least_samples=400, fill=True), np.random.default_rng(0))
    assert len(found.columns) == 1 and set(found.columns[0].features) == {2, 5}
    assert found.relative_error < 0.05


def test_trial_follows_a_growing_state():
    state = state_for(KERNELS["rbf"])
    block = np.stack([state.values(c) for c in exact(state, 4).columns], axis=1)
    trial = Trial(block)
    trial.gains(state)
    state.add_element(7, 2)
    state.add_element(9, 4)
    np.testing.assert_allclose(trial.gains(state), Trial(block).gains(state), rtol=1e-8)
    for k, gain in enumerate(trial.gains(state)):
        after = squared_error(np.column_stack([state.design(state.columns), block[:, k]]), state.targets)
        assert state.error - after == pytest.approx(gain, rel=1e-6)


def test_sketch_keeps_squared_products_on_average():
    rng = np.random.default_rng(0)
    R, c = rng.normal(size=(30, 12)), rng.normal(size=30)
    mean = np.mean([((sketch(R, rng).T @ c) ** 2).sum() for _ in range(4000)])
    assert mean == pytest.approx(((R.T @ c) ** 2).sum(), rel=0.06)
    np.testing.assert_array_equal(sketch(R[:, :3], rng), R[:, :3])


def test_single_precision_exponentials():
    from eigensieve.elements import _greedy_numba, _predictor_numba

    x = -np.concatenate([np.linspace(0, 2, 4001), np.linspace(2, 80, 4001), [0.0, 1e-8, 1e-4]]).astype(np.float32)
    out = np.empty_like(x)
    _greedy_numba.candidate_column(RBF, np.float32(1), 1, np.float32(0), -x, np.zeros_like(x), np.float32(0), out)
    np.testing.assert_allclose(out, np.exp(x.astype(np.float64)), atol=2e-7)
    near = np.empty((len(x), 1))
    _predictor_numba.tiled_decision(
        RBF, 1, np.float32(0), np.sqrt(-x)[:, None].astype(np.float32), np.array([0]), np.array([0, 1]),
        np.array([0]), np.zeros(1, np.float32), np.ones(1, np.float32), np.ones((1, 1)), np.zeros(1), near,
    )  # fmt: skip
    exact = np.expm1(-(np.sqrt(-x).astype(np.float64) ** 2))
    np.testing.assert_allclose(near[:, 0], exact, rtol=5e-7)
