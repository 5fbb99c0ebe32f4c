"""What a run was made with: versions and hardware."""

import hashlib
import json
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil

PACKAGES = ("eigensieve", "numpy", "scipy", "scikit-learn", "numba", "fastcan", "torch")


def environment() -> dict:
    """Return versions and hardware, with a short digest of them under "environment"."""
    found = {
        "python": platform.python_version(),
        "system": platform.platform(aliased=True, terse=True),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "gigabytes": round(psutil.virtual_memory().total / 2**30),
        **{package: _version(package) for package in PACKAGES},
    }
    digest = hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:8]
    return {"environment": digest, **found}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _processor() -> str:
    """The processor's name, where the system tells it."""
    file = Path("/proc/cpuinfo")
    if file.exists():
        for line in file.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
