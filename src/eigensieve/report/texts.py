"""The sentences of the page: cards that say how far to trust a selection, and the methods text for a paper."""

import numpy as np

from eigensieve._types import BoolArray, FloatArray, JsonDict
from eigensieve._version import __version__
from eigensieve._words import counted
from eigensieve.estimators import ConstraintCost
from eigensieve.evidence import STABLE
from eigensieve.report.fitted import Fitted

Card = dict[str, str]


def trust_cards(
    model: Fitted,
    stability: FloatArray | None,
    redundancy: JsonDict | None,
    samples: JsonDict,
    used: JsonDict,
    constraints: ConstraintCost | None = None,
) -> list[Card]:
    """Return the cards of the section "Can it be trusted?". A card appears where it tells a reader something to act on.

    `stability` says how often each feature was selected on subsamples. `redundancy`, `samples` and `used` are these
    parts of the summary; `redundancy` is None where nothing is selected.
    """
    cards = [
        _search(model),
        _panel(model) or _cut(model),
        _negative(model),
        _chance(model),
        _stability(model.found.support, stability),
        _copies(redundancy),
        None if used["labels"] else _labels(samples),
        _known(used),
        _constraints(model, constraints),
    ]
    return [card for card in cards if card is not None]


def _card(label: str, value: str, state: str, text: str) -> Card:
    """One card: `state` is "good", "note", "warn" or "none" (not measured)."""
    return {"label": label, "value": value, "state": state, "text": text}


def _search(model: Fitted) -> Card | None:
    if model.converged is None or model.converged:
        return None
    text = "The search ended before the weights settled, so the ranking may still change. Allow more steps (max_iter)."
    return _card("Search", "not finished", "warn", text)


def _cut(model: Fitted) -> Card | None:
    """How far the selected lie above the others: on average, and at the cut, where a clear one has a step."""
    gap, support, weights = model.gap, model.found.support, model.found.weights
    if gap is None or not np.isfinite(gap) or support.all() or not support.any():
        return None
    weakest, others = float(weights[support].min()), weights[~support]
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
    return _card("Is the cut clear?", f"{gap:.3g} times", state, text)


def _panel(model: Fitted) -> Card | None:
    """For "fewest": how much the features taken show, and that others which were left out matter, too."""
    if model.structure_shown is None:
        return None
    sizes, shown = model.structure_shown.T
    taken = int(model.found.support.sum())
    share, most = float(shown[sizes == taken][0]), float(shown.max())
    text = (
        f"{counted(taken, 'feature')} show{'s' * (taken == 1)} the structure with R² {share:.2f}. The largest R² of up "
        f"to {counted(int(sizes[-1]), 'feature')} is {most:.2f}. Many features that were left out follow the same "
        "structure."
    )
    return _card("How few would do", counted(taken, "feature"), "good" if most >= 0.5 else "note", text)


def _constraints(model: Fitted, found: ConstraintCost | None) -> Card | None:
    """How much less of the structure a panel shows than one of the same size without constraints."""
    if found is None:
        return None
    what = "labels" if model.led_by_labels else "structure"
    count, other = int(model.found.support.sum()), len(found.instead)
    text = (
        f"With {', '.join(found.words)}, the {counted(count, 'feature')} show the {what} with R² "
        f"{found.shown:.2f}. As many features without constraints show R² {found.free:.2f}; "
        f"{other} of them {'is another' if other == 1 else 'are others'}."
    )
    state = "good" if found.shown >= 0.95 * found.free else "note"
    return _card("What do the constraints cost?", f"R² {found.shown:.2f}, not {found.free:.2f}", state, text)


def _negative(model: Fitted) -> Card | None:
    """Weights of the wrong sign: a warning where one was selected, or where Q-alpha finds many of them."""
    selected = int(np.sum(model.found.weights[model.found.support] < 0))
    if model.zero_by_chance:
        text = f"{counted(selected, 'selected feature')} scored below zero, where unrelated features lie. Select fewer."
        return _card("Below zero", counted(selected, "feature"), "warn", text) if selected else None
    if model.negative is None:
        return None
    state = "good" if model.negative <= 0.01 else "note" if model.negative <= 0.3 else "warn"
    value = f"{100 * model.negative:.3g} %"
    text = f"The method expects weights of one sign. {value} of the features that vary have a negative one."
    if state == "warn":
        text += " With this many, the method hardly suits the data."
    return _card("Does the method suit the data?", f"{value} negative", state, text)


def _chance(model: Fitted) -> Card:
    """Compare the selected features with permuted copies (the same values in another order)."""
    support, quantiles, level = model.found.support, model.found.null_quantiles, model.found.null_weight
    title, copies = "Better than chance?", "features whose values were shuffled among the samples"
    if quantiles is not None and support.any():
        lowest = float(np.min(quantiles[support]))
        state = "good" if lowest >= 0.95 else "note" if lowest >= 0.8 else "warn"
        aim = f" About {100 * model.fdr:.3g} % of the selected features may be false." if model.fdr is not None else ""
        # Rounded down: a feature above 99.998 % of the copies is not above all of them.
        shown = f"{np.floor(1e4 * lowest) / 1e2:.4g} %"
        return _card(title, f"≥ {shown}", state, f"The weakest selected feature beats {shown} of {copies}.{aim}")
    if level is not None and support.any():
        share = float(np.mean(model.found.weights[support] > level))
        tail = 0.1 if model.fdr is None else model.fdr
        state = "good" if share >= 0.95 else "note" if share >= 0.6 else "warn"
        text = f"This share of the selected features weighs more than {100 * (1 - tail):.3g} % of {copies}."
        return _card(title, f"{100 * share:.0f} %", state, text)
    if quantiles is not None:
        return _card(title, "none selected", "warn", f"No feature stands out from {copies}.")
    return _card(title, "not measured", "none", f"The selected features were not compared with {copies}.")


def _stability(support: BoolArray, stability: FloatArray | None) -> Card | None:
    if not support.any():
        return None
    title = "Selected again?"
    if stability is None:
        text = "The selection was not repeated on parts of the samples (--stability, or selection_stability)."
        return _card(title, "not measured", "none", text)
    mean = float(np.mean(np.asarray(stability)[support]))
    state = "good" if mean >= STABLE else "note" if mean >= 0.5 else "warn"
    text = f"On random parts of the samples, a selected feature is selected again in {100 * mean:.0f} % of the runs."
    return _card(title, f"{100 * mean:.0f} %", state, text)


def _copies(redundancy: JsonDict | None) -> Card | None:
    if redundancy is None:
        return None
    title = "Do they repeat each other?"
    used, effective, copies = redundancy["used"], redundancy["effective"], redundancy["n_copies"]
    if used == 1:
        return _card(title, "1 of 1", "good", "One feature alone has no copies.")
    state = "good" if copies == 0 or effective / used >= 0.5 else "note"
    near = "1 pair has" if copies == 1 else f"{copies or 'no'} pairs have"
    limit = redundancy["threshold"]
    text = (
        f"The {used} features carry as much as {effective:.1f} uncorrelated ones; {near} a correlation of at least "
        f"{limit}, or of at most −{limit}."
    )
    return _card(title, f"{effective:.1f} of {used}", state, text)


def _known(used: JsonDict) -> Card | None:
    """Labels, batches, side data and pairs that the selection used. With labels, how to judge predictions."""
    parts = used["sentences"]
    if not parts:
        return None
    kinds = {"classes": "labels", "numbers": "a number to predict", "several": "several numbers to predict"}
    kinds |= {"survival": "times to an event"}
    words = {
        "labels": kinds.get(used["labels"]["kind"], "a target") if used["labels"] else "",
        "batches": "batches",
        "donors": "donors",
        "side_samples": "side data",
        "must_link": "must-link pairs",
        "cannot_link": "cannot-link pairs",
    }
    value = ", ".join(word for key, word in words.items() if used[key]) or "the data alone"
    text = f"The selection {', '.join(parts)}."
    if used["labels"]:
        text += " Judge predictions from these features only on samples that the selection has not seen."
    return _card("What the selection used", value, "note" if used["labels"] else "none", text)


def _labels(samples: JsonDict) -> Card | None:
    """How well groups and known labels agree. It is only shown; the selection does not use it."""
    if samples["label"] is None or samples["n_clusters"] < 2:
        return None
    from sklearn.metrics import normalized_mutual_info_score

    nmi = normalized_mutual_info_score(samples["label"], samples["cluster"])
    text = (
        "Agreement of the groups found with your labels: 1 means the same, 0 unrelated (normalised mutual information)."
    )
    return _card("Do the groups match the labels?", f"{nmi:.2f}", "none", text)


_WOLF_2005 = (
    "L. Wolf and A. Shashua. Feature Selection for Unsupervised and Supervised Inference: The Emergence of Sparsity in "
    "a Weight-Based Approach. Journal of Machine Learning Research 6, 2005."
)
_WOLF_2003 = (
    "L. Wolf and A. Shashua. Feature Selection for Unsupervised and Supervised Inference: the Emergence of Sparsity in "
    "a Weighted-based Approach. International Conference on Computer Vision, 2003."
)
_SHASHUA_2004 = (
    "A. Shashua and L. Wolf. Kernel Feature Selection with Side Data Using a Spectral Approach. "
    "European Conference on Computer Vision, 2004."
)
_NIE_2008 = (
    "F. Nie, S. Xiang, Y. Jia, C. Zhang and S. Yan. Trace Ratio Criterion for Feature Selection. "
    "AAAI Conference on Artificial Intelligence, 2008."
)

_EQUAL = " Features were centred and scaled to equal variance, so units do not matter."
_SCALE_USED = (
    " Features were centred. Those that vary more counted more, up to the 99 % quantile of the variances. Scores are "
    "shares of a feature's own variance."
)

_SCALES: dict[bool | None, str] = {True: _SCALE_USED, False: _EQUAL}
"""How units of the features were treated, by whether the scale counted; nothing where a selector has no such choice."""

_ROUNDS = "The graph joins nearest neighbours on features weighted by their scores of the round before."
_PROFILES = (
    "The graph joins samples whose profiles have the smallest angles between them. A profile holds logarithms of a "
    "sample's values at length 1; rare features count more."
)

_FEWEST = (
    " Only the first picks were kept. For each number of picks, the structure was predicted for every sample by the "
    "mean over its 5 nearest others. The smallest number with at least 95 % of the largest R2 was taken."
)

_WITH_LABELS = (
    "Each feature was scored by how much of its variation follows {what}, over pairs of different samples. Features "
    "were then taken one at a time, each by its score times its agreement with the part of {what} that a ridge "
    "regression on the features already taken leaves."
)
_PRODUCTS = " The scores are those of products of features, since the classes show in features together."

_HOW = {
    "SieveSelector": (
        "Random walks along a nearest-neighbour graph of the samples say how far two samples belong together. "
        f"{_ROUNDS} Each feature was scored by how much of its variation follows this structure, over pairs of "
        "different samples. Features were then taken one at a time, each the one that made the similarities of the "
        "samples on the features taken so far agree best with the structure (kernel alignment).",
        [_WOLF_2005],
    ),
    "QAlphaSelector": (
        "Feature weights alpha of unit norm maximise the energy of the leading eigenvalues of the samples' affinity "
        "A = sum_i alpha_i m_i m_i', where m_i is feature i over the samples (the Q-alpha method). Neither sparsity "
        "nor positivity of the weights is imposed.",
        [_WOLF_2005, _WOLF_2003],
    ),
    "KernelQAlphaSelector": (
        "Feature weights come from the kernel form of the Q-alpha method, in which inner products of features are "
        "replaced by a kernel.",
        [_SHASHUA_2004, _WOLF_2005],
    ),
    "TraceRatioSelector": (
        "The subset of the wanted size with the largest ratio of between-graph to within-graph scatter was found "
        "exactly by Dinkelbach's iteration (the trace ratio criterion).",
        [_NIE_2008],
    ),
}


def methods_text(model: Fitted, labels_used: bool, used: JsonDict) -> JsonDict:
    """Return the paragraph for a paper about how the features were selected; `used` is from ``known_and_used``."""
    how, citations = _HOW.get(model.name, (f"Features were selected with {model.name}.", []))
    if model.scored_by == "profiles":
        how = how.replace(_ROUNDS, _PROFILES)
    directions = f" The samples were embedded in {counted(model.n_directions, 'direction')}."
    if model.led_by_labels:
        how = _how_with_labels(used["labels"]) + _PRODUCTS * (model.scored_by == "products")
    details = (directions if model.n_directions else "") + _SCALES.get(model.scale_used, "")
    if model.structure_shown is not None:
        details += _FEWEST
    if used["side_samples"] or used["must_link"] or used["cannot_link"]:
        citations = list(dict.fromkeys([*citations, _SHASHUA_2004]))
    labels = "".join(f" The selection {part}." for part in used["sentences"])
    if labels_used and used["labels"] is None:
        labels = f" The labels of the samples steered the selection.{labels}"
    settings = (
        f" Settings other than the defaults: {', '.join(model.settings)}."
        if model.settings
        else " All settings were defaults."
    )
    support = model.found.support
    count = int(support.sum())
    text = (
        f"{count:,} of {len(support):,} features {'was' if count == 1 else 'were'} selected with {model.name} of "
        f"eigensieve {__version__}. {how}{details}{labels}{settings}"
    )
    return {"name": model.name, "text": text, "citations": citations, "parameters": model.settings}


def _how_with_labels(labels: JsonDict | None) -> str:
    kind = None if labels is None else labels["kind"]
    words = {"classes": "the classes", "numbers": "the target", "survival": "the time to the event"}
    how = _WITH_LABELS.format(what=words.get(str(kind), "the labels"))
    if kind == "numbers":
        how += " The squares of the features counted half."
    if kind == "survival":
        how += " The time to the event enters by the martingale residuals of a Cox model without features."
    if labels is not None and labels["labelled"] < labels["samples"]:
        how += " Labels that were not known were guessed by kernel ridge regression."
    return how
