"""The files a newcomer has. Run in the empty environment, in the folder where they shall be."""

import csv
import gzip
from pathlib import Path

import numpy as np

rng = np.random.default_rng(0)


def write(name: str, header: list[str], rows: list[list[object]], delimiter: str = ",") -> None:
    with Path(name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows([header, *rows])


def cars() -> None:
    """The columns of vega_datasets' cars.csv: names, gaps, dates and a category among the numbers."""
    sizes = ["Miles_per_Gallon", "Cylinders", "Displacement", "Horsepower", "Weight_in_lbs", "Acceleration"]
    header = ["Name", *sizes, "Year", "Origin"]
    rows: list[list[object]] = []
    for t in range(160):
        size = rng.normal()
        cells = [
            30 - 6 * size,
            4 + 2 * (size > 0),
            190 + 90 * size,
            105 + 35 * size,
            2980 + 800 * size,
            15.5 - 2 * size,
        ]
        numbers = [round(float(value) * (1 + 0.05 * rng.normal()), 1) for value in cells]
        origin = "USA" if size > 0 else ("Europe", "Japan")[t % 2]
        rows.append([f"car {t % 90}", *numbers, f"19{70 + t % 12}-01-01", origin])
    for t in (3, 40, 77):
        rows[t][1] = rows[t + 1][4] = ""
    write("cars.csv", header, rows)


def clusters(n: int = 90, p: int = 60, informative: int = 8) -> tuple[np.ndarray, np.ndarray]:
    kind = np.arange(n) % 3
    X = rng.normal(size=(n, p))
    X[:, :informative] += 3 * rng.normal(size=(3, informative))[kind]
    return X, kind


def geo() -> None:
    """A series matrix as GEO has it: five probes tell the tissues apart."""
    kind = np.arange(30) % 2
    X = rng.normal(7, 1, size=(200, 30))
    X[:5] += 4 * kind
    accessions = [f'"GSM{i}"' for i in range(30)]
    lines = [
        ["!Series_title", '"Livers and lungs"'],
        ["!Sample_title", *(f'"patient {i}"' for i in range(30))],
        ["!Sample_geo_accession", *accessions],
        ["!Sample_characteristics_ch1", *(f'"tissue: {("liver", "lung")[k]}"' for k in kind)],
        ["!series_matrix_table_begin"],
        ['"ID_REF"', *accessions],
        *([f'"{probe}_at"', *map("{:.4f}".format, row)] for probe, row in enumerate(X)),
        ["!series_matrix_table_end"],
    ]
    text = "\n".join("\t".join(line) for line in lines) + "\n"
    Path("GSE1_series_matrix.txt").write_text(text)
    Path("GSE1_series_matrix.txt.gz").write_bytes(gzip.compress(text.encode()))


def bundled() -> None:
    """Tables that come with scikit-learn."""
    from sklearn.datasets import load_digits, load_wine

    wine = load_wine()
    cultivars = wine.target_names[wine.target]
    write(
        "wine.csv",
        [*wine.feature_names, "cultivar"],
        [[*x, y] for x, y in zip(wine.data.tolist(), cultivars, strict=True)],
    )
    digits = load_digits()
    np.savez("digits.npz", X=digits.data[:300], y=digits.target[:300])


def main() -> None:
    cars()
    X, kind = clusters()
    names = [f"g{i}" for i in range(X.shape[1])]
    numbers = X.round(4).tolist()
    write("genes.csv", ["sample", *names], [[f"s{t}", *row] for t, row in enumerate(numbers)])
    write("european.csv", names, [[str(v).replace(".", ",") for v in row] for row in numbers], delimiter=";")
    tissue = np.array(["liver", "lung", "skin"])[kind]
    batch = np.array(["monday", "friday"])[np.arange(len(X)) % 2]
    write(
        "labelled.csv", [*names, "tissue", "day"], [[*r, t, b] for r, t, b in zip(numbers, tissue, batch, strict=True)]
    )
    target = X[:, 0] * 2 - X[:, 1] + 0.1 * rng.normal(size=len(X))
    write("regression.csv", [*names, "yield"], [[*r, round(float(v), 4)] for r, v in zip(numbers, target, strict=True)])
    two = np.where(X[:, 0] ** 2 + X[:, 1] ** 2 > 3, "out", "in")
    write("classes.csv", [*names, "side"], [[*row, side] for row, side in zip(numbers, two, strict=True)])
    names_of_samples = [f"s{t}" for t in range(len(X))]
    write(
        "turned.csv",
        ["Gene", *names_of_samples],
        [[name, *row] for name, row in zip(names, X.T.round(4).tolist(), strict=True)],
    )
    rows = [[s, t, b] for s, t, b in zip(names_of_samples, tissue, batch, strict=True)]
    write("samples.csv", ["sample", "tissue", "day"], rows[::-1])
    plate = np.arange(len(X)) % 4
    write(
        "plates.csv", ["plate", *names, "tissue"], [[p, *r, t] for p, r, t in zip(plate, numbers, tissue, strict=True)]
    )
    Path("instrument.csv").write_text("# made by an instrument\n# two lines\n" + Path("genes.csv").read_text())
    geo()
    bundled()
    write("noise.csv", names, rng.normal(size=(60, len(names))).round(4).tolist())
    write("text.csv", ["a", "b"], [["x", "y"], ["z", "w"]])
    Path("empty.csv").touch()
    Path("table.parquet").write_bytes(b"PAR1" + b"\0" * 64 + b"PAR1")


if __name__ == "__main__":
    main()
