"""
Learn on a cluster
==================

Data that do not fit on one machine, as Dask arrays. The rows stay with the workers, and the result
is that of learning from all rows at once. Here the cluster is two threads of this machine. A real
one needs one other line: ``distributed.Client("tcp://10.0.0.1:8786")``.

The picture shows what the rows beyond the first block are worth.
"""

import dask.array as da
import distributed
import matplotlib.pyplot as plt
import numpy as np

import limo

train, test = limo.datasets.split(
    limo.datasets.make_multilabel(1600, 60, 8, density_of_X=0.3, seed=1).to_dense(), seed=0
)
client = distributed.Client(
    processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0"
)

# %%
# Blocks of 140 rows. Learning from the first k of them is a slice.

blocks = [1, 2, 4, 8]
X, Y = (da.from_array(one, chunks=(140, -1)) for one in (train.X, train.Y))
values = []
for k in blocks:
    model = limo.dask.LIMOClassifier(threshold_measure=None).fit(X[: 140 * k], Y[: 140 * k])
    scores = model.decision_function(da.from_array(test.X, chunks=(140, -1)))
    values.append(limo.ranking_loss(test.Y, scores.compute()))

# %%
# The last model equals the one that is trained in memory, within the certified tolerance.

local = limo.LIMOClassifier(threshold_measure=None).fit(train.X, train.Y)
in_memory = limo.ranking_loss(test.Y, local.decision_function(test.X))
print(f"ranking loss on the cluster {values[-1]:.4f}, in memory {in_memory:.4f}")
assert np.isclose(values[-1], in_memory, atol=0.005)
client.close()

figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot(blocks, values, "o-", color="#0072b2", label="on the cluster")
ax.axhline(in_memory, color="#d55e00", linestyle="--", label="in memory, all rows")
ax.set_xlabel("blocks of 140 rows")
ax.set_ylabel("ranking loss on test data")
ax.set_xticks(blocks)
ax.legend()
plt.show()
