"""The first fit in a new process with empty compiled caches, beside the second fit and beside scikit-learn's PCA.

Nothing may be compiled for data of the demo's size. ``python benchmarks/cold_start.py``
"""

import json
import os
import subprocess
import sys
import tempfile

FIT = """
import json, time
begin = time.perf_counter()
{imports}
from eigensieve.datasets import load_demo
X = load_demo().data
times = [time.perf_counter() - begin]
for _ in range(3):
    begin = time.perf_counter()
    {fit}
    times.append(time.perf_counter() - begin)
print(json.dumps(times))
"""
CONTENDERS = {
    "SieveSelector(30).fit": ("from eigensieve import SieveSelector", "SieveSelector(30).fit(X)"),
    "PCA(50).fit": ("from sklearn.decomposition import PCA", "PCA(50).fit(X)"),
}


def measure(imports: str, fit: str) -> list[float]:
    """Seconds of importing and loading, of the first fit, and of the fits after it."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-c", FIT.format(imports=imports, fit=fit)],
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            check=True,
        )
    return [float(value) for value in json.loads(done.stdout)]


def main() -> None:
    print(f"{'':24} {'import, data':>13} {'first fit':>10} {'later fit':>10} {'first / later':>14}")
    for name, (imports, fit) in CONTENDERS.items():
        start, first, *later = measure(imports, fit)
        print(f"{name:24} {start:11.2f} s {first:8.2f} s {min(later):8.2f} s {first / min(later):13.2f}x")


if __name__ == "__main__":
    main()
