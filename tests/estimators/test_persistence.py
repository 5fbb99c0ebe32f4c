"""Model files: a saved model comes back and names its writer; a bad file is refused before it is built."""

import hashlib
import io
import json
import pickle
import zipfile
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import eigensieve
from eigensieve import KernelQAlphaSelector, QAlphaSelector, SieveSelector, TraceRatioSelector, load_model, save_model
from eigensieve.estimators import ESTIMATORS, ModelFileError, read_model_header, selected_features
from eigensieve.estimators.persistence import FORMAT, HEADER

pytestmark = [
    pytest.mark.filterwarnings("ignore:.* elements were found"),
]

pytest.importorskip("skops", reason="model files need skops")


@pytest.fixture
def fitted():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((30, 40)), columns=[f"gene {i}" for i in range(40)])
    X.iloc[:15, :5] += 3
    return QAlphaSelector(5, n_clusters=2).fit(X), X


@pytest.fixture
def saved(fitted, tmp_path):
    path = tmp_path / "model.skops"
    save_model(fitted[0], path, about={"input": "x.csv"})
    return path


def rewrite(path, change, *, checksums=True):
    """Write the archive again with its members changed by `change(name, content)`, and with checksums that fit."""
    with zipfile.ZipFile(path) as archive:
        members = {name: change(name, archive.read(name)) for name in archive.namelist()}
    if checksums:
        found = {name: hashlib.sha256(content).hexdigest() for name, content in members.items() if name != HEADER}
        members[HEADER] = json.dumps(json.loads(members[HEADER]) | {"checksums": found}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_a_model_comes_back_the_same(fitted, saved):
    model, X = fitted
    again = load_model(saved)
    np.testing.assert_array_equal(again.weights_, model.weights_)
    np.testing.assert_array_equal(again.feature_names_in_, model.feature_names_in_)
    pd.testing.assert_frame_equal(
        again.set_output(transform="pandas").transform(X), model.set_output(transform="pandas").transform(X)
    )
    assert again.get_params() == model.get_params()


def test_a_model_without_names_comes_back_without(tmp_path):
    X = np.random.default_rng(0).standard_normal((20, 10))
    save_model(QAlphaSelector(3).fit(X), tmp_path / "m.skops")
    assert not hasattr(load_model(tmp_path / "m.skops"), "feature_names_in_")


def test_the_header_says_who_wrote_it_and_what_was_selected(fitted, saved):
    header = read_model_header(saved)
    assert header["eigensieve"] == eigensieve.__version__ and header["estimator"] == "QAlphaSelector"
    assert header["about"] == {"input": "x.csv"}
    assert header["selection"] == selected_features(fitted[0])
    assert sorted(header["selection"]["names"]) == [f"gene {i}" for i in range(5)]


def test_the_file_holds_no_pickle(saved):
    with zipfile.ZipFile(saved) as archive:
        assert not any(name.endswith((".pkl", ".pickle")) for name in archive.namelist())


def test_selected_features_are_plain_json_best_first(fitted):
    selection = json.loads(json.dumps(selected_features(fitted[0]), allow_nan=False))
    assert selection["selected"] == fitted[0].selection_order_.tolist()
    assert selection["weights"] == sorted(selection["weights"], reverse=True)


def test_saving_fails_whole(fitted, tmp_path, monkeypatch):
    path = tmp_path / "model.skops"
    path.write_text("before")

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="No space"):
        save_model(fitted[0], path)
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("size", [0, 10, 200, -30])
def test_a_truncated_file_is_refused(saved, size):
    saved.write_bytes(saved.read_bytes()[:size])
    with pytest.raises(ModelFileError, match="damaged or no model file"):
        load_model(saved)


def test_a_pickle_is_refused_and_never_run(tmp_path):
    class Boom:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was executed",))

    path = tmp_path / "model.skops"
    path.write_bytes(pickle.dumps(Boom()))
    with pytest.raises(ModelFileError, match="damaged or no model file"):
        load_model(path)


def test_a_foreign_type_is_refused_before_it_is_built(saved):
    def swap(name, content):
        if name == "schema.json":
            content = content.replace(b'"QAlphaSelector"', b'"Popen"').replace(
                b'"eigensieve.estimators.qalpha_selector"', b'"subprocess"'
            )
        return content

    rewrite(saved, swap)
    with pytest.raises(ModelFileError, match=r"not trusted: subprocess\.Popen"):
        load_model(saved)


def test_another_estimator_is_refused(tmp_path):
    import skops.io
    from sklearn.linear_model import LinearRegression

    path = tmp_path / "m.skops"
    skops.io.dump(LinearRegression().fit([[0.0], [1.0]], [0, 1]), path)
    with pytest.raises(ModelFileError, match="not written by eigensieve"):
        load_model(path)
    with zipfile.ZipFile(path, "a") as archive:
        found = {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}
        archive.writestr(HEADER, json.dumps({"format": FORMAT, "checksums": found}))
    with pytest.raises(ModelFileError, match="holds a LinearRegression"):
        load_model(path)


def test_a_newer_format_says_to_update(saved):
    def newer(name, content):
        if name == HEADER:
            content = json.dumps(json.loads(content) | {"format": FORMAT + 1, "eigensieve": "9.0"}).encode()
        return content

    rewrite(saved, newer)
    with pytest.raises(ModelFileError, match=r"eigensieve 9\.0.*pip install -U"):
        load_model(saved)


def test_names_that_do_not_fit_are_refused(saved):
    def fewer(name, content):
        if name == HEADER:
            content = json.dumps(json.loads(content) | {"feature_names": ["a"]}).encode()
        return content

    rewrite(saved, fewer)
    with pytest.raises(ModelFileError, match="names do not fit"):
        load_model(saved)


def test_damaged_arrays_are_refused(saved):
    rewrite(saved, lambda name, content: content[: len(content) // 2] if name.endswith(".npy") else content)
    with pytest.raises(ModelFileError, match="damaged"):
        load_model(saved)


def test_compressed_members_are_refused(saved):
    with zipfile.ZipFile(saved) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(ModelFileError, match="compressed"):
        load_model(saved)


def test_a_missing_file_is_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "none.skops")


def estimators():
    from eigensieve import ElementSelectedSVC, FeatureMap, ReducedSetSVC, RejectionCascade

    return [
        SieveSelector(5),
        TraceRatioSelector(3),
        FeatureMap(4),
        KernelQAlphaSelector(3),
        ElementSelectedSVC(n_elements=20, random_state=0),
        ElementSelectedSVC(n_elements=20, table_size=64, random_state=0),
        ReducedSetSVC(),
        RejectionCascade(random_state=0),
    ]


@pytest.mark.parametrize("estimator", estimators(), ids=lambda e: type(e).__name__)
def test_every_estimator_survives_the_disk(estimator, tmp_path):
    from sklearn.datasets import make_classification

    X, y = make_classification(n_samples=120, n_features=10, n_informative=5, random_state=0)
    estimator.fit(X, y)
    save_model(estimator, tmp_path / "m.skops")
    again = load_model(tmp_path / "m.skops")
    method = "transform" if hasattr(estimator, "transform") else "predict"
    np.testing.assert_array_equal(getattr(again, method)(X), getattr(estimator, method)(X))


GRAPH = np.kron(np.eye(3), np.ones((20, 20)))
SAMPLES = np.random.default_rng(0).standard_normal((60, 8)) + 3.0 * np.kron(np.eye(3, 8), np.ones((20, 1)))


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.coo_array, sp.dia_array])
def test_a_graph_among_the_parameters_comes_back(kind, tmp_path):
    model = TraceRatioSelector(3, score="laplacian", within=kind(GRAPH)).fit(SAMPLES)
    save_model(model, tmp_path / "m.skops")
    again = load_model(tmp_path / "m.skops")
    assert type(again.within) is type(model.within)
    np.testing.assert_array_equal(again.within.toarray(), GRAPH)


def test_metadata_requests_are_left_out(tmp_path):
    with config_context(enable_metadata_routing=True):
        model = SieveSelector(3).set_fit_request(batches=True).fit(SAMPLES)
        save_model(model, tmp_path / "m.skops")
        assert model.get_metadata_routing().fit.requests["batches"] is True
        again = load_model(tmp_path / "m.skops")
        assert again.get_metadata_routing().fit.requests["batches"] is None
    np.testing.assert_array_equal(again.transform(SAMPLES), model.transform(SAMPLES))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (TraceRatioSelector(3, score="laplacian", within=pd.DataFrame(GRAPH)), r"'within' \(a DataFrame\)"),
        (TraceRatioSelector(3, score="laplacian", within=sp.lil_array(GRAPH)), r"'within' \(a lil_array\)"),
        (KernelQAlphaSelector(3, kernel=lambda A, B: A @ B.T), r"'kernel' \(a function\)"),
        (
            make_pipeline("passthrough", FunctionTransformer(lambda X: X), SieveSelector(3)),
            r"'functiontransformer__func' \(a function\)",
        ),
        (GridSearchCV(TraceRatioSelector(score="laplacian"), {"n_features_to_select": [2]}), "best_estimator_"),
        (make_pipeline(SieveSelector(3), PCA(2)), "Pipeline that ends with one"),
    ],
)
def test_what_could_not_be_loaded_is_not_written(model, message, tmp_path):
    with pytest.raises(TypeError, match=message):
        save_model(model.fit(SAMPLES), tmp_path / "m.skops")
    assert not list(tmp_path.iterdir())


def test_every_public_estimator_may_be_stored():
    public = {name for name in eigensieve.__all__ if isinstance(getattr(eigensieve, name), type)}
    assert {name for name in public if issubclass(getattr(eigensieve, name), BaseEstimator)} == set(ESTIMATORS)
    assert {name: getattr(eigensieve, name).__module__ for name in ESTIMATORS} == ESTIMATORS


def test_a_changed_part_is_refused(saved):
    def flip(name, content):
        return content[:-1] + bytes([content[-1] ^ 1]) if name.endswith(".npy") else content

    rewrite(saved, flip, checksums=False)
    with pytest.raises(ModelFileError, match="do not match their checksums"):
        load_model(saved)


def test_an_added_part_is_refused(saved):
    with zipfile.ZipFile(saved, "a") as archive:
        archive.writestr("more.npy", b"")
    with pytest.raises(ModelFileError, match="do not match their checksums"):
        read_model_header(saved)


def test_an_older_format_says_to_fit_again(saved):
    rewrite(saved, lambda name, content: content.replace(b'"format": 3', b'"format": 1') if name == HEADER else content)
    with pytest.raises(ModelFileError, match="older eigensieve"):
        load_model(saved)


def with_arrays(path, change):
    """Write the archive again with its arrays changed, and with checksums that fit."""

    def member(name, content):
        if not name.endswith(".npy"):
            return content
        out = io.BytesIO()
        np.save(out, change(np.load(io.BytesIO(content))))
        return out.getvalue()

    rewrite(path, member)


TAMPERED = {
    "short": lambda A: A[:-1] if A.shape == (40,) else A,
    "empty": lambda A: A[:0],
    "text": lambda A: A.astype(str) if A.shape == (40,) else A,
    "integers": lambda A: A.astype(np.int8) if A.dtype == bool else A,
    "numbers": lambda A: A.astype(np.float64) if A.dtype == np.int64 else A,
    "square": lambda A: np.stack([A] * len(A), axis=1) if A.dtype == bool else A,
    "repeated": lambda A: np.zeros_like(A) if A.dtype == np.int64 else A,
    "complex": lambda A: A.astype(complex) if A.ndim == 2 else A,
}


@pytest.mark.parametrize("case", TAMPERED)
def test_arrays_that_do_not_fit_are_refused(saved, case):
    with_arrays(saved, TAMPERED[case])
    with pytest.raises(ModelFileError, match="is damaged"):
        load_model(saved)


def test_arrays_that_fit_are_not(fitted, saved):
    with_arrays(saved, lambda A: A.copy())
    again = load_model(saved)
    for name in ("weights_", "support_", "ranking_", "embedding_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(fitted[0], name))


@pytest.fixture(scope="module")
def machines():
    """Small machines with every kind of nested object, fitted once."""
    from sklearn.datasets import make_classification
    from sklearn.svm import SVC

    from eigensieve import ElementSelectedSVC, RejectionCascade

    X, y = make_classification(n_samples=80, n_features=10, n_informative=5, random_state=0)
    return {
        "tiled": ElementSelectedSVC(n_elements=20, random_state=0).fit(X, y),
        "linear": ElementSelectedSVC(SVC(kernel="linear"), n_elements=20, random_state=0).fit(X, y),
        "table": ElementSelectedSVC(n_elements=20, table_size=16, random_state=0).fit(X, y),
        "cascade": RejectionCascade(matrix_products=False, random_state=0).fit(X, y),
    }


def filled(value):
    return lambda A: np.full_like(A, value)


CHANGES = {
    "shorter": lambda A: A[:-1],
    "repeated": lambda A: np.repeat(A[:1], len(A), axis=0) + np.array(2, A.dtype),
    "far above": filled(10**9),
    "far below": filled(-(10**6)),
    "longer": lambda A: np.concatenate([A, A]),
}
NESTED = [
    ("tiled", ("_expansion",), "starts"),
    ("linear", ("_expansion",), "starts"),
    ("cascade", ("classifier_",), "_n_support"),
    ("cascade", ("rejector_", "_expansion"), "starts"),
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("machine", "way", "name"), NESTED)
def test_positions_that_compiled_code_reads_are_checked(machines, machine, way, name, change, tmp_path, monkeypatch):
    model = deepcopy(machines[machine])
    part = model
    for step in way:
        part = getattr(part, step)
    vars(part)[name] = CHANGES[change](getattr(part, name))
    with monkeypatch.context() as patch:
        patch.setattr("eigensieve.estimators.persistence.misfit", lambda model: None)
        save_model(model, tmp_path / "m.skops")
    with pytest.raises(ModelFileError, match="is damaged"):
        load_model(tmp_path / "m.skops")
    with pytest.raises(TypeError, match="could not be loaded again"):
        save_model(model, tmp_path / "n.skops")
    assert not (tmp_path / "n.skops").exists()


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("weights_", np.full(40, np.nan), "weights_ holds values outside the range"),
        ("selection_order_", np.arange(5) + 1, "selection_order_ does not list"),
        ("embedding_", np.zeros(30), "embedding_ has shape"),
        ("n_clusters", -1, "n_clusters"),
        ("surprise_", np.zeros(3), "surprise_ of it is not known"),
        ("weights_", None, "it has no weights_"),
    ],
)
def test_every_learned_attribute_is_declared(fitted, name, value, problem, tmp_path):
    model = fitted[0]
    vars(model)[name] = value
    with pytest.raises(TypeError, match=problem):
        save_model(model, tmp_path / "m.skops")
