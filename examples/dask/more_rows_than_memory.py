"""
More rows than memory
=====================

The rows of a Dask collection stay on the workers that have them. A model is fitted to all of them,
exactly, its scores are computed block by block, and the measures are those of all rows at once.

The picture shows the skill on each measure: 0 is blind guessing, 1 the best possible value.
"""

import dask.array as da
import distributed
import matplotlib.pyplot as plt
import numpy as np

import limo

# %%
# A cluster. This one is made of threads of this process; ``distributed.Client("tcp://...")``
# connects to a real one, and the rest stays as it is.
client = distributed.Client(
    processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"
)

# %%
# Data in blocks of rows. Here they are cut from one array; ``da.from_npy_stack``,
# ``dask.dataframe.read_parquet`` and ``da.from_delayed`` read them from files on the workers.
data = limo.datasets.figure1(4000, seed=0)
X, Y = (da.from_array(np.asarray(one), chunks=(1000, -1)) for one in (data.X, data.Y))

# %%
# The loss compares all pairs, also across blocks; the gap to the best possible value is certified.
model = limo.dask.LIMOClassifier(alpha=1e-3, threshold_measure="macro_f1", threshold_cv=2)
model.fit(X, Y)
print(model.solution_)

# %%
# Scores and labels are Dask arrays, computed when they are needed and where the rows are.
scores, labels = model.decision_function(X), model.predict(X)
print(scores)
evaluation = limo.dask.evaluate(Y, scores, labels)
print(evaluation)

# %%
# The bits are those of the whole matrices in memory.
whole = limo.evaluate(data.Y, scores.compute(), labels.compute())
assert evaluation.to_json() == whole.to_json()

# %%
# For files, and wherever no cluster is at hand: the same model without Dask.
print(model.to_local())
client.close()

_, ax = plt.subplots(figsize=(6, 4), layout="constrained")
evaluation.plot(ax=ax)
plt.show()
