"""``eigensieve inspect``: a first look at a table, and what a selection would do with it."""

from typing import Any

import numpy as np

from eigensieve.cli.console import Console
from eigensieve.cli.methods import DEFAULT_METHOD, METHODS
from eigensieve.cli.options import PrintOptions, TableOptions
from eigensieve.cli.reading import dense, is_number_target, notes_of, read_table

EXAMPLES = (
    "eigensieve inspect genes.csv",
    "eigensieve inspect genes.tsv.gz --samples columns --json",
)

_BLOCK = 4096


def inspect_table(reading: TableOptions, printing: PrintOptions) -> None:
    """Look at a table: shape, types, missing values, constant columns, and what would be done with it."""
    console = Console(printing)
    found = _look_at(read_table(reading, console))
    found["input"] = reading.source
    found["would"] = _plan(found)
    console.table(reading.source, ["", ""], _lines(found))
    for sentence in found["would"]:
        console.text(f"- {sentence}")
    console.document(found)


def _look_at(table: Any) -> dict[str, Any]:
    """Count what matters before a selection, as plain JSON values."""
    X = table.X
    kinds = {"constant": 0, "binary": 0, "whole numbers": 0, "real numbers": 0}
    n_missing, with_missing, samples_missing = 0, 0, np.zeros(table.n_samples, dtype=bool)
    constant: list[str] = []
    for start in range(0, table.n_features, _BLOCK):
        block = dense(X[:, start : start + _BLOCK])
        holes = ~np.isfinite(block)
        n_missing += int(holes.sum())
        with_missing += int(holes.any(axis=0).sum())
        samples_missing |= holes.any(axis=1)
        for kind, mask in _kinds(block, holes).items():
            kinds[kind] += int(mask.sum())
            if kind == "constant" and len(constant) < 5:
                constant += [str(table.feature_names[start + i]) for i in np.flatnonzero(mask)[:5]]
    return {
        "format": table.format,
        "samples": table.n_samples,
        "features": table.n_features,
        "samples_in": table.orientation,
        "sparse": hasattr(X, "nnz"),
        "density": float(X.nnz / max(1, X.shape[0] * X.shape[1])) if hasattr(X, "nnz") else None,
        "types": kinds,
        "constant_features": constant[:5],
        "missing_values": n_missing,
        "features_with_missing": with_missing,
        "samples_with_missing": int(samples_missing.sum()),
        "label": _label(table),
        "sample_names": table.id_name,
        "text_columns": list(table.text),
        "notes": notes_of(table),
    }


def _kinds(block: Any, holes: Any) -> dict[str, Any]:
    """Sort the columns of a block by what their values are."""
    filled = np.where(holes, np.inf, block)
    low = filled.min(axis=0)
    high = np.where(holes, -np.inf, block).max(axis=0)
    constant = low >= high
    whole = np.all((block == np.round(block)) | holes, axis=0) & ~constant
    binary = whole & np.all((block == low) | (block == high) | holes, axis=0)
    return {
        "constant": constant,
        "binary": binary,
        "whole numbers": whole & ~binary,
        "real numbers": ~whole & ~constant,
    }


def _label(table: Any) -> dict[str, Any] | None:
    if table.label is None:
        return None
    if is_number_target(table.label):
        low, high = float(np.nanmin(table.label)), float(np.nanmax(table.label))
        return {"name": table.label_name, "kind": "numbers", "low": low, "high": high}
    values, counts = np.unique(table.label.astype(str), return_counts=True)
    order = np.argsort(-counts, kind="stable")[:20]
    return {
        "name": table.label_name,
        "kind": "classes",
        "classes": len(values),
        "counts": {str(values[i]): int(counts[i]) for i in order},
    }


def _plan(found: dict[str, Any]) -> list[str]:
    """What ``eigensieve select`` would do, and what it would ask for first."""
    plan = []
    if found["missing_values"]:
        plan.append(
            "select would leave out features without most of their values and fill in the others with the median "
            "(--missing says otherwise)"
        )
    if found["types"]["constant"]:
        plan.append(f"{found['types']['constant']:,} constant features would never be selected")
    if found["features"] > 0 and found["types"]["constant"] == found["features"]:
        plan.append("nothing varies: check --samples rows or columns")
    if found["samples"] < 10:
        plan.append("there are very few samples; a selection will hardly be stable")
    elif found["samples"] > 10 * found["features"]:
        plan.append("there are far more samples than features: check --samples rows or columns")
    if found["label"] is not None and found["label"].get("classes", 0) > max(20, found["samples"] // 2):
        plan.append(f"the label '{found['label']['name']}' takes {found['label']['classes']:,} values; is it a class?")
    usable = found["features"] - found["types"]["constant"]
    plan.append(f"--method {DEFAULT_METHOD} ({METHODS[DEFAULT_METHOD].summary}) would choose among {usable:,} features")
    return plan


def _lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    where = ""
    if found["missing_values"]:
        where = f" in {found['features_with_missing']:,} features and {found['samples_with_missing']:,} samples"
    lines = [
        ("samples", f"{found['samples']:,} (in {found['samples_in']} of the file)"),
        ("features", f"{found['features']:,}"),
        ("format", found["format"] + (f", sparse ({100 * found['density']:.2g} % filled)" if found["sparse"] else "")),
        ("types", ", ".join(f"{count:,} {kind}" for kind, count in found["types"].items() if count)),
        ("missing values", f"{found['missing_values']:,}{where}"),
    ]
    if found["constant_features"]:
        more = " ..." if found["types"]["constant"] > len(found["constant_features"]) else ""
        lines.append(("constant features", ", ".join(found["constant_features"]) + more))
    if found["label"] and found["label"]["kind"] == "numbers":
        label = found["label"]
        lines.append(("label", f"{label['name']}: a quantity from {label['low']:.4g} to {label['high']:.4g}"))
    elif found["label"]:
        counts = ", ".join(f"{value} ({count:,})" for value, count in list(found["label"]["counts"].items())[:8])
        lines.append(("label", f"{found['label']['name']}: {found['label']['classes']:,} values: {counts}"))
    if found["sample_names"]:
        lines.append(("sample names", f"column '{found['sample_names']}'"))
    lines += [("note", note) for note in found["notes"]]
    return lines
