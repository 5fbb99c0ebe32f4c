"""What a rejector's budget costs when it must hold with confidence: rejection, and how often the budget is exceeded.

One machine per problem. Held-out positives are drawn 200 times from the test part; the others measure the loss.

Run: python benchmarks/elements_confidence.py
"""

import numpy as np

from eigensieve.elements.rejection import rejection_threshold
from elements_small import machines, split

DRAWS = 200


def main() -> None:
    """Print a line per problem, number of held-out positives, budget and kind of promise."""
    rng = np.random.default_rng(0)
    print(f"{'':10s}{'positives':>10s}{'budget':>8s}{'promise':>10s}{'rejected':>10s}{'lost':>8s}{'exceeded':>10s}")
    for name in ("faces", "vehicles", "spam"):
        data = split(name, 0)
        (model,) = machines(data, ["200 elements, labels"])
        scores, positive = model.decision_function(data.X_test), data.y_test == 1
        negatives, positives = scores[~positive], scores[positive]
        for n_held in (100, 200, 400):
            for rate in (0.02, 0.05):
                for confidence in (None, 0.9, 0.95):
                    rows = []
                    for _ in range(DRAWS):
                        drawn = rng.permutation(positives)
                        threshold = rejection_threshold(drawn[:n_held], rate, confidence)
                        rows.append(((negatives < threshold).mean(), (drawn[n_held:] < threshold).mean()))
                    rejected, lost = np.array(rows).T
                    print(
                        f"{name:10s}{n_held:10d}{rate:8.2f}{confidence or 'average':>10}{rejected.mean():10.3f}"
                        f"{lost.mean():8.4f}{(lost > rate).mean():10.2f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
