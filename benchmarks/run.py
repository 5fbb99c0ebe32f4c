"""Run the benchmarks one after the other; each prints ratios against peers measured in its own run.

    python benchmarks/run.py [name ...]

Peers that need an environment of their own (scikit-feature, ITMO-FS: requirements-peers.txt) are left out here; the
scripts say in their help how to add them. Real data comes from the folder that EIGENSIEVE_DATA names.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent

SCRIPTS = {
    "qalpha": ["qalpha.py"],
    "trace-ratio": ["trace_ratio.py"],
    "trace-ratio-large": ["trace_ratio_large.py"],
    "elements": ["elements.py"],
    "elements-speed": ["elements_speed.py"],
    "sieve": ["sieve.py"],
    "neighbours": ["neighbours.py"],
    "cold-start": ["cold_start.py"],
    "tall": ["tall.py"],
    "amount": ["amount.py"],
    "steering": ["steering.py"],
    "disk": ["any_size_disk.py", "--folder", tempfile.gettempdir()],
    "dask": ["any_size_dask.py"],
    "cli": ["cli.py"],
}


def main() -> None:
    wanted = sys.argv[1:] or list(SCRIPTS)
    unknown = set(wanted) - set(SCRIPTS)
    if unknown:
        sys.exit(f"No benchmark named {', '.join(sorted(unknown))}; there are: {', '.join(SCRIPTS)}.")
    failed = []
    for name in wanted:
        script, *options = SCRIPTS[name]
        print(f"\n=== {name} ===", flush=True)
        if subprocess.run([sys.executable, str(HERE / script), *options]).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"These did not finish: {', '.join(failed)}.")


if __name__ == "__main__":
    main()
