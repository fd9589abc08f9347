"""What is attacked: every reader, with healthy files to damage and the errors it may raise."""

import gzip
import io
import json
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline

import limo
from attacks import mutations
from attacks.blame import is_sentence
from limo._cli.report import _document
from limo.datasets import DataError
from limo.experiment import Data, Plan, PlanError, Splits, StoreError, read_rows, run
from naive.datasets_fuzz import TARGETS as READERS

CORPUS = Path(__file__).parents[1] / "datasets" / "fuzz" / "corpus"
PLAN = """
methods = ["limo", {name = "mine", estimator = "mlknn", settings = {n_neighbors = 3}}]
measures = ["macro_f1", "ranking_loss"]
repetitions = 2
seed = 3
conventions = "standard"
[[datasets]]
name = "toy"
source = "figure1"
options = {n = 40, seed = 1}
[splits]
kind = "stratified"
number = 2
test_size = 0.4
"""


@dataclass(frozen=True)
class Target:
    """A reader under attack.

    ``attack`` reads a file and uses what it read; ``seeds`` makes the healthy files, ``mutate``
    damages one, ``errors`` are the only ones allowed.
    """

    attack: Callable[[Path], object]
    seeds: Callable[[], list[bytes]]
    mutate: mutations.Mutate
    errors: tuple[type[Exception], ...]
    suffix: str = ""


def _reader(name: str) -> Target:
    """A reader of data, with the checks that the coverage-guided fuzzer makes as well."""
    archive = name in ("npz",)
    return Target(
        lambda file: READERS[name](file.read_bytes()),
        lambda: [file.read_bytes() for file in sorted((CORPUS / name).iterdir())],
        _after_first_byte if archive else mutations.mutate_bytes,
        (DataError,),
    )


def _after_first_byte(rng: mutations.Random, content: bytes, other: bytes) -> bytes:
    """The first byte of a seed chooses options; the archive follows."""
    return bytes([rng.randrange(256)]) + mutations.mutate_archive(rng, content[1:], other[1:])


def _toy() -> limo.Dataset:
    return limo.datasets.make_multilabel(30, 5, 3, seed=0)


# Matrices and instances


def _npy() -> list[bytes]:
    files = []
    for A in (np.random.default_rng(0).random((6, 3)), np.eye(4, dtype=np.float32)):
        handle = io.BytesIO()
        np.save(handle, A)
        files.append(handle.getvalue())
    return files


def _npz() -> list[bytes]:
    scores, found = np.random.default_rng(0).random((6, 3)), []
    for arrays in (
        {"S": scores, "Y": (scores > 0.5) * 1},
        {"label_names": list("abc"), "P": scores > 1},
    ):
        handle = io.BytesIO()
        np.savez(handle, **arrays)
        found.append(handle.getvalue())
    for kind in ("csr", "csc"):
        handle = io.BytesIO()
        sparse.save_npz(
            handle,
            sparse.random_array((6, 3), density=0.5, format=kind, rng=np.random.default_rng(1)),
        )
        found.append(handle.getvalue())
    return found


def _tables() -> list[bytes]:
    texts = (
        "a,b,c\n.1,.2,.3\n.4,.5,.6\n",
        "label:a,score:a\n1,.5\n0,.25\n",
        ",a,b\n0,1,0\n1,0,1\n",
    )
    arff = (CORPUS / "arff" / "dense").read_bytes()[1:]
    return [*map(str.encode, texts), gzip.compress(texts[0].encode()), arff]


def _matrix(file: Path) -> None:
    """Every kind; what is read must be accepted by what evaluates it, or refused in a sentence."""
    for kind in ("truth", "scores", "predictions"):
        try:
            found = limo.datasets.read_matrix(file, kind)
        except DataError:
            continue
        assert found.values.ndim == 2
        if kind == "scores" and 0 not in found.values.shape:
            try:
                limo.evaluate(np.eye(*found.values.shape, dtype=int), found.values)
            except ValueError as error:
                if not is_sentence(error):
                    raise


def _instances(file: Path) -> None:
    for names in (None, ("a", "b"), ("a=x", "a=y", "b")):
        try:
            X = limo.datasets.read_instances(file, names, ("c",))
        except DataError:
            continue
        assert names is None or X.shape[1] == len(names)


def _libsvm_names(file: Path) -> None:
    beside = file.with_name("toy.libsvm.names.json")
    file.rename(beside)
    rows = file.with_name("toy.libsvm")
    rows.write_text("0,2 1:.5 3:2\n1 2:1\n")
    data = limo.read(rows)
    assert len(set(data.label_names)) == data.Y.shape[1]


def _libsvm_name_files() -> list[bytes]:
    names = {"label_names": ["a", "b", "c"], "feature_names": ["x", "y", "z"], "n_features": 3}
    return [json.dumps(names).encode()]


# Plans, stores, documents, rules and models


def _plan(file: Path) -> None:
    plan = Plan.from_file(file)
    if (
        plan.repetitions * sum((data.splits or plan.splits).number or 10 for data in plan.datasets)
        < 200
    ):
        plan.jobs()


def _store() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "store"
        plan = Plan(
            [Data("toy", "figure1", {"n": 30})],
            ["limo", "mlknn"],
            ["macro_f1"],
            splits=Splits(number=2),
        )
        run(plan, file, n_jobs=1)
        return [file.read_bytes()]


def _rows(file: Path) -> None:
    rows = read_rows(file)
    if len(rows):
        limo.report.comparison_document(rows)


def _documents() -> list[bytes]:
    data = _toy()
    S = np.random.default_rng(0).normal(size=data.Y.shape)
    evaluation = limo.report.evaluation_document(data.Y, {"mine": S, "other": -S})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "store"
        file.write_bytes(_store()[0])
        comparison = limo.report.comparison_document(read_rows(file))
    return [json.dumps(one).encode() for one in (evaluation, comparison)]


def _page(file: Path) -> None:
    page = limo.report.render(_document(file))
    assert page.startswith("<!doctype html>")


def _rules() -> list[bytes]:
    data, S = _toy(), np.random.default_rng(0).normal(size=(30, 3))
    rules = [limo.TopK(), limo.GlobalThreshold(), limo.LabelThreshold(), limo.FixedThreshold(0.5)]
    fitted = [rule.fit(data.Y, S) for rule in rules]
    return [limo.thresholds.rule_to_json(rule).encode() for rule in fitted]


def _rule(file: Path) -> None:
    rule = limo.thresholds.rule_from_json(file)
    _predict(rule.predict, 3)


def _predict(predict: Any, width: int) -> None:
    """What was accepted must work; another width, or form of X, may be refused in a sentence."""
    X = np.random.default_rng(0).normal(size=(4, width))
    try:
        P = predict(X)
    except ValueError as error:
        if not is_sentence(error):
            raise
    else:
        assert P.shape[0] == 4
        assert P.ndim in (1, 2)


def _models() -> list[bytes]:
    data = _toy()
    Z = data.to_sparse()
    made = [
        limo.LIMOClassifier().fit(data.X, data.Y),
        limo.BinaryRelevance().fit(data.X, data.Y),
        limo.MLKNNClassifier(3).fit(data.X, data.Y),
        limo.MLKNNClassifier(3).fit(Z.X, Z.Y),
        limo.ThresholdClassifier(limo.MLKNNClassifier(3)).fit(data.X, data.Y),
        limo.GFMClassifier().fit(data.X, data.Y),
    ]
    return _saved(made)


def _tree_models() -> list[bytes]:
    """Models with arrays of their own: trees, kernels, probabilities and mixtures."""
    data = _toy()
    models, pair = limo.models, [("rows mean", 1e-3, 0.5), ("pointwise", 1e-2, 0.5)]
    features = models.KernelFeatures(n_landmarks=8, random_state=0)
    kernel = make_pipeline(models.UnitRows(), features, limo.LIMOClassifier(threshold_cv=2))
    made = [
        models.ForestClassifier(n_estimators=3, random_state=0),
        models.BoostingClassifier(3, min_samples_leaf=2, random_state=0),
        kernel,
        models.AveragedClassifier(pair, threshold_cv=2),
        limo.LIMOClassifierSGD(n_passes=1, threshold_cv=2, random_state=0),
        limo.ThresholdClassifier(limo.LIMOClassifier(), "auto", probability="sigmoid"),
        limo.AimedClassifier(families=("neighbours",), extra=[("kernel", kernel)], cv=2),
    ]
    return _saved([model.fit(data.X, data.Y) for model in made])


def _saved(made: list[Any]) -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        files = [limo.save_model(m, f"{folder}/{k}", label_names="abc") for k, m in enumerate(made)]
        return [file.read_bytes() for file in files]


def _model(file: Path) -> None:
    saved = limo.load_model(file)
    _predict(saved.model.predict, 5)


TARGETS: dict[str, Target] = {
    **{name: _reader(name) for name in READERS},
    "npy": Target(_matrix, _npy, mutations.mutate_bytes, (DataError,), ".npy"),
    "matrix-npz": Target(_matrix, _npz, mutations.mutate_archive, (DataError,), ".npz"),
    "matrix-csv": Target(_matrix, _tables, mutations.mutate_bytes, (DataError,), ".csv"),
    "instances": Target(_instances, _tables, mutations.mutate_bytes, (DataError,), ".csv"),
    "names": Target(_libsvm_names, _libsvm_name_files, mutations.mutate_json, (DataError,)),
    "plan": Target(
        _plan, lambda: [PLAN.encode()], mutations.mutate_bytes, (PlanError, DataError), ".toml"
    ),
    "store": Target(_rows, _store, mutations.mutate_store, (StoreError, ValueError)),
    "document": Target(_page, _documents, mutations.mutate_json, (ValueError,)),
    "rule": Target(_rule, _rules, mutations.mutate_json, (ValueError,)),
    "model": Target(_model, _models, mutations.mutate_archive, (limo.ModelFileError,)),
    "tree-model": Target(_model, _tree_models, mutations.mutate_archive, (limo.ModelFileError,)),
}


@cache
def seeds_of(name: str) -> list[bytes]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TARGETS[name].seeds()


def mutated(name: str, seed: int, number: int) -> bytes:
    """Damaged file ``number`` of a target; the seed chooses the damage."""
    rng = mutations.Random(f"{seed}/{name}/{number}")
    healthy = seeds_of(name)
    return TARGETS[name].mutate(rng, rng.choice(healthy), rng.choice(healthy))
