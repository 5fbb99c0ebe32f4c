"""Reading y: classes of any type, numbers, several targets, samples without label."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from eigensieve.estimators import read_target
from eigensieve.sieve import Target
from reference import labelled as reference

CODES = np.array([0, 1, 2, 0, 1, 2, 0, 1])


def read(y: object, **kind: str) -> Target:
    return read_target(y, len(y), "Selector", **kind)


@pytest.mark.parametrize(
    "y",
    [
        CODES,
        CODES.astype(float),
        CODES.astype(np.uint8),
        [["a", "b", "c"][c] for c in CODES],
        np.array(["a", "b", "c"])[CODES],
        np.array(["a", "b", "c"], dtype=object)[CODES],
        pd.Series(np.array(["a", "b", "c"])[CODES], dtype="category"),
        pd.Series(CODES, dtype="Int64"),
        pl.Series(np.array(["a", "b", "c"])[CODES]),
        CODES[:, None],
        [10**17 + int(c) for c in CODES],
    ],
    ids=lambda y: f"{type(y).__name__}-{getattr(y, 'dtype', type(y[0]).__name__)}",
)
def test_classes_of_any_type_span_their_indicators(y: object) -> None:
    target = read(y)
    assert target.kind == "classes"
    assert target.complete
    T, expected = target.basis(), reference.class_basis(CODES)
    np.testing.assert_allclose(T @ T.T, expected @ expected.T, atol=1e-12)


@pytest.mark.parametrize(
    ("y", "known"),
    [
        ([0, 1, -1, 0, 1], [1, 1, 0, 1, 1]),
        ([0.0, 1.0, np.nan, 0.0, 1.0], [1, 1, 0, 1, 1]),
        (["a", "b", None, "a", "b"], [1, 1, 0, 1, 1]),
        (["a", "b", float("nan"), "a", "b"], [1, 1, 0, 1, 1]),
        (pd.Series(["a", "b", pd.NA, "a", "b"]), [1, 1, 0, 1, 1]),
        ([1, 2, None, -1, 2], [1, 1, 0, 0, 1]),
        ([True, False, None, True, True], [1, 1, 0, 1, 1]),
        ([-1, 1, -1, 1, 1], [1, 1, 1, 1, 1]),
        ([-1.0, 1.0, None, 1.0, 1.0], [1, 1, 0, 1, 1]),
        ([0.25, 0.5, np.nan, 0.75, -1.0], [1, 1, 0, 1, 1]),
    ],
)
def test_samples_without_label(y: object, known: list[int]) -> None:
    target = read(y)
    np.testing.assert_array_equal(target.known, np.array(known, dtype=bool))
    np.testing.assert_array_equal(target.basis()[~target.known], 0.0)


def test_numbers_and_classes_are_told_apart() -> None:
    rng = np.random.default_rng(0)
    assert read(rng.standard_normal(30)).kind == "numbers"
    assert read(rng.integers(0, 20, 300)).kind == "classes"
    assert read(np.arange(100)).kind == "numbers"
    assert read(np.repeat(np.arange(40), 3)).kind == "classes"
    assert read(rng.integers(0, 20, 300), kind="numbers").kind == "numbers"
    assert read(np.arange(100) // 2).kind == "numbers"
    assert read(np.arange(100) // 2, kind="classes").kind == "classes"
    numbers = rng.standard_normal(30)
    np.testing.assert_allclose(
        np.abs(read(numbers).basis()), np.abs(reference.standardised(numbers[:, None])), atol=1e-12
    )


@pytest.mark.parametrize("kind", ["auto", "numbers"])
def test_minus_one_marks_whole_numbers_to_predict(kind: str) -> None:
    ages = np.arange(60) + 20.0
    marked, missing = (np.where(np.arange(60) < 35, ages, mark) for mark in (-1.0, np.nan))
    found, expected = read(marked, kind=kind), read(missing, kind=kind)
    assert found.kind == expected.kind == "numbers"
    np.testing.assert_array_equal(found.columns, expected.columns)
    np.testing.assert_array_equal(found.known, expected.known)
    assert read(np.arange(-30, 30), kind=kind).complete  # among lower numbers it is one of them


@pytest.mark.parametrize("scale", [1e160, 1e-170, 1e300])
def test_numbers_of_any_size(scale: float) -> None:
    numbers = np.random.default_rng(0).standard_normal(40)
    np.testing.assert_allclose(read(numbers * scale).columns, read(numbers).columns, rtol=1e-12)


def test_several_targets_must_vary_where_all_are_known() -> None:
    y = pd.DataFrame(
        {"sex": ["m"] * 4 + ["f"] * 4 + [None] * 4, "type": [None] * 5 + ["a"] * 2 + ["b", "b", "a", "a", "b"]}
    )
    with pytest.raises(ValueError, match="Column 'sex' of y of Selector does not vary on the 3 samples"):
        read(y)
    with pytest.raises(ValueError, match="Column 'site' of y: Selector needs samples of at least 2 classes"):
        read(pd.DataFrame({"kind": CODES, "site": 1}))
    with pytest.raises(ValueError, match="Column 1 of y: y of Selector contains infinity"):
        read(np.column_stack([CODES, np.where(CODES == 2, np.inf, 0.5)]))


def test_several_targets_span_all_that_each_says() -> None:
    rng = np.random.default_rng(1)
    numbers = rng.standard_normal(8)
    target = read(np.column_stack([CODES, numbers]))
    assert target.kind == "several"
    both = np.hstack([reference.class_basis(CODES), reference.standardised(numbers[:, None])])
    expected = np.linalg.qr(both)[0]
    T = target.basis()
    np.testing.assert_allclose(T @ T.T, expected @ expected.T, atol=1e-10)
    missing = np.column_stack([CODES, numbers])
    missing[3, 1] = np.nan
    np.testing.assert_array_equal(np.flatnonzero(~read(missing).known), [3])


def test_large_whole_numbers_stay_different_classes() -> None:
    target = read(np.array([9007199254740992, 9007199254740993, 9007199254740992, 9007199254740993]))
    assert target.columns.shape == (4, 2)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1, 1, 1, 1], "at least 2 classes"),
        ([-1, -1, -1, 3], "at least 2 classes.*None, NaN and -1 mark"),
        ([0.5, 0.5, 0.5], "does not vary"),
        ([0.5, np.inf, 0.25], "infinity"),
        (np.zeros((3, 0)), "at least 1 column"),
        (np.array([b"a", b"b"]), "bytes"),
    ],
)
def test_what_says_nothing_is_refused(y: object, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        read(y)
    with pytest.raises(ValueError, match="needs numbers"):
        read(["a", "b", "a"], kind="numbers")
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        read_target([0, 1], 3, "Selector")
