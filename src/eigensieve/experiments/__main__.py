"""Run the papers' experiments one after the other: ``python -m eigensieve.experiments [FOLDER]``.

Tables are printed and kept, with the figures, in FOLDER (default: ``reproduced``).
"""

import subprocess
import sys
from pathlib import Path

EXPERIMENTS: dict[str, str | None] = {
    "two_solutions": "two_solutions.png",
    "hidden_sign": None,
    "weston": None,
    "side_data_2004": None,
    "trace_ratio_2008": "trace_ratio_2008",
}
"""Module of each experiment, and what it writes into the folder besides its table."""


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "reproduced")
    folder.mkdir(parents=True, exist_ok=True)
    for name, output in EXPERIMENTS.items():
        print(f"=== {name} ===", flush=True)
        arguments = [] if output is None else [str(folder / output)]
        command = [sys.executable, "-m", f"eigensieve.experiments.{name}", *arguments]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines = []
            for line in process.stdout:
                print(line, end="", flush=True)
                lines.append(line)
        if process.returncode:
            sys.exit(f"The experiment {name} failed; what it printed is above.")
        (folder / f"{name}.txt").write_text("".join(lines))
    print(f"Tables and figures are in {folder}.")


if __name__ == "__main__":
    main()
