"""``eigensieve compress``: a kernel SVM rewritten with a few elements, or a cheap rejector in front of it."""

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
import typer

from eigensieve.cli.console import Console
from eigensieve.cli.errors import InputProblem, ModelProblem, UsageProblem, explain_os_error, input_errors
from eigensieve.cli.options import Force, LabelledOptions, Model, PrintOptions, Report, Seed
from eigensieve.cli.outputs import Outputs, save_model
from eigensieve.cli.reading import Samples, is_number_target, read_labelled

EXAMPLES = (
    "eigensieve compress faces.npz --label y --elements 200 --c faces.c --onnx faces.onnx",
    "eigensieve compress faces.npz --label y --cascade --model faces.skops",
    "eigensieve compress faces.npz --label y --svm trained.skops --json",
)


@dataclass(frozen=True, kw_only=True)
class MachineOptions:
    """Which machine to make."""

    svm: Annotated[
        str | None, typer.Option("--svm", help="A fitted SVC (skops file); without it one is trained on the input.")
    ] = None
    elements: Annotated[int, typer.Option("--elements", "-e", min=1, help="Elements to keep.")] = 200
    shape: Annotated[str, typer.Option("--shape", help="element, feature, basis, joint or prototypes.")] = "element"
    cascade: Annotated[
        bool, typer.Option("--cascade", help="Put the elements as a rejector in front of the SVM (two classes).")
    ] = False
    false_negatives: Annotated[
        float, typer.Option("--false-negatives", help="Cascade: share of the second class that may be lost.")
    ] = 0.02
    penalty: Annotated[float, typer.Option("--penalty", "-C", help="C of the SVM that is trained.")] = 10.0
    test: Annotated[float, typer.Option("--test", help="Share of the samples held out to measure on.")] = 0.25
    scale: Annotated[bool, typer.Option("--scale/--no-scale", help="Standardise the columns first.")] = True
    seed: Seed = None


@dataclass(frozen=True, kw_only=True)
class WriteOptions:
    """What to write, and where."""

    report: Report = None
    c_file: Annotated[str | None, typer.Option("--c", help="The machine as one C file.")] = None
    onnx: Annotated[str | None, typer.Option("--onnx", help="The machine as an ONNX model.")] = None
    model: Model = None
    force: Force = False


def compress_svm(
    reading: LabelledOptions, machine: MachineOptions, writing: WriteOptions, printing: PrintOptions
) -> None:
    """Make a kernel SVM cheap: few (feature, support vector) elements, or a rejector in front of it.

    Columns are standardised first, and everything written does so itself. --no-scale, and an SVM of your own, take the
    values as they are. Accuracy and speed are measured on samples that neither machine has seen.
    """
    _check_request(machine, writing)
    console = Console(printing)
    with Outputs(force=writing.force) as outputs:
        outputs.check(writing.c_file, writing.onnx, writing.model, writing.report)
        samples = read_labelled(reading, console)
        if is_number_target(np.asarray(samples.labels)):
            raise InputProblem(
                f"--label {reading.label} of '{reading.source}' is a quantity, and an SVM for classes is compressed "
                "here. Name a column of classes."
            )
        X, y = _in_memory(samples.X), _labels(samples)
        train, held_out = _split(y, machine, reading.source)
        scaler = _scaler(X[train], machine)
        Z = X if scaler is None else scaler.transform(X)
        full = _full_machine(machine, Z[train], y[train], console, reading.source)
        small = _small_machine(machine, full, Z[train], y[train], console, reading.source)
        measured = _measure(full, small, Z[held_out], y[held_out])
        names = [str(name) for name in samples.features]
        found = Compressed(small, scaler, names, machine, measured)
        _write(found, writing, outputs, reading.source)
        outputs.commit()
    console.table(type(small).__name__, ["", ""], found.rows)
    console.places(outputs.written)
    console.document(
        {"command": "compress", "estimator": type(small).__name__, **found.numbers, "outputs": outputs.written}
    )


def _labels(samples: Samples) -> Any:
    labels = np.asarray(samples.labels)
    return labels.astype(str) if labels.dtype == object else labels


def _scaler(X: Any, machine: MachineOptions) -> Any:
    """The standardisation, fitted on the training samples; None where values are taken as they are."""
    from sklearn.preprocessing import StandardScaler

    return StandardScaler().fit(X) if machine.scale and machine.svm is None else None


def _write(found: "Compressed", wanted: WriteOptions, outputs: Outputs, source: str) -> None:
    if wanted.c_file is not None:
        outputs.write("c", wanted.c_file, lambda path: path.write_text(found.c(), encoding="utf-8"))
    if wanted.onnx is not None:
        outputs.write("onnx", wanted.onnx, lambda path: path.write_bytes(found.onnx().SerializeToString()))
    if wanted.model is not None:
        outputs.write("model", wanted.model, lambda path: save_model(found.model(), path, input=source))
    if wanted.report is not None:
        from eigensieve.report import Section, sheet

        section = Section(type(found.small).__name__, ["", ""], found.rows)
        page = sheet("A compressed SVM", [f"Input: {source}"], [section])
        outputs.write("report", wanted.report, lambda path: path.write_text(page, encoding="utf-8"))


def _check_request(machine: MachineOptions, writing: WriteOptions) -> None:
    if machine.cascade and (writing.c_file or writing.onnx):
        raise UsageProblem("--c and --onnx write the elements alone. Drop --cascade to export them.")
    for flag, value in (("--test", machine.test), ("--false-negatives", machine.false_negatives)):
        if not 0 < value < 1:
            raise UsageProblem(f"{flag} must lie between 0 and 1. Got {value} instead.")


def _in_memory(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X


def _split(y: Any, machine: MachineOptions, source: str) -> tuple[Any, Any]:
    from sklearn.model_selection import train_test_split

    values, counts = np.unique(y, return_counts=True)
    if len(values) < 2 or counts.min() < 3:
        raise InputProblem(
            f"'{source}' has the labels {', '.join(map(str, values[:5]))}; there must be two classes or more, each "
            "with at least 3 samples. Check --label."
        )
    with input_errors(source):
        rows = np.arange(len(y))
        return tuple(train_test_split(rows, test_size=machine.test, stratify=y, random_state=machine.seed or 0))


def _full_machine(options: MachineOptions, X: Any, y: Any, console: Console, source: str) -> Any:
    """The SVM to rewrite: the user's own, or one trained here."""
    from sklearn.svm import SVC

    if options.svm is None:
        with console.working("Training the SVM", source):
            return SVC(C=options.penalty).fit(X, y)
    machine = _open_svc(options.svm)
    if machine.n_features_in_ != X.shape[1]:
        raise ModelProblem(
            f"The SVM '{options.svm}' was fitted on {machine.n_features_in_} features; '{source}' has {X.shape[1]}. "
            "Give it the same columns."
        )
    return machine


def _open_svc(path: str) -> Any:
    """Load a fitted SVC from a skops file in which nothing but scikit-learn's types occur."""
    from sklearn.svm import SVC

    from eigensieve._extras import require

    sio = require("skops.io", extra="models")
    try:
        foreign = sio.get_untrusted_types(file=path)
        if foreign:
            raise ModelProblem(
                f"'{path}' holds types that are not trusted: {', '.join(foreign[:5])}. It was not loaded."
            )
        machine = sio.load(path, trusted=[])
    except OSError as error:
        raise ModelProblem(explain_os_error(error, path, "reading")) from error
    except ModelProblem:
        raise
    except Exception as error:
        raise ModelProblem(f"'{path}' is damaged or no skops file. Save the SVM again with skops.io.dump.") from error
    if not isinstance(machine, SVC) or not hasattr(machine, "support_vectors_"):
        raise ModelProblem(f"'{path}' holds a {type(machine).__name__}, not a fitted SVC. Save the SVC itself.")
    return machine


def _small_machine(options: MachineOptions, full: Any, X: Any, y: Any, console: Console, source: str) -> Any:
    """The SVM with few elements, or a cascade of the two."""
    from eigensieve.estimators import ElementSelectedSVC, RejectionCascade

    rejector: Any = ElementSelectedSVC(
        full,
        n_elements=options.elements,
        shape=options.shape,  # type: ignore[arg-type]  # the estimator checks it
        random_state=options.seed,
    )
    with console.fitting("Selecting elements", source):
        if not options.cascade:
            return rejector.fit(X, y)
        order = np.random.default_rng(options.seed or 0).permutation(len(y))
        fit_rows, held_out = order[len(y) // 4 :], order[: len(y) // 4]
        rejector.fit(X[fit_rows], y[fit_rows])
        return RejectionCascade(rejector, full, options.false_negatives).fit(X[held_out], y[held_out])


def _measure(full: Any, small: Any, X: Any, y: Any) -> dict[str, float]:
    """Accuracy and time of both machines on held-out samples. The time is the best of three."""
    measured = {}
    for name, machine in (("full", full), ("small", small)):
        machine.predict(X[:2])  # compiled on first use
        times = []
        for _ in range(3):
            start = time.perf_counter()
            predicted = machine.predict(X)
            times.append(time.perf_counter() - start)
        measured[f"{name}_accuracy"] = float(np.mean(predicted == y))
        measured[f"{name}_seconds"] = min(times)
    measured["speed_up"] = measured["full_seconds"] / max(measured["small_seconds"], 1e-9)
    measured["held_out"] = len(y)
    return measured


@dataclass(frozen=True)
class Compressed:
    """The machine made, and what is known about it."""

    small: Any
    scaler: Any
    names: list[str]
    options: MachineOptions
    measured: dict[str, float]

    @property
    def machine(self) -> Any:
        """The elements, alone or in front of the SVM."""
        return getattr(self.small, "rejector_", self.small)

    @cached_property
    def used(self) -> list[str]:
        """Names of the features that are still read."""
        mask = np.asarray(abs(self.machine.mask_).sum(axis=1)).ravel()
        return [name for name, value in zip(self.names, mask, strict=True) if value]

    @cached_property
    def numbers(self) -> dict[str, Any]:
        full = getattr(self.small, "classifier_", getattr(self.machine, "estimator_", None))
        vectors = getattr(full, "support_vectors_", None)
        numbers: dict[str, Any] = {
            "elements": int(self.machine.n_elements_),
            "support_vector_values": int(np.prod(vectors.shape)) if vectors is not None else None,
            "features_used": len(self.used),
            "scaled": self.scaler is not None,
            **self.measured,
        }
        if hasattr(self.small, "rejection_rate_"):
            numbers["rejected_negatives"] = float(self.small.rejection_rate_)
        return numbers

    @property
    def rows(self) -> list[tuple[str, str]]:
        """What was kept, and why; and what it costs."""
        numbers, names = self.numbers, ", ".join(self.used[:8]) + (" ..." if len(self.used) > 8 else "")
        stored = f" of {numbers['support_vector_values']:,}" if numbers["support_vector_values"] else ""
        scaled = "standardised by the training samples" if self.scaler is not None else "taken as they are"
        rows = [
            ("values kept", f"{numbers['elements']:,}{stored}, those that come closest to the full SVM (--elements)"),
            ("features read", f"{len(self.used):,} of {len(self.names):,}: {names}"),
            ("columns", scaled),
            ("accuracy, full SVM", f"{numbers['full_accuracy']:.4f}"),
            ("accuracy, compressed", f"{numbers['small_accuracy']:.4f}"),
            ("speed-up of predict", f"{numbers['speed_up']:.1f}x on {int(numbers['held_out']):,} held-out samples"),
        ]
        if "rejected_negatives" in numbers:
            rows.append(("negatives rejected at once", f"{100 * numbers['rejected_negatives']:.1f} %"))
        return rows

    def model(self) -> Any:
        """The machine to save: it takes raw values."""
        names = np.array(self.names, dtype=object)
        if self.scaler is None:
            self.small.feature_names_in_ = names
            return self.small
        from sklearn.pipeline import Pipeline

        self.scaler.feature_names_in_ = names
        return Pipeline([("scale", self.scaler), ("machine", self.small)])

    def c(self) -> str:
        if self.scaler is None:
            return str(self.machine.to_c())
        from eigensieve.elements import scaled_c

        return scaled_c(self.machine, self.scaler.mean_, self.scaler.scale_)

    def onnx(self) -> Any:
        if self.scaler is None:
            return self.machine.to_onnx()
        from eigensieve.elements import scaled_onnx

        return scaled_onnx(self.machine, self.scaler.mean_, self.scaler.scale_)
