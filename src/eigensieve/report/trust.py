"""How far to trust a selection: one card with one plain sentence per thing that was checked."""

from typing import Any

import numpy as np

from eigensieve._types import Array
from eigensieve._words import counted
from eigensieve.estimators import Findings
from eigensieve.report.views import led_by_labels

Card = dict[str, str]


def trust_cards(
    model: Any,
    found: Findings,
    stability: Array | None,
    redundancy: dict[str, Any],
    samples: dict[str, Any],
    used: dict[str, Any],
) -> list[Card]:
    """Return the cards of the section "Can it be trusted?".

    Parameters
    ----------
    model : estimator
        Fitted; its diagnostics are used where they exist.
    found : Findings
    stability : ndarray of shape (n_features,) or None
        How often each feature was selected on subsamples.
    redundancy, samples, used : dict
        These parts of the summary.
    """
    cards = [
        _status(model),
        _panel(model) or _gap(model, found),
        _negative(model, found, used),
        _null(model, found),
        _stability(found.support, stability),
        _copies(redundancy),
        None if used["labels"] else _labels(samples),
        _known(used),
    ]
    return [card for card in cards if card is not None]


def _card(label: str, value: str, state: str, text: str) -> Card:
    """One card: `state` is "good", "note", "warn" or "none" (not measured)."""
    return {"label": label, "value": value, "state": state, "text": text}


def _status(model: Any) -> Card | None:
    if not hasattr(model, "converged_"):
        return None
    steps = counted(model.n_iter_, "step") if hasattr(model, "n_iter_") else "the allowed steps"
    passes = f" ({counted(model.n_passes_, 'pass', 'passes')} over the data)" if hasattr(model, "n_passes_") else ""
    if model.converged_:
        return _card("Status", "converged", "good", f"The weights settled after {steps}{passes}.")
    return _card(
        "Status",
        "not converged",
        "warn",
        f"The search was ended after {steps}{passes} before the weights settled: the ranking may still change.",
    )


def _gap(model: Any, found: Findings) -> Card | None:
    """How far the selected lie above the others: on average, and at the cut, where a clear one has a step."""
    gap, support = getattr(model, "sparsity_gap_", None), found.support
    if gap is None or not np.isfinite(gap) or support.all() or not support.any():
        return None
    weakest, others = float(found.weights[support].min()), found.weights[~support]
    above = int(np.sum(others >= weakest))
    choice = "so the exact number of features is a matter of choice."
    if gap < 1.5:
        state, ending = "warn", "there is no clear level of relevant features; treat the cut as arbitrary."
    elif above:
        left_out = f"{above:,} that were left out weigh" if above > 1 else "one that was left out weighs"
        state, ending = "note", f"but {left_out} as much as the weakest selected one, {choice}"
    elif gap < 3 or weakest < 1.5 * float(others.max()):
        state, ending = "note", f"the weights fall off gradually, {choice}"
    else:
        state, ending = "good", "the cut separates two clearly different levels."
    text = f"On average a selected feature weighs {gap:.3g} times as much as one left out: {ending}"
    return _card("Sparsity gap", f"{gap:.3g}×", state, text)


def _panel(model: Any) -> Card | None:
    """For "fewest": how much the features taken show, and that others which were left out matter, too."""
    table = getattr(model, "structure_shown_", None)
    if table is None or not len(table):
        return None
    sizes, shown = np.asarray(table).T
    taken = int(model.support_.sum())
    share, most = float(shown[sizes == taken][0]), float(shown.max())
    text = (
        f"{counted(taken, 'feature')} show{'s' * (taken == 1)} the structure with R² {share:.2f}. The largest R² of up "
        f"to {counted(int(sizes[-1]), 'feature')} is {most:.2f}. Many features that were left out follow the same "
        "structure."
    )
    return _card("How few would do", counted(taken, "feature"), "good" if most >= 0.5 else "note", text)


def _negative(model: Any, found: Findings, used: dict[str, Any]) -> Card | None:
    fraction = getattr(model, "negative_weight_fraction_", None)
    if fraction is None:
        return None
    kind = None if used["labels"] is None else used["labels"]["kind"]
    if led_by_labels(model) and kind != "classes":  # scores for numbers are never negative, which says nothing
        return None
    value = f"{100 * fraction:.3g} %"
    if hasattr(model, "null_quantile_"):  # without structure such scores have mean zero: half are negative by chance
        selected = int(np.sum(found.weights[found.support] < 0))
        text = (
            f"Unrelated features score around zero, so about half are negative. Of the selected ones, {selected} are."
        )
        return _card("Negative weights", value, "warn" if selected else "good", text)
    state = "good" if fraction <= 0.01 else "note" if fraction <= 0.3 else "warn"
    text = (
        f"The theory expects weights of one sign, but nothing forces it. {value} of the varying features are negative."
    )
    if state == "warn":
        text += " With this many, the data hardly follows the model."
    return _card("Negative weights", value, state, text)


def _null(model: Any, found: Findings) -> Card:
    """Compare the selected features with what permuted copies (the same values in another order) reach."""
    support, quantiles, level = found.support, found.null_quantiles, found.null_weight
    if quantiles is not None and support.any():
        lowest = float(np.min(quantiles[support]))
        state = "good" if lowest >= 0.95 else "note" if lowest >= 0.8 else "warn"
        rate = getattr(model, "fdr", None)
        aim = f" About {100 * rate:.3g} % of the selected features may be false." if rate is not None else ""
        # Rounded down: a feature above 99.998 % of the copies is not above all of them.
        shown = f"{np.floor(1e4 * lowest) / 1e2:.4g} %"
        text = f"The weakest selected feature scores above {shown} of permuted copies.{aim}"
        return _card("Null calibration", f"≥ {shown}", state, text)
    if level is not None and support.any():
        share = float(np.mean(found.weights[support] > level))
        tail = getattr(model, "fdr", 0.1)
        state = "good" if share >= 0.95 else "note" if share >= 0.6 else "warn"
        text = f"Share of the selected features above the weight that only {100 * tail:.3g} % of permuted copies reach."
        return _card("Null calibration", f"{100 * share:.0f} %", state, text)
    if quantiles is not None:
        return _card("Null calibration", "none selected", "warn", "No feature stands out from permuted copies.")
    text = "The weights were not compared with those of permuted copies of the features."
    return _card("Null calibration", "not measured", "none", text)


def _stability(support: Array, stability: Array | None) -> Card:
    if not support.any():
        return _card("Stability", "none selected", "none", "Nothing was selected.")
    if stability is None:
        return _card("Stability", "not measured", "none", "The selection was not repeated on subsamples.")
    mean = float(np.mean(np.asarray(stability)[support]))
    state = "good" if mean >= 0.8 else "note" if mean >= 0.5 else "warn"
    text = f"On random subsamples, a selected feature was selected again in {100 * mean:.0f} % of the runs on average."
    return _card("Stability", f"{100 * mean:.0f} %", state, text)


def _copies(redundancy: dict[str, Any]) -> Card:
    if not redundancy["used"]:
        return _card("Redundancy", "none selected", "none", "Nothing was selected.")
    used, effective, copies = redundancy["used"], redundancy["effective"], redundancy["n_copies"]
    if used == 1:
        return _card("Redundancy", "1 of 1", "good", "One feature alone has no copies.")
    share = effective / used
    state = "good" if copies == 0 or share >= 0.5 else "note"
    near = "none are" if copies == 0 else f"{copies} pair{'s are' if copies > 1 else ' is'}"
    text = (
        f"The {used} features carry as much as {effective:.1f} uncorrelated ones; {near} near-copies "
        f"(|r| ≥ {redundancy['threshold']})."
    )
    return _card("Redundancy", f"{effective:.1f} of {used}", state, text)


def _known(used: dict[str, Any]) -> Card | None:
    """What was known and used, and what follows for judging the selection."""
    parts = used["sentences"]
    if not parts:
        return None
    words = {
        "labels": "labels",
        "batches": "batches",
        "side_samples": "side data",
        "must_link": "must-link pairs",
        "cannot_link": "cannot-link pairs",
    }
    value = ", ".join(word for key, word in words.items() if used[key])
    text = f"The selection {', '.join(parts)}."
    if used["labels"]:
        text += " Judge predictions from these features only on samples that the selection has not seen."
    return _card("What was known", value, "note" if used["labels"] else "none", text)


def _labels(samples: dict[str, Any]) -> Card | None:
    """How well groups and known labels agree. It is only shown; the selection does not use it."""
    if samples["label"] is None or samples["n_clusters"] < 2:
        return None
    from sklearn.metrics import normalized_mutual_info_score

    nmi = normalized_mutual_info_score(samples["label"], samples["cluster"])
    text = "Normalised mutual information between the groups found and your labels (1 means the same)."
    return _card("Groups and labels", f"{nmi:.2f}", "none", text)
