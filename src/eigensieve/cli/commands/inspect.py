"""``eigensieve inspect``: a first look at a table, and the plan of a selection."""

import numpy as np

from eigensieve._types import Array, BoolArray, FloatArray, JsonDict
from eigensieve._words import counted
from eigensieve.cli.console import Console
from eigensieve.cli.errors import in_options
from eigensieve.cli.methods import DEFAULT_METHOD, METHODS
from eigensieve.cli.options import PrintOptions, TableOptions
from eigensieve.cli.reading import dense, labels_with, notes_of, read_table
from eigensieve.tables import Table, percent, unknown

EXAMPLES = ("eigensieve inspect genes.csv", "eigensieve inspect genes.tsv.gz --samples columns --json")

_BLOCK = 4096
_PREVIEW = 6  # samples and features
_NAMED = 1_000  # features whose names are listed


def inspect_table(reading: TableOptions, printing: PrintOptions) -> None:
    """Look at a table: shape, types, missing values, constant columns, and what would be done with it."""
    console = Console(printing)
    found = _look_at(read_table(reading, console))
    found["input"] = reading.source
    found["would"] = _plan(found)
    console.table(reading.source, ["", ""], _lines(found))
    for sentence in found["would"]:
        console.text(f"- {sentence}")
    console.finish(found)


def _look_at(table: Table) -> JsonDict:
    """Count what matters before a selection, as plain JSON values."""
    X, known = table.X, None if table.label is None else table.label[~unknown(table.label)]
    kinds = {"constant": 0, "binary": 0, "whole numbers": 0, "real numbers": 0}
    counts, samples_missing = np.zeros(4, dtype=int), np.zeros(table.n_samples, dtype=bool)
    constant, donors = list[str](), table.apart.get("donor")
    for start in range(0, table.n_features, _BLOCK):
        block = dense(X[:, start : start + _BLOCK])
        holes, infinite = np.isnan(block), np.isinf(block)
        counts += [holes.sum(), holes.any(axis=0).sum(), infinite.sum(), infinite.any(axis=0).sum()]
        samples_missing |= holes.any(axis=1)
        for kind, mask in _kinds(block, holes | infinite).items():
            kinds[kind] += int(mask.sum())
            if kind == "constant" and len(constant) < 5:
                constant += [str(table.feature_names[start + i]) for i in np.flatnonzero(mask)[:5]]
    n_missing, with_missing, n_infinite, with_infinite = counts.tolist()
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
        "infinite_values": n_infinite,
        "features_with_infinite": with_infinite,
        "label": None if known is None else {"name": table.label_name, "use": _use(table)} | _counts(known, "classes"),
        "batch": None if table.batch is None else {"name": table.batch_name} | _counts(table.batch, "batches"),
        "donors": None if donors is None else {"name": donors.name} | _counts(donors.values, "donors"),
        "sample_names": table.id_name if table.orientation == "rows" else None,
        "feature_names": table.id_name if table.orientation == "columns" else None,
        "text_columns": list(table.text),
        "notes": notes_of(table),
        "preview": _preview(table),
    }


def _preview(table: Table) -> JsonDict:
    """The first samples and features as they were understood, and the names of the first columns of all kinds."""
    corner = dense(table.X[:_PREVIEW, :_PREVIEW]).tolist()
    names = [str(name) for name in table.feature_names[:_NAMED]]
    donors = table.apart.get("donor")
    apart = (table.id_name, *(column.name for column in table.apart.values()))
    columns = [*(str(name) for name in apart if name), *table.text, *names]
    return {
        "features": names[:_PREVIEW],
        "samples": None if table.sample_names is None else [str(name) for name in table.sample_names[:_PREVIEW]],
        "values": [[value if np.isfinite(value) else None for value in row] for row in corner],
        "label": None if table.label is None else [str(value) for value in table.label[:_PREVIEW]],
        "batch": None if table.batch is None else [str(value) for value in table.batch[:_PREVIEW]],
        "donors": None if donors is None else [str(value) for value in donors.values[:_PREVIEW]],
        "columns": list(dict.fromkeys(columns)),
    }


def _kinds(block: FloatArray, holes: BoolArray) -> JsonDict:
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


def _counts(values: Array, what: str) -> JsonDict:
    """How many different values there are, and how often each occurs, the most frequent first."""
    found, counts = np.unique(np.asarray(values).astype(str), return_counts=True)
    order = np.argsort(-counts, kind="stable")[:20]
    return {what: len(found), "counts": {str(found[i]): int(counts[i]) for i in order}}


def _use(table: Table) -> str:
    """How the sieve would use the labels, or why it could not."""
    from eigensieve.estimators import read_target

    labels = None if table.label is None else labels_with(table.label, METHODS[DEFAULT_METHOD].unlabelled)
    try:
        return read_target(labels, table.n_samples, "the sieve").kind
    except ValueError as error:
        return in_options(str(error))


def _plan(found: JsonDict) -> list[str]:
    """The steps of ``eigensieve select`` on this table, problems first."""
    plan = []
    if found["infinite_values"]:
        plan.append(
            "select would refuse the infinite values; --missing median fills them, --missing drop-features or "
            "drop-samples leaves them out"
        )
    if found["missing_values"]:
        how = (
            "leave out features that lack most of their values and fill the others with the median"
            if found["sparse"]
            else "leave missing values as they are; they count neither for nor against a feature"
        )
        plan.append(f"select would {how} (--missing changes this)")
    if found["types"]["constant"]:
        plan.append(f"{found['types']['constant']:,} constant features would never be selected")
    if found["features"] > 0 and found["types"]["constant"] == found["features"]:
        plan.append("nothing varies: check --samples rows or columns")
    if found["samples"] < 10:
        plan.append("there are very few samples; a selection will hardly be stable")
    if found["label"] is not None:
        plan.append(_label_plan(found["label"], found["samples"]))
    if found["batch"] is not None:
        plan.append(f"differences between the {found['batch']['batches']} batches would be removed")
    if found["donors"] is not None:
        plan.append(f"samples of the same donor, of {found['donors']['donors']} donors, would not count as neighbours")
    usable = found["features"] - found["types"]["constant"]
    plan.append(f"select would choose among {usable:,} features")
    return plan


def _label_plan(label: JsonDict, n_samples: int) -> str:
    name, use = label["name"], label["use"]
    if use == "numbers":
        return f"the label '{name}' would be used as numbers; --supervision classes takes them for classes"
    if use != "classes":
        return f"the label '{name}' cannot be used: {use}"
    if label["classes"] > max(20, n_samples // 2):
        return f"the label '{name}' takes {label['classes']:,} values; is it a class? --supervision ignore skips it"
    return f"the label '{name}' would be used: {label['classes']} classes; --supervision ignore leaves it out"


def _lines(found: JsonDict) -> list[tuple[str, str]]:
    where = ""
    if found["missing_values"]:
        where = f" in {found['features_with_missing']:,} features and {found['samples_with_missing']:,} samples"
    lines = [
        ("samples", f"{found['samples']:,} (in {found['samples_in']} of the file)"),
        ("features", f"{found['features']:,}"),
        ("format", found["format"] + (f", sparse ({percent(found['density'])} filled)" if found["sparse"] else "")),
        ("types", ", ".join(f"{count:,} {kind}" for kind, count in found["types"].items() if count)),
        ("missing values", f"{found['missing_values']:,}{where}"),
    ]
    if found["infinite_values"]:
        places = counted(found["features_with_infinite"], "feature")
        lines.append(("infinite values", f"{found['infinite_values']:,} in {places}"))
    if found["constant_features"]:
        more = " ..." if found["types"]["constant"] > len(found["constant_features"]) else ""
        lines.append(("constant features", ", ".join(found["constant_features"]) + more))
    for role, number, words in (("label", "classes", "values"), ("batch", "batches", "batches")):
        column = found[role] or {}
        counts = ", ".join(f"{value} ({count:,})" for value, count in list(column.get("counts", {}).items())[:8])
        if column.get("use") == "numbers":
            lines.append((role, f"{column['name']}: a quantity, {column[number]:,} different values"))
        elif column:
            lines.append((role, f"{column['name']}: {column[number]:,} {words}: {counts}"))
    if found["donors"]:
        lines.append(("donors", f"{found['donors']['name']}: {found['donors']['donors']:,} donors"))
    lines += [
        (what, f"column '{found[key]}'")
        for key, what in (("sample_names", "sample names"), ("feature_names", "feature names"))
        if found[key]
    ]
    lines += [("note", note) for note in found["notes"]]
    return lines
