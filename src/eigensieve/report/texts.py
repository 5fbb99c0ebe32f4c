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

_PICKED = (
    "Features were then taken one at a time, each by its score times the part of it that the features already taken do "
    "not explain"
)

_MEANS: dict[bool | None, str] = {
    True: " Features were centred and scaled to equal variance, so units do not matter.",
    False: (
        " Features were scaled to equal length and kept their means: most lie evenly about zero, so a mean other than "
        "zero counts as structure."
    ),
}
"""How means and units of the features were treated, by whether the features were centred."""

_SCALE_USED = (
    " Features were centred. For the neighbours, feature i had the weight v_i / (v_i + c) besides its score, where v_i "
    "is its variance and c the 90 % quantile of the variances. Scores are shares of a feature's own variance."
)

_ROUNDS = "The graph was built on features weighted by earlier scores."
_PROFILES = (
    "The graph joins samples whose profiles have the smallest angles between them. A profile holds log(1 + x / c) per "
    "feature, with c a typical value, times one plus the logarithm of how rare the feature is. It is scaled to length "
    "1 and centred."
)

_FEWEST = (
    " Only the first picks were kept. For each number of picks, the structure was predicted for every sample by the "
    "mean over its 5 nearest others. The smallest number with at least 95 % of the largest R2 was taken."
)

_WITH_LABELS = (
    "Each feature was scored by how much of its variation follows {what}, over pairs of different samples. "
    f"{_PICKED}, and by what it adds to them in predicting {{what}}. So near-copies of one feature come late."
)

_HOW = {
    "SieveSelector": (
        "Each feature was scored by how much of its variation follows the leading non-trivial eigenvectors of a "
        f"nearest-neighbour graph of the samples. {_ROUNDS} "
        "Features were then taken one at a time, each the one that made the similarities of the samples on the "
        "features taken so far agree best with those in the embedding (kernel alignment). Near-copies of a feature "
        "that was taken came after the others, and features that agreed no more than noise came last.",
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
    """Return the paragraph for a paper about how the features were selected.

    Parameters
    ----------
    model : Fitted
    labels_used : bool
    used : dict
        From :func:`~eigensieve.estimators.known_and_used`.
    """
    how, citations = _HOW.get(model.name, (f"Features were selected with {model.name}.", []))
    if model.profiles_used:
        how = how.replace(_ROUNDS, _PROFILES)
    directions = f" The samples were embedded in {counted(model.n_directions, 'direction')}."
    if model.led_by_labels:
        how = _how_with_labels(used["labels"])
    details = (directions if model.n_directions else "") + _means_and_scale(model)
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


def _means_and_scale(model: Fitted) -> str:
    if not model.scale_used:
        return _MEANS.get(model.centered, "")
    return _SCALE_USED if model.centered else _MEANS[False] + _SCALE_USED.replace(" Features were centred.", "")


def _how_with_labels(labels: dict[str, Any] | None) -> str:
    kind = None if labels is None else labels["kind"]
    how = _WITH_LABELS.format(what={"classes": "the classes", "numbers": "the target"}.get(str(kind), "the labels"))
    if kind == "numbers":
        how += " The squares of the features counted half."
    if labels is not None and labels["labelled"] < labels["samples"]:
        how += " Labels that were not known were guessed by kernel ridge regression."
    return how
