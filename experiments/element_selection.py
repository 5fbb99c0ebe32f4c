"""Element selection against the full machine and reduced sets, on vehicles and faces (avidan, Figs. 2 to 5)."""

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from eigensieve.datasets import load_real
from eigensieve.estimators import ElementSelectedSVC, ReducedSetSVC
from experiments.common import draw_curves, markdown, mean, panels
from experiments.frame import Array, Check, Claim, Experiment, Reading, Results, figure, no_worse, reading, statement
from experiments.masked_svm import MaskedSVM

SETS = {"faces": "CBCL_faces_19x19", "vehicles": "vehicles_GTI_20x20"}
ELEMENTS = (5, 10, 20, 50, 100, 200, 250, 400, 576)
VECTORS = (5, 10, 50, 100)
REJECTED = {"faces": 0.80, "vehicles": 0.70}
_FULL, _TRAINED = "full SVM", "elements, mask in SVM training"
_OURS, _PRINTED, _LABELS = "elements", "elements as printed", "elements, labels matched"
_DRAWN = "elements, 60 candidates"
_TRIES = {tries: f"elements as printed, {tries} {'try' if tries == 1 else 'tries'} per chunk" for tries in (1, 5)}
"""The paper repeats a chunk "several times"; judged are three tries."""

_CURVE = (5, 50, 250, 576)
"""Sizes at which the algorithm as printed is run, for Figs. 3 and 5."""
_SEARCHES: dict[str, dict[str, Any]] = {
    _OURS: {"match": "decision"},
    _PRINTED: {"match": "kernel", "search": "probabilistic", "tol": 0.0},
    **{
        name: {"match": "kernel", "search": "probabilistic", "tol": 0.0, "n_tries": tries}
        for tries, name in _TRIES.items()
    },
    _DRAWN: {"match": "decision", "search": "probabilistic", "tol": 0.0},
    _LABELS: {"match": "labels"},
}
_TABLE_SIZE = 16384
_RATES = np.linspace(0.0, 1.0, 101)
_LOST = 0.02
_OTHER_IMAGES = "not the paper's images"


@cache
def _split(name: str, number: int) -> tuple[SVC, Array, Array, Array, Array]:
    """Return the full SVM, and both halves of the data: training features and labels, test features and labels."""
    bunch = load_real(SETS[name])
    X = (bunch.data / 255).astype(np.float32)
    X, X_test, y, y_test = train_test_split(X, bunch.target, test_size=0.5, stratify=bunch.target, random_state=number)
    return SVC(C=10).fit(X, y), X, y, X_test, y_test


def run(case: str, number: int) -> dict[str, Any]:
    """Return the measures of one machine on one split."""
    name, machine = case.split(", ", 1)
    svc, X, y, X_test, y_test = _split(name, number)
    count, what = (0, _FULL) if machine == _FULL else (int(machine.split()[0]), machine.split(" ", 1)[1])
    found: dict[str, Any] = {}
    model: Any = svc
    if what in _SEARCHES:
        model = ElementSelectedSVC(svc, n_elements=count, random_state=number, **_SEARCHES[what]).fit(X, y)
        columns = int(np.count_nonzero(model.dual_coef_))
        stored = 2 if what == _LABELS else 1  # a weight per column and, if labels are matched, a gamma
        found = {"numbers": count + stored * columns + 1, "kernel operations": columns}
        found |= _table(model, X, y, X_test) if what == _OURS else {}
    elif what == _TRAINED:
        model = MaskedSVM(count, svc._gamma).fit(X, y, np.random.default_rng(number))
        found = {"numbers": count + len(model.columns) + 1, "kernel operations": len(model.columns)}
    elif what == "vectors":
        model = ReducedSetSVC(svc, n_vectors=count, random_state=number).fit(X, y)
        found = {"numbers": model.n_numbers_, "kernel operations": count}
    else:
        found = {"numbers": svc.support_vectors_.size + svc.dual_coef_.size + 1, "kernel operations": len(svc.support_)}
    return {**found, **_measures(model.decision_function(X_test), y_test)}


def _table(model: ElementSelectedSVC, X: Array, y: Array, X_test: Array) -> dict[str, float]:
    """Return what 16K look-up tables change; the elements stay as they are."""
    direct = model.decision_function(X_test)
    tabled = model.set_params(table_size=_TABLE_SIZE).fit(X, y).decision_function(X_test)
    model.set_params(table_size=None)
    return {
        "table, largest difference": float(np.abs(tabled - direct).max()),
        "table, other decisions": float(np.mean((tabled > 0) != (direct > 0))),
    }


def _measures(scores: Array, y: Array) -> dict[str, Any]:
    """Return the ROC curve, its area, the break-even error, and the negatives rejected at 2 % lost positives."""
    false_positive, true_positive, _ = roc_curve(y, scores)
    crossing = int(np.argmin(np.abs(false_positive - (1 - true_positive))))
    positives = np.sort(scores[y == 1])
    threshold = positives[int(np.floor(_LOST * len(positives) + 1e-9))]
    return {
        "roc": np.interp(_RATES, false_positive, true_positive).tolist(),
        "area": float(roc_auc_score(y, scores)),
        "break-even": float((false_positive[crossing] + 1 - true_positive[crossing]) / 2),
        "rejection": float(np.mean(scores[y != 1] < threshold)),
    }


_COLUMNS = {"rejection": 3, "break-even": 4, "numbers": 0}


def table(results: Results) -> str:
    """Return the measures, one line per machine."""
    rows = [
        [
            machine,
            *(
                mean(results.values(f"{name}, {machine}", key), digits)
                for name in SETS
                for key, digits in _COLUMNS.items()
            ),
        ]
        for machine in _MACHINES
    ]
    return markdown(["machine", *(f"{name}: {key}" for name in SETS for key in _COLUMNS)], rows)


def _rejects(machine: str, results: Results) -> list[Check]:
    return [
        check
        for name, printed in REJECTED.items()
        for check in figure(
            f"{name}, {machine}", printed, results.values(f"{name}, {machine}", "rejection"), 2, "at least"
        )
    ]


def _levels_off(results: Results, what: str = _PRINTED) -> list[Check]:
    found = []
    for name in SETS:
        errors = {n: results.values(f"{name}, {n} {what}", "break-even") for n in _CURVE}
        if all(len(values) for values in errors.values()):
            first, early, middle, last = (100 * values.mean() for values in errors.values())
            text = (
                f"5 to 50: {first - early:.1f} points, 50 to 250: {early - middle:.2f}, 250 to 576: {middle - last:.2f}"
            )
            rule = "negligible after about 250 (below half a point up to 576)"
            found.append(statement(name, rule, text, middle - last < 0.5))
    return found


def _equals(key: str, results: Results) -> Iterator[tuple[str, str, Array, Array]]:
    """Yield the machines that the paper calls equivalent, and their values in the runs that both have."""
    for name, elements, vectors in (("vehicles", 400, 5), ("faces", 576, 10)):
        machines = f"{elements} elements", f"{vectors} vectors"
        ours, other = (results.values(f"{name}, {machine}", key) for machine in machines)
        both = min(len(ours), len(other))
        yield f"{name}, {machines[0]}", machines[1], ours[:both], other[:both]


def _equivalent(results: Results) -> list[Check]:
    return [
        check
        for where, vectors, ours, other in _equals("area", results)
        for check in no_worse(f"{where}: 1 - area", 1 - ours, 1 - other, vectors, 4)
    ]


def _memory(results: Results) -> list[Check]:
    return [
        check
        for where, vectors, ours, other in _equals("numbers", results)
        if len(ours)
        for check in figure(f"{where} over {vectors}", 0.4, np.array([ours.mean() / other.mean()]), 1, "at most")
    ]


def _table_is_enough(results: Results) -> list[Check]:
    found = []
    for case in results.having(f"{name}, {n} elements" for name in SETS for n in (200, 400)):
        share = results.values(case, "table, other decisions").max()
        text = f"{share:.2%} other decisions"
        found.append(statement(case, "no noticeable difference (below 0.1 %)", text, share < 0.001))
    return found


def _one_each(results: Results) -> list[Check]:
    rule = "support vectors in use: almost one per element (above 180)"
    cases = results.having(f"{name}, 200 {_PRINTED}" for name in SETS)
    used = {case: results.values(case, "kernel operations").mean() for case in cases}
    return [statement(case, rule, f"{count:.0f}", count > 180) for case, count in used.items()]


def _hundred(results: Results) -> list[Check]:
    full, some = (results.values(f"faces, {machine}", "area") for machine in (_FULL, "100 vectors"))
    if not len(full) or not len(some):
        return []
    rule = f"coincide almost entirely with the full SVM, {full.mean():.4f} (area, within 0.001)"
    return [statement("faces, 100 vectors", rule, f"{some.mean():.4f}", abs(some.mean() - full.mean()) < 0.001)]


def conclude(results: Results) -> str:
    """Return the conclusion."""
    ours, printed, labels, trained = (
        " and ".join(mean(results.values(f"{name}, 200 {what}", "rejection")) for name in SETS)
        for what in (_OURS, _PRINTED, _LABELS, _TRAINED)
    )
    errors = " / ".join(mean(100 * results.values(f"faces, {n} {_PRINTED}", "break-even"), 1) for n in _CURVE)
    return (
        f"On faces and vehicles that stand in, 200 elements reject {ours} of the negatives (printed 0.80 and 0.70 on "
        f"other images), Algorithm 1 as printed {printed}, elements that match the labels {labels}, and a "
        f"mask found while the SVM is trained (the paper's future work) {trained}. The first elements gain "
        f"most: on faces the break-even error of Algorithm 1 is {errors} % at 5 / 50 / 250 / 576 elements. Look-up "
        "tables change nothing."
    )


def open_choices(results: Results) -> list[Reading]:
    """Return what elements after 250 gain, and the rejection rates, per algorithm."""
    machines = {
        "200 elements": "decision values matched (this library, judged in 1)",
        f"200 {_PRINTED}": "K matched (Algorithm 1 as printed, three tries per chunk, judged in 2)",
        **{f"200 {name}": f"the same, {name.split(', ')[1]}" for name in _TRIES.values()},
        f"200 {_DRAWN}": "decision values matched, by the printed search (60 candidates)",
        f"200 {_LABELS}": "labels matched (this library)",
        f"200 {_TRAINED}": "labels matched while the SVM is trained (section 7)",
    }
    searches = {_PRINTED: "Algorithm 1 as printed (judged in 6)", _OURS: "decision values matched (this library)"}
    return [
        Reading(f"search, break-even error, {check.where}", label, check.ours, "negligible after 250", check.holds)
        for what, label in searches.items()
        for check in _levels_off(results, what)
    ] + [
        each
        for name, printed in REJECTED.items()
        for machine, label in machines.items()
        for each in reading(
            f"target and search, {name}",
            label,
            results.values(f"{name}, {machine}", "rejection"),
            printed,
            2,
            "at least",
        )
    ]


def draw(results: Results) -> Any:
    """Draw the ROC curves and the break-even errors."""
    picture, axes = panels([f"{name}: {what}" for name in SETS for what in ("ROC", "break-even error")])
    for i, name in enumerate(SETS):
        for case in results.having(EXPERIMENT.runs):
            if case.startswith(name) and case.split(", ", 1)[1] in _SHOWN:
                axes[2 * i].plot(
                    _RATES, results.values(case, "roc").mean(axis=0), label=case.split(", ", 1)[1], linewidth=1
                )
        axes[2 * i].set(xlim=(0, 0.4), ylim=(0.6, 1.005), xlabel="false positives", ylabel="true positives")
        if axes[2 * i].lines:
            axes[2 * i].legend(fontsize=5)
        errors = {
            label: [results.values(f"{name}, {n} {what}", "break-even") for n in ELEMENTS]
            for what, label in ((_OURS, "ours"), (_PRINTED, "as printed"))
        }
        draw_curves(axes[2 * i + 1], ELEMENTS, errors, xlabel="elements")
    return picture


_MACHINES = (
    _FULL,
    *(f"{n} elements" for n in ELEMENTS),
    *(f"{n} vectors" for n in VECTORS),
    *(f"{n} {_PRINTED}" for n in _CURVE),
    *(f"200 {what}" for what in (_PRINTED, *_TRIES.values(), _DRAWN, _LABELS, _TRAINED)),
)
_SHOWN = (_FULL, "200 elements", "400 elements", "576 elements", *(f"{n} vectors" for n in VECTORS), f"200 {_PRINTED}")
_CASES = [f"{name}, {machine}" for name in SETS for machine in _MACHINES]
_SLOW = [
    f"{name}, {n} {what}"
    for name in SETS
    for n, what in (*((n, _PRINTED) for n in _CURVE), *((200, t) for t in _TRIES.values()))
]

EXPERIMENT = Experiment.of(
    __name__,
    name="elements",
    title="Element selection",
    paper="avidan",
    section="section 5, Figs. 2 to 5",
    protocol="An RBF SVM (C = 10) is trained on half of the images and rewritten with few elements, or with few "
    "constructed vectors; the other half is for testing, 5 splits. Rejection is the share of negatives below the "
    "threshold that loses 2 % of the positives; the break-even error is where false positives equal false negatives.",
    stand_in="the MobilEye vehicles and the MERL faces are not available. GTI vehicles (20 x 20) and CBCL faces (19 x "
    "19) stand in. The paper does not say how candidates are compared; least squares on all masked columns decides, as "
    "in its next line. Claims 3, 5 and 8 take this library's search. 'numbers' counts values and weights.",
    runs={**dict.fromkeys(_CASES, 5), **dict.fromkeys(_SLOW, 3)},
    quick={"faces, 50 elements": 1, f"faces, {_FULL}": 1, "faces, 200 elements": 1},
    data={case: SETS[case.split(", ")[0]] for case in _CASES},
    claims=(
        Claim(
            "200 elements reject 70 % (vehicles) and 80 % (faces) of the negatives and lose under 2 %: ours.",
            partial(_rejects, "200 elements"),
            _OTHER_IMAGES,
        ),
        Claim("The same, algorithm as printed.", partial(_rejects, f"200 {_PRINTED}"), _OTHER_IMAGES),
        Claim("400 elements equal 5 vectors (vehicles), 576 equal 10 (faces).", _equivalent, _OTHER_IMAGES),
        Claim("100 vectors coincide with the full SVM (faces).", _hundred, _OTHER_IMAGES),
        Claim("The memory is 40 % of that of the reduced set.", _memory, _OTHER_IMAGES),
        Claim("After about 250 elements the improvement is negligible.", _levels_off),
        Claim("Almost every element belongs to another support vector.", _one_each),
        Claim("A look-up table of 16K entries makes no noticeable difference.", _table_is_enough),
    ),
)
