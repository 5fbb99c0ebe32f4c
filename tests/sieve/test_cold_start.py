"""The first fit in a new process: nothing is compiled where compiling takes longer than the fit."""

import os
import subprocess
import sys

SCRIPT = """
import sys
from eigensieve import SieveSelector
from eigensieve.datasets import load_demo
SieveSelector().fit(load_demo().data)
print([name for name in sys.modules if name.startswith("eigensieve") and name.endswith("_numba")])
"""


def test_a_fit_of_the_demo_needs_no_compiled_loop(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert not list(tmp_path.rglob("*.nbi"))
