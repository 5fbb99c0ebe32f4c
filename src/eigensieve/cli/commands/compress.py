"""``eigensieve compress``: a kernel SVM rewritten with a few elements, or a cheap rejector in front of it."""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eigensieve._types import JsonDict
from eigensieve.cli.console import Console
from eigensieve.cli.errors import UsageProblem, input_errors
from eigensieve.cli.machines import Measured, cascade, compare, measure, opened_svm, split, trained_svm
from eigensieve.cli.options import Force, LabelledOptions, Model, PrintOptions, Report, Seed, option
from eigensieve.cli.outputs import Outputs, save_model
from eigensieve.cli.reading import Samples, is_number_target, read_labelled

EXAMPLES = (
    "eigensieve compress faces.npz --label y --elements 200 --c faces.c --onnx faces.onnx",
    "eigensieve compress faces.npz --label y --match labels --c faces.c --precision int8",
    "eigensieve compress faces.npz --label y --cascade --model faces.skops",
    "eigensieve compress faces.npz --label y --svm trained.skops --json",
)


@dataclass(frozen=True, kw_only=True)
class MachineOptions:
    svm: str | None = option("--svm", help="A fitted SVC or SVR (skops file); without it one is trained on the input.")
    elements: int = option("--elements", "-e", min=1, help="Elements to keep.", default=200)
    match: str = option(
        "--match", help="labels: fit the labels. decision: imitate the SVM. auto: decision with --svm.", default="auto"
    )
    shape: str = option(
        "--shape", help="Shape of the mask: element, feature, basis, joint or prototypes.", default="element"
    )
    cascade: bool = option(
        "--cascade", help="Put the elements in front of the SVM, to reject easy samples (two classes).", default=False
    )
    false_negatives: float = option(
        "--false-negatives", help="Cascade: share of the second class that may be lost.", default=0.02
    )
    penalty: float = option("--penalty", "-C", help="C of the SVM that is trained.", default=10.0)
    test: float = option("--test", help="Share of the samples held out to measure on.", default=0.25)
    scale: bool = option("--scale/--no-scale", help="Standardise the columns first.", default=True)
    compare: bool = option(
        "--compare/--no-compare", help="Compare with other small machines: trees, linear, network.", default=True
    )
    seed: Seed = 0

    @property
    def aim(self) -> str:
        labels = self.svm is None and self.shape == "element"
        return self.match if self.match != "auto" else "labels" if labels else "decision"

    def small(self, full: Any, match: str, *, quantity: bool) -> Any:
        from eigensieve.estimators import ElementSelectedSVC, ElementSelectedSVR

        kind: Any = ElementSelectedSVR if quantity else ElementSelectedSVC
        return kind(full, n_elements=self.elements, shape=self.shape, match=match, random_state=self.seed)


@dataclass(frozen=True, kw_only=True)
class WriteOptions:
    report: Report = None
    c_file: str | None = option("--c", help="Write the machine here, as one C file.")
    precision: str | None = option(
        "--precision",
        help="Numbers in the C file: single, double, int8 or int16. If not given: double if columns are "
        "standardised, else single.",
    )
    onnx: str | None = option("--onnx", help="Write the machine here, as an ONNX model.")
    model: Model = None
    force: Force = False


def compress_svm(
    reading: LabelledOptions, machine: MachineOptions, writing: WriteOptions, printing: PrintOptions
) -> None:
    """Make a kernel SVM cheap: keep a few values of its support vectors, or put a fast rejector in front of it.

    Columns are standardised first. The written machines do this themselves, so give them raw values. With --no-scale,
    or with an SVM of your own, values are taken as they are. A label that is a quantity is predicted as a number. Other
    small machines are fitted for comparison. All are measured on samples that none has seen.
    """
    _check_request(machine, writing)
    places = (writing.c_file, writing.onnx, writing.model, writing.report)
    console = Console(printing, *places)
    with Outputs(*places, inputs=(reading.source, reading.sheet, machine.svm), force=writing.force) as outputs:
        samples = read_labelled(reading, console)
        found = _made(samples, machine, console, reading.source)
        facts = samples.facts(reading.source, f"{'Target' if found.quantity else 'Label'}: {reading.label}")
        outputs.write_text("c", writing.c_file, lambda: found.c(writing.precision))
        outputs.write("onnx", writing.onnx, lambda path: path.write_bytes(found.onnx().SerializeToString()))
        outputs.write("model", writing.model, lambda path: save_model(found.model(), path, input=reading.source))
        outputs.write_text("report", writing.report, lambda: _page(found, facts))
    name = type(found.small).__name__
    console.table(name, ["", ""], found.rows)
    heads, rows = found.compared
    console.table(COMPARED, heads, rows, right=heads[1:])
    console.finish({"command": "compress", "estimator": name, **found.numbers}, outputs.written)


COMPARED = "Small machines on the held-out samples (times in Python, on this computer)"
_MEASURED = (
    "Measured on the held-out samples. numbers: how many it stores. features: how many it reads. ms per 1,000: time to "
    "predict 1,000 samples in Python, on this computer."
)


def _made(samples: Samples, machine: MachineOptions, console: Console, source: str) -> "Compressed":
    from sklearn.preprocessing import StandardScaler

    y, seed = np.asarray(samples.labels), machine.seed or 0
    y = y.astype(str) if y.dtype == object else y
    with input_errors(source):
        quantity = is_number_target(y)
    if quantity and machine.cascade:
        raise UsageProblem("--cascade rejects samples of a class, and the label is a quantity. Drop --cascade.")
    X = samples.X.toarray() if hasattr(samples.X, "toarray") else samples.X
    rows, held_out = split(y, machine.test, seed, source, quantity=quantity)
    # values are taken as they are with --no-scale, and with an SVM of the user's own
    scaler = StandardScaler().fit(X[rows]) if machine.scale and machine.svm is None else None
    Z = X if scaler is None else scaler.transform(X)
    train, test = (Z[rows], y[rows]), (Z[held_out], y[held_out])
    if machine.svm is None:
        with console.working("Training the SVM", source):
            full = trained_svm(machine.penalty, *train, quantity=quantity)
    else:
        full = opened_svm(machine.svm, X.shape[1], source, quantity=quantity)
    with console.fitting("Selecting elements", source):
        small = machine.small(full, machine.aim, quantity=quantity)
        if machine.cascade:
            small = cascade(small, full, machine.false_negatives, seed, *train)
        else:
            small.fit(*train)
    measured = [measure("full SVM", full, *test), measure("compressed", small, *test)]
    if machine.compare:
        if full.kernel == "rbf" and machine.shape == "element":
            with console.fitting("Selecting elements another way", source):
                match = "decision" if machine.aim == "labels" else "labels"
                other = machine.small(full, match, quantity=quantity).fit(*train)
                measured.append(measure(f"{other.n_elements_} elements, --match {match}", other, *test))
        with console.working("Comparing", source) as progress:
            measured += compare(full, train, test, seed, progress)
    names = [str(name) for name in samples.features]
    return Compressed(small, full, scaler, names, machine, measured, len(held_out), samples.has_names)


def _page(found: "Compressed", facts: list[str]) -> str:
    """The report: the machine, size against score, and the pixels it reads where features are pixels."""
    from eigensieve.report import Section, image_shape, pixels, sheet, size_against_score

    points = [(one.name, float(one.numbers), one.score) for one in found.measured]
    score = "R squared" if found.quantity else "accuracy"
    text = f"One dot per machine: the numbers it stores, and its {score} on the held-out samples."
    sections = [
        Section("The machine", ["", ""], found.rows),
        Section("Size and accuracy", text=text, picture=size_against_score(points, 1, score)),
        Section("Beside other small machines", *found.compared, _MEASURED),
    ]
    shape = image_shape(found.names)
    if shape is not None:
        counts = np.asarray((found.machine.mask_ != 0).sum(axis=1)).ravel().tolist()
        text = "The features are the pixels of an image. The more elements read a pixel, the stronger it is drawn."
        sections.append(Section("Pixels that are read", text=text, picture=pixels(counts, found.names, shape)))
    return sheet("A compressed SVM", facts, sections)


MATCHES = ("auto", "labels", "decision")
PRECISIONS = ("single", "double", "int8", "int16")


def _check_request(machine: MachineOptions, writing: WriteOptions) -> None:
    if machine.cascade and (writing.c_file or writing.onnx):
        raise UsageProblem("--c and --onnx write the elements alone. Drop --cascade to export them.")
    if machine.match not in MATCHES:
        raise UsageProblem(f"--match must be one of {', '.join(MATCHES)}. Got {machine.match!r} instead.")
    if writing.precision is not None and (writing.c_file is None or writing.precision not in PRECISIONS):
        raise UsageProblem(
            f"--precision must be one of {', '.join(PRECISIONS)}, with --c. Got {writing.precision!r} instead."
        )
    for flag, value in (("--test", machine.test), ("--false-negatives", machine.false_negatives)):
        if not 0 < value < 1:
            raise UsageProblem(f"{flag} must lie between 0 and 1. Got {value} instead.")


AIMS = {"decision": "come closest to the full SVM", "labels": "predict the labels best"}


@dataclass(frozen=True)
class Compressed:
    small: Any
    full: Any
    scaler: Any
    names: list[str]
    options: MachineOptions
    measured: list[Measured]
    n_held_out: int
    has_names: bool = True

    @property
    def machine(self) -> Any:
        """The elements, alone or in front of the SVM."""
        return getattr(self.small, "rejector_", self.small)

    @cached_property
    def used(self) -> list[str]:
        mask = np.asarray(abs(self.machine.mask_).sum(axis=1)).ravel()
        return [name for name, value in zip(self.names, mask, strict=True) if value]

    @property
    def quantity(self) -> bool:
        return not hasattr(self.small, "classes_")

    @property
    def compared(self) -> tuple[list[str], list[list[str]]]:
        cells = [one.cells(quantity=self.quantity) for one in self.measured]
        return list(cells[0]), [list(one.values()) for one in cells]

    @cached_property
    def numbers(self) -> JsonDict:
        before, after = self.measured[:2]
        score = "r2" if self.quantity else "accuracy"
        numbers: JsonDict = {
            "elements": int(self.machine.n_elements_),
            "support_vector_values": int(np.prod(self.full.support_vectors_.shape)),
            "features_used": len(self.used),
            "scaled": self.scaler is not None,
            f"full_{score}": before.score,
            f"small_{score}": after.score,
            "speed_up": before.ms_per_1000 / max(after.ms_per_1000, 1e-9),
            "held_out": self.n_held_out,
            "machines": [asdict(one) for one in self.measured],
        }
        if hasattr(self.small, "rejection_rate_"):
            numbers["rejected_negatives"] = float(self.small.rejection_rate_)
        return numbers

    @property
    def rows(self) -> list[tuple[str, str]]:
        numbers, names = self.numbers, ", ".join(self.used[:8]) + (" ..." if len(self.used) > 8 else "")
        scaled = "standardised by the training samples" if self.scaler is not None else "taken as they are"
        rows = [
            ("values kept", f"{numbers['elements']:,}, those that {AIMS[self.options.aim]}"),
            ("features read", f"{len(self.used):,} of {len(self.names):,}: {names}"),
            ("columns", scaled),
            ("speed-up of predict", f"{numbers['speed_up']:.1f}x on {self.n_held_out:,} held-out samples"),
        ]
        if "rejected_negatives" in numbers:
            rows.append(("negatives rejected at once", f"{100 * numbers['rejected_negatives']:.1f} %"))
        return rows

    def model(self) -> Any:
        """The machine to save: it takes raw values."""
        if self.scaler is None:
            return self._named(self.small)
        from sklearn.pipeline import Pipeline

        return Pipeline([("scale", self._named(self.scaler)), ("machine", self.small)])

    def c(self, precision: str | None) -> str:
        """The C file: it takes raw values, and its head names features and classes."""
        if self.scaler is None:
            return str(self._named(self.machine).to_c(precision=precision or "single"))
        return str(self.machine.to_c(precision=precision or "double", scaler=self._named(self.scaler)))

    def onnx(self) -> Any:
        return self.machine.to_onnx(scaler=self.scaler)

    def _named(self, step: Any) -> Any:
        if self.has_names:
            step.feature_names_in_ = np.array(self.names, dtype=object)
        return step
