import numpy as np
import pytest
from scipy import sparse

from limo.models._base import SCALINGS, UnitRows

RNG = np.random.default_rng(0)
X = RNG.normal(5, 3, size=(40, 6))


def test_dense_rows_have_length_one_on_average():
    scaled = UnitRows().fit_transform(X)
    assert (scaled**2).sum(axis=1).mean() == pytest.approx(1)
    assert scaled.mean(axis=0) == pytest.approx(np.zeros(6))


def test_sparse_rows_have_length_one():
    scaled = UnitRows().fit(sparse.csr_array(X)).transform(sparse.csr_array(X[:3]))
    assert scaled.toarray() == pytest.approx(X[:3] / np.linalg.norm(X[:3], axis=1)[:, None])


@pytest.mark.parametrize("name", SCALINGS)
@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_every_scaling_learns_from_training_only(name, kind):
    scaler = SCALINGS[name]().fit(kind(X[:30]))
    again = SCALINGS[name]().fit(kind(X[:30]))
    first, second = scaler.transform(kind(X[30:])), again.transform(kind(X[30:35]))
    assert np.asarray(second.todense() if sparse.issparse(second) else second) == pytest.approx(
        np.asarray(first.todense() if sparse.issparse(first) else first)[:5]
    )
    assert sparse.issparse(first) == (kind is sparse.csr_array)
