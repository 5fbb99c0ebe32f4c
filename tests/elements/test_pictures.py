"""The displays hold the numbers they draw."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import roc_curve
from sklearn.svm import SVC

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from eigensieve import ElementSelectedSVC  # noqa: E402
from eigensieve.plotting import ElementMaskDisplay, ElementPathDisplay, RejectionCurveDisplay  # noqa: E402


@pytest.fixture(scope="module")
def fitted():
    X, y = make_classification(n_samples=200, n_features=12, n_informative=5, random_state=0)
    return ElementSelectedSVC(SVC(C=5), match="decision", n_elements=30, random_state=0).fit(X, y), X, y


@pytest.fixture(autouse=True)
def close_figures():
    yield
    matplotlib.pyplot.close("all")


def test_mask_as_an_image(fitted):
    model, _, _ = fitted
    display = ElementMaskDisplay.from_estimator(model, image_shape=(3, 4))
    drawn = display.ax_.images[0].get_array()
    np.testing.assert_array_equal(drawn, model.mask_.toarray().sum(axis=1).reshape(3, 4))
    assert "30 elements" in display.ax_.get_title()


def test_mask_as_bars_with_names(fitted):
    pd = pytest.importorskip("pandas")
    _, X, y = fitted
    frame = pd.DataFrame(X, columns=[f"gene{i}" for i in range(12)])
    named = ElementSelectedSVC(SVC(C=5), n_elements=30, random_state=0).fit(frame, y)
    display = ElementMaskDisplay.from_estimator(named)
    assert sum(bar.get_width() for bar in display.ax_.patches) == 30
    assert all(tick.get_text().startswith("gene") for tick in display.ax_.get_yticklabels())


def test_image_shape_must_fit(fitted):
    with pytest.raises(ValueError, match=r"number of features, 12. Got \(5, 5\) instead"):
        ElementMaskDisplay.from_estimator(fitted[0], image_shape=(5, 5))


def test_path(fitted):
    display = ElementPathDisplay.from_estimator(fitted[0], label="ours")
    np.testing.assert_array_equal(display.line_.get_ydata(), fitted[0].path_)
    np.testing.assert_array_equal(display.line_.get_xdata(), np.arange(1, 31))


def test_rejection_curve_is_the_roc_from_the_other_side(fitted):
    model, X, y = fitted
    display = RejectionCurveDisplay.from_estimators({"full": model.estimator_, "elements": model}, X, y)
    lost, rejected, area = display.curves["elements"]
    scores = model.decision_function(X)
    fpr, tpr, _ = roc_curve(y, scores, drop_intermediate=False)
    on_curve = {(round(1 - t, 9), round(1 - f, 9)) for f, t in zip(fpr, tpr, strict=True)}
    assert all((round(a, 9), round(b, 9)) in on_curve for a, b in zip(lost, rejected, strict=True))
    assert 0.5 < area <= 1
    assert [line.get_label().split(" (")[0] for line in display.lines_] == ["full", "elements"]
