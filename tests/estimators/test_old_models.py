"""Model files of released versions: each is loaded and computes what it computed then."""

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("skops", reason="model files need skops")
from eigensieve import load_model
from eigensieve.estimators import read_model_header
from support.keep_model import KEPT, keep

FILES = sorted(KEPT.glob("*.skops"))


def check(path):
    about = read_model_header(path)["about"]
    model, X = load_model(path), np.array(about["X"])
    np.testing.assert_array_equal(model.predict(X), about["classes"])
    decisions = model[-1].rejector_.decision_function(model[:-1].transform(X))
    np.testing.assert_allclose(decisions, about["decisions"], rtol=0, atol=1e-6)


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_models_of_released_versions(path):
    check(path)


@pytest.mark.filterwarnings("ignore:.* elements were found")
def test_what_is_kept_can_be_checked(tmp_path):
    check(keep(tmp_path))


def test_every_released_version_has_a_file():
    changelog = (Path(__file__).parents[2] / "CHANGELOG.md").read_text()
    released = re.findall(r"^## (\d+\.\d+\.\d+) \((?!unreleased)", changelog, re.MULTILINE)
    assert set(released) <= {path.stem for path in FILES}, "run python -m support.keep_model in the folder tests"
