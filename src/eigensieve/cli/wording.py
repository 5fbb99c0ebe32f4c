"""What the estimators say about their parameters, in the words of the command line."""

import re

_FLAGS = {
    "n_features_to_select": "--n-features",
    "n_clusters": "--clusters",
    "n_rounds": "--rounds",
    "n_neighbors": "--neighbors",
    "random_state": "--seed",
    "n_elements": "--elements",
    "max_false_negative_rate": "--false-negatives",
    "cannot_link": "--pairs",
    "must_link": "--pairs",
    **{
        name: "--" + name.replace("_", "-")
        for name in (
            *("fdr", "criterion", "spectrum", "normalize", "supervision", "score", "level", "scale", "side", "label"),
            *("side_strength", "pair_strength", "shape", "batches", "categories", "decimal", "thousands", "samples"),
        )
    },
}
"""Parameter -> option."""

_NAMES = "|".join(sorted(_FLAGS, key=len, reverse=True))
_PARAMETER = re.compile(rf"[Tt]he '({_NAMES})' parameter of \w+(?:\.fit)?")
_SWITCH = re.compile(rf"(?:\w+\()?\b({_NAMES})=True\)?")
_SETTING = re.compile(rf"(?:\w+\()?\b({_NAMES})=(?:'([\w-]+)'|\"([\w-]+)\"|([\w.-]*\w))\)?")
_BARE = re.compile(r"\b(n_features_to_select|n_clusters|round_strength|random_state|cannot_link|must_link)\b")
_IMPUTER = re.compile(r"fill them in first, for example with [\w.]+ in a Pipeline, or drop those columns")


def in_options(message: str) -> str:
    """Return a message of the library with options in place of Python parameters."""
    message = _IMPUTER.sub("say what to do with them: --missing median, drop-features or drop-samples", message)
    message = _PARAMETER.sub(lambda found: f"Option {_FLAGS[found[1]]}", message)
    message = _SWITCH.sub(lambda found: _FLAGS[found[1]], message)
    message = _SETTING.sub(lambda found: f"{_FLAGS[found[1]]} {found[2] or found[3] or found[4]}", message)
    message = _BARE.sub(lambda found: _FLAGS.get(found[1], found[1]), message)
    return re.sub(r"\bin y\b", "in the label column", message)
