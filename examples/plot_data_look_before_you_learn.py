"""
Look at the data first
======================

Read, split, describe and draw a data set before training.
"""

from pathlib import Path
from tempfile import mkdtemp

import matplotlib.pyplot as plt

import limo

# With your own file, begin here: data = limo.read("yours.arff").
synthetic = limo.datasets.make_multilabel(3000, 400, 60, cardinality=3, seed=1)
file = limo.write(synthetic, Path(mkdtemp()) / "synthetic.arff.gz")
data = limo.read(file)

# Split so that every label, even a rare one, is distributed in proportion.
train, test = limo.datasets.split(data, 0.3, seed=0)
facts = limo.describe(train, test)
print(facts)
print(facts.to_frame().sort_values("positives").head())

facts.plot()
limo.datasets.plot_triangles()
limo.datasets.plot_regions()
plt.show()
