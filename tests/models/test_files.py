"""Model files: what was fitted comes back, and nothing else comes in."""

import doctest
import io
import json
import pickle
import re
import zipfile

import joblib
import numpy as np
import pytest
import skops.io
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import limo
from limo.models import _files as files
from limo.models import _limo as limo_module
from limo.thresholds import _rules as rules

DATA = limo.datasets.figure1(60)

MODELS = [
    limo.LIMOClassifier(),
    limo.LIMOClassifier(threshold_measure="instance_f1"),
    limo.LIMOClassifier(threshold_measure=None),
    limo.MarginClassifier([limo.losses.Term("rows", "top")]),
    limo.LIMOClassifierCV(alphas=[0.1], terms=["rows mean", "rows top"], cv=2),
    limo.paper_limo("LIMO-inst", random_state=0),
    limo.BinaryRelevance(),
    limo.BinaryRelevance("logistic"),
    limo.MLKNNClassifier(),
    limo.GFMClassifier(),
    limo.ThresholdClassifier(limo.MLKNNClassifier(), "expected_f1", cv=2),
    limo.ThresholdClassifier(limo.MLKNNClassifier(), "top_k", cv=2),
    limo.ThresholdClassifier(OneVsRestClassifier(LogisticRegression()), measure="macro_f1", cv=2),
    make_pipeline(MaxAbsScaler(), limo.MLKNNClassifier()),
    make_pipeline(limo.models.KernelFeatures(), limo.LIMOClassifier()),
    limo.models.ForestClassifier(n_estimators=5),
    limo.models.BoostingClassifier(5),
    limo.AimedClassifier("macro_f1", families=["linear", "boosting"], cv=2),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_what_was_saved_comes_back(model, tmp_path):
    model.fit(DATA.X, DATA.Y)
    file = limo.save_model(
        model,
        tmp_path / "model.skops",
        label_names=DATA.label_names,
        feature_names=DATA.feature_names,
        measure="macro_f1",
        method="mine",
        data="figure1",
    )
    saved = limo.load_model(file)
    assert (saved.label_names, saved.feature_names) == (DATA.label_names, DATA.feature_names)
    assert (saved.measure, saved.method, saved.data) == ("macro_f1", "mine", "figure1")
    assert saved.limo_version == limo.__version__
    assert np.array_equal(limo.scores_of(saved.model, DATA.X), limo.scores_of(model, DATA.X))
    assert np.array_equal(saved.model.predict(DATA.X), model.predict(DATA.X))


def test_a_bare_estimator_has_no_names(tmp_path):
    model = limo.MLKNNClassifier().fit(DATA.X, DATA.Y)
    skops.io.dump(model, tmp_path / "bare.skops")
    saved = limo.load_model(tmp_path / "bare.skops")
    assert saved.label_names is None
    assert np.array_equal(saved.model.predict(DATA.X), model.predict(DATA.X))


def test_nothing_is_overwritten_unasked(tmp_path):
    model = limo.MLKNNClassifier().fit(DATA.X, DATA.Y)
    file = tmp_path / "model.skops"
    file.write_text("mine")
    with pytest.raises(FileExistsError, match=r"exists; choose another name, or replace it with"):
        limo.save_model(model, file)
    assert file.read_text() == "mine"
    limo.save_model(model, file, force=True)
    assert limo.load_model(file).model.k == 10
    assert [path.name for path in tmp_path.iterdir()] == ["model.skops"]


class Intruder:
    """A class of somebody else."""

    predict = None


def test_unknown_types_are_not_opened(tmp_path):
    skops.io.dump({"model": Intruder()}, tmp_path / "foreign.skops")
    with pytest.raises(limo.ModelFileError, match=r"does not trust \(.*Intruder"):
        limo.load_model(tmp_path / "foreign.skops")


def replaced(file, old, new):
    """The file with its schema changed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(buffer, "w") as copy:
        for name in archive.namelist():
            content = archive.read(name)
            copy.writestr(name, content.replace(old, new) if name == "schema.json" else content)
    return buffer.getvalue()


def test_a_file_cannot_name_other_parts_of_limo(tmp_path):
    """What is in limo, but no part of a model, is rejected like anything else."""
    model = limo.MLKNNClassifier().fit(DATA.X, DATA.Y)
    file = limo.save_model(model, tmp_path / "model.skops")
    content = replaced(file, b"MLKNNClassifier", b"scores_of")
    (tmp_path / "forged.skops").write_bytes(content)
    with pytest.raises(limo.ModelFileError, match=r"does not trust \(limo.scores_of"):
        limo.load_model(tmp_path / "forged.skops")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is not a model file"),
        (b"text", "is not a model file: File is not a zip file. limo fit and limo.save_model"),
        (skops.io.dumps([1, 2]), "contains a list, not a model"),
        (skops.io.dumps({"format": "limo model", "version": 9, "limo": "7.0"}), "install that one"),
        (
            skops.io.dumps({"format": "limo model", "version": 1, "model": limo.MLKNNClassifier}),
            "expected a fitted estimator, got the class MLKNNClassifier",
        ),
    ],
)
def test_other_files_are_explained(tmp_path, content, sentence):
    (tmp_path / "odd.skops").write_bytes(content)
    with pytest.raises(limo.ModelFileError, match=sentence):
        limo.load_model(tmp_path / "odd.skops")


def test_a_damaged_file_is_explained(tmp_path):
    model = limo.MLKNNClassifier().fit(DATA.X, DATA.Y)
    file = limo.save_model(model, tmp_path / "model.skops")
    with zipfile.ZipFile(file) as archive:
        arrays = [name for name in archive.namelist() if name.endswith(".npy")]
        schema = json.loads(archive.read("schema.json"))
    assert arrays
    with zipfile.ZipFile(tmp_path / "cut.skops", "w") as copy:
        copy.writestr("schema.json", json.dumps(schema))
    with pytest.raises(limo.ModelFileError, match="is not a model file|cannot be restored"):
        limo.load_model(tmp_path / "cut.skops")


def test_trusted_types_have_public_names():
    trusted = files._trusted()
    for name in trusted - files._PLAIN:
        module, _, kind = name.rpartition(".")
        assert getattr(__import__(module, fromlist=[kind]), kind).__qualname__ == kind
        assert "._" not in name
    assert {"limo.LIMOClassifier", "limo.TopK", "limo.models.UnitRows"} <= trusted
    assert not {"limo.models.SavedModel", "limo.thresholds.Target"} & trusted


@pytest.mark.parametrize("model", MODELS, ids=lambda m: type(m).__name__)
def test_files_contain_public_names_only(model, tmp_path):
    """So that they survive moves inside limo; pickles as well."""
    fitted = clone(model).fit(DATA.X, DATA.Y)
    with zipfile.ZipFile(limo.save_model(fitted, tmp_path / "model.skops")) as archive:
        schema = archive.read("schema.json").decode()
    modules = re.findall(r'"__module__": "(limo[^"]*)"', schema)
    assert set(modules) <= {"limo", "limo.losses", "limo.models", "limo.thresholds"}
    pickled = pickle.dumps(fitted)
    assert b"limo._" not in pickled
    assert b"limo.models._" not in pickled
    for kept in (pickle.loads(pickled), joblib_copy(fitted, tmp_path / "m.joblib")):
        assert np.array_equal(kept.predict(DATA.X), fitted.predict(DATA.X))


def joblib_copy(model, path):
    joblib.dump(model, path)
    return joblib.load(path)


def test_doctests_of_public_classes_are_collected():
    """Their module is a public name, so the collector must look for where they are defined."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    for module, name in ((limo_module, "LIMOClassifier"), (rules, "LabelThreshold")):
        found = [test.name for test in finder.find(module, module.__name__)]
        assert f"{module.__name__}.{name}" in found
    elsewhere = [test.name for test in finder.find(limo.models, "limo.models") if test.examples]
    assert elsewhere == []


def test_a_part_that_cannot_be_restored_is_explained(tmp_path):
    model = limo.MLKNNClassifier().fit(DATA.X, DATA.Y)
    file = limo.save_model(model, tmp_path / "model.skops")
    with zipfile.ZipFile(file) as archive, zipfile.ZipFile(tmp_path / "odd.skops", "w") as copy:
        for name in archive.namelist():
            content = archive.read(name)
            copy.writestr(name, content if name == "schema.json" else b"noise")
    with pytest.raises(limo.ModelFileError, match="odd.skops cannot be restored: "):
        limo.load_model(tmp_path / "odd.skops")


@pytest.mark.slow
def test_a_file_that_unpacks_to_far_more_than_its_size_is_rejected(tmp_path):
    """Zeros compress a thousandfold, also in an archive inside the archive."""
    inner = io.BytesIO()
    np.savez_compressed(inner, data=np.zeros(5 << 26, dtype=np.int8))
    file = tmp_path / "bomb.skops"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", "{}")
        archive.writestr("1.npz", inner.getvalue())
    with pytest.raises(limo.ModelFileError, match=r"unpacks to 335,\d+,\d+: expected at most 26"):
        limo.load_model(file)
    with pytest.raises(limo.ModelFileError, match="not a model file"):
        limo.load_model(file, max_bytes=1 << 30)


@pytest.mark.parametrize("wrong", ["indices", "shape", "values", "posterior", "names"])
def test_arrays_that_do_not_fit_together_are_rejected(wrong, tmp_path):
    """Compiled code would read beyond the end of such arrays."""
    model = limo.MLKNNClassifier(3).fit(DATA.X, DATA.Y)
    data, indices, indptr, shape = model._Y
    if wrong == "indices":
        model._Y = (data, indices + 1000, indptr, shape)
    elif wrong == "shape":
        model._Y = (data, indices, indptr, (shape[0], 9))
    elif wrong == "values":
        model._Y = (data * 7, indices, indptr, shape)
    elif wrong == "posterior":
        model.posterior_ = model.posterior_[:, :2]
    names = ["a"] if wrong == "names" else None
    file = limo.save_model(model, tmp_path / "model.skops", label_names=names)
    with pytest.raises(limo.ModelFileError, match="holds a model that cannot predict"):
        limo.load_model(file)
