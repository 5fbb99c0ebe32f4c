"""Rewrite a digit classifier with 200 elements, put it in front of the full SVM, and write it as C.

Run: python examples/elements_reject_fast.py
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from eigensieve import ElementSelectedSVC, RejectionCascade

# Is it an eight? A rare class, as in detection: most samples are easy negatives.
X, digits = load_digits(return_X_y=True)
y = (digits == 8).astype(int)
X_train, X_rest, y_train, y_rest = train_test_split(X, y, test_size=0.6, stratify=y, random_state=0)
X_held, X_test, y_held, y_test = train_test_split(X_rest, y_rest, test_size=0.5, stratify=y_rest, random_state=0)

svc = SVC(C=10).fit(X_train, y_train)
small = ElementSelectedSVC(svc, n_elements=200, random_state=0).fit(X_train, y_train)
print(f"full SVM: {svc.support_vectors_.size} numbers, accuracy {svc.score(X_test, y_test):.3f}")
print(f"{small.n_elements_} elements: accuracy {small.score(X_test, y_test):.3f}, error {small.path_[-1]:.3f}")

cascade = RejectionCascade(small, svc, max_false_negative_rate=0.05).fit(X_held, y_held)
report = cascade.report(X_test)
print(f"cascade: accuracy {cascade.score(X_test, y_test):.3f}, rejects {report['rejection_rate']:.2f} of all samples")

source = small.to_c("eight")
print(f"C file: {len(source)} characters; it begins\n")
print("\n".join(source.splitlines()[:9]))
