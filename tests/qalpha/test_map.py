"""Rounds of the map against the transcription."""

import numpy as np
import pytest

from eigensieve import FeatureMap, QAlphaSelector
from eigensieve.data import as_data
from eigensieve.datasets import make_two_solutions
from eigensieve.operators import StandardAffinity
from eigensieve.qalpha import Problem, SolveSettings, map_rounds
from reference import side as naive
from reference.supervised import unit_rows


def rounds_of(X, **options):
    options = {"n_rounds": 2, "strength": 0.5} | options
    problem = Problem(StandardAffinity(as_data(X).standardized("center")), 2, 0.0, np.ones(X.shape[1], dtype=bool))
    return map_rounds(problem, SolveSettings(tol=1e-9, max_iter=3000), **options)


def test_rounds_match_the_transcription():
    X = make_two_solutions(random_state=0).X
    for ours, (weights, relevance, _) in zip(rounds_of(X), naive.map_rounds(X, 2, 2, 0.5), strict=True):
        np.testing.assert_allclose(ours.result.weights, weights, atol=1e-5)
        np.testing.assert_allclose(ours.relevance, relevance, atol=1e-5)


def test_coordinates_are_angles_in_the_frame_of_g():
    X = make_two_solutions(random_state=0).X
    M = unit_rows(X)
    for each in rounds_of(X):
        Q = each.result.embedding
        values, vectors = np.linalg.eigh((M @ M.T) * (M @ Q @ Q.T @ M.T))
        frame = vectors[:, -2:] * np.sqrt(values[-2:])
        expected = frame / np.linalg.norm(frame, axis=1, keepdims=True)
        found = np.column_stack([np.sin(each.coordinates), np.cos(each.coordinates)])
        np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-6)
        assert np.cos(each.coordinates[each.relevance > 0.1]).min() > 0


def test_many_features_give_the_same_places_as_the_dense_path():
    rng = np.random.default_rng(0)
    X = np.hstack([make_two_solutions(random_state=2).X, rng.standard_normal((150, 40))])
    M = unit_rows(X)
    for each in rounds_of(X):
        Q = each.result.embedding
        leading = np.linalg.eigh((M @ M.T) * (M @ Q @ Q.T @ M.T))[1][:, -1]
        np.testing.assert_allclose(np.abs(each.relevance), np.abs(leading), atol=1e-4)


def test_side_variances_count_in_every_round():
    X = make_two_solutions(random_state=0).X
    blocked = np.zeros(20)
    blocked[:3] = 1e6
    for each in rounds_of(X, side_variances=blocked):
        assert np.abs(each.result.weights[:3]).max() < 1e-3


@pytest.mark.parametrize("seed", range(6))
def test_two_rounds_find_the_two_solutions(seed):
    data = make_two_solutions(random_state=seed)
    for number, each in enumerate(rounds_of(data.X)):
        assert set(np.argsort(-each.relevance)[:6]) == set(np.flatnonzero(data.solutions[:, number]))


def test_the_first_round_of_the_gap_is_that_of_q_alpha():
    X = make_two_solutions(random_state=0).X
    settings = {"n_clusters": 2, "criterion": "gap", "solver_options": {"tol": 1e-9, "max_iter": 3000}}
    mapped = FeatureMap(3, **settings).fit(X)
    plain = QAlphaSelector(3, **settings).fit(X)
    np.testing.assert_allclose(mapped.weights_[:, 0], plain.weights_, atol=1e-6)
    M = unit_rows(X)
    V = M @ M.T
    for relevance, Q in zip(mapped.relevance_.T, mapped.embeddings_, strict=True):
        G = V * (2 * (M @ Q) @ (M @ Q).T - V)
        np.testing.assert_allclose(np.abs(relevance), np.abs(np.linalg.eigh(G)[1][:, -1]), atol=1e-6)
    D = (mapped.weights_[:, 0] / np.abs(mapped.weights_[:, 0]).max()) ** 2
    values, vectors = np.linalg.eig(G / (D + 0.5)[:, None])
    second = np.real(vectors[:, np.argmax(np.real(values))])
    np.testing.assert_allclose(np.abs(mapped.weights_[:, 1]), np.abs(second) / np.linalg.norm(second), atol=1e-5)
