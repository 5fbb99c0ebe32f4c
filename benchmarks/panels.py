"""Panels people can order: ``python benchmarks/panels.py`` prints the tables of docs/measured/panels.md.

``--only keep`` prints those of one subject. Each subject is a module of ``panel_cases`` with a function ``main``.
"""

import argparse
from importlib import import_module

SUBJECTS = ("keep", "groups", "costs", "slowdown", "survival", "weights", "donors", "gaps")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=SUBJECTS, nargs="+", default=SUBJECTS, help="these subjects")
    for subject in parser.parse_args().only:
        print(f"\n## {subject}\n", flush=True)
        import_module(f"panel_cases.{subject}").main()


if __name__ == "__main__":
    main()
