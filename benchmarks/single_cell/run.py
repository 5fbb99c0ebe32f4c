"""Run choosers on sets into a results file of JSON lines; finished runs are skipped."""

import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from .choosers import CHOOSERS, WITH_BATCHES
from .data import load
from .scoring import score

COUNTS = (500, 1_000, 2_000)


def counts_for(n_genes: int, counts: Iterable[int]) -> list[int]:
    """Numbers of genes to choose of `n_genes`; a quarter and a half of them where the set is too small for any."""
    fitting = [count for count in counts if count <= n_genes // 2]
    return fitting or [n_genes // 4, n_genes // 2]


def run(
    path: Path,
    sets: Iterable[str],
    choosers: Iterable[str],
    *,
    counts: Iterable[int] = COUNTS,
    say: Callable[[str], None] = print,
) -> list[dict]:
    """Add every combination that the results file lacks, and return all rows of the file."""
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(row["set"], row["chooser"], row["count"]) for row in rows}
    counts, choosers = tuple(counts), tuple(choosers)
    for name in sets:
        cells = load(name)
        for chooser in choosers:
            choose = CHOOSERS.get(chooser) or WITH_BATCHES[chooser]
            if chooser in WITH_BATCHES and cells.batches is None:
                continue
            for count in counts_for(cells.counts.shape[1], counts):
                if (name, chooser, count) in done:
                    continue
                begin = time.process_time()
                try:
                    genes = choose(cells, count, 0)
                except (ValueError, KeyError, IndexError, ZeroDivisionError) as error:  # a peer's own refusal
                    row = {"set": name, "chooser": chooser, "count": count, "failed": str(error)[:200]}
                else:
                    row = {"set": name, "chooser": chooser, "count": count, "chosen": len(np.unique(genes))}
                    row["seconds"] = time.process_time() - begin
                    row |= score(cells, genes)
                rows.append(row)
                with path.open("a") as stream:
                    stream.write(json.dumps(row) + "\n")
                say(f"{name} {chooser} {count} " + (row.get("failed") or f"nmi {row['nmi']:.3f} ari {row['ari']:.3f}"))
    return rows
