"""
Evaluate a model you already have
=================================

All eleven measures of a random forest on one scale: 0 is what blind guessing gets, 1 is the best
possible value. The bars are 95 % intervals: where the values of this forest would lie on other test
instances of the same kind.
"""

import matplotlib.pyplot as plt
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import limo

data = limo.datasets.figure1(1000, seed=0)
X_train, X_test, Y_train, Y_test = train_test_split(data.X, data.Y, random_state=0)
model = RandomForestClassifier(random_state=0).fit(X_train, Y_train)

# %%
# A forest returns its probabilities as a list of arrays; ``scores_of`` puts them into one matrix.
# Data frames give the labels their names.

names = list(data.label_names)
y_true = pd.DataFrame(Y_test, columns=names)
y_score = pd.DataFrame(limo.scores_of(model, X_test), columns=names)
y_pred = pd.DataFrame(model.predict(X_test).astype(int), columns=names)

evaluation = limo.evaluate(y_true, y_score, y_pred, intervals=0.95)
print(evaluation)

# %%

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
evaluation.plot(ax=ax)
plt.show()

# %%
# What the margins say about these values, in sentences, and the values of each label.

print(limo.explain(evaluation))
print()
print(evaluation.to_frame("labels").round(3))
