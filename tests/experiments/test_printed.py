"""Every figure that is quoted from a paper equals the figure typed from that paper's text, here, a second time."""

import re
from pathlib import Path

import pytest

from experiments import faces, gene_outcomes, uci_side_data
from experiments.catalog import EXPERIMENTS
from experiments.running import load_results

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
DOCS = Path(__file__).parents[2] / "docs"

# wolf-shashua 2005, Table 1; columns as printed
TABLE_1 = """
        brain  lymph_status  breast  lymphoma
RAW     32     44            34      27
PCA_5   22     47            33      40
PCA_10  26     47            26      27
PCA_20  25     47            25      29
PCA_30  31     47            31      33
PCA_40  31     47            31      33
PCA_50  30     47            30      33
GS_5    20     45            32      33
GS_10   24     43            31      30
GS_20   28     47            32      31
GS_30   30     44            33      33
Q-alpha 15     19            22      15
SNR     16     42            29      18
RFE     14     38            26      14
RMB     13     39            24      14
"""

# shashua-wolf 2004, last table; columns as printed
UCI = """
             raw     Q-alpha  PCA     CPCA    OPCA
dermatology  0.5197  0.8816   0.5197  0.6074  0.8050
ecoli        0.6889  0.7059   0.6953  0.6973  0.5620
segment      0.7157  0.7817   0.7208  0.7089  0.7110
wine         0.7280  0.9635   0.7280  0.7280  0.9493
"""

# sentences of the papers: experiment, part of the check -> figure, with the words around it
SENTENCES = {
    ("positivity", "n = "): (
        0.99,
        "for n > 20 ... above 0.99; mu = 0.1 ... above 0.99 starting from n = 500",
    ),
    ("positivity", "p = 0.2"): (2.6, "2003, section 5: 2.6 at p = 0.2"),
    ("positivity", "p = 1,"): (5.1, "2003, section 5: approaches 5.1"),
    ("positivity", "least value"): (-0.125, "Proposition 7: the minimum is -1/8"),
    ("hidden-signs", "lambda"): (0.0, "the success rate for the original algorithm was constantly zero"),
    ("gene-model", "s = "): (30.0, "at least 30 times more likely to choose a relevant feature, even for s > 1000"),
    ("image-patches", ""): (0.80, "varied between 80 % to 90 % correct assignments"),
    ("faces", "next best"): (0.39, "significantly higher than 0.39 obtained by the next best method (SDR-SI)"),
    ("faces", ""): (0.64, "the precision index of Q-alpha-SI is 0.64"),
    ("uci-side-data", "mean of the two"): (3.0, "Alcohol and Proline were three times larger than the rest"),
    ("elements", "over"): (0.4, "uses only 40 % of the memory; 800 numbers compared to 2005"),
    ("elements", "vehicles"): (0.70, "about 70 % of the negative patterns ... less than 2 % of the positive patterns"),
    ("elements", "faces"): (0.80, "80 % of the negative patterns ... false negative rate of less than 2 %"),
}


def typed(table: str) -> dict[str, dict[str, float]]:
    head, *rows = table.strip().splitlines()
    names = head.split()
    return {row.split()[0]: dict(zip(names, map(float, row.split()[1:]), strict=True)) for row in rows}


def checks(name: str) -> list[tuple[str, float]]:
    results = load_results(EXPERIMENTS[name], DOCS / "reproduced-runs")
    found = [check for claim in EXPERIMENTS[name].claims for check in claim.checks(results)]
    return [(check.where, check.printed) for check in found if check.printed is not None]


def test_table_1_of_2005():
    quoted = {
        method.replace(" ", "_"): {name.replace(" ", "_"): float(count) for name, count in row.items()}
        for method, row in gene_outcomes.PRINTED.items()
    }
    assert quoted == typed(TABLE_1)


def test_table_of_uci_sets():
    quoted = {
        name: {"Q-alpha" if method == uci_side_data.OURS else method: figure for method, figure in row.items()}
        for name, row in uci_side_data.PRINTED.items()
    }
    assert quoted == typed(UCI)


def test_faces():
    assert (faces.PRINTED, faces.PRINTED_NEXT) == (0.64, 0.39)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_check_quotes_its_paper(name):
    tables = {"gene-outcomes": typed(TABLE_1), "uci-side-data": typed(UCI)}
    for where, printed in checks(name):
        row, _, column = where.partition(", ")
        if name == "gene-outcomes":
            assert printed == tables[name][column][row]
        elif name == "uci-side-data" and column:
            assert printed == tables[name][row][column.replace(uci_side_data.OURS, "Q-alpha")]
        else:
            found = [figure for (where_, part), (figure, _) in SENTENCES.items() if where_ == name and part in where]
            assert printed == found[0], f"{name}, {where}: quotes {printed}"


def on_the_page(pattern: str) -> set[str]:
    """Return the figures in what the pattern finds on the page."""
    found = re.findall(pattern, (DOCS / "reproduced.md").read_text(encoding="utf-8"), re.MULTILINE)
    return {figure for text in found for figure in NUMBER.findall(text)}


def test_every_figure_called_printed_on_the_page_is_typed_above():
    known = {figure for figure, _ in SENTENCES.values()} | {0.9, 0.55, 0.65, 1.0}  # ranges of image-patches; "always"
    known |= {figure for table in (typed(TABLE_1), typed(UCI)) for row in table.values() for figure in row.values()}
    known |= {5.0, 10.0}  # class-scaleup: a gap around 5 to 10, up to 5 classes
    digits = {f"{figure:.{places}f}" for figure in known for places in range(5)}
    series = r"-?\d+(?:\.\d+)?(?:(?: / | to | and )\d+(?:\.\d+)?)*"
    phrases = on_the_page(rf"(?<!as )printed:?(?: above| at least| at most| less than)? ({series})")
    rows = on_the_page(r"^\| (?: \| )?printed(?: \(\w+\))? \|(.*)\|$")
    assert len(phrases) > 30 and len(rows) > 15
    assert (phrases | rows) - digits == set()


# figures in the words of the claims, by experiment
CLAIMED = {
    "positivity": "20 0.99 1/6 0.1 1 500 2.6 0.2 5.1 Lemma 13 -1/8 2",
    "weston": "",
    "class-scaleup": "2003 2005 6 5 nc - 2 nc + 2",
    "hidden-signs": "",
    "gene-model": "5 1 1000 99.5 30",
    "gene-outcomes": "",
    "image-patches": "80 90 55 65",
    "laplacian": "",
    "feature-map": "",
    "faces": "0.64 0.39",
    "uci-side-data": "",
    "trace-ratio": "",
    "elements": "200 70 80 2 400 5 576 10 100 40 250 16",
}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_figure_of_a_claim_is_typed_above(name):
    quoted = {figure for claim in EXPERIMENTS[name].claims for figure in NUMBER.findall(claim.text)}
    assert quoted - set(NUMBER.findall(CLAIMED[name])) == set()
