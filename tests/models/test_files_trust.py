"""What is saved can be loaded, or it is refused when saving."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC

import limo
from cli.running import process

DATA = limo.datasets.figure1(60)
TREE = "sklearn.tree._tree.Tree"


def search():
    scoring = limo.make_scorer("macro-F1", conventions="sklearn")
    return GridSearchCV(
        OneVsRestClassifier(LogisticRegression()), {"estimator__C": [0.1, 1]}, scoring=scoring, cv=2
    )


READABLE = {
    "pipeline": lambda: make_pipeline(StandardScaler(), OneVsRestClassifier(LinearSVC())),
    "search": search,
    "thresholds on a search": lambda: limo.ThresholdClassifier(search(), measure="macro_f1", cv=2),
    "calibrated": lambda: MultiOutputClassifier(CalibratedClassifierCV(LinearSVC(), cv=2)),
    "chain": lambda: ClassifierChain(LogisticRegression()),
    "forest of limo": lambda: limo.models.ForestClassifier(n_estimators=3),
}
REFUSED = {
    "forest": (lambda: RandomForestClassifier(3), [TREE]),
    "thresholds on a forest": (
        lambda: limo.ThresholdClassifier(RandomForestClassifier(3), cv=2),
        [TREE],
    ),
    "boosting": (lambda: MultiOutputClassifier(HistGradientBoostingClassifier(max_iter=2)), None),
    "neighbours": (KNeighborsClassifier, None),
}


@pytest.mark.parametrize("name", READABLE)
def test_what_is_saved_can_be_loaded(tmp_path, name):
    model = READABLE[name]().fit(DATA.X, DATA.Y)
    saved = limo.load_model(limo.save_model(model, tmp_path / "m.skops"))
    assert np.array_equal(saved.model.predict(DATA.X), model.predict(DATA.X))


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_loaded_is_refused_when_saving(tmp_path, name):
    make, types = REFUSED[name]
    model = make().fit(DATA.X, DATA.Y)
    with pytest.raises(limo.ModelFileError, match="does not trust in a file") as refusal:
        limo.save_model(model, tmp_path / "m.skops")
    assert not list(tmp_path.iterdir())
    if types is None:
        return
    assert f"trusted={types}" in str(refusal.value)
    file = limo.save_model(model, tmp_path / "m.skops", trusted=types)
    with pytest.raises(limo.ModelFileError, match=r"was not opened.*trusted="):
        limo.load_model(file)
    saved = limo.load_model(file, trusted=types)
    assert np.array_equal(saved.model.predict(DATA.X), model.predict(DATA.X))


def double(X):
    return 2 * X


def test_functions_and_odd_lists_are_refused(tmp_path):
    model = make_pipeline(FunctionTransformer(double), limo.MLKNNClassifier())
    model.fit(DATA.X, DATA.Y)
    with pytest.raises(limo.ModelFileError, match=r"does not trust in a file \(.*double"):
        limo.save_model(model, tmp_path / "m.skops")
    with pytest.raises(ValueError, match="trusted must be a list of names of types"):
        limo.load_model(limo.save_model(model[-1], tmp_path / "k.skops"), trusted=[3])


def test_what_skops_cannot_store_is_a_sentence(tmp_path):
    model = limo.MLKNNClassifier().fit(DATA.X, DATA.Y)
    model.handle = (one for one in ())
    with pytest.raises(limo.ModelFileError, match="MLKNNClassifier cannot be stored"):
        limo.save_model(model, tmp_path / "m.skops")


@pytest.mark.slow
def test_predicting_with_trusted_types_as_a_process(tmp_path):
    model = RandomForestClassifier(3, random_state=0).fit(DATA.X, DATA.Y)
    limo.save_model(model, tmp_path / "m.skops", trusted=[TREE])
    limo.write(DATA, tmp_path / "d.npz")
    given = ("predict", "m.skops", "d.npz", "-o", "p.csv", "--what", "labels")
    refused = process(*given, folder=tmp_path)
    assert refused.returncode == 1
    assert f"--trust {TREE}" in refused.stderr
    done = process(*given, "--trust", TREE, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = limo.datasets.read_matrix(tmp_path / "p.csv", "predictions").values
    assert np.array_equal(found, model.predict(DATA.X))
