"""The experiments about knowledge, on a few draws: the full runs are in the documentation."""

import numpy as np
import pytest

from eigensieve.datasets import list_real
from eigensieve.experiments import hidden_sign, side_data_2004, two_solutions, weston


def test_pair_accuracy_is_the_mean_of_two_rates():
    y, clusters = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 1, 1, 1])
    pairs = [(a, b) for a in range(5) for b in range(a + 1, 5)]
    same = [clusters[a] == clusters[b] for a, b in pairs if y[a] == y[b]]
    different = [clusters[a] != clusters[b] for a, b in pairs if y[a] != y[b]]
    assert side_data_2004.pair_accuracy(y, clusters) == pytest.approx((np.mean(same) + np.mean(different)) / 2)


def test_hidden_signs():
    rates = hidden_sign.run(spreads=(0.005,), n_runs=3)
    assert rates[0.005]["kernel"] == 1.0
    assert "kernel" in hidden_sign.table(rates)


def test_two_solutions():
    rates = two_solutions.run(n_draws=4)
    assert rates["sets"] == 1.0
    assert rates["hybrids"] >= 0.75
    assert "hybrids" in two_solutions.table(rates)


def test_weston(recwarn):
    errors = weston.run(sizes=(50,), n_runs=2, n_test=200)
    assert errors["FeatureMap, 2 rounds, span"][50] < errors["Q-alpha, no labels"][50]
    assert "RFE-SVM" in weston.table(errors)


def test_sets_without_printed_figures_have_a_table():
    measured = dict.fromkeys(("raw", "standardised", "Q-alpha SI", "PCA", "CPCA", "OPCA"), 0.5)
    text = side_data_2004.table({"iris": measured})
    assert "measured" in text and "printed" not in text


def test_side_data_on_wine():
    try:
        available = "wine" in list_real()
    except FileNotFoundError:
        available = False
    if not available:
        pytest.skip("the folder of real data sets (EIGENSIEVE_DATA) does not hold wine.npz")
    measured = side_data_2004.run(sets=("wine",), n_runs=1)
    assert measured["wine"]["Q-alpha SI"] > 0.95
    assert measured["wine"]["raw"] == pytest.approx(0.73, abs=0.01)
    assert "printed" in side_data_2004.table(measured)
