"""StabilityDisplay: one threshold, the one of `Stability.stable`, drawn and named."""

import numpy as np
import pytest

from eigensieve.evidence import Stability
from eigensieve.plotting import StabilityDisplay

pytest.importorskip("matplotlib", reason="plots need matplotlib").use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import to_hex  # noqa: E402


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.mark.parametrize("threshold", [None, 0.65])
def test_the_threshold_is_that_of_stable_and_has_a_name(threshold):
    counts = np.array([10, 9, 8, 7, 6, 3, 0])
    stability = Stability(np.arange(10)[:, None] < counts)
    options = {} if threshold is None else {"threshold": threshold}
    display = StabilityDisplay.from_stability(stability, **options)
    limit = threshold or 0.8
    assert set(display.line_.get_ydata()) == {limit}
    stable = stability.stable() if threshold is None else stability.stable(threshold)
    assert stable.tolist() == np.flatnonzero(counts / 10 >= limit).tolist()
    full = [to_hex(bar.get_facecolor()) == to_hex("C0") for bar in display.bars_]
    assert full == [count / 10 >= limit for count in counts]
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"threshold: {100 * limit:g} % of the subsamples" in words and f"stable: {len(stable)} features" in words
