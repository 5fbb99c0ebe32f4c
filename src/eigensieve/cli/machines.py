"""The machines that ``eigensieve compress`` makes: the full SVM, for classes or a quantity, and the small one."""

from typing import Any

import numpy as np

from eigensieve.cli.errors import InputProblem, ModelProblem, explain_os_error, input_errors


def split(y: Any, share: float, seed: int, source: str, *, quantity: bool) -> tuple[Any, Any]:
    """Return the rows to fit on and the rows to measure on; with classes, each has its share."""
    from sklearn.model_selection import train_test_split

    if not quantity:
        values, counts = np.unique(y, return_counts=True)
        if len(values) < 2 or counts.min() < 3:
            raise InputProblem(
                f"'{source}' has the labels {', '.join(map(str, values[:5]))}; there must be two classes or more, each "
                "with at least 3 samples. Check --label."
            )
    with input_errors(source):
        rows, groups = np.arange(len(y)), None if quantity else y
        return tuple(train_test_split(rows, test_size=share, stratify=groups, random_state=seed))


def trained_svm(penalty: float, X: Any, y: Any, *, quantity: bool) -> Any:
    from sklearn.svm import SVC, SVR

    if not quantity:
        return SVC(C=penalty).fit(X, y)
    # In units of the target's spread: the same machine as if the target had been standardised.
    unit = float(np.std(y)) or 1.0
    return SVR(C=penalty * unit, epsilon=0.1 * unit).fit(X, y)


def opened_svm(path: str, n_features: int, source: str, *, quantity: bool) -> Any:
    """Load a fitted SVC or SVR from a skops file in which nothing but scikit-learn's types occur."""
    from sklearn.svm import SVC, SVR

    from eigensieve._extras import require

    sio = require("skops.io", extra="models")
    try:
        foreign = sio.get_untrusted_types(file=path)
        if foreign:
            raise ModelProblem(
                f"'{path}' holds types that are not trusted: {', '.join(foreign[:5])}. It was not loaded. Save a "
                "plain SVC or SVR."
            )
        machine = sio.load(path, trusted=[])
    except OSError as error:
        raise ModelProblem(explain_os_error(error, path, "reading")) from error
    except ModelProblem:
        raise
    except Exception as error:
        raise ModelProblem(f"'{path}' is damaged or no skops file. Save the SVM again with skops.io.dump.") from error
    kind: Any = SVR if quantity else SVC
    if not isinstance(machine, kind) or not hasattr(machine, "support_vectors_"):
        raise ModelProblem(
            f"'{path}' holds a {type(machine).__name__}, not a fitted {kind.__name__}. Save the {kind.__name__} itself."
        )
    if machine.n_features_in_ != n_features:
        raise ModelProblem(
            f"The SVM '{path}' was fitted on {machine.n_features_in_} features; '{source}' has {n_features}. "
            "Give it the same columns."
        )
    return machine


def elements(full: Any, options: dict[str, Any], *, quantity: bool) -> Any:
    """Return the machine with few elements, not fitted yet."""
    from eigensieve.estimators import ElementSelectedSVC, ElementSelectedSVR

    return (ElementSelectedSVR if quantity else ElementSelectedSVC)(full, **options)


def cascade(rejector: Any, full: Any, false_negatives: float, seed: int, X: Any, y: Any) -> Any:
    """Fit the elements on three quarters of the samples, and the threshold in front of the SVM on the rest."""
    from eigensieve.estimators import RejectionCascade

    order = np.random.default_rng(seed).permutation(len(y))
    fit_rows, held_out = order[len(y) // 4 :], order[: len(y) // 4]
    rejector.fit(X[fit_rows], y[fit_rows])
    return RejectionCascade(rejector, full, false_negatives).fit(X[held_out], y[held_out])
