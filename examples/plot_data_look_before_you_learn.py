"""Look at the data before training: read, split, describe and draw a data set.

Run: python examples/plot_data_look_before_you_learn.py; the pictures go to examples/output/.
"""

from pathlib import Path
from tempfile import mkdtemp

import limo

OUTPUT = Path(__file__).parent / "output"
OUTPUT.mkdir(exist_ok=True)

# With your own file, begin here: data = limo.read("yours.arff").
synthetic = limo.datasets.make_multilabel(3000, 400, 60, cardinality=3, seed=1)
file = limo.write(synthetic, Path(mkdtemp()) / "synthetic.arff.gz")
data = limo.read(file)

# Split so that every label, even a rare one, is distributed in proportion.
train, test = limo.datasets.split(data, 0.3, seed=0)
facts = limo.describe(train, test)
print(facts)
print(facts.to_frame().sort_values("positives").head())

facts.plot().savefig(OUTPUT / "data_description.png", dpi=120)
limo.datasets.plot_triangles().savefig(OUTPUT / "data_triangles.png", dpi=120)
limo.datasets.plot_regions().savefig(OUTPUT / "data_regions.png", dpi=120)
