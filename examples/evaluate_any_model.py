"""
Evaluate a model you already have
=================================

All eleven measures of a random forest, and what the margins say about them.
"""

import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

import limo

data = limo.datasets.figure1(1000, seed=0)
X_train, X_test, Y_train, Y_test = train_test_split(data.X, data.Y, random_state=0)
model = RandomForestClassifier(random_state=0).fit(X_train, Y_train)

# A forest returns its probabilities as a list of arrays; scores_of puts them into one matrix.
names = list(data.label_names)
y_true = pd.DataFrame(Y_test, columns=names)
y_score = pd.DataFrame(limo.scores_of(model, X_test), columns=names)
y_pred = pd.DataFrame(model.predict(X_test).astype(int), columns=names)

evaluation = limo.evaluate(y_true, y_score, y_pred)
print(evaluation)
print()
print(limo.explain(evaluation))
print()
print(evaluation.to_frame("labels").round(3))

# A forest of 100 trees has few distinct scores, so many tie: compare the conventions for ties.
print()
print(
    pd.DataFrame(
        {name: dict(limo.evaluate(y_true, y_score, conventions=name)) for name in limo.CONVENTIONS}
    ).round(4)
)
