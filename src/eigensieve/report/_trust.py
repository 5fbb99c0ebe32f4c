"""Why to trust a selection, or not: one plain sentence for each thing that was checked."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def check(label: str, value: str, state: str, text: str) -> dict[str, str]:
    """One card: `state` is "good", "note", "warn" or "none" (not measured)."""
    return {"label": label, "value": value, "state": state, "text": text}


def trust(
    model: Any, summary: dict[str, Any], stability: Array | None, labels: Sequence[Any] | None
) -> list[dict[str, str]]:
    """Return the cards of the section "Can it be trusted?"."""
    cards = [
        _status(model),
        _gap(model),
        _negative(model),
        _null(model),
        _stability(model, stability),
        _copies(summary["redundancy"]),
        _labels(summary["samples"]),
    ]
    return [card for card in cards if card is not None]


def _status(model: Any) -> dict[str, str] | None:
    if not hasattr(model, "converged_"):
        return None
    steps = f"{model.n_iter_} steps" if hasattr(model, "n_iter_") else "the allowed steps"
    passes = f" ({model.n_passes_} passes over the data)" if hasattr(model, "n_passes_") else ""
    if model.converged_:
        return check("Status", "converged", "good", f"The weights settled after {steps}{passes}.")
    return check(
        "Status",
        "not converged",
        "warn",
        f"The search was ended after {steps}{passes} before the weights settled: the ranking may still "
        "change.",
    )


def _gap(model: Any) -> dict[str, str] | None:
    gap = getattr(model, "sparsity_gap_", None)
    if gap is None or not np.isfinite(gap):
        return None
    state = "good" if gap >= 3 else "note" if gap >= 1.5 else "warn"
    ending = {
        "good": "the cut separates two clearly different levels.",
        "note": "the weights fall off gradually, so the exact number of features is a convention.",
        "warn": "there is no clear level of relevant features; treat the cut as arbitrary.",
    }[state]
    text = f"On average a selected feature weighs {gap:.3g} times as much as one left out: {ending}"
    return check("Sparsity gap", f"{gap:.3g}×", state, text)


def _negative(model: Any) -> dict[str, str] | None:
    fraction = getattr(model, "negative_weight_fraction_", None)
    if fraction is None:
        return None
    state = "good" if fraction <= 0.01 else "note" if fraction <= 0.3 else "warn"
    text = (
        "The theory expects weights of one sign; none was forced. "
        f"{100 * fraction:.3g} % of the varying features came out negative."
    )
    if state == "warn":
        text += " So many mean that the data hardly follows the model."
    return check("Negative weights", f"{100 * fraction:.3g} %", state, text)


def _null(model: Any) -> dict[str, str]:
    null = getattr(model, "null_quantile_", None)
    support = np.asarray(model.get_support(), dtype=bool)
    if null is None or np.ndim(null) != 1:
        return check(
            "Null calibration",
            "not measured",
            "none",
            "The weights were not compared with those of features whose dependence is broken.",
        )
    lowest = float(np.min(np.asarray(null)[support])) if support.any() else 1.0
    state = "good" if lowest >= 0.95 else "note" if lowest >= 0.8 else "warn"
    text = (
        "Weights were compared with those of permuted copies (same values, broken dependence). The weakest "
        "selected "
        f"feature stands above {100 * lowest:.4g} % of them."
    )
    return check("Null calibration", f"≥ {100 * lowest:.4g} %", state, text)


def _stability(model: Any, stability: Array | None) -> dict[str, str]:
    support = np.asarray(model.get_support(), dtype=bool)
    if stability is None or not support.any():
        return check("Stability", "not measured", "none", "The selection was not repeated on subsamples.")
    mean = float(np.mean(np.asarray(stability)[support]))
    state = "good" if mean >= 0.8 else "note" if mean >= 0.5 else "warn"
    text = f"On random subsamples a selected feature was selected again in {100 * mean:.0f} % of the runs."
    return check("Stability", f"{100 * mean:.0f} %", state, text)


def _copies(redundancy: dict[str, Any]) -> dict[str, str]:
    used, effective, copies = redundancy["used"], redundancy["effective"], redundancy["n_copies"]
    share = effective / max(1, used)
    state = "good" if copies == 0 or share >= 0.5 else "note"
    near = "none are" if copies == 0 else f"{copies} pair{'s are' if copies > 1 else ' is'}"
    text = (
        f"The {used} features carry as much as {effective:.1f} uncorrelated ones; {near} near-copies "
        f"(|r| ≥ {redundancy['threshold']})."
    )
    return check("Redundancy", f"{effective:.1f} of {used}", state, text)


def _labels(samples: dict[str, Any]) -> dict[str, str] | None:
    """How well clusters and known labels agree; only for reading, never part of an unsupervised selection."""
    if samples["label"] is None or samples["n_clusters"] < 2:
        return None
    from sklearn.metrics import normalized_mutual_info_score

    nmi = normalized_mutual_info_score(samples["label"], samples["cluster"])
    text = "Normalised mutual information of the clusters found and the labels given (1: the same)."
    return check("Clusters and labels", f"{nmi:.2f}", "none", text)
