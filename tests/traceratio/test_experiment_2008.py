"""The paper's experiment runs end to end on a real set and keeps the paper's theorems."""

import json

import numpy as np
import pytest

from eigensieve.datasets.real import list_real
from eigensieve.experiments import trace_ratio_2008


def available(name):
    try:
        return name in list_real()
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not available("crx"), reason="no folder with real data sets (EIGENSIEVE_DATA)")
def test_runs_to_table_and_figures(tmp_path):
    results = trace_ratio_2008.run(2, ("crx",), ("none",))
    assert json.loads(json.dumps(results)) == results
    (curve,) = results["curves"]
    assert curve["sizes"] == list(range(1, 16))
    for feature, subset in (("F-FS", "S-FS"), ("F-LS", "S-LS")):
        low, high = (np.array(curve["subset_score"][method]) for method in (feature, subset))
        assert (high >= low * (1 - 1e-12)).all()
        assert (np.diff(high, axis=1) <= 1e-12).all()
        # With all the features there is nothing to choose.
        np.testing.assert_allclose(
            np.array(curve["accuracy"][feature])[:, -1], np.array(curve["accuracy"][subset])[:, -1]
        )
    text = trace_ratio_2008.table(results)
    assert "| crx | none | Fisher |" in text and "| all | none | Laplacian |" in text
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    files = trace_ratio_2008.draw(results, tmp_path)
    assert len(files) == 2 and all(file.stat().st_size > 10_000 for file in files)
