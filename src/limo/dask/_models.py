"""Margin classifiers that are fitted where the rows of a Dask collection are."""

from typing import Any

import numpy as np

from limo.dask._cluster import Cluster, blocks_of, client_of, dask, is_collection
from limo.models import _limo
from limo.models._limo_blocks import check_plain, fit_over


class _Distributed:
    """What makes a margin classifier take Dask collections; other input is as for its base."""

    def fit(
        self: Any, X: Any, y: Any = None, sample_weight: Any = None, *, client: Any = None
    ) -> Any:
        """Fit the weights, and the threshold on scores of instances they have not seen.

        Parameters
        ----------
        X : dask array or data frame of shape (n_samples, n_features)
            Features. Blocks are dense arrays, CSR matrices or data frames; chunk sizes may be
            unknown. Each block must fit the memory of a worker twice.
        y : dask array or data frame of shape (n_samples, n_labels)
            Labels, 0 or 1, in the blocks of X.
        sample_weight : None
            Only for data in memory.
        client : distributed.Client, optional
            The cluster; by default the client in use.

        Returns
        -------
        self
        """
        if not is_collection(X):
            return super().fit(X, y, sample_weight)  # type: ignore[misc]
        self._check_settings()
        check_plain(self, sample_weight)
        fit_over(self, Cluster(client_of(client), blocks_of(X, y)))
        if isinstance(X, dask.dataframe.DataFrame):
            self.feature_names_in_ = np.array(list(map(str, X.columns)), dtype=object)
        return self

    def decision_function(self: Any, X: Any) -> Any:
        """Scores of the labels; for a Dask collection an array that is computed on demand."""
        if not is_collection(X):
            return super().decision_function(X)  # type: ignore[misc]
        return _lazily(self, "decision_function", X, np.float64)

    def predict(self: Any, X: Any) -> Any:
        """Labels whose scores exceed the threshold; an array that is computed on demand."""
        if not is_collection(X):
            return super().predict(X)  # type: ignore[misc]
        return _lazily(self, "predict", X, np.int64)

    def to_local(self: Any) -> Any:
        """The fitted model as one of ``limo``, which model files and all other functions take."""
        kind = next(base for base in type(self).__mro__ if base.__module__ == "limo")
        model = kind(**self.get_params(deep=False))
        vars(model).update(vars(self))
        return model


def _lazily(model: Any, method: str, X: Any, kind: Any) -> Any:
    """Call a method of the model for each block of rows."""
    local, n_labels = model.to_local(), model.coef_.shape[0]
    if isinstance(X, dask.dataframe.DataFrame):
        names, known = list(map(str, X.columns)), getattr(model, "feature_names_in_", None)
        if known is not None and names != known.tolist():
            raise ValueError(
                "The columns of X must be those of training, in the same order: expected "
                f"{known.tolist()[:4]}, got {names[:4]}."
            )
        X = X.to_dask_array()
    if hasattr(local, "feature_names_in_"):
        del local.feature_names_in_  # blocks are plain arrays, and the names are checked
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    call = _OfBlock(local, method, n_labels)
    return X.map_blocks(
        call, chunks=(X.chunks[0], (n_labels,)), dtype=kind, meta=np.empty((0, n_labels), kind)
    )


class _OfBlock:
    """A method of a model as a function of a block; a block without rows gives one."""

    def __init__(self, model: Any, method: str, n_labels: int) -> None:
        self.model, self.method, self.n_labels = model, method, n_labels
        self.__name__ = method  # what Dask calls the tasks

    def __call__(self, X: Any) -> Any:
        if not X.shape[0]:
            return np.empty((0, self.n_labels))
        return getattr(self.model, self.method)(X)


class MarginClassifier(_Distributed, _limo.MarginClassifier):
    """:class:`limo.MarginClassifier`, fitted where the rows of a Dask collection are.

    The same objective over all pairs is minimised to the same certified gap, by the same solver.
    It runs where ``fit`` is called; the workers compute the objective. Per evaluation the weights
    and their gradient move, and for the views "columns" and "entries" the scores of the relevant
    entries, a few times; never the features, and never all scores. A worker that is lost costs
    what it had computed.

    Parameters, attributes
        As for :class:`limo.MarginClassifier`, with ``threshold_cv`` a number of folds or
        ``"training"``. Folds are drawn within each block. A single threshold and thresholds per
        label are exact for F1 and Hamming loss; other rules are fitted to a sample of at most four
        million scores.
    """

    __module__ = "limo.dask"  # the public name


class LIMOClassifier(_Distributed, _limo.LIMOClassifier):
    """:class:`limo.LIMOClassifier`, fitted where the rows of a Dask collection are.

    See :class:`limo.dask.MarginClassifier`, which takes any loss.

    Examples
    --------
    >>> import dask.array, distributed, limo
    >>> client = distributed.Client(processes=False, n_workers=1, dashboard_address=":0")
    >>> data = limo.datasets.figure1(200)
    >>> X, Y = (dask.array.from_array(one, chunks=(50, -1)) for one in (data.X, data.Y))
    >>> model = limo.dask.LIMOClassifier().fit(X, Y)
    >>> model.solution_.converged
    True
    >>> model.predict(X)
    dask.array<predict, shape=(200, 4), dtype=int64, chunksize=(50, 4), chunktype=numpy.ndarray>
    >>> client.close()
    """

    __module__ = "limo.dask"  # the public name
