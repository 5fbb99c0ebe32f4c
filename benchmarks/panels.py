"""Panels under the conditions people have: donors, missing values and more, one subject per file of ``panel_cases/``.

``python benchmarks/panels.py`` prints all subjects, ``--only donors`` one of them. Real data is read from the folder
that EIGENSIEVE_DATA names.
"""

import argparse
import importlib
import pkgutil
import warnings

import panel_cases


def main() -> None:
    subjects = sorted(module.name for module in pkgutil.iter_modules(panel_cases.__path__) if module.name != "tools")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=subjects, action="append", help="a subject; repeat for more")
    parser.add_argument("--draws", type=int, default=10, help="draws of planted data, or of gaps, per line")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for subject in options.only or subjects:
        importlib.import_module(f"panel_cases.{subject}").main(options.draws)


if __name__ == "__main__":
    main()
