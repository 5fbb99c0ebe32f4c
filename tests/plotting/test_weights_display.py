"""WeightsDisplay draws the estimator's own numbers, in scikit-learn's Display convention."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError

from eigensieve import QAlphaSelector
from eigensieve.plotting import WeightsDisplay

matplotlib = pytest.importorskip("matplotlib", reason="plots need matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture
def fitted():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 50))
    X[:20, :5] += 3
    yield QAlphaSelector(5, n_clusters=2).fit(X)
    plt.close("all")


def test_draws_sorted_weights_selected_points_and_cut(fitted):
    display = WeightsDisplay.from_estimator(fitted)
    np.testing.assert_array_equal(display.line_.get_ydata(), np.sort(fitted.weights_)[::-1])
    np.testing.assert_array_equal(display.points_.get_offsets()[:, 1], np.sort(fitted.weights_)[::-1][:5])
    assert display.cut_.get_xdata()[0] == 5.5
    assert display.figure_ is display.ax_.figure and display.ax_.get_ylabel() == "weight"


def test_draws_on_the_axes_it_is_given_and_again(fitted):
    _, (left, right) = plt.subplots(1, 2)
    display = WeightsDisplay.from_estimator(fitted, ax=left)
    assert display.ax_ is left and display.plot(ax=right) is display and display.ax_ is right


def test_names_are_plain_text(fitted):
    names = [f"$gene_{i}$ <b>" for i in range(50)]
    display = WeightsDisplay.from_estimator(fitted, feature_names=names, n_names=3)
    texts = display.ax_.texts
    assert [text.get_text() for text in texts] == [names[i] for i in fitted.selection_order_[:3]]
    assert not any(text.get_parse_math() for text in texts)
    display.figure_.canvas.draw()


def test_scores_with_infinities_are_drawn_at_the_top():
    display = WeightsDisplay(weights=np.array([1.0, np.inf, 0.5]), support=np.array([True, True, False])).plot()
    np.testing.assert_array_equal(display.line_.get_ydata(), [1.0, 1.0, 0.5])
    plt.close("all")


def test_refuses_what_has_no_weights():
    with pytest.raises(TypeError, match="must be a fitted selector"):
        WeightsDisplay.from_estimator(PCA(1).fit([[0.0, 1.0], [1.0, 0.0]]))
    with pytest.raises(NotFittedError):
        WeightsDisplay.from_estimator(QAlphaSelector())
