"""
Which labels are hard?
======================

A single number hides the labels that a model cannot predict. Four drawings show them: the ROC curve
of each label, precision against recall, how honest its probabilities are, and its F1 against how
frequent it is.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

import limo
from limo.displays import (
    CalibrationDisplay,
    ConfusionDisplay,
    FrequencyDisplay,
    PrecisionRecallDisplay,
    RocDisplay,
)

data = limo.datasets.make_multilabel(1200, 40, 10, cardinality=2, density_of_X=0.5, seed=2)
train, test = limo.datasets.split(data, 0.5)
model = OneVsRestClassifier(LogisticRegression(C=10)).fit(train.X, train.Y)

figure, axes = plt.subplots(2, 2, figsize=(9.5, 8.5), layout="constrained")
RocDisplay.from_estimator(model, test.X, test.Y, ax=axes[0, 0])
PrecisionRecallDisplay.from_estimator(model, test.X, test.Y, ax=axes[0, 1])
CalibrationDisplay.from_estimator(model, test.X, test.Y, ax=axes[1, 0])
FrequencyDisplay.from_estimator(model, test.X, test.Y, ax=axes[1, 1])
plt.show()

# %%
# Which labels does the model predict instead of others?

figure, ax = plt.subplots(figsize=(6, 5.4), layout="constrained")
ConfusionDisplay.from_estimator(model, test.X, test.Y, ax=ax)
plt.show()
