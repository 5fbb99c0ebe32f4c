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
    assert any(maker.startswith("from_") for maker in vars(display))
    assert "ax" in display.plot.__code__.co_varnames


def test_unknown_displays_are_unknown():
    with pytest.raises(AttributeError, match="NothingDisplay"):
        plotting.NothingDisplay  # noqa: B018


def test_odd_names_are_drawn_as_they_are():
    from eigensieve.estimators.feature_map import FeatureMap
    from eigensieve.evidence.stability import Stability

    X = np.random.default_rng(0).standard_normal((30, 6))
    fitted = FeatureMap(3).fit(X)
    fitted.feature_names_in_ = np.array([ODD_NAME] * 6, dtype=object)
    fitted.plot().figure_.canvas.draw()
    stability = Stability(np.eye(6, dtype=bool), fitted.feature_names_in_.astype(str))
    plotting.StabilityDisplay.from_stability(stability).figure_.canvas.draw()
