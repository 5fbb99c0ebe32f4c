"""Why to trust a selection, or not: one plain sentence for each thing that was checked."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from eigensieve._types import Array
from eigensieve.plotting import null_quantiles, null_weight


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
        f"The search was ended after {steps}{passes} before the weights settled: the ranking may still change.",
    )


def _gap(model: Any) -> dict[str, str] | None:
    gap = getattr(model, "sparsity_gap_", None)
    support = model.get_support()
    if gap is None or not np.isfinite(gap) or support.all() or not support.any():
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
    value = f"{100 * fraction:.3g} %"
    if hasattr(model, "null_quantile_"):  # such scores have mean zero without structure: half are negative by chance
        selected = int(np.sum(np.asarray(model.weights_)[model.get_support()] < 0))
        text = f"Unrelated features score around zero, so about half fall below it; of the selected, {selected} do."
        return check("Negative weights", value, "warn" if selected else "good", text)
    state = "good" if fraction <= 0.01 else "note" if fraction <= 0.3 else "warn"
    text = (
        f"The theory expects weights of one sign; none was forced. {value} of the varying features came out negative."
    )
    if state == "warn":
        text += " So many mean that the data hardly follows the model."
    return check("Negative weights", value, state, text)


def _null(model: Any) -> dict[str, str]:
    """Compare the selected features with what permuted copies (same values, broken dependence) reach."""
    support = np.asarray(model.get_support(), dtype=bool)
    quantiles, level = null_quantiles(model), null_weight(model)
    if quantiles is not None and support.any():
        lowest = float(np.min(quantiles[support]))
        state = "good" if lowest >= 0.95 else "note" if lowest >= 0.8 else "warn"
        rate = getattr(model, "fdr", None)
        aim = f" About {100 * rate:.3g} % of the selected features may be false." if rate is not None else ""
        text = f"The weakest selected feature scores above {100 * lowest:.4g} % of permuted copies.{aim}"
        return check("Null calibration", f"≥ {100 * lowest:.4g} %", state, text)
    if level is not None and support.any():
        share = float(np.mean(np.asarray(model.weights_)[support] > level))
        tail = getattr(model, "fdr", 0.1)
        state = "good" if share >= 0.95 else "note" if share >= 0.6 else "warn"
        text = f"Share of the selected features above the weight that only {100 * tail:.3g} % of permuted copies reach."
        return check("Null calibration", f"{100 * share:.0f} %", state, text)
    if quantiles is not None:
        return check("Null calibration", "none selected", "warn", "No feature stands out from permuted copies.")
    text = "The weights were not compared with those of features whose dependence is broken."
    return check("Null calibration", "not measured", "none", text)


def _stability(model: Any, stability: Array | None) -> dict[str, str]:
    support = np.asarray(model.get_support(), dtype=bool)
    if stability is None or not support.any():
        return check("Stability", "not measured", "none", "The selection was not repeated on subsamples.")
    mean = float(np.mean(np.asarray(stability)[support]))
    state = "good" if mean >= 0.8 else "note" if mean >= 0.5 else "warn"
    text = f"On random subsamples a selected feature was selected again in {100 * mean:.0f} % of the runs."
    return check("Stability", f"{100 * mean:.0f} %", state, text)


def _copies(redundancy: dict[str, Any]) -> dict[str, str]:
    if not redundancy["used"]:
        return check("Redundancy", "none selected", "none", "Nothing was selected.")
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
