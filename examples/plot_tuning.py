"""
How LIMO finds its settings
===========================

``LIMOClassifierCV`` trains for a measure that you name. It tries several losses, each over a range
of regularisation strengths, judges all by cross-validation with that measure, and averages those
that are about as good as the best.
"""

import matplotlib.pyplot as plt

import limo

train, test = limo.datasets.split(limo.datasets.figure1(600, seed=0), 1 / 3)
model = limo.LIMOClassifierCV("macro_f1").fit(train.X, train.Y)
print(model.best_params_)
print(limo.macro_f1(test.Y, model.predict(test.X)))

# %%

figure, ax = plt.subplots(figsize=(9, 3.8), layout="constrained")
model.plot(ax=ax)
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=8)
plt.show()
