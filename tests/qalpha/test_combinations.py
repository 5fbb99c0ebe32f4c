"""What goes together, and the one place that refuses what does not."""

import numpy as np
import pytest

from eigensieve import QAlphaSelector
from eigensieve.datasets import make_two_solutions

DATA = make_two_solutions(random_state=0)
Y = DATA.y[:, 1]
FEW = np.where(np.arange(150) % 5 == 0, Y, -1)
SIDE = np.random.default_rng(0).standard_normal((30, 20))
CANNOT = [[int(np.flatnonzero(Y == 0)[i]), int(np.flatnonzero(Y == 1)[i])] for i in range(10)]


@pytest.mark.parametrize("spectrum", ["standard", "laplacian"])
@pytest.mark.parametrize("criterion", ["energy", "gap"])
@pytest.mark.parametrize("labels", [None, Y, FEW])
@pytest.mark.parametrize("side", [None, SIDE])
@pytest.mark.parametrize("pairs", [None, CANNOT])
def test_everything_combines_with_every_spectrum_and_criterion(spectrum, criterion, labels, side, pairs):
    model = QAlphaSelector(5, spectrum=spectrum, criterion=criterion, solver_options={"max_iter": 500, "tol": 0.02})
    model.fit(DATA.X, labels, side=side, cannot_link=pairs)
    assert np.linalg.norm(model.weights_) == pytest.approx(1.0)
    assert model.support_.sum() == 5


def test_blocks_combine_with_side_data_and_pairs():
    plain = QAlphaSelector(1, criterion="blocks").fit(DATA.X, Y).weights_
    for known in ({"side": SIDE}, {"cannot_link": CANNOT}):
        assert np.abs(QAlphaSelector(1, criterion="blocks").fit(DATA.X, Y, **known).weights_ - plain).max() > 1e-4


def test_labels_with_side_data_are_the_generalised_eigenvector():
    from reference import side as naive
    from reference.supervised import centred_indicators, unit_rows

    M, Q = unit_rows(DATA.X), centred_indicators(Y)
    D = naive.side_diagonal(DATA.X, SIDE)
    values, vectors = np.linalg.eig(((M @ M.T) * (M @ Q @ Q.T @ M.T)) / (D + 0.1)[:, None])
    weights = np.real(vectors[:, np.argmax(np.real(values))])
    found = QAlphaSelector(1, solver_options={"max_iter": 1000, "tol": 1e-9}).fit(DATA.X, Y, side=SIDE).weights_
    np.testing.assert_allclose(found, weights / np.linalg.norm(weights) * np.sign(weights.sum()), atol=1e-7)


@pytest.mark.parametrize(
    ("options", "y", "match"),
    [
        ({"spectrum": "laplacian", "normalize": "center"}, None, "must not be 'center' with spectrum='laplacian'"),
        ({"criterion": "blocks", "spectrum": "laplacian"}, Y, "has no Laplacian. Use criterion='energy'"),
        ({"criterion": "blocks", "solver": "ritz"}, Y, "which only its own solver does"),
        ({"criterion": "blocks"}, FEW, "samples without label .* are in no block"),
        ({"criterion": "blocks"}, None, "without labels: it compares classes. Pass y"),
        ({"criterion": "blocks", "supervision": "ignore"}, Y, "without labels: it compares classes. Pass y"),
        ({"solver": "power"}, FEW, "when some samples have no label"),
        ({"supervision": "numbers"}, Y, "must be 'auto', 'classes' or 'ignore'. Got 'numbers' .* use SieveSelector"),
        ({}, np.arange(150) // 2, "Got whole numbers of 75 values .* supervision='classes' if they are classes"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(options, y, match):
    with pytest.raises(ValueError, match=match):
        QAlphaSelector(1, **options).fit(DATA.X, y)


@pytest.mark.parametrize(("kind", "match"), [("cannot_link", "have the same label"), ("must_link", "different labels")])
def test_pairs_that_contradict_the_labels(kind, match):
    first = int(np.flatnonzero(Y == 0)[0])
    second = int(np.flatnonzero((0 if kind == "cannot_link" else 1) == Y)[1])
    with pytest.raises(ValueError, match=match):
        QAlphaSelector(1).fit(DATA.X, Y, **{kind: [[first, second]]})


@pytest.mark.parametrize(
    ("y", "match"),
    [
        (np.zeros(150), "at least 2 classes in y. Got 1 class instead"),
        (np.full(150, -1), "Got 0 classes instead .*None, NaN and -1 mark a sample without label"),
        (np.where(np.arange(150) < 70, -1, 3), "if -1 is a class, rename it"),
        (np.r_[2, np.arange(149) % 2], "at least 2 samples of every class. Got 1 of class"),
        (np.linspace(0, 1, 150), "Unknown label type.*supervision='ignore'"),
        (np.arange(149), "inconsistent numbers of samples"),
    ],
)
def test_bad_labels(y, match):
    with pytest.raises(ValueError, match=match):
        QAlphaSelector(1).fit(DATA.X, y)
