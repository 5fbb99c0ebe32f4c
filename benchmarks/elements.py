"""Element selection on the two image sets of the paper's kind: rejection, area under the ROC, memory.

Half of each set for training, five splits. Rejection is the share of test negatives below the threshold that loses 2
% of the test positives; beside it, what a threshold calibrated on held-out training data rejects and loses on the
test half.

Run: python benchmarks/elements.py [folder for the pictures]
     python benchmarks/elements.py splits     200 elements that match the labels, on more splits and seeds
"""

import sys
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from eigensieve import ElementSelectedSVC, ReducedSetSVC
from eigensieve.datasets import load_real
from eigensieve.elements.rejection import rejection_rates, rejection_threshold

SPLITS = 5
HELD, DRAWS = 400, 200
WANTED = {"CBCL_faces_19x19": {50: 0.92, 200: 0.975}, "vehicles_GTI_20x20": {200: 0.783}}


def models(svc: SVC) -> dict[str, object]:
    """Return everything that is compared on one split."""
    made: dict[str, object] = {"full SVM": svc}
    for t in (50, 100, 200, 400, 1000):
        made[f"{t} elements"] = ElementSelectedSVC(svc, n_elements=t, random_state=0)
        made[f"{t} elements, refined"] = ElementSelectedSVC(svc, n_elements=t, refine=True, random_state=0)
        made[f"{t} elements, labels"] = ElementSelectedSVC(n_elements=t, random_state=0)
    made["400 elements, patient"] = patient(svc)
    made["400, patient and refined"] = patient(svc, refine=True)
    made["200 in prototypes"] = ElementSelectedSVC(svc, n_elements=200, shape="prototypes", random_state=0)
    made["10 constructed"] = ReducedSetSVC(svc, n_vectors=10, random_state=0)
    made["10 constructed, unrefined"] = ReducedSetSVC(svc, n_vectors=10, refine=False, random_state=0)
    made["10 sparse (60 each)"] = ReducedSetSVC(svc, n_vectors=10, n_features_per_vector=60, random_state=0)
    made["10 selected"] = ReducedSetSVC(svc, n_vectors=10, method="selection")
    return made


def patient(svc: SVC, *, refine: bool = False) -> ElementSelectedSVC:
    """Return 400 elements chosen with more tries than by default."""
    return ElementSelectedSVC(svc, n_elements=400, n_tries=10, refine=refine, random_state=0)


def numbers_stored(model: object) -> int:
    """Return how many numbers a model must keep to predict."""
    if isinstance(model, ElementSelectedSVC):
        return model.n_elements_ + int(np.count_nonzero(model.dual_coef_)) + 1
    if isinstance(model, ReducedSetSVC):
        return model.n_numbers_
    return model.support_vectors_.size + model.dual_coef_.size + 1


def rejection_at(scores: np.ndarray, positive: np.ndarray, false_negative_rate: float) -> float:
    """Return the share of negatives below the threshold at which at most the given share of *these* positives is lost.

    A point of the ROC curve, as in the paper's figures 2 and 4.
    """
    sorted_positives = np.sort(scores[positive])
    threshold = sorted_positives[int(np.floor(false_negative_rate * sorted_positives.size + 1e-9))]
    return float((scores[~positive] < threshold).mean())


def run(name: str) -> dict[str, np.ndarray]:
    """Return, for each model, a row a split: rejection, area, numbers, calibrated rejection and loss."""
    bunch = load_real(name)
    X, y = (bunch.data / 255).astype(np.float32), bunch.target
    rows: dict[str, list[list[float]]] = {}
    for split in range(SPLITS):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=split)
        positive = y_test == 1
        for label, model in models(SVC(C=10).fit(X_train, y_train)).items():
            if label != "full SVM":
                model.fit(X_train, y_train)
            scores = model.decision_function(X_test)
            rows.setdefault(label, []).append(
                [
                    rejection_at(scores, positive, 0.02),
                    roc_auc_score(y_test, scores),
                    numbers_stored(model),
                    *[np.nan] * 2,
                ]
            )
        X_fit, X_held, y_fit, y_held = train_test_split(
            X_train, y_train, test_size=0.25, stratify=y_train, random_state=split
        )
        model = ElementSelectedSVC(SVC(C=10).fit(X_fit, y_fit), n_elements=200, random_state=0).fit(X_fit, y_fit)
        threshold = rejection_threshold(model.decision_function(X_held)[y_held == 1], 0.02)
        rows["200 elements"][-1][3:] = rejection_rates(model.decision_function(X_test), positive, threshold)
    return {label: np.array(values) for label, values in rows.items()}


def show(name: str, results: dict[str, np.ndarray]) -> None:
    """Print one table."""
    print(f"\n{name}: means over {SPLITS} splits (worst split)")
    print(f"{'':28s}{'rejection':>18s}{'area':>18s}{'numbers':>9s}")
    for label, rows in results.items():
        mean, worst = rows.mean(axis=0), rows.min(axis=0)
        print(f"{label:28s}{mean[0]:9.3f} ({worst[0]:.3f}){mean[1]:10.4f} ({worst[1]:.4f}){mean[2]:9.0f}")
    calibrated = results["200 elements"][:, 3:].mean(axis=0)
    print(f"200 elements, threshold from held-out data: rejects {calibrated[0]:.3f}, loses {calibrated[1]:.4f}")
    for t, wanted in WANTED[name].items():
        reached = round(float(results[f"{t} elements"][:, 0].mean()), 3)
        print(f"{t} elements: {reached:.3f}, wanted {wanted:.3f}: {'reached' if reached >= wanted else 'MISSED'}")
    for label in ("400 elements", "400 elements, refined", "400 elements, patient", "400, patient and refined"):
        (_, ours, numbers), (_, theirs, more) = (
            results[which][:, :3].mean(axis=0) for which in (label, "10 constructed")
        )
        print(f"{label} against 10 constructed vectors: area {ours:.4f} and {theirs:.4f}, memory {numbers / more:.2f}")


def confidence(name: str) -> None:
    """Print what a budget costs that must hold with confidence: rejection, and how often it is exceeded.

    Held-out positives are drawn from the test half many times; the others measure the loss.
    """
    bunch = load_real(name)
    X, y = (bunch.data / 255).astype(np.float32), bunch.target
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    scores = ElementSelectedSVC(random_state=0).fit(X_train, y_train).decision_function(X_test)
    negatives, positives = scores[y_test != 1], scores[y_test == 1]
    rng = np.random.default_rng(0)
    for promise in (None, 0.9, 0.95):
        rows = []
        for _ in range(DRAWS):
            drawn = rng.permutation(positives)
            threshold = rejection_threshold(drawn[:HELD], 0.02, promise)
            rows.append([(negatives < threshold).mean(), (drawn[HELD:] < threshold).mean()])
        rejected, lost = np.array(rows).T
        print(
            f"2 % lost, {HELD} held-out positives, confidence {promise or 'none'}: rejects {rejected.mean():.3f}, "
            f"loses {lost.mean():.4f}, exceeded in {(lost > 0.02).mean():.0%} of {DRAWS} draws"
        )


def draw(name: str, folder: Path) -> None:
    """Write the ROC figure, the mask over the image and the error path of one split."""
    from eigensieve.plotting.elements import ElementMaskDisplay, ElementPathDisplay, RejectionCurveDisplay

    bunch = load_real(name)
    X, y = (bunch.data / 255).astype(np.float32), bunch.target
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    svc = SVC(C=10).fit(X_train, y_train)
    chosen = {
        "full SVM": svc,
        "400 elements": patient(svc, refine=True).fit(X_train, y_train),
        "200 elements": ElementSelectedSVC(svc, n_elements=200, random_state=0).fit(X_train, y_train),
    }
    for n in (5, 10, 50):
        chosen[f"{n} constructed"] = ReducedSetSVC(svc, n_vectors=n, random_state=0).fit(X_train, y_train)
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {
        "roc": RejectionCurveDisplay.from_estimators(chosen, X_test, y_test),
        "mask": ElementMaskDisplay.from_estimator(chosen["400 elements"], image_shape=bunch.image_shape),
        "path": ElementPathDisplay.from_estimator(chosen["400 elements"]),
    }
    for kind, display in pictures.items():
        display.figure_.savefig(folder / f"{name}-{kind}.png", dpi=120, bbox_inches="tight")


def more_splits() -> None:
    """Print the rejection of 200 elements that match the labels, on the five splits and on eight others, two seeds."""
    for name in WANTED:
        bunch = load_real(name)
        X, y = (bunch.data / 255).astype(np.float32), bunch.target
        rows = []
        for split in range(SPLITS + 8):
            X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=split)
            for seed in (0, 1):
                model = ElementSelectedSVC(n_elements=200, match="labels", random_state=seed).fit(X_train, y_train)
                rows.append(rejection_at(model.decision_function(X_test), y_test == 1, 0.02))
        rates = np.reshape(rows, (-1, 2))
        five, others = rates[:SPLITS], rates[SPLITS:]
        print(f"{name}: five splits, one seed {five[:, 0].mean():.4f}, two {five.mean():.4f}; ", end="")
        print(f"eight others {others.mean():.4f}; all {rates.mean():.4f}")


def main() -> None:
    """Print both tables; draw if a folder is given."""
    if sys.argv[1:] == ["splits"]:
        return more_splits()
    for name in WANTED:
        show(name, run(name))
        confidence(name)
        if len(sys.argv) > 1:
            draw(name, Path(sys.argv[1]))


if __name__ == "__main__":
    main()
