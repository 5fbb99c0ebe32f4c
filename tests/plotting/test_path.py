"""The path display draws what the path says."""

import numpy as np
import pytest
from sklearn.datasets import load_wine

from eigensieve import TraceRatioSelector
from eigensieve.plotting import TraceRatioPathDisplay
from eigensieve.traceratio import trace_ratio_path

pytestmark = [
    pytest.mark.filterwarnings("ignore:The features of X have unlike scales"),
]

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def test_lines_hold_the_path_and_the_mark_the_selection():
    X, y = load_wine(return_X_y=True)
    selector = TraceRatioSelector(4).fit(X, y)
    display = TraceRatioPathDisplay.from_estimator(selector)
    path = selector.path()
    np.testing.assert_array_equal(display.line_.get_xydata(), np.column_stack([path.n_features, path.scores]))
    np.testing.assert_array_equal(display.feature_level_line_.get_ydata(), path.feature_level_scores)
    np.testing.assert_allclose(display.mark_.get_xydata(), [[4, selector.subset_score_]])
    assert (np.diff(display.line_.get_ydata()) <= 0).all()
    assert display.ax_.get_xscale() == "log" and display.ax_.get_xlabel() == "number of features"
    assert display.figure_ is display.ax_.figure


def test_given_axes_linear_scale_and_infinite_scores():
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    path = trace_ratio_path(np.array([1.0, 2.0, 3.0, 0.5]), np.array([0.0, 1.0, 1.0, 1.0]))
    display = TraceRatioPathDisplay(path, n_selected=1).plot(ax, log=False)
    assert display.ax_ is ax and ax.get_xscale() == "linear"
    assert display.line_.get_xdata().tolist() == [2, 3, 4]
    assert len(display.mark_.get_xdata()) == 0
    assert "infinite up to 1" in ax.get_xlabel()
    assert TraceRatioPathDisplay(path).plot().mark_.get_xdata() == [path.choose()]


def test_missing_matplotlib_names_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"eigensieve\[plot\]"):
        TraceRatioPathDisplay(trace_ratio_path(np.ones(3), np.ones(3))).plot()
