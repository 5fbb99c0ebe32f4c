"""PanelScoresDisplay: every number of a comparison is drawn where it belongs."""

import numpy as np
import pytest

from eigensieve import score_panel
from eigensieve.plotting import PanelScoresDisplay

pytest.importorskip("matplotlib", reason="plots need matplotlib").use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

ODD_NAME = r"$\frac{$ <b>"


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_panels_stand_in_rows_the_best_on_top():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 40))
    X[:, :6] += rng.normal(0, 3, (3, 6))[np.arange(60) % 3]
    found = score_panel(X, {ODD_NAME: range(6), "noise": range(20, 24)}, n_random=19)
    display = PanelScoresDisplay.from_scores(found)
    noise, good = found.scores["noise"], found.scores[ODD_NAME]
    assert display.panels_.lines[0].get_xdata().tolist() == [noise.score, good.score]
    assert display.best_.get_offsets()[:, 0].tolist() == [noise.best_score, good.best_score]
    drawn = display.random_.get_offsets()
    assert sorted(drawn[:, 0]) == sorted([*noise.random_scores, *good.random_scores])
    assert np.abs(drawn[:, 1] - np.repeat([0, 1], 19)).max() < 0.3
    labels = display.ax_.get_yticklabels()
    assert labels[1].get_text() == f"{ODD_NAME} (6 features)" and not labels[1].get_parse_math()
    assert "structure" in display.ax_.get_xlabel()


def test_one_panel_is_drawn_on_given_axes():
    X = np.random.default_rng(0).standard_normal((30, 8))
    score = score_panel(X, [0, 1], n_random=5)
    ax = plt.figure().subplots()
    assert PanelScoresDisplay(score).plot(ax=ax).figure_ is ax.figure
    assert ax.get_yticklabels()[0].get_text() == "panel (2 features)"
