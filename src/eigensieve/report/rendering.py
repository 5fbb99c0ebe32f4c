"""From the plain dict to one HTML file: no model, no network, no name that could become markup."""

import base64
import hashlib
import html
import json
import re
from collections.abc import Sequence
from importlib.resources import files

from eigensieve._types import JsonDict
from eigensieve._words import counted

_ADVICE = re.compile(r" \([^()]*--[a-z][^()]*\)")
_SLOT = re.compile(r"\{\{(\w+)\}\}")


def render(summary: JsonDict) -> str:
    """Return the report as one self-contained HTML page.

    Parameters
    ----------
    summary : dict
        From :func:`summarize`.

    Returns
    -------
    page : str
        Styles and script are inline, data is a JSON block; a content security policy forbids anything else.
    """
    script = asset("page.js")
    method = summary["method"]
    cited = "".join(f"<li>{html.escape(entry)}</li>" for entry in method["citations"])
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    slots = {
        "policy": f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        "title": html.escape(summary["title"]),
        "style": asset("page.css"),
        "headline": _headline(summary),
        "facts": _facts(summary),
        "trust": _cards(summary["trust"]),
        "fallback": f"<p>The pictures need JavaScript. The selected features:</p>{_feature_list(summary, 500)}",
        "methods": f"<p id='methods-text'>{html.escape(method['text'])}</p><ol class='cited'>{cited}</ol>",
        "data": as_script_data(summary),
        "script": script,
    }
    return fill_page("page.html", slots)


def render_fragment(summary: JsonDict) -> str:
    """Return static HTML for a notebook: headline, cards and the best features; no script."""
    return (
        f"<style>{asset('fragment.css')}</style><div class='eigensieve'>"
        f"<p><strong>{_headline(summary)}</strong></p><div class='cards'>{_cards(summary['trust'])}</div>"
        f"{_feature_list(summary, 15)}</div>"
    )


def as_script_data(content: JsonDict) -> str:
    """Return JSON that cannot leave a script element: ``<``, ``>`` and ``&`` are written as escapes."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def asset(name: str) -> str:
    """Return a file of the folder ``assets``."""
    return files("eigensieve.report").joinpath("assets", name).read_text(encoding="utf-8")


def fill_page(body: str, slots: dict[str, str]) -> str:
    """Return the page whose body is a file of the folder ``assets``, with texts in its ``{{slots}}``."""
    page = asset("shell.html").replace("{{body}}", asset(body))
    return _SLOT.sub(lambda match: slots[match.group(1)], page)


def _headline(summary: JsonDict) -> str:
    counts = summary["counts"]
    return html.escape(
        f"{counts['selected']:,} of {counts['features']:,} features selected from {counts['samples']:,} samples"
    )


def _facts(summary: JsonDict) -> str:
    counts, source = summary["counts"], summary["source"]
    facts = [f"Input: {source['name']}", f"Method: {summary['method']['name']}"]
    if counts["directions"]:
        facts.append(f"{counts['directions']} direction{'s' * (counts['directions'] > 1)} of the samples")
    if source["constant"]:
        facts.append(f"{counted(source['constant'], 'constant feature')} left out")
    if source["labels"] and summary["used"]["labels"] is None:
        use = "used for the selection" if source["labels_used"] else "not used for the selection"
        facts.append(f"Labels: {source['labels']} ({use})")
    facts += summary["used"]["sentences"]
    return as_facts([*facts, *source["prepared"]], summary["created"], summary["version"])


def as_facts(facts: Sequence[str], made: str, version: str) -> str:
    """Return the items below the title, each with a capital letter. Advice about options is for the console."""
    plain = [_ADVICE.sub("", fact) for fact in (*facts, f"Made {made} with eigensieve {version}")]
    return "".join(f"<li>{html.escape(fact[:1].upper() + fact[1:])}</li>" for fact in plain)


def _cards(cards: list[dict[str, str]]) -> str:
    words = {"good": "good", "note": "take note", "warn": "careful", "none": ""}
    return "".join(
        f"<article class='card {html.escape(card['state'])}'><h3>{html.escape(card['label'])} "
        f"<span class='flag'>{words[card['state']]}</span></h3>"
        f"<p class='value'>{html.escape(card['value'])}</p><p>{html.escape(card['text'])}</p></article>"
        for card in cards
    )


def _feature_list(summary: JsonDict, limit: int) -> str:
    features = summary["features"]
    rows = [i for i, selected in enumerate(features["selected"]) if selected][:limit]
    body = "".join(
        f"<tr><td>{features['rank'][i]}</td><td>{html.escape(features['names'][i])}</td><td>{features['weight'][i]}</td></tr>"
        for i in rows
    )
    more = summary["counts"]["selected"] - len(rows)
    note = f"<p>and {more:,} more</p>" if more > 0 else ""
    head = "<tr><th>Rank</th><th>Feature</th><th>Weight</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{body}</tbody></table>{note}"
