"""A paragraph of methods text for each selector, with its citation."""

from typing import Any

from eigensieve._version import __version__
from eigensieve._words import counted
from eigensieve.report.fitted import Fitted

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
    " Features were centred. The first weight of a feature was its variance, at most the 99 % quantile of the "
    "variances. Scores are shares of a feature's own variance."
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


def methods_text(model: Fitted, labels_used: bool, used: dict[str, Any]) -> dict[str, Any]:
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
        f"{count} of {len(support)} features {'was' if count == 1 else 'were'} selected with {model.name} of "
        f"eigensieve {__version__}. {how}{details}{labels}{settings}"
    )
    return {"name": model.name, "text": text, "citations": citations, "parameters": model.settings}


def _how_with_labels(labels: dict[str, Any] | None) -> str:
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
