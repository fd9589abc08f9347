"""
The first k labels
==================

A recommender shows each user k labels, whatever their scores. Measures "at k" look at these only,
and ``TopK`` predicts them.
"""

import matplotlib.pyplot as plt

import limo

data = limo.datasets.make_multilabel(1500, 300, 40, cardinality=4, seed=0)
train, test = limo.datasets.split(data, 0.4)
model = limo.BinaryRelevance("logistic").fit(train.X, train.Y)
scores = model.decision_function(test.X)

places = range(1, 11)
kinds = {"precision": "precision_at_{}", "recall": "recall_at_{}", "nDCG": "ndcg_at_{}"}
names = [pattern.format(k) for pattern in kinds.values() for k in places]
found = limo.evaluate(test.Y, scores, measures=names)

# %%
# More places find more of the relevant labels (recall), and hold more that are not (precision).

figure, ax = plt.subplots(figsize=(6.2, 3.8), layout="constrained")
for marker, (title, pattern) in zip("os^", kinds.items(), strict=True):
    ax.plot(
        places, [found[pattern.format(k)] for k in places], marker=marker, label=f"{title} at k"
    )
ax.set(xlabel="k, the number of labels shown", ylabel="value on test data", ylim=(0, 1))
ax.set_xticks(places)
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False)
plt.show()

# %%
# ``TopK`` turns scores into exactly k labels per instance.

labels = limo.TopK(3).fit(train.Y, model.decision_function(train.X)).predict(scores)
print(labels.sum(axis=1).min(), labels.sum(axis=1).max())
