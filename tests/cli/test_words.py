"""Errors and notes of the command line speak of options, of the label, of the table; never of Python's names."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest

from eigensieve.cli.errors import in_options

PYTHON = re.compile(
    r"\b(n_\w+|max_iter|tol|X|y|fit|\w+Selector|FeatureMap|SVC|SVR|ndarray|array|parameter|str|int|float)\b|\w=\S"
)


def test_help_fills_its_lines(cli):
    """The lines of a docstring are not those of the terminal."""
    code, out, _ = cli("select", "--help")
    about = [line.strip() for line in out.split("Arguments")[0].splitlines()]
    start = next(number for number, line in enumerate(about) if line.startswith("Reads CSV"))
    lines, wide = about[start : about.index("", start)], max(map(len, out.splitlines()))
    assert code == 0 and lines[-1].endswith("are never features.")
    assert all(len(line) + 1 + len(after.split()[0]) > wide - 2 for line, after in itertools.pairwise(lines))


WRONG = """
select t.csv -n 0
select t.csv -n many
select t.csv -n 99 --label kind
select t.csv --fdr 2
select t.csv --clusters 0
select t.csv --clusters 80 --label kind
select t.csv --method qalpha --spectrum odd
select t.csv --method qalpha --strength -1 --side t.csv
select t.csv --method qalpha --label g0
select t.csv --method trace-ratio --score laplacian --neighbors 0
select t.csv --method trace-ratio --score laplacian --neighbors 400
select t.csv --method trace-ratio
select t.csv --method kernel
select t.csv --label nope
select t.csv --label kind --batch kind
select one.csv --label kind
select unlabelled.csv --label kind
select constant.csv
select holes.csv --missing error
select t.csv --pairs t.csv
select t.csv --stability -3
select t.csv --unwanted -2
select t.csv --seed -1
compress t.csv --label kind --seed 4294967296
select t.csv --supervision odd --label kind
compare t.csv --label kind --folds 0
compare constant.csv --label kind
compress t.csv --label kind -e 0
compress t.csv --label kind --penalty -1
compress t.csv --label kind --shape odd
compress constant.csv --label kind
map t.csv --rounds 0
map t.csv -n 0
map t.csv --clusters 90
map constant.csv
inspect t.csv --decimal xx
demo --features 0
""".strip().splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small labelled table, and what can be wrong with one."""
    place = tmp_path_factory.mktemp("words")
    values = np.random.default_rng(0).standard_normal((40, 12))
    table = pd.DataFrame(values, columns=[f"g{i}" for i in range(12)]).assign(kind=["a", "b"] * 20)
    flat = table.assign(**dict.fromkeys(table.columns[:12], 1.0))
    holes = table.mask(np.arange(40)[:, None] == np.arange(13))
    wrong = {"one": table[:1], "unlabelled": table.assign(kind=None), "constant": flat, "holes": holes}
    for name, content in {"t": table, **wrong}.items():
        content.to_csv(place / f"{name}.csv", index=False)
    return place


@pytest.mark.parametrize("line", WRONG)
def test_no_python_is_spoken(line, cli, folder, monkeypatch):
    monkeypatch.chdir(folder)
    code, _, err = cli(*line.split())
    assert code in ((0,) if "99" in line else (2, 3)), err
    assert err
    said = re.sub(r"'[^']*'", "", err)  # names of files and columns are quoted
    assert not PYTHON.search(said), err


@pytest.mark.parametrize("command", ["select", "compare", "compress"])
def test_seeds_are_whole_numbers_of_32_bits(command, cli, folder):
    quick = {
        "select": ("-n", 2),
        "compare": ("--folds", 2, "--methods", "sieve"),
        "compress": ("-e", 4, "--no-compare"),
    }
    line = (command, folder / "t.csv", "--label", "kind", *quick[command], "--seed")
    for seed in (-1, 2**32):
        code, _, err = cli(*line, seed)
        assert code == 2
        assert "'--seed'" in err and ("0" if seed < 0 else "4294967295") in err
    code, _, err = cli(*line, 2**32 - 1)
    assert code == 0, err


def test_what_an_estimator_says_in_the_words_of_options():
    said = in_options(
        "QAlphaSelector stopped after 200 steps, before the weights settled. "
        "The ranking may still change: raise max_iter or tol in solver_options."
    )
    assert said.startswith("The method stopped after 200 steps, before the weights settled. ")
    assert said.endswith("The ranking may still change.")
