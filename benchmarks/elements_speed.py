"""Speed of element selection and of what it selects, against SVC and matrix products in the same process.

Run: python benchmarks/elements_speed.py [fitting]
"""

import sys
import time
from collections.abc import Callable

import numpy as np
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from eigensieve import ElementSelectedSVC, RejectionCascade
from eigensieve.datasets import load_real
from eigensieve.elements.expansion import FullExpansion
from eigensieve.elements.kernel import MaskedKernel
from elements_problems import REPORTED, split


def interleaved(
    jobs: dict[str, Callable[[], object]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Return the median seconds of each job, the jobs run in turn so that all meet the same load."""
    for job in jobs.values():
        job()
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            start = clock()
            job()
            times[name].append(clock() - start)
    return {name: float(np.median(values)) for name, values in times.items()}


def single_precision_products(svc: SVC) -> FullExpansion:
    """Return the plain float32 matrix-product evaluation of an SVC, the strong yardstick."""
    return FullExpansion(
        MaskedKernel.from_svc(svc),
        svc.support_vectors_.astype(np.float32),
        svc.dual_coef_.astype(np.float32).T,
        svc.intercept_.astype(np.float32),
    )


def images(name: str) -> tuple[np.ndarray, ...]:
    """Return one split of an image set into halves, grey values in [0, 1]."""
    bunch = load_real(name)
    X = (bunch.data / 255).astype(np.float32)
    return tuple(train_test_split(X, bunch.target, test_size=0.5, stratify=bunch.target, random_state=0))


def prediction(name: str, svc: SVC, X: np.ndarray, y: np.ndarray, X_test: np.ndarray, repeats: int) -> None:
    """Print how much faster 200 elements predict."""
    products = single_precision_products(svc)
    X32 = X_test.astype(np.float32)
    plain = ElementSelectedSVC(svc, n_elements=200, random_state=0).fit(X, y)
    tables = ElementSelectedSVC(svc, n_elements=200, table_size=512, random_state=0).fit(X, y)
    slow = interleaved({"svc": lambda: svc.predict(X_test), "us": lambda: plain.predict(X32)}, 3)
    fast = interleaved(
        {
            "products": lambda: products.decision(X32),
            "us": lambda: plain.predict(X32),
            "tables": lambda: tables.predict(X32),
        },
        repeats,
    )
    print(
        f"{name:22s} SVC.predict {1e3 * slow['svc']:8.1f} ms   float32 products {1e3 * fast['products']:7.2f} ms   "
        f"200 elements {1e3 * fast['us']:6.2f} ms   with tables {1e3 * fast['tables']:6.2f} ms"
    )
    print(
        f"{'':22s} {slow['svc'] / slow['us']:.0f}x SVC.predict, {fast['products'] / fast['us']:.1f}x the products "
        f"({svc.support_vectors_.shape[0]} support vectors, {len(X_test)} samples; table error bound "
        f"{tables.table_error_bound_:.1e})"
    )


def selection(name: str, X: np.ndarray, y: np.ndarray) -> None:
    """Print the time of selecting 200 elements over that of training the SVC, which is done already."""
    svc = SVC(C=10).fit(X, y)
    jobs: dict[str, Callable[[], object]] = {"svc": lambda: SVC(C=10).fit(X, y)}
    for match, given in (("decision", svc), ("labels", None)):
        model = ElementSelectedSVC(given, match=match, n_elements=200, random_state=0)
        jobs[match] = lambda model=model: model.fit(X, y)
    times = interleaved(jobs, 7)
    print(
        f"{name:22s} training the SVC {times['svc']:.2f} s, 200 elements: "
        + ", ".join(
            f"{match} {times[match]:.2f} s ({times[match] / times['svc']:.1f}x)" for match in jobs if match != "svc"
        )
    )


def cascade(name: str, X: np.ndarray, X_test: np.ndarray, y: np.ndarray, y_test: np.ndarray) -> None:
    """Print what the cascade saves and costs."""
    full = SVC(C=10).fit(X, y)
    rejector = ElementSelectedSVC(SVC(C=10), match="decision", n_elements=200, random_state=0)
    model = RejectionCascade(rejector, SVC(C=10), max_false_negative_rate=0.01, random_state=0).fit(X, y)
    report = model.report(X_test, n_repeats=5)
    accuracy, reference = model.score(X_test, y_test), full.score(X_test, y_test)
    model.set_params(matrix_products=False).fit(X, y)
    called = model.report(X_test, n_repeats=5)
    print(
        f"{name:22s} {report['speed_up']:.1f}x SVC.predict, accuracy {accuracy:.4f} (SVM alone {reference:.4f}), "
        f"rejected {report['rejection_rate']:.2f}, kernel evaluations per sample {report['kernel_evaluations']:.0f} of "
        f"{report['full_kernel_evaluations']:.0f}; calling SVC.predict on the rest: {called['speed_up']:.1f}x"
    )


def main() -> None:
    """Print all ratios."""
    print("selection")
    halves = {name: images(name) for name in ("CBCL_faces_19x19", "vehicles_GTI_20x20")}
    for name, (X, _, y, _) in halves.items():
        selection(name, X, y)
    print("prediction")
    for name, (X, X_test, y, _) in halves.items():
        prediction(name, SVC(C=10).fit(X, y), X, y, X_test, 25)
    X, y = make_classification(n_samples=15_000, n_features=400, n_informative=40, flip_y=0.2, random_state=0)
    X = X.astype(np.float32)
    svc = SVC().fit(X[:5000], y[:5000])
    prediction("large (5,000 x 400)", svc, X[:5000], y[:5000], X[5000:], 9)
    print("cascade")
    for name, half in halves.items():
        cascade(name, *half)
    fitting()


def fitting() -> None:
    """Print the processor time of a default fit over that of training an SVC."""
    print("fitting, problems of elements_problems.py")
    ratios = []
    for name in REPORTED:
        data = split(name, 0)
        model = ElementSelectedSVC(random_state=0)
        jobs = {"svc": lambda d=data: SVC(C=10).fit(d.X, d.y), "us": lambda m=model, d=data: m.fit(d.X, d.y)}
        times = interleaved(jobs, 5, time.process_time)
        ratios.append(times["us"] / times["svc"])
        print(f"{name:22s} {1e3 * times['svc']:8.1f} ms, elements {1e3 * times['us']:8.1f} ms: {ratios[-1]:.1f}x")
    print(f"median {np.median(ratios):.1f}x")


if __name__ == "__main__":
    fitting() if "fitting" in sys.argv else main()
