import pickle
from dataclasses import replace

import joblib
import numpy as np
import pytest

import limo
from limo.datasets import DataError
from limo.experiment import Data, Plan, PlanError, Splits, run
from limo.experiment._data import Split

TOY = limo.datasets.figure1(50)


def rows(splits, number, name="toy", seed=0):
    return Split.of(splits.resolved(name), name, number, seed).instances(TOY)


@pytest.mark.parametrize("kind", ["stratified", "random", "folds"])
def test_a_split_depends_on_its_own_name_only(kind):
    few, many = Splits(kind, 3), Splits(kind, 3 if kind == "folds" else 30)
    for number in range(3):
        train, test = rows(few, number)
        assert sorted([*train, *test]) == list(range(50))
        for again in (rows(few, number), rows(many, number)):
            assert np.array_equal(test, again[1])
        for other in (rows(few, number, "other"), rows(few, number, seed=1), rows(few, number + 3)):
            assert not np.array_equal(test, other[1])


def test_the_share_of_test_rows_and_folds():
    assert len(rows(Splits("random", test_size=0.5), 0)[1]) == 25
    assert len(rows(Splits("stratified"), 0)[1]) == 15
    tests = [rows(Splits("folds"), k)[1] for k in range(5)]
    assert sorted(np.concatenate(tests)) == list(range(50))


def test_stored_permutations_from_memory_file_and_data_folder(tmp_path, monkeypatch):
    permutations = np.array([np.random.default_rng(k).permutation(50) for k in range(4)])
    (tmp_path / "splits").mkdir()
    file = tmp_path / "splits" / "toy.csv"
    np.savetxt(file, permutations, fmt="%d", delimiter=",")
    monkeypatch.setenv("LIMO_DATA", str(tmp_path))
    for given in (permutations, str(file), file, None):
        splits = Splits("stored", permutations=given)
        assert splits.resolved("toy").number == 4
        train, test = rows(splits, 2)
        assert test.tolist() == permutations[2][:15].tolist()
        assert train.tolist() == permutations[2][15:].tolist()
    assert np.array_equal(rows(splits, 6)[1], rows(splits, 2)[1])  # a repetition
    one = Split.of(splits.resolved("toy"), "toy", 2, 0)
    assert one.splits.permutations.shape == (1, 50)  # a job carries no more than its own
    with pytest.raises(PlanError, match="the plan needs 5 splits of toy, but 4 are stored"):
        Splits("stored", 5).resolved("toy")


def test_identities_of_splits():
    def identity(splits, number=0):
        return Split.of(splits.resolved("toy"), "toy", number, 0).identity()

    plain = identity(Splits("random", 3))
    assert identity(Splits("random", 30)) == plain
    assert identity(Splits("folds", 3)) != identity(Splits("folds", 4))
    permutations = np.array([np.arange(50), np.arange(50)[::-1]])
    stored = [
        identity(Splits("stored", permutations=p)) for p in (permutations, permutations[::-1])
    ]
    others = [identity(Splits("stratified", 3)), identity(Splits("random", test_size=0.4))]
    assert len({plain, identity(Splits("random", 3), 1), *stored, *others}) == 6


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kind": "randm"}, "Unknown kind of split 'randm'. Did you mean 'random'?"),
        ({"number": 0}, "number of splits must be .* 1.*, got 0"),
        ({"kind": "folds", "number": 1}, "number of splits must be .* 2.*, got 1"),
        ({"number": 2.5}, "got 2.5"),
        ({"test_size": 1}, "test_size must be below 1, or nothing is left to train on"),
        ({"permutations": [[0]]}, "permutations need splits of kind 'stored', got kind 'stratified'"),
    ],
)  # fmt: skip
def test_splits_that_cannot_be(settings, message):
    with pytest.raises(PlanError, match=message):
        Splits(**settings)


def test_data_by_name_path_recipe_and_from_memory(tmp_path):
    file = limo.write(TOY, tmp_path / "mine.arff")
    assert Data.of("ENRON").source == Data.of("enron").name == "enron"
    assert Data.of(file).name == Data.of(str(file)).name == "mine"
    assert Data.of(file).load().X.shape == Data.of(TOY).load().X.shape == (50, 2)
    assert Data.of("figure1").load().X.shape == (2000, 2)
    assert Data.of(TOY).name == "figure1"
    assert Data.of(Data("x", TOY)).name == "x"
    made = Data("made", "make_multilabel", {"m": 20, "d": 5, "l": 3})
    assert made.load() is made.load()


def test_fingerprints_follow_content_not_place(tmp_path):
    file = limo.write(TOY, tmp_path / "a.arff")
    copy, xml = tmp_path / "b.arff", tmp_path / "a.xml"
    copy.write_bytes(file.read_bytes())
    (tmp_path / "b.xml").write_bytes(xml.read_bytes())
    assert Data("x", file).fingerprint() == Data("y", copy).fingerprint()
    before = Data("x", file).fingerprint()
    xml.write_text(xml.read_text() + "\n")
    assert Data("x", file).fingerprint() != before  # label names count
    edited = replace(TOY, X=TOY.X + 1)
    recipes = [Data("x", "figure1", {"n": n}) for n in (5, 6)]
    different = [Data("x", file), Data("x", file, {"nominal": "codes"}), Data("x", TOY),
                 Data("x", edited), Data("x", "enron"), *recipes]  # fmt: skip
    assert len({data.fingerprint() for data in different}) == len(different)


def test_data_in_memory_are_saved_once_and_mapped(tmp_path):
    saved = Data("toy", TOY, splits=Splits(number=2)).saved_to(tmp_path)
    assert len(pickle.dumps(saved)) < 500
    loaded = pickle.loads(pickle.dumps(saved)).load()
    assert isinstance(loaded.X, np.memmap)
    assert np.array_equal(loaded.X, TOY.X)
    assert saved.splits.number == 2
    named = Data.of("enron")
    assert named.saved_to(tmp_path) is named


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (
            "enrom",
            DataError,
            "'enrom' is neither a file nor a known data set. Did you mean 'enron'?",
        ),
        (3, PlanError, "a data set is a name, a path, a Dataset or a Data record, got 3"),
    ],
)
def test_data_that_cannot_be(given, error, message):
    with pytest.raises(error, match=message):
        Data.of(given)


def test_options_are_plain_or_paths(tmp_path):
    assert Data("x", TOY, {"xml": tmp_path / "a.xml"}).options["xml"] == str(tmp_path / "a.xml")
    with pytest.raises(PlanError, match="options of data 'x' must be plain JSON values: .*object"):
        Data("x", TOY, {"limits": object()})


def test_known_data_take_no_options():
    with pytest.raises(PlanError, match="enron is a known data set and takes no options"):
        Data("enron", "enron", {"labels": 3})


class Evil:
    """Runs code when it is loaded."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return (self.mark.__class__.touch, (self.mark,))


@pytest.mark.parametrize("suffix", [".joblib", ".pkl", ""])
def test_a_data_file_is_never_loaded_as_a_pickle(tmp_path, suffix):
    mark, file = tmp_path / "mark", tmp_path / f"evil{suffix}"
    joblib.dump(Evil(mark), file)
    with pytest.raises(DataError, match="the format is not recognised by name or content"):
        Data.of(file).load()
    (tmp_path / "plan.toml").write_text(f'datasets = ["{file.name}"]\nmethods = ["limo"]')
    with pytest.raises(DataError, match="the format is not recognised by name or content"):
        Plan.from_file(tmp_path / "plan.toml").datasets[0].load()
    assert not mark.exists()
    joblib.load(file)
    assert mark.exists()  # the file does what the test is about


def test_a_file_that_is_overwritten_is_read_again(tmp_path):
    file = limo.write(TOY, tmp_path / "a.npz")
    data = Data.of(file)
    assert np.array_equal(data.load().X, TOY.X)
    assert data.load() is data.load()
    limo.write(replace(TOY, X=TOY.X + 1), file)
    assert np.array_equal(data.load().X, TOY.X + 1)


def test_results_are_those_of_the_content_they_are_stored_under(tmp_path):
    def values(file, store):
        plan = Plan([file], ["mlknn"], ["hamming_loss"], splits=Splits(number=1))
        return run(plan, tmp_path / store, n_jobs=1)["value"].tolist()

    file = limo.write(TOY, tmp_path / "a.npz")
    before = values(file, "one.sqlite")
    limo.write(replace(TOY, X=TOY.X[::-1]), file)
    after = values(file, "one.sqlite")
    (tmp_path / "fresh").mkdir()
    other = limo.write(replace(TOY, X=TOY.X[::-1]), tmp_path / "fresh" / "a.npz")
    assert before != after == values(other, "two.sqlite")


def test_a_file_that_changes_after_the_plan_was_made_is_an_error(tmp_path):
    file = limo.write(TOY, tmp_path / "a.npz")
    data = Data.of(file)
    content = data.fingerprint()
    limo.write(replace(TOY, X=TOY.X + 1), file)
    with pytest.raises(
        DataError, match=r"a.npz: the file has changed since the plan was made. Run"
    ):
        data.load(content)


@pytest.mark.parametrize(
    ("name", "beside"),
    [("toy-train.arff", "toy.xml"), ("toy-train.arff.gz", "toy.xml"), ("toy.arff", "toy.xml"),
     ("toy.libsvm", "toy.libsvm.names.json"), ("toy.svm.gz", "toy.svm.names.json")],
)  # fmt: skip
def test_fingerprints_depend_on_the_files_with_the_names(tmp_path, name, beside):
    file = limo.write(TOY, tmp_path / name)
    for written in tmp_path.glob("*.xml"):
        written.rename(tmp_path / beside)
    before = Data.of(file).fingerprint()
    names = tmp_path / beside
    names.write_text(
        names.read_text().replace(chr(34) + "A" + chr(34), chr(34) + "renamed" + chr(34))
    )
    edited = Data.of(file).fingerprint()
    names.unlink()
    assert len({before, edited, Data.of(file).fingerprint()}) == 3
