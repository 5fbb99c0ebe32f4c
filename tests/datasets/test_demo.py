"""The demo's data: real columns are untouched, all others keep only their distribution."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from eigensieve.datasets import load_demo


def test_real_columns_are_the_relevant_ones():
    demo, real = load_demo(), load_breast_cancer()
    assert demo.data.shape == (569, 2000)
    assert demo.relevant.sum() == 30
    np.testing.assert_array_equal(demo.target, real.target)
    for name, column in zip(real.feature_names, real.data.T, strict=True):
        place = demo.feature_names.index(name)
        assert demo.relevant[place]
        np.testing.assert_array_equal(demo.data[:, place], column)


def test_shuffled_columns_keep_the_distribution_and_lose_the_rest():
    demo = load_demo(400)
    real = dict(zip(load_breast_cancer().feature_names, load_breast_cancer().data.T, strict=True))
    for name, column in zip(demo.feature_names, demo.data.T, strict=True):
        if name.startswith("shuffled "):
            original = real[name.removeprefix("shuffled ").rpartition(" (")[0]]
            np.testing.assert_array_equal(np.sort(column), np.sort(original))
    correlation = np.corrcoef(demo.data[:, ~demo.relevant].T) - np.eye(370)
    assert np.abs(correlation).max() < 6 / np.sqrt(569)


def test_names_are_unique_and_the_draw_is_fixed():
    demo = load_demo(300)
    assert len(set(demo.feature_names)) == 300
    np.testing.assert_array_equal(demo.data, load_demo(300).data)
    assert not np.array_equal(demo.data, load_demo(300, random_state=1).data)


def test_too_few_features():
    with pytest.raises(ValueError, match=r"'n_features' .* must be an int above 30. Got 30"):
        load_demo(30)
