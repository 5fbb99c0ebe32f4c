"""
A small machine in front of a large one
=======================================

Is it an eight? A kernel SVM answers with thousands of numbers. A hundred elements of it turn most other digits away,
and the SVM sees the rest only.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from eigensieve import ElementSelectedSVC, RejectionCascade
from eigensieve.plotting import ElementMaskDisplay, RejectionCurveDisplay

X, digits = load_digits(return_X_y=True)
y = (digits == 8).astype(int)
X_train, X_rest, y_train, y_rest = train_test_split(X / 16, y, test_size=0.6, stratify=y, random_state=0)
X_held, X_test, y_held, y_test = train_test_split(X_rest, y_rest, test_size=0.5, stratify=y_rest, random_state=0)

svc = SVC(C=10).fit(X_train, y_train)
small = ElementSelectedSVC(svc, n_elements=100, random_state=0).fit(X_train, y_train)
print(f"full SVM: {svc.support_vectors_.size} numbers, accuracy {svc.score(X_test, y_test):.3f}")
print(f"{small.n_elements_} elements: accuracy {small.score(X_test, y_test):.3f}, error {small.path_[-1]:.3f}")

# %%
# Which pixels the elements look at, and how many negatives are rejected for how many lost positives.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
ElementMaskDisplay.from_estimator(small, image_shape=(8, 8), ax=axes[0])
RejectionCurveDisplay.from_estimators({"full SVM": svc, "100 elements": small}, X_test, y_test, ax=axes[1])

# %%
# The cascade sets its threshold on held-out samples.

cascade = RejectionCascade(small, svc, max_false_negative_rate=0.05).fit(X_held, y_held)
report = cascade.report(X_test)
print(f"cascade: accuracy {cascade.score(X_test, y_test):.3f}, rejects {report['rejection_rate']:.2f} of all samples")

# %%
# The small machine as C: no headers, no libraries, no heap.

source = small.to_c("eight")
print(f"{len(source)} characters; it begins\n")
print("\n".join(source.splitlines()[:9]))
