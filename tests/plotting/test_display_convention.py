"""All displays follow one convention, and names in pictures are text, never formulas."""

import numpy as np
import pytest

from eigensieve import plotting

matplotlib = pytest.importorskip("matplotlib", reason="plots need matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

ODD_NAME = r"$\frac{$ <b>"


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", plotting.__all__)
def test_a_display_has_a_maker_and_draws_on_given_axes(name):
    display = getattr(plotting, name)
    assert any(maker.startswith("from_") for maker in dir(display))
    assert "ax" in display.plot.__code__.co_varnames


def test_unknown_displays_are_unknown():
    with pytest.raises(AttributeError, match="NothingDisplay"):
        plotting.NothingDisplay  # noqa: B018


def drawn_texts(figure):
    """The texts and tick labels of a picture, and whether each is taken for a formula."""
    figure.canvas.draw()
    found = [text for ax in figure.axes for text in (*ax.texts, *ax.get_xticklabels(), *ax.get_yticklabels())]
    return [(text.get_text(), text.get_parse_math()) for text in found]


def test_odd_names_are_drawn_as_they_are():
    from eigensieve import FeatureMap
    from eigensieve.evidence import Stability

    X = np.random.default_rng(0).standard_normal((30, 6))
    fitted = FeatureMap(3).fit(X)
    fitted.feature_names_in_ = np.array([ODD_NAME] * 6, dtype=object)
    stability = Stability(np.eye(6, dtype=bool), fitted.feature_names_in_.astype(str))
    for display in (fitted.plot(), plotting.StabilityDisplay.from_stability(stability)):
        named = [(text, formula) for text, formula in drawn_texts(display.figure_) if "frac" in text]
        assert named and all(text == ODD_NAME and not formula for text, formula in named)
