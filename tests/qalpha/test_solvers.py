"""Solvers against the naive transcription, and the promises every solver keeps for every variant."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from eigensieve import CheckpointError, QAlphaSelector
from eigensieve.data import as_data
from eigensieve.qalpha import SOLVERS, SolveSettings, solve
from reference import qalpha as naive
from support.backends import FEW, tolerance
from support.variants import VARIANT_IDS, VARIANTS, Variant

K = 3


@cache
def naive_solution(variant: Variant, seed: int, n_samples: int, n_features: int, k: int) -> tuple[np.ndarray, float]:
    """Weights and criterion of the basic method run to convergence on n x n matrices."""
    X = variant.example(seed, n_samples, n_features)
    L = naive.terms(naive.standardise(X, variant.normalize), variant.spectrum)
    alpha, _, history = naive.basic(L, naive.start(L, k), variant.criterion)
    return alpha, history[-1]


@pytest.mark.parametrize("variant", VARIANTS, ids=VARIANT_IDS)
@pytest.mark.parametrize("backend", FEW)
def test_default_solver_equals_naive_reference(variant: Variant, backend: str) -> None:
    alpha, value = naive_solution(variant, 1, 24, 40, K)
    X = variant.example(1, 24, 40)
    problem = variant.problem(as_data(FEW[backend](X)), K)
    single = "float32" in backend
    result = solve(problem, SolveSettings(tol=1e-5 if single else 1e-9, max_iter=2000))
    np.testing.assert_allclose(result.weights, alpha, atol=tolerance(backend, double=1e-6))
    np.testing.assert_allclose(result.objective, value, rtol=tolerance(backend, double=1e-9))


@pytest.mark.parametrize("variant", VARIANTS, ids=VARIANT_IDS)
@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_every_solver_finds_the_naive_maximum(variant: Variant, solver: str) -> None:
    alpha, value = naive_solution(variant, 2, 12, 44, 2)
    X = variant.example(2, 12, 44)
    result = solve(variant.problem(as_data(X), 2), SolveSettings(solver=solver, tol=1e-5, max_iter=3000))
    np.testing.assert_allclose(result.objective, value, rtol=1e-6)
    np.testing.assert_allclose(result.weights, alpha, atol=2e-3)


@pytest.mark.parametrize("variant", VARIANTS, ids=VARIANT_IDS)
@pytest.mark.parametrize("solver", sorted(SOLVERS))
@pytest.mark.parametrize("init", ["eigen", "random"])
def test_criterion_never_decreases(variant: Variant, solver: str, init: str) -> None:
    X = variant.example(seed=3, n_samples=10, n_features=42)
    problem = variant.problem(as_data(X), 2)
    result = solve(
        problem, SolveSettings(solver=solver, init=init, tol=1e-4, max_iter=25, rng=np.random.default_rng(0))
    )
    assert len(result.history) >= 2
    assert np.diff(result.history).min() >= 0.0
    assert result.history[-1] == pytest.approx(result.objective)


@pytest.mark.parametrize("variant", VARIANTS, ids=VARIANT_IDS)
def test_result_is_consistent_with_itself(variant: Variant) -> None:
    X = variant.example(seed=4)
    X[:, 5] = 0.5
    problem = variant.problem(as_data(X), K)
    result = solve(problem, SolveSettings(tol=1e-8, max_iter=2000))
    L = naive.terms(naive.standardise(X, variant.normalize), variant.spectrum)
    assert result.weights[5] == 0.0
    assert np.linalg.norm(result.weights) == pytest.approx(1.0)
    assert result.weights.sum() > 0
    expected = naive.criterion_value(L, result.weights, K, variant.criterion)
    assert result.objective == pytest.approx(expected, rel=1e-7)
    np.testing.assert_allclose(result.embedding.T @ result.embedding, np.eye(K), atol=1e-10)
    A = np.tensordot(result.weights, L, 1)
    np.testing.assert_allclose(
        A @ result.embedding,
        result.embedding * result.eigenvalues,
        atol=2e-4 * np.abs(result.eigenvalues).max(),
    )


def test_best_of_several_random_starts_is_kept() -> None:
    variant = VARIANTS[0]
    problem = variant.problem(as_data(variant.example(seed=5)), 2)
    one = [
        solve(problem, SolveSettings(init="random", max_iter=500, rng=np.random.default_rng(seed))).objective
        for seed in range(1)
    ]
    many = solve(problem, SolveSettings(init="random", n_init=6, max_iter=500, rng=np.random.default_rng(0))).objective
    assert many >= max(one) * (1 - 1e-12)


def test_a_step_is_one_pass() -> None:
    variant = VARIANTS[0]
    problem = variant.problem(as_data(variant.example(seed=6)), 2)
    result = solve(problem, SolveSettings(tol=1e-6, max_iter=50))
    assert result.n_passes == result.n_iter + 2  # the start and the first projections


def test_unfinished_search_is_reported_as_such() -> None:
    variant = VARIANTS[0]
    result = solve(variant.problem(as_data(variant.example(seed=7)), 2), SolveSettings(tol=1e-12, max_iter=2))
    assert result.status == "max_iter"
    assert not result.converged


@pytest.mark.filterwarnings("ignore:QAlphaSelector stopped")
@pytest.mark.parametrize("shift", ["moving", "printed"])
@pytest.mark.parametrize("backend", FEW)
@pytest.mark.parametrize("n_steps", [1, 2, 5])
def test_a_d_that_moves_is_that_of_the_printed_algorithm(shift: str, backend: str, n_steps: int) -> None:
    X = np.abs(np.random.default_rng(3).standard_normal((20, 12)))
    M = naive.standardise(X, "unit")
    start = naive.start(naive.terms(M, "laplacian"), 2)
    alpha, _ = naive.moving_laplacian(M, start, n_steps, printed=shift == "printed")
    options = {"shift": shift, "init": start, "max_iter": n_steps, "tol": 0.0}
    model = QAlphaSelector(1, 2, spectrum="laplacian", solver="power", solver_options=options)
    weights = model.fit(FEW[backend](X)).weights_
    np.testing.assert_allclose(weights, alpha, atol=tolerance(backend, double=1e-9))


def test_a_d_that_moves_settles_and_continues(tmp_path: Path) -> None:
    X = np.abs(np.random.default_rng(3).standard_normal((20, 12)))
    whole = QAlphaSelector(1, 2, spectrum="laplacian", solver="power", solver_options={"shift": "printed"}).fit(X)
    assert whole.converged_ and np.diff(whole.objective_history_).min() < 0  # the criterion changes in every step
    options = {"shift": "printed", "max_iter": 3}
    part = QAlphaSelector(1, 2, spectrum="laplacian", solver="power", solver_options=options)
    with pytest.warns(ConvergenceWarning):
        part.fit(X, checkpoint=tmp_path)
    again = part.set_params(solver_options={"shift": "printed"}).fit(X, checkpoint=tmp_path)
    np.testing.assert_allclose(again.weights_, whole.weights_, atol=1e-12)
    with pytest.raises(CheckpointError, match="solver differs"):
        part.set_params(solver_options={"shift": "moving"}).fit(X, checkpoint=tmp_path)
