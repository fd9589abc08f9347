"""Drawing rows by itself; the data sets are tested in tests/datasets/test_synthetic.py."""

import numpy as np

from limo._kernels.sampling import SparseRows, draw_features, draw_labels


def empty_rows(counts: list[int], n_columns: int) -> SparseRows:
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return SparseRows(
        indptr, np.empty(indptr[-1], dtype=np.int32), np.full(n_columns, -1, dtype=np.int64)
    )


def test_no_label_twice_even_if_all_are_wanted() -> None:
    rows = empty_rows([3, 0, 1, 3], 3)
    draw_labels(np.random.default_rng(0), rows, 1, 1.0)
    assert rows.indices[:3].tolist() == rows.indices[4:].tolist() == [0, 1, 2]
    assert 0 <= rows.indices[3] < 3


def test_a_full_bond_keeps_to_the_group() -> None:
    rows = empty_rows([2] * 200, 12)
    draw_labels(np.random.default_rng(0), rows, 4, 1.0)
    pairs = rows.indices.reshape(200, 2)
    assert (pairs[:, 0] % 4 == pairs[:, 1] % 4).mean() > 0.9  # a small group may run dry


def test_features_come_from_the_topics_of_the_labels() -> None:
    labels, rows = empty_rows([1] * 300, 2), empty_rows([4] * 300, 1000)
    draw_labels(np.random.default_rng(0), labels, 1, 0.0)
    topics = np.array([[900, 901, 902], [990, 991, 992]])
    draw_features(np.random.default_rng(1), rows, labels, topics)
    found = rows.indices.reshape(300, 4)
    assert (np.diff(found, axis=1) > 0).all()
    from_topics = np.isin(found, topics)
    own = (found[:, :, None] == topics[labels.indices][:, None, :]).any(axis=2)
    assert from_topics.mean() > 0.4
    assert own.sum() > 0.95 * from_topics.sum()
