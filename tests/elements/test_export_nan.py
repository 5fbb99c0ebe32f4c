"""The exported C has no undefined behaviour on NaN, infinities and huge values: the compiler's own checks say so."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from sklearn.svm import SVC

from eigensieve import ElementSelectedSVC

CHECKS = ["-fsanitize=undefined,float-cast-overflow", "-fsanitize-undefined-trap-on-error"]
MAIN = """
#include <stdio.h>
int main(void)
{{
    static {real} x[{n}];
    {real} bad[5], decision[1];
    int i, k;
    bad[0] = 0.0 / x[0]; bad[1] = 1.0 / x[0]; bad[2] = -1.0 / x[0]; bad[3] = {huge}; bad[4] = -{huge};
    for (k = 0; k < 5; k++) {{
        for (i = 0; i < {n}; i++) x[i] = bad[k];
        m_decision(x, decision);
        printf("%d %d\\n", decision[0] == decision[0], m_predict(x));
    }}
    return 0;
}}
"""


def _compiles(folder: Path) -> bool:
    (folder / "try.c").write_text("int main(void) { return 0; }")
    try:
        command = ["cc", *CHECKS, "-o", str(folder / "try"), str(folder / "try.c")]
        return subprocess.run(command, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.filterwarnings("ignore:.* elements were found")  # a linear machine may be exact before
@pytest.mark.parametrize(("precision", "real", "huge"), [("single", "float", "1e38f"), ("double", "double", "1e308")])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_any_input_is_defined(kernel: str, precision: str, real: str, huge: str, tmp_path: Path) -> None:
    if not _compiles(tmp_path):
        pytest.skip("no C compiler that checks for undefined behaviour")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    model = ElementSelectedSVC(SVC(kernel=kernel), n_elements=12, random_state=0).fit(X, X[:, 0] + X[:, 1] > 0)
    (tmp_path / "m.c").write_text(model.to_c("m", precision=precision) + MAIN.format(n=6, real=real, huge=huge))
    flags = [
        "-Werror=incompatible-pointer-types",
        *CHECKS,
        "-fno-sanitize=float-divide-by-zero",
        "-O1",
        "-o",
        str(tmp_path / "m"),
    ]
    subprocess.run(["cc", *flags, str(tmp_path / "m.c")], check=True)
    ran = subprocess.run([str(tmp_path / "m")], capture_output=True, text=True)
    assert ran.returncode == 0, "undefined behaviour"
    lines = ran.stdout.split("\n")
    assert lines[0][0] in "01", "NaN gives one of the classes"
    if kernel == "rbf":  # far from every vector, nothing but the intercept is left
        assert all(line.startswith("1 ") for line in lines[1:5])
