"""The map as a picture: everything inside the axes, no name over another, a repeated round is called one."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from eigensieve import FeatureMap
from eigensieve.datasets import make_two_solutions

pytest.importorskip("matplotlib", reason="plots need matplotlib").use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.text import Text  # noqa: E402


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def fitted(X, names):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the second round repeats the first; the picture says so
        found = FeatureMap().fit(X)
    found.feature_names_in_ = np.array(names, dtype=object)
    return found


def boxes(display):
    """The rectangles of the names alone, without their lines, after the figure is drawn."""
    display.figure_.canvas.draw()
    return [Text.get_window_extent(text) for text in display.names_]


@pytest.mark.parametrize("size", [(6.4, 6.0), (4.0, 3.0)])
@pytest.mark.parametrize("length", [1, 3])
def test_names_of_thirty_features_do_not_overlap_and_nothing_leaves_the_axes(size, length):
    data = load_breast_cancer()
    _, ax = plt.subplots(figsize=size, layout="constrained")
    names = [" ".join([name] * length) for name in data.feature_names]
    display = fitted(data.data, names).plot(ax=ax, n_labels=30)
    found = boxes(display)
    assert len(found) >= 10
    for number, box in enumerate(found):
        assert not box.count_overlaps(found[number + 1 :])
        frame = ax.get_window_extent()
        assert frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    for ellipse in display.ellipses_:
        (x, y), width, height = ellipse.center, ellipse.width / 2, ellipse.height / 2
        assert left <= x - width and x + width <= right and bottom <= y - height and y + height <= top


def test_twenty_names_find_room_on_thirty_features():
    data = load_breast_cancer()
    assert len(fitted(data.data, data.feature_names).plot().names_) == 20


def test_only_a_round_that_repeats_another_is_called_so():
    data = load_breast_cancer()
    again = fitted(data.data, data.feature_names)
    assert again.same_structure_.tolist() == [False, True]
    title = again.plot().ax_.get_title()
    assert "Round 2 shows nothing new" in title and f"{again.overlaps_[1]:.2f} of 1" in title
    other = make_two_solutions(random_state=0)
    assert fitted(other.X, other.feature_names).plot().ax_.get_title() == ""
