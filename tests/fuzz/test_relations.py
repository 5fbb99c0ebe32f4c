"""Data that mean the same give the same answer: one case of every relation that an estimator promises."""

from pathlib import Path

import numpy as np
import pytest

from fuzz import relations
from fuzz.targets import ESTIMATORS


@pytest.mark.parametrize(
    ("estimator", "relation"), [(name, relation) for name in ESTIMATORS for relation in relations.promised(name)]
)
def test_data_that_mean_the_same_give_the_same_answer(estimator, relation):
    number = len(estimator) + list(relations.RELATIONS).index(relation)
    spec = relations.drawn(np.random.default_rng(number), estimator, relation)
    assert relations.check(spec) == "the same answer"


def test_the_page_lists_the_relations():
    page = (Path(__file__).parents[2] / "docs/trust.md").read_text()
    assert relations.table() in page
