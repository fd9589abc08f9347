"""
Some labels are missing
=======================

Often nobody looked at every label of every instance. Counting what is missing as "not relevant"
makes a good model look bad. limo leaves such entries out, of training and of every measure.
"""

import matplotlib.pyplot as plt
import numpy as np

import limo

rng = np.random.default_rng(0)
data = limo.datasets.figure1(2400, seed=0)
train, test = slice(0, 1200), slice(1200, None)
shares = np.array([0.0, 0.15, 0.3, 0.45, 0.6, 0.75])

values = {"left out": [], "counted as 0": []}
for share in shares:
    known = np.where(rng.random(data.Y.shape) < share, np.nan, data.Y)  # nan where nobody looked
    careful = limo.BinaryRelevance("logistic", missing=np.nan).fit(data.X[train], known[train])
    careless = limo.BinaryRelevance("logistic").fit(data.X[train], np.nan_to_num(known[train]))
    ours = limo.evaluate(
        known[test],
        careful.decision_function(data.X[test]),
        careful.predict(data.X[test]),
        missing=np.nan,
    )
    naive = limo.evaluate(
        np.nan_to_num(known[test]),
        careless.decision_function(data.X[test]),
        careless.predict(data.X[test]),
    )
    values["left out"].append(ours["micro_f1"])
    values["counted as 0"].append(naive["micro_f1"])
print(ours.heading)

# %%
# With missing entries left out, the value stays where it is when all labels are known.

figure, ax = plt.subplots(figsize=(6.2, 3.6), layout="constrained")
for (name, line), marker in zip(values.items(), "os", strict=True):
    ax.plot(100 * shares, line, marker=marker, label=f"missing labels {name}")
ax.set(xlabel="labels that are missing (%)", ylabel="micro-F1", ylim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()
