"""Look before you learn: read, describe, split, and draw what is there.

Run: python examples/plot_data_look_before_you_learn.py; pictures go to examples/output/.
"""

from pathlib import Path
from tempfile import mkdtemp

import limo

OUTPUT = Path(__file__).parent / "output"
OUTPUT.mkdir(exist_ok=True)

# Data of your own would be a file already: limo.read("yours.arff").
made = limo.datasets.make_multilabel(3000, 400, 60, cardinality=3, seed=1)
file = limo.write(made, Path(mkdtemp()) / "made.arff.gz")
data = limo.read(file)

# Split so that every label is shared out in proportion, rare ones too.
train, test = limo.datasets.split(data, 0.3, seed=0)
facts = limo.describe(train, test)
print(facts)
print(facts.to_frame().sort_values("positives").head())

facts.plot().savefig(OUTPUT / "data_description.png", dpi=120)
limo.datasets.plot_triangles().savefig(OUTPUT / "data_triangles.png", dpi=120)
limo.datasets.plot_regions().savefig(OUTPUT / "data_regions.png", dpi=120)
