import numpy as np
import pytest

import limo


def naive_labels(x: float, y: float) -> list[int]:
    if x > abs(y):
        return [1, 0, 0, 0]
    if y > abs(x):
        return [1, 1, 1, 0]
    if -x > abs(y):
        return [0, 1, 0, 1]
    return [1, 1, 1, 1]


def test_labels_follow_the_triangles() -> None:
    data = limo.datasets.figure1(500, seed=3)
    assert data.X.shape == (500, 2)
    assert np.abs(data.X).max() < 1
    assert data.Y.tolist() == [naive_labels(x, y) for x, y in data.X]


def test_two_and_a_half_labels_a_point() -> None:
    data = limo.datasets.figure1(20000, seed=0)
    assert abs(data.Y.sum(axis=1).mean() - 2.5) < 0.03


def test_seeds_are_kept() -> None:
    assert np.array_equal(limo.datasets.figure1(seed=7).X, limo.datasets.figure1(seed=7).X)
    assert not np.array_equal(limo.datasets.figure1(seed=7).X, limo.datasets.figure1(seed=8).X)


def test_made_data_have_the_shape_and_means_asked_for() -> None:
    data = limo.datasets.make_multilabel(3000, 200, 40, cardinality=3.5, density_of_X=0.1, seed=1)
    assert data.X.shape == (3000, 200)
    assert data.Y.shape == (3000, 40)
    assert abs(data.Y.sum() / 3000 - 3.5) < 0.1
    assert abs(data.X.nnz / (3000 * 200) - 0.1) < 0.005
    assert (data.X.data > 0).all()
    assert set(data.Y.data) == {1}
    assert data.X.has_canonical_format
    assert data.Y.has_canonical_format
    assert np.asarray(data.Y.sum(axis=1)).min() >= 1


def test_made_labels_have_a_long_tail() -> None:
    Y = limo.datasets.make_multilabel(5000, 2, 200, cardinality=3).Y
    positives = np.sort(np.asarray(Y.sum(axis=0)))[::-1]
    assert positives[0] > 20 * positives[-1]
    assert (positives < 0.01 * 5000).mean() > 0.5


def test_correlated_labels_go_together() -> None:
    def lift(correlation: float) -> float:
        Y = limo.datasets.make_multilabel(
            4000, 2, 80, cardinality=3, label_correlation=correlation
        ).Y
        together = (Y.T.astype(int) @ Y.astype(int)).toarray()
        groups = np.arange(80) % 10
        same = (groups[:, None] == groups) & ~np.eye(80, dtype=bool)
        return float(together[same].sum() / (together.sum() - np.trace(together)))

    assert lift(0.9) > 2 * lift(0.0)


def test_features_tell_of_the_labels() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    data = limo.datasets.make_multilabel(800, 300, 5, density_of_X=0.1, cardinality=1.5)
    y = data.Y[:, [2]].toarray().ravel()
    model = LogisticRegression(max_iter=500).fit(data.X[:400], y[:400])
    assert roc_auc_score(y[400:], model.decision_function(data.X[400:])) > 0.7


@pytest.mark.parametrize(
    ("sizes", "options"),
    [
        ((0, 3, 2), {}),
        ((5, 1, 1), {"cardinality": 1, "density_of_X": 1}),
        ((20, 6, 4), {"cardinality": 4, "density_of_X": 1, "label_correlation": 1}),
        ((20, 6, 4), {"cardinality": 0.5, "density_of_X": 0}),
    ],
)
def test_extremes(sizes: tuple[int, int, int], options: dict[str, float]) -> None:
    data = limo.datasets.make_multilabel(*sizes, **{"cardinality": 1, **options})
    assert data.X.shape == sizes[:2]
    assert data.Y.sum() == (
        sizes[0] * options["cardinality"] if options.get("cardinality", 0) >= 1 else data.Y.sum()
    )
    if options.get("density_of_X") == 1:
        assert data.X.nnz == sizes[0] * sizes[1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"m": -1}, "m must be an integer .*0.*, got -1"),
        ({"l": 2, "cardinality": 3}, "cardinality must be a number .*0 .*2, got 3"),
        ({"density_of_X": 2}, "density_of_X must be a number .*0 .*1, got 2"),
        ({"label_correlation": -1}, "label_correlation must be a number .*0 .*1, got -1"),
    ],
)
def test_wrong_requests(arguments: dict[str, float], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        limo.datasets.make_multilabel(**arguments)


def test_made_data_keep_their_seed() -> None:
    first, again, other = (limo.datasets.make_multilabel(50, 20, 5, seed=s) for s in (1, 1, 2))
    assert (first.X != again.X).nnz == 0
    assert (first.Y != again.Y).nnz == 0
    assert (first.X != other.X).nnz > 0


@pytest.mark.slow
def test_a_million_rows() -> None:
    data = limo.datasets.make_multilabel(1_000_000, 10_000, 1_000, density_of_X=0.002)
    assert data.X.shape == (1_000_000, 10_000)
    assert data.X.indices.dtype == np.int32
