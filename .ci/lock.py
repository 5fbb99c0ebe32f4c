"""Print requirements with hashes from the report of ``pip install --dry-run --report``."""

import json
import sys


def main() -> None:
    print("# Versions and hashes for Python 3.11 on Linux (x86-64), made by `make lock` from pyproject.toml.")
    packages = []
    for entry in json.load(sys.stdin)["install"]:
        name, version = (
            entry["metadata"]["name"].lower().replace("_", "-").replace(".", "-"),
            entry["metadata"]["version"],
        )
        if name != "eigensieve":
            packages.append((name, version, entry["download_info"]["archive_info"]["hashes"]["sha256"]))
    for name, version, digest in sorted(packages):
        print(f"{name}=={version} \\\n    --hash=sha256:{digest}")


if __name__ == "__main__":
    main()
